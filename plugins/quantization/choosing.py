"""Scales that are chosen by the values to quantize."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import Tensor

from .tensor import quantize_per_channel, quantize_per_group, quantize_per_tensor, type_name

# The least and the greatest code of the integer types.
RANGES = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int4": (-8, 7),
    "uint4": (0, 15),
}
EPSILON = 2.0**-23  # the least scale, as of torch's observers


def range_of(name: str) -> tuple[int, int]:
    """Returns the least and the greatest code of an integer type."""
    if name not in RANGES:
        raise ValueError(f"argument 'dtype': expected one of {', '.join(RANGES)}, got {name!r}")
    return RANGES[name]


def checked_axis(axis: int, x: Tensor) -> int:
    """Returns a dimension counted from the front."""
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"argument 'axis': {axis} is no dimension of a tensor of {x.ndim} dimensions")
    return axis % x.ndim


def number_of(tensor: Tensor) -> float:
    """Returns the element of a tensor of one as a number of Python."""
    found: Any = tensor.item()
    return float(found)


def numbers(scale: Tensor, zero_point: Tensor) -> tuple[float, int]:
    """Returns a scale and a zero point, tensors of one element, as numbers of Python."""
    return number_of(scale), int(number_of(zero_point))


def choose_scales(
    low: Tensor,
    high: Tensor,
    dtype: Any,
    symmetric: bool = False,
    quant_min: int | None = None,
    quant_max: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Chooses scales and zero points for values between ``low`` and ``high``, element by element.

    The range is widened to contain 0, so that 0 has a code. An affine scale is (high - low) / (quant_max - quant_min)
    and its zero point round(quant_min - low / scale), as torch's observers choose them; a symmetric one is
    max(|low|, |high|) / ((quant_max - quant_min) / 2) with the zero point 0, or for unsigned types with the middle.

    Args:
        low: the least values, float32
        high: the greatest values, of the same shape
        dtype: an integer type
        quant_min: the least code in use; by default the type's
        quant_max: the greatest code in use; by default the type's

    Returns:
        scales, float32, and zero points, int32

    Raises:
        ValueError: a bound is NaN or infinite, or ``low`` exceeds ``high``

    >>> lamella.quantization.choose_scales(lamella.tensor(-1.0), lamella.tensor(4.1), lamella.uint8)
    (tensor(0.0200), tensor(50, dtype=lamella.int32))
    """
    least, most = range_of(type_name(dtype))
    least = least if quant_min is None else quant_min
    most = most if quant_max is None else quant_max
    if not (low.isfinite().all() and high.isfinite().all()):
        raise ValueError("argument 'low': the values to quantize have NaN or infinite bounds")
    if (low > high).any():
        raise ValueError("argument 'low': exceeds 'high'")
    low, high = low.float().clamp(max=0.0), high.float().clamp(min=0.0)
    if symmetric:
        scales = (lamella.maximum(-low, high) / (float(most - least) / 2)).clamp(min=EPSILON)
        middle = 0 if least < 0 else (least + most + 1) // 2
        return scales, lamella.full_like(scales, middle, dtype=lamella.int32)
    scales = ((high - low) / float(most - least)).clamp(min=EPSILON)
    zeros = (least - (low / scales).round()).clamp(least, most).to(lamella.int32)
    return scales, zeros


def quantize(
    input: Tensor,
    dtype: Any,
    *,
    axis: int | None = None,
    group_size: int | None = None,
    symmetric: bool = True,
) -> Tensor:
    """Quantizes a tensor with scales that its least and greatest values determine.

    Args:
        input: a floating tensor
        dtype: the numeric type of the codes
        axis: the dimension of which each index gets a scale, or along which ``group_size`` neighbours get one; None is
            one scale for all
        group_size: how many neighbours along ``axis`` (by default the last dimension) share a scale
        symmetric: zero points are 0. Numeric types of packages are always symmetric

    Raises:
        ValueError: the values have NaN or infinities, there are none, or the group size does not divide the dimension
        IndexError: the tensor has no dimension ``axis``

    >>> w = lamella.tensor([[0.7, -0.1], [2.0, 1.0]])
    >>> lamella.quantization.quantize(w, lamella.int8, axis=0).q_per_channel_scales()
    tensor([0.0055, 0.0157])
    """
    name = type_name(dtype)
    x = input.detach()
    if not x.numel():
        raise ValueError(f"argument 'input': has no elements to choose scales by, shape {tuple(x.shape)}")
    if group_size is not None:
        axis = checked_axis(-1 if axis is None else axis, x)
        if not isinstance(group_size, int) or isinstance(group_size, bool) or group_size < 1:
            raise ValueError(f"argument 'group_size': expected an integer of at least 1 or None, got {group_size!r}")
        if x.shape[axis] % group_size:
            raise ValueError(
                f"argument 'group_size': {group_size} does not divide dimension {axis}, of size {x.shape[axis]}; "
                "pad the tensor, or choose another size"
            )
        parts = x.unflatten(axis, (x.shape[axis] // group_size, group_size))
        low, high = parts.amin(axis + 1), parts.amax(axis + 1)
    elif axis is not None:
        axis = checked_axis(axis, x)
        others = [d for d in range(x.ndim) if d != axis]
        low, high = (x.amin(others), x.amax(others)) if others else (x, x)
    else:
        low, high = x.amin(), x.amax()
    if name in RANGES:
        least, most = RANGES[name]
        # A symmetric signed type uses as many codes on both sides, so that no value of -max rounds beyond the range.
        narrow = symmetric and least < 0
        scales, zeros = choose_scales(low, high, name, symmetric, least + 1 if narrow else least, most)
    else:
        if not (low.isfinite().all() and high.isfinite().all()):
            raise ValueError("argument 'input': has NaN or infinities")
        scales = lamella.maximum(-low, high).float() / lamella.ops.quantized.largest(name)
        scales = scales.clamp(min=EPSILON)
        zeros = None
    if group_size is not None:
        return quantize_per_group(x, scales, zeros, group_size, name, -1 if axis is None else axis)
    if axis is not None:
        return quantize_per_channel(x, scales, zeros, axis, name)
    return quantize_per_tensor(x, scales, 0 if zeros is None else zeros, name)
