"""Pooling of images beside torch, in plain layout and channels last; for the latter torch has vector loops, too."""

from __future__ import annotations

import sys
from typing import Any

import families

MOST, MOST_LAST = 0.15, 0.6
CASES = {  # each name has shape, kernel, stride, padding
    "64 at 56, 2x2": ((1, 64, 56, 56), 2, 2, 0),
    "64 at 112, 3x3 by 2": ((1, 64, 112, 112), 3, 2, 1),
    "MNIST, 2x2": ((64, 32, 24, 24), 2, 2, 0),
    "3x3 by 1": ((8, 16, 64, 64), 3, 1, 1),
}
TINIES = {"4x4": ((1, 1, 4, 4), 2, 2, 0)}
ADAPTIVE = {"512 at 7 to 1x1": ((1, 512, 7, 7), 1), "64 at 56 to 7x7": ((1, 64, 56, 56), 7)}


def case(name: str, last: bool, shape: tuple[int, ...], ours: Any, theirs: Any, *window: int) -> families.Case:
    import lamella
    import numpy as np
    import torch

    array = np.random.default_rng(0).standard_normal(shape).astype("float32")
    x, y = lamella.tensor(array), torch.from_numpy(array)
    if last:
        x, y = x.contiguous(memory_format=lamella.channels_last), y.contiguous(memory_format=torch.channels_last)
    return families.Case(name, lambda: ours(x, *window), lambda: theirs(y, *window))


def main() -> list[families.Family]:
    import lamella
    import torch

    aten, functional = lamella.ops.aten, torch.nn.functional
    pools = {
        "max_pool2d": (lamella.max_pool2d, torch.max_pool2d),
        "avg_pool2d": (aten.avg_pool2d, functional.avg_pool2d),
    }

    def cases(table: dict[str, Any], last: bool = False) -> list[families.Case]:
        return [
            case(f"{pool}, {name}", last, shape, *peers, *window)
            for name, (shape, *window) in table.items()
            for pool, peers in pools.items()
        ]

    adaptive = aten.adaptive_avg_pool2d, functional.adaptive_avg_pool2d
    return [
        families.run("Pools, float32, plain layout", cases(CASES), MOST, MOST),
        families.run("Pools, float32, channels last", cases(CASES, True), MOST_LAST, MOST_LAST),
        families.run("Pools of 16 elements", cases(TINIES), MOST, MOST),
        families.run(
            "adaptive_avg_pool2d",
            [
                case(f"{name}{', channels last' * last}", last, shape, *adaptive, size)
                for name, (shape, size) in ADAPTIVE.items()
                for last in (False, True)
            ],
            0.7,
            1.15,
        ),
    ]


if __name__ == "__main__":
    sys.exit(not all(f.holds for f in main()))
