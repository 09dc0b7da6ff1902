"""Convolutions beside torch, in plain layout and channels last: ResNet-18's layers at batch 1, MNIST's sizes, depthwise
and one-tap kernels."""

from __future__ import annotations

import sys
from typing import Any

import families

MEAN, WORST, TINY = 0.9, 1.15, 0.15
CASES = {  # each name has input, weight, stride, padding, groups
    "stem 7x7": ((1, 3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
    "64 at 56": ((1, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    "64 to 128 at 56": ((1, 64, 56, 56), (128, 64, 3, 3), 2, 1, 1),
    "64 to 128, one tap": ((1, 64, 56, 56), (128, 64, 1, 1), 2, 0, 1),
    "128 at 28": ((1, 128, 28, 28), (128, 128, 3, 3), 1, 1, 1),
    "128 to 256 at 28": ((1, 128, 28, 28), (256, 128, 3, 3), 2, 1, 1),
    "128 to 256, one tap": ((1, 128, 28, 28), (256, 128, 1, 1), 2, 0, 1),
    "256 at 14": ((1, 256, 14, 14), (256, 256, 3, 3), 1, 1, 1),
    "256 to 512 at 14": ((1, 256, 14, 14), (512, 256, 3, 3), 2, 1, 1),
    "256 to 512, one tap": ((1, 256, 14, 14), (512, 256, 1, 1), 2, 0, 1),
    "512 at 7": ((1, 512, 7, 7), (512, 512, 3, 3), 1, 1, 1),
    "MNIST 5x5": ((64, 1, 28, 28), (32, 1, 5, 5), 1, 0, 1),
    "MNIST 3x3": ((64, 1, 28, 28), (32, 1, 3, 3), 1, 1, 1),
    "MNIST 32 to 64": ((64, 32, 13, 13), (64, 32, 3, 3), 1, 0, 1),
    "depthwise at 56": ((1, 64, 56, 56), (64, 1, 3, 3), 1, 1, 64),
    "depthwise at 14": ((1, 512, 14, 14), (512, 1, 3, 3), 1, 1, 512),
    "one tap at 56": ((1, 256, 56, 56), (64, 256, 1, 1), 1, 0, 1),
    "one tap at 14": ((1, 512, 14, 14), (256, 512, 1, 1), 1, 0, 1),
}
TINIES = {"4x4": ((1, 1, 4, 4), (1, 1, 3, 3), 1, 0, 1)}


def case(name: str, last: bool, shape: tuple[int, ...], kernel: tuple[int, ...], *rest: int) -> families.Case:
    import lamella
    import numpy as np
    import torch

    sizes = shape, kernel, kernel[:1]
    arrays = [np.random.default_rng(i).standard_normal(s).astype("float32") for i, s in enumerate(sizes)]
    arrays[1] *= np.prod(kernel[1:]) ** -0.5
    stride, padding, groups = rest

    def call(convolve: Any, operands: list[Any]) -> families.Call:
        x, w, b = operands
        return lambda: convolve(x, w, b, stride, padding, 1, groups)

    ours, theirs = [lamella.tensor(a) for a in arrays], [torch.from_numpy(a) for a in arrays]
    if last:  # channels last, for image and weight
        ours[:2] = [t.contiguous(memory_format=lamella.channels_last) for t in ours[:2]]
        theirs[:2] = [t.contiguous(memory_format=torch.channels_last) for t in theirs[:2]]
    return families.Case(name, call(lamella.conv2d, ours), call(torch.conv2d, theirs))


def main() -> list[families.Family]:
    def cases(table: dict[str, Any], last: bool = False) -> list[families.Case]:
        return [case(name, last, *arguments) for name, arguments in table.items()]

    return [
        families.run("conv2d, float32, plain layout", cases(CASES), MEAN, WORST),
        families.run("conv2d, float32, channels last", cases(CASES, True), MEAN, WORST),
        families.run("conv2d, 16 elements", cases(TINIES), TINY, TINY),
    ]


if __name__ == "__main__":
    sys.exit(not all(f.holds for f in main()))
