"""Pixel shuffle and its inverse, as modules."""

from __future__ import annotations

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules.module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Images (..., C r r, H, W) as (..., C, H r, W r), for r the ``upscale_factor``. Names of dimensions stay.

    >>> lamella.nn.PixelShuffle(2)(lamella.arange(4.0).view(1, 4, 1, 1))
    tensor([[[[0., 1.],
              [2., 3.]]]])
    """

    def __init__(self, upscale_factor: int):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Images (..., C, H r, W r) as (..., C r r, H, W), for r the ``downscale_factor``. Names of dimensions stay.

    >>> lamella.nn.PixelUnshuffle(2)(lamella.arange(4.0).view(1, 1, 2, 2)).flatten()
    tensor([0., 1., 2., 3.])
    """

    def __init__(self, downscale_factor: int):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
