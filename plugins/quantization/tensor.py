"""The functions and methods of tensors that make quantized tensors and read them, under torch's names."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import Tensor

# The names of torch's quantized dtypes, which are integers here.
TORCH_DTYPES = {"qint8": "int8", "quint8": "uint8", "qint32": "int32", "quint4x2": "uint4"}


class QScheme:
    """How the scales of a quantized tensor are shared, such as ``lamella.per_tensor_affine``."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"lamella.{self.name}"

    def __reduce__(self) -> Any:
        return qscheme_named, (self.name,)


QSCHEMES = {
    f"per_{part}_{kind}": QScheme(f"per_{part}_{kind}")
    for part in ("tensor", "channel", "group")
    for kind in ("affine", "symmetric")
}


def qscheme_named(name: str) -> QScheme:
    return QSCHEMES[name]


def type_name(dtype: Any) -> str:
    """Returns the name of a numeric type, which may be given as a dtype of Lamella or by its name."""
    name = dtype if isinstance(dtype, str) else str(dtype).rpartition(".")[2]
    return TORCH_DTYPES.get(name, name)


def type_name_in_scripts(dtype: str | lamella.dtype) -> str:
    return dtype if isinstance(dtype, str) else str(dtype).rpartition(".")[2]


# jit.script compiles this function in the place of the other one, which reads a dictionary of Python.
type_name.__script_source__ = type_name_in_scripts  # type: ignore[attr-defined]


def number(name: str, value: Any, kind: type) -> Any:
    """Returns a scale or zero point as a number of Python; tensors of one element count as numbers."""
    if isinstance(value, Tensor):
        if value.numel() != 1:
            raise ValueError(f"argument {name!r}: expected one number, got shape {tuple(value.shape)}")
        value = value.item()
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def quantize_per_tensor(input: Tensor, scale: Any, zero_point: Any, dtype: Any) -> Tensor:
    """Quantizes a tensor with one scale.

    The codes are round(input / scale) + zero_point, within the range of ``dtype``; halves are rounded to even. The
    quotient is rounded to float32; infinities become the ends of the range, and NaN the lower one.

    Args:
        input: a floating tensor of any shape, whose dtype remains that of the quantized tensor's arithmetic
        scale: a positive number, or a tensor of one
        zero_point: the code of 0, an integer within the range of ``dtype``, or a tensor of one
        dtype: of the codes: lamella.int8, uint8, int16 or int32, or the name of a numeric type, such as "int4"

    Raises:
        ValueError: the scale is not positive and finite, or the zero point is out of range
        TypeError: ``input`` is quantized already, or has another dtype

    >>> lamella.quantize_per_tensor(lamella.tensor([-1.0, 0.0, 1.0, 2.0]), 0.1, 10, lamella.uint8)
    tensor([-1.,  0.,  1.,  2.], opaque, quantized=uint8, scale=0.1, zero_point=10)
    """
    return lamella.ops.quantized.quantize_per_tensor(
        input, number("scale", scale, float), number("zero_point", zero_point, int), type_name(dtype)
    )


def quantize_per_tensor_in_scripts(input: Tensor, scale: float, zero_point: int, dtype: str | lamella.dtype) -> Tensor:
    return lamella.ops.quantized.quantize_per_tensor(input, scale, zero_point, type_name(dtype))


quantize_per_tensor.__script_source__ = quantize_per_tensor_in_scripts  # type: ignore[attr-defined]


def quantize_per_channel(input: Tensor, scales: Tensor, zero_points: Tensor | None, axis: int, dtype: Any) -> Tensor:
    """Quantizes a tensor with a scale for each index along a dimension, as `quantize_per_tensor` does with one.

    Args:
        scales: floating, one positive number for each index along ``axis``
        zero_points: integers, of the shape of ``scales``; None is 0
        axis: the dimension that has the scales

    Raises:
        RuntimeError: the shapes of scales or zero points do not fit
        ValueError: a scale is not positive and finite, or a zero point is out of range

    >>> x = lamella.tensor([[-1.0, 0.0], [1.0, 2.0]])
    >>> q = lamella.quantize_per_channel(x, lamella.tensor([0.1, 0.01]), lamella.tensor([10, 0]), 0, lamella.uint8)
    >>> q.int_repr()
    tensor([[  0,  10],
            [100, 200]], dtype=lamella.uint8)
    """
    return lamella.ops.quantized.quantize_per_channel(input, scales, zero_points, axis, type_name(dtype))


def quantize_per_group(
    input: Tensor, scales: Tensor, zero_points: Tensor | None, group_size: int, dtype: Any, axis: int = -1
) -> Tensor:
    """Quantizes a tensor with a scale for each group of neighbours along a dimension.

    Args:
        scales: floating, positive; the shape of ``input``, but along ``axis`` its size divided by ``group_size``
        zero_points: integers, of the shape of ``scales``; None is 0
        group_size: how many neighbours share a scale; it divides the size of the dimension

    Raises:
        ValueError: the group size does not divide the size of the dimension, a scale is not positive and finite, or a
            zero point is out of range
        RuntimeError: the shapes of scales or zero points do not fit

    >>> x = lamella.tensor([[-7.0, 3.5, 0.7, 0.2]])
    >>> q = lamella.quantize_per_group(x, lamella.tensor([[1.0, 0.1]]), None, 2, "int4")
    >>> q.int_repr(), q.nbytes
    (tensor([[-7,  4,  7,  2]], dtype=lamella.int8), 2)
    """
    return lamella.ops.quantized.quantize_per_group(input, scales, zero_points, group_size, axis, type_name(dtype))


def dequantize(input: Tensor) -> Tensor:
    """Returns the values of a quantized tensor as a plain one: (code - zero point) * scale, computed in float32.

    Raises:
        RuntimeError: the tensor is not quantized

    >>> lamella.dequantize(lamella.quantize_per_tensor(lamella.tensor([0.3]), 0.25, 0, lamella.int8))
    tensor([0.2500])
    """
    return lamella.ops.quantized.dequantize(input)


def int_repr(input: Tensor) -> Tensor:
    """Returns a copy of the codes of a quantized tensor: integers of its shape. Those of four bits are int8 or uint8.

    Raises:
        RuntimeError: the tensor is not quantized
    """
    return lamella.ops.quantized.int_repr(input)


def quantize_linear(self: Tensor, scale: Any, zero_point: Any, dtype: Any = lamella.uint8) -> Tensor:
    """Quantizes a tensor with one scale: `quantize_per_tensor`, to uint8 by default.

    >>> y = lamella.tensor([-1.0, 2.0]).quantize_linear(0.5, 2)
    >>> y.int_repr(), y.q_scale(), y.q_zero_point()
    (tensor([0, 6], dtype=lamella.uint8), 0.5, 2)
    """
    return quantize_per_tensor(self, scale, zero_point, dtype)


def described(name: str, tensor: Tensor) -> dict[str, Any]:
    found = tensor._quantization
    if found is None:
        raise RuntimeError(f"{name}: the tensor is not quantized")
    return found


def with_one_scale(name: str, tensor: Tensor) -> dict[str, Any]:
    found = described(name, tensor)
    if isinstance(found["scale"], Tensor):
        raise RuntimeError(f"{name}: the tensor has scales by channel or group ({found['kind']}); see q_scales()")
    return found


def q_scale(self: Tensor) -> float:
    """Returns the scale of a tensor that is quantized with one."""
    return with_one_scale("q_scale", self)["scale"]


def q_zero_point(self: Tensor) -> int:
    """Returns the zero point of a tensor that is quantized with one scale."""
    return with_one_scale("q_zero_point", self)["zero_point"]


def by_channel(name: str, tensor: Tensor) -> dict[str, Any]:
    found = described(name, tensor)
    if "channel" not in found["kind"]:
        raise RuntimeError(f"{name}: the tensor has no scales by channel ({found['kind']})")
    return found


def q_per_channel_scales(self: Tensor) -> Tensor:
    """Returns the scales, float32, of a tensor that is quantized by channel."""
    return by_channel("q_per_channel_scales", self)["scale"].clone()


def q_per_channel_zero_points(self: Tensor) -> Tensor:
    """Returns the zero points, int32, of a tensor that is quantized by channel."""
    found = by_channel("q_per_channel_zero_points", self)
    zeros = found["zero_point"]
    return lamella.zeros_like(found["scale"], dtype=lamella.int32) if zeros is None else zeros.clone()


def q_per_channel_axis(self: Tensor) -> int:
    """Returns the dimension of which each index has a scale.

    Raises:
        RuntimeError: the tensor is not quantized by channel, or is a view whose channels are no dimension
    """
    axis = by_channel("q_per_channel_axis", self)["axis"]
    if axis < 0:
        raise RuntimeError("q_per_channel_axis: in this view the channels are not a dimension")
    return axis


def qscheme(self: Tensor) -> QScheme:
    """Returns how the scales are shared, such as ``lamella.per_tensor_affine``. One whose zero points are all 0 is
    symmetric."""
    return QSCHEMES[described("qscheme", self)["kind"]]


def note(tensor: Tensor) -> str | None:
    """Returns the note of a tensor's printed form."""
    found = tensor._quantization
    if found is None:
        return None
    if not isinstance(found["scale"], Tensor):
        return f"quantized={found['type']}, scale={found['scale']:.6g}, zero_point={found['zero_point']}"
    if "group" in found["kind"]:
        return f"quantized={found['type']}, scales for groups of {found['inner']}"
    scales = len(found["scale"])
    return f"quantized={found['type']}, {scales} scales" + (f" along {found['axis']}" if found["axis"] >= 0 else "")


def is_quantized(self: Tensor) -> bool:
    """Whether the tensor is quantized."""
    return self._quantization is not None


functions = {
    "quantize_per_tensor": quantize_per_tensor,
    "quantize_per_channel": quantize_per_channel,
    "quantize_per_group": quantize_per_group,
    "dequantize": dequantize,
    "int_repr": int_repr,
    **QSCHEMES,
    **{name: getattr(lamella, of) for name, of in TORCH_DTYPES.items() if hasattr(lamella, of)},
}
methods = {
    "quantize_linear": quantize_linear,
    "dequantize": dequantize,
    "int_repr": int_repr,
    "q_scale": q_scale,
    "q_zero_point": q_zero_point,
    "q_per_channel_scales": q_per_channel_scales,
    "q_per_channel_zero_points": q_per_channel_zero_points,
    "q_per_channel_axis": q_per_channel_axis,
    "qscheme": qscheme,
    "is_quantized": property(is_quantized),
}
