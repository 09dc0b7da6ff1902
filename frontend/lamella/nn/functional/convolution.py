"""Convolutions and transposed convolutions: operators of the catalogue, whose signatures are the functions'."""

from __future__ import annotations

from lamella.nn.functional._operators import op

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]

conv1d, conv2d, conv3d, conv_tbc = op("conv1d"), op("conv2d"), op("conv3d"), op("conv_tbc")
conv_transpose1d, conv_transpose2d = op("conv_transpose1d"), op("conv_transpose2d")
conv_transpose3d = op("conv_transpose3d")
