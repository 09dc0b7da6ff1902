"""Blocks of a program that say how calls with quantized tensors are computed, or list them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import lamella

from .tensor import number, type_name


class Call(NamedTuple):
    """A call in the list of `trace`: the operator, the way it was computed in, and the scheme of its first argument."""

    operator: str
    way: str
    scheme: str


@contextmanager
def out_scale(scale: Any, zero_point: Any = 0, dtype: Any = None) -> Iterator[None]:
    """Gives a scale to the results of operators within the block, on this thread.

    An operator whose result has the scale of its argument, such as ``relu`` or a view, does not use it.

    Args:
        scale: a positive number, or a tensor of one
        zero_point: the code of 0
        dtype: the numeric type of the results; None is that of the arguments

    Raises:
        ValueError: the scale is not positive and finite, or the zero point is none of the type

    >>> q = lamella.tensor([1.0, 2.0]).quantize_linear(0.5, 0)
    >>> with lamella.quantization.out_scale(0.25, 10):
    ...     q * q
    tensor([1., 4.], opaque, quantized=uint8, scale=0.25, zero_point=10)
    """
    numbers = number("scale", scale, float), number("zero_point", zero_point, int)
    lamella.ops.quantized.begin_out(*numbers, "" if dtype is None else type_name(dtype))
    try:
        yield
    finally:
        lamella.ops.quantized.end_block()


@contextmanager
def strict(on: bool = True) -> Iterator[None]:
    """Within the block, on this thread, a call that would dequantize its arguments is an error.

    >>> q = lamella.tensor([1.0, 2.0]).quantize_linear(0.5, 0)
    >>> with lamella.quantization.strict(), lamella.quantization.out_scale(0.5):
    ...     q.relu().exp()
    Traceback (most recent call last):
    NotImplementedError: exp: strict: the quantized tensors ...
    """
    lamella.ops.quantized.begin_strict(on)
    try:
        yield
    finally:
        lamella.ops.quantized.end_block()


@contextmanager
def trace() -> Iterator[list[Call]]:
    """Lists the calls with quantized tensors within the block, on this thread and those that take over its state.

    The list is filled when the block ends. The way of a call is "native" (computed from integers), "fused" (dequantized
    and quantized again piece by piece) or "composite" (whole arguments are dequantized).

    >>> q = lamella.tensor([1.0, 2.0]).quantize_linear(0.5, 0)
    >>> with lamella.quantization.trace() as calls, lamella.quantization.out_scale(0.5):
    ...     _ = q.relu().exp()
    >>> for call in calls:
    ...     print(*call)
    aten::relu native per_tensor_symmetric, uint8
    aten::exp fused per_tensor_symmetric, uint8
    """
    calls: list[Call] = []
    lamella.ops.quantized.begin_trace()
    try:
        yield calls
    finally:
        found = lamella.ops.quantized.traced()
        calls.extend(Call(*found[i : i + 3]) for i in range(0, len(found), 3))
        lamella.ops.quantized.end_block()
