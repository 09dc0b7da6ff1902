"""Pools of images in plain layout beside torch."""

from __future__ import annotations

from common import Bound, Row, measure, same, table, timer

CASES = {  # name: shape, kernel, stride, padding
    "64 at 56, 2x2": ((1, 64, 56, 56), 2, 2, 0),
    "64 at 112, 3x3 by 2": ((1, 64, 112, 112), 3, 2, 1),
    "MNIST, 2x2": ((64, 32, 24, 24), 2, 2, 0),
    "3x3 by 1": ((8, 16, 64, 64), 3, 1, 1),
    "4x4": ((1, 1, 4, 4), 2, 2, 0),
}


def rows(threads: int) -> list[Row]:
    import lattis
    import numpy as np
    import torch

    lattis.set_num_threads(threads)
    torch.set_num_threads(threads)
    made = []
    for name, (shape, *window) in CASES.items():
        x = np.random.default_rng(0).standard_normal(shape).astype("float32")
        operands = {"lattis": lattis.tensor(x), "torch": torch.from_numpy(x)}
        functions = {
            "max_pool2d": {"lattis": lattis.max_pool2d, "torch": torch.max_pool2d},
            "avg_pool2d": {"lattis": lattis.ops.aten.avg_pool2d, "torch": torch.nn.functional.avg_pool2d},
        }
        for what, f in functions.items():
            same({p: f[p](operands[p], *window) for p in f})
            statement = "f(x, {}, {}, {})".format(*window)
            samples = measure({p: timer(statement, {"f": f[p], "x": operands[p]}) for p in f})
            label = f"{what}, {name}, {threads} thread{'s' * (threads > 1)}"
            made.append(Row(label, samples, [Bound("torch", 0.15)]))
    return made


def main() -> list[Row]:
    made = rows(1) + rows(2)
    print(table("Pools, float32, plain layout", made), flush=True)
    return made


if __name__ == "__main__":
    main()
