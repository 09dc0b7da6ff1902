"""Convolutions beside torch: ResNet-18's layers at batch 1, MNIST's sizes, depthwise and one-tap kernels."""

from __future__ import annotations

from common import Bound, Row, measure, same, table, timer

CASES = {  # name: input, weight, stride, padding, groups
    "stem 7x7": ((1, 3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
    "64 at 56": ((1, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    "64 to 128 at 56": ((1, 64, 56, 56), (128, 64, 3, 3), 2, 1, 1),
    "64 to 128, one tap": ((1, 64, 56, 56), (128, 64, 1, 1), 2, 0, 1),
    "128 at 28": ((1, 128, 28, 28), (128, 128, 3, 3), 1, 1, 1),
    "128 to 256 at 28": ((1, 128, 28, 28), (256, 128, 3, 3), 2, 1, 1),
    "256 at 14": ((1, 256, 14, 14), (256, 256, 3, 3), 1, 1, 1),
    "256 to 512 at 14": ((1, 256, 14, 14), (512, 256, 3, 3), 2, 1, 1),
    "512 at 7": ((1, 512, 7, 7), (512, 512, 3, 3), 1, 1, 1),
    "MNIST 5x5": ((64, 1, 28, 28), (32, 1, 5, 5), 1, 0, 1),
    "MNIST 3x3": ((64, 1, 28, 28), (32, 1, 3, 3), 1, 1, 1),
    "MNIST 32 to 64": ((64, 32, 13, 13), (64, 32, 3, 3), 1, 0, 1),
    "depthwise at 56": ((1, 64, 56, 56), (64, 1, 3, 3), 1, 1, 64),
    "depthwise at 14": ((1, 512, 14, 14), (512, 1, 3, 3), 1, 1, 512),
    "one tap at 56": ((1, 256, 56, 56), (64, 256, 1, 1), 1, 0, 1),
    "one tap at 14": ((1, 512, 14, 14), (256, 512, 1, 1), 1, 0, 1),
    "4x4": ((1, 1, 4, 4), (1, 1, 3, 3), 1, 0, 1),
}


def rows(threads: int) -> list[Row]:
    import lattis
    import numpy as np
    import torch

    lattis.set_num_threads(threads)
    torch.set_num_threads(threads)
    made = []
    for name, (shape, kernel, *more) in CASES.items():
        arrays = [
            np.random.default_rng(i).standard_normal(s).astype("float32")
            for i, s in enumerate((shape, kernel, kernel[:1]))
        ]
        stride, padding, groups = more
        arrays[1] *= np.prod(kernel[1:]) ** -0.5
        calls = {
            "lattis": (lattis.conv2d, [lattis.tensor(a) for a in arrays]),
            "torch": (torch.conv2d, [torch.from_numpy(a) for a in arrays]),
        }
        statement = f"f(x, w, b, {stride}, {padding}, 1, {groups})"
        same({p: f(*a, stride, padding, 1, groups) for p, (f, a) in calls.items()})
        runs = {p: timer(statement, {"f": f, **dict(zip("xwb", a, strict=True))}) for p, (f, a) in calls.items()}
        most = 0.15 if name == "4x4" else 1.15
        label = f"{name}, {threads} thread{'s' * (threads > 1)}"
        made.append(Row(label, measure(runs), [Bound("torch", most)]))
    return made


def main() -> list[Row]:
    made = rows(1) + rows(2)
    print(table("conv2d, float32, plain layout", made), flush=True)
    return made


if __name__ == "__main__":
    main()
