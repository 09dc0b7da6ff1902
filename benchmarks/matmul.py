"""Products of matrices beside torch and numpy: squares, batches, vectors, and what one call costs."""

from __future__ import annotations

from common import Bound, Row, measure, same, table, timer

PEERS = ("lattis", "torch", "numpy")
CASES = {  # name: shapes of both operands
    **{f"{n}": ((n, n), (n, n)) for n in (64, 128, 256, 512, 1024, 2048)},
    "64x100x10": ((64, 100), (100, 10)),
    "batched 32 of 64": ((32, 64, 64), (32, 64, 64)),
    "batched 8 of 256": ((8, 256, 256), (8, 256, 256)),
    "matrix, vector": ((2048, 2048), (2048,)),
    "vector, matrix": ((2048,), (2048, 2048)),
    "2x2": ((2, 2), (2, 2)),
}


def rows(threads: int) -> list[Row]:
    import lattis
    import numpy as np
    import torch

    lattis.set_num_threads(threads)
    torch.set_num_threads(threads)
    made = []
    for dtype in ("float32", "float64"):
        for name, shapes in CASES.items():
            x, y = (np.random.default_rng(i).standard_normal(s).astype(dtype) for i, s in enumerate(shapes))
            operands = {"lattis": (lattis.tensor(x), lattis.tensor(y)), "numpy": (x, y)}
            operands["torch"] = (torch.from_numpy(x), torch.from_numpy(y))
            if name != "2048":
                same({p: operands[p][0] @ operands[p][1] for p in PEERS})
            samples = measure({p: timer("x @ y", {"x": operands[p][0], "y": operands[p][1]}) for p in PEERS})
            most = 0.15 if name == "2x2" else 1.1
            made.append(Row(f"{name}, {dtype}, {threads} thread{'s' * (threads > 1)}", samples, [Bound("torch", most)]))
    return made


def main() -> list[Row]:
    made = rows(1) + rows(2)
    print(table("Products of matrices", made), flush=True)
    return made


if __name__ == "__main__":
    main()
