"""Interpolation: images at another size."""

from __future__ import annotations

import math
import warnings
from typing import Any

from lamella.nn.functional._operators import op
from lamella.nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

# The operators by mode and number of dimensions. The operators of the second table take `align_corners`.
_PICKING: dict[str, dict[int, Any]] = {
    "nearest": {n + 2: op(f"upsample_nearest{n}d") for n in (1, 2, 3)},
    "nearest-exact": {n + 2: op(f"_upsample_nearest_exact{n}d") for n in (1, 2, 3)},
}
_MIXING: dict[str, dict[int, Any]] = {
    "linear": {3: op("upsample_linear1d")},
    "bilinear": {4: op("upsample_bilinear2d")},
    "trilinear": {5: op("upsample_trilinear3d")},
    "bicubic": {4: op("upsample_bicubic2d")},
}
_SMOOTH = {name: op(f"_upsample_{name}2d_aa") for name in ("bilinear", "bicubic", "lanczos")}
_MODES = (*_PICKING, "area", *_MIXING, "lanczos")


def _each(name: str, given: Any, axes: int) -> list[Any]:
    """Returns one number for each axis."""
    if not isinstance(given, (list, tuple)):
        return [given] * axes
    if len(given) != axes:
        raise ValueError(
            f"interpolate: argument '{name}': expected one number or {axes}, as the input has {axes} spatial "
            f"dimensions, got {given!r}"
        )
    return list(given)


def _sizes(input: Any, size: Any, scale_factor: Any, recompute: Any) -> tuple[list[int], list[Any]]:
    """Returns the sizes of the result, and the scales for its coordinates. None as a scale means the quotient of the
    sizes."""
    axes = input.dim() - 2
    if (size is None) == (scale_factor is None):
        both = "only one of size or scale_factor should be defined"
        raise ValueError(f"interpolate: {'either size or scale_factor should be defined' if size is None else both}")
    if size is not None:
        if recompute:
            raise ValueError("interpolate: recompute_scale_factor is not meaningful with an explicit size")
        sizes = _each("size", size, axes)
        if any(isinstance(n, float) or not hasattr(n, "__index__") for n in sizes):
            raise TypeError(f"interpolate: argument 'size': expected whole numbers, got {size!r}")
        return [int(n) for n in sizes], [None] * axes
    scales = [float(s) for s in _each("scale_factor", scale_factor, axes)]
    if not all(0 < s < math.inf for s in scales):
        raise ValueError(f"interpolate: argument 'scale_factor': expected finite numbers above 0, got {scale_factor!r}")
    sizes = [int(n * s) for n, s in zip(input.shape[2:], scales, strict=True)]
    return sizes, [None] * axes if recompute else scales


def _area(input: Any, sizes: list[int]) -> Any:
    """Returns the mean of the input over the area of each element of the result."""
    if input.dim() == 3:
        return adaptive_avg_pool1d(input, sizes)
    if input.dim() == 4:
        return adaptive_avg_pool2d(input, sizes)
    # Depth first, then the other two axes: the mean over a box is the mean of the means over its slices.
    n, c, d, h, w = input.shape
    slices = adaptive_avg_pool2d(input.reshape(n, c, d, h * w), (sizes[0], h * w))
    planes = adaptive_avg_pool2d(slices.reshape(n, c * sizes[0], h, w), sizes[1:])
    return planes.reshape(n, c, *sizes)


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Resizes an image (N, C, ...) with one to three axes.

    Args:
        size: the new sizes, or one for all axes
        scale_factor: instead of a size, the quotient of new and old size, for each axis or for all; sizes are rounded
            down
        mode: "nearest" or "nearest-exact" (nearest to the centre of each element of the result), "linear" (of 3
            dimensions), "bilinear" and "bicubic" (of 4), "trilinear" (of 5), "area" (the mean over the area of each
            element of the result), or "lanczos" (of 4, with ``antialias``)
        align_corners: the centres of the outer elements of input and result coincide; otherwise their outer edges do
        recompute_scale_factor: coordinates are computed from the sizes, after ``scale_factor`` was rounded to them
        antialias: where the result is smaller, an element depends on all that it covers ("bilinear", "bicubic" and
            "lanczos" only)

    Raises:
        ValueError: the arguments do not fit each other
        NotImplementedError: ``mode`` is unknown, or does not go with the dimensions

    >>> F, x = lamella.nn.functional, lamella.tensor([[[1.0, 3.0]]])
    >>> F.interpolate(x, scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    >>> F.interpolate(x, size=3, mode="linear", align_corners=True)
    tensor([[[1., 2., 3.]]])
    """
    picking = mode in _PICKING or mode == "area"
    if picking and align_corners is not None:
        raise ValueError(
            "interpolate: align_corners option can only be set with the interpolating modes: linear | bilinear | "
            f"bicubic | trilinear; got mode={mode!r}, so leave it None"
        )
    dims = input.dim()
    sizes, scales = _sizes(input, size, scale_factor, recompute_scale_factor or mode == "area" and size is None)
    if antialias and not (mode in _SMOOTH and dims == 4):
        raise ValueError(
            "interpolate: argument 'antialias' is restricted to the modes bilinear, bicubic and lanczos of a 4-D "
            f"input, got mode={mode!r} and a {dims}-D input"
        )
    if mode == "area" and 3 <= dims <= 5:
        return _area(input, sizes)
    if mode in _PICKING and dims in _PICKING[mode]:
        return _PICKING[mode][dims](input, sizes, *scales)
    if mode == "lanczos" and dims == 4:
        if align_corners:
            raise ValueError("interpolate: Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("interpolate: Lanczos mode requires antialias=True")
    if antialias:
        return _SMOOTH[mode](input, sizes, bool(align_corners), *scales)
    if dims in _MIXING.get(mode, {}):
        return _MIXING[mode][dims](input, sizes, bool(align_corners), *scales)
    if mode in _MIXING and 3 <= dims <= 5:
        wanted = next(iter(_MIXING[mode]))
        raise NotImplementedError(f"interpolate: Got {dims}D input, but {mode} mode needs {wanted}D input")
    raise NotImplementedError(
        f"interpolate: only 3D, 4D and 5D inputs are supported (got {dims}D) for the modes {' | '.join(_MODES)} "
        f"(got {mode!r})"
    )


def _old(name: str) -> None:
    warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """``interpolate``, under its old name.

    >>> lamella.nn.functional.upsample(lamella.tensor([[[1.0, 3.0]]]), scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    """
    _old("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """``interpolate`` with mode "nearest".

    >>> lamella.nn.functional.upsample_nearest(lamella.tensor([[[1.0, 3.0]]]), size=3)
    tensor([[[1., 1., 3.]]])
    """
    _old("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """``interpolate`` with mode "bilinear" and aligned corners.

    >>> lamella.nn.functional.upsample_bilinear(lamella.tensor([[[[1.0, 3.0]]]]), size=(1, 3))
    tensor([[[[1., 2., 3.]]]])
    """
    _old("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
