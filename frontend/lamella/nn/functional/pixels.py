"""Shuffles of channels and pixels, and samples of images at the points of a grid."""

from __future__ import annotations

import warnings
from typing import Any

from lamella.nn.functional._operators import op

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "grid_sample",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
]

# Functions of this module that are the operators themselves, whose arguments are those of torch's functions.
pixel_shuffle, pixel_unshuffle = op("pixel_shuffle"), op("pixel_unshuffle")
channel_shuffle, native_channel_shuffle = op("channel_shuffle"), op("native_channel_shuffle")

_grid_sampler, _affine_grid = op("grid_sampler"), op("affine_grid_generator")
_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def _chosen(name: str, given: Any, known: tuple[str, ...]) -> int:
    if given not in known:
        raise ValueError(f"grid_sample: argument '{name}': expected {' or '.join(map(repr, known))}, got {given!r}")
    return known.index(given)


def _aligned(who: str, align_corners: bool | None) -> bool:
    """Returns ``align_corners``; if it is None, warns as torch does and returns False."""
    if align_corners is None:
        warnings.warn(
            f"{who}: Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
            "Please specify align_corners=True if the old behavior is desired.",
            stacklevel=3,
        )
    return bool(align_corners)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """An image (N, C, H, W), or volume, sampled at the points (x, y) of a grid (N, h, w, 2), or (x, y, z).

    The image covers -1 to 1. With ``align_corners`` these are the centres of its outer pixels, else their outer edges.

    Args:
        mode: "bilinear", "nearest" or, of images, "bicubic"
        padding_mode: the values outside of the image: "zeros", its "border", or its "reflection"

    Raises:
        ValueError: an unknown mode
        RuntimeError: the shapes or dtypes do not fit each other

    >>> image = lamella.arange(4.0).view(1, 1, 2, 2)
    >>> grid = lamella.tensor([[[[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]]]])
    >>> lamella.nn.functional.grid_sample(image, grid, align_corners=True)
    tensor([[[[1.5000, 3.0000, 0.0000]]]])
    """
    numbers = _chosen("mode", mode, _MODES), _chosen("padding_mode", padding_mode, _PADDINGS)
    return _grid_sampler(input, grid, *numbers, _aligned("grid_sample", align_corners))


def affine_grid(theta, size, align_corners=None):
    """The grid (N, H, W, 2) that samples images of ``size`` (N, C, H, W) under affine maps (N, 2, 3); likewise for
    volumes.

    Raises:
        ValueError: the shapes do not fit each other, a size is not positive, or ``theta`` is not floating
        NotImplementedError: ``size`` has not 4 or 5 numbers

    >>> turned = lamella.tensor([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]])
    >>> lamella.nn.functional.affine_grid(turned, (1, 1, 2, 1), align_corners=True)
    tensor([[[[ 1.,  0.]],
    <BLANKLINE>
             [[-1.,  0.]]]])
    """
    align_corners = _aligned("affine_grid", align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"affine_grid: argument 'theta': expected a floating dtype, got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            f"affine_grid: argument 'size': expected 4 numbers for images or 5 for volumes, got {tuple(size)}"
        )
    axes = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (axes, axes + 1):
        raise ValueError(
            f"affine_grid: argument 'theta': expected a batch of maps (N, {axes}, {axes + 1}) for size {tuple(size)}, "
            f"got {tuple(theta.shape)}"
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "affine_grid: a size of 1 with align_corners=True is one place in the middle; this is not an intended use",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"affine_grid: argument 'size': expected positive sizes, got {tuple(size)}")
    return _affine_grid(theta, size, align_corners)
