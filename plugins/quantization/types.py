"""Numeric types: what a package brings to add one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor
from lamella.library import Library

from .tensor import described

NUMBER = itertools.count()  # a type of the name of a withdrawn one has operators of its own


class NumericType:
    """A numeric type that `register_type` has made. ``close()`` withdraws it; tensors of the type stay readable."""

    def __init__(self, name: str, library: Library):
        self.name, self._library = name, library

    def __repr__(self) -> str:
        return f"NumericType({self.name!r})"

    def close(self) -> None:
        """Withdraws the type: no new tensors of it can be made or loaded."""
        lamella.ops.quantized.remove_type(self.name)  # its operators stay, for the tensors that there are


def type_names() -> list[str]:
    """Returns the names of the numeric types that tensors can be quantized to.

    >>> lamella.quantization.type_names()[:6]
    ['int8', 'uint8', 'int16', 'int32', 'int4', 'uint4']
    """
    return list(lamella.ops.quantized.type_names())


def signature(operator: str) -> str:
    """Returns an operator's schema without its name."""
    found = lamella.library.describe(operator)
    parts = [f"{a.type} {a.name}" for a in found.arguments if not a.keyword_only]
    keywords = [f"{a.type} {a.name}" for a in found.arguments if a.keyword_only]
    return f"({', '.join(parts + (['*', *keywords] if keywords else []))}) -> {', '.join(found.returns)}"


def register_type(
    name: str,
    *,
    bits: int,
    largest: float,
    encode: Callable[[Tensor], Tensor],
    decode: Callable[[Tensor], Tensor],
    kernels: dict[str, Callable[..., Any]] | None = None,
) -> NumericType:
    """Adds a numeric type, so that tensors can be quantized to it with one scale, or by channel or group.

    A value is ``decode(code) * scale``. Lamella packs codes of four bits, keeps the scales, and gives views, copies,
    files, printing and gradients through products to tensors of the type. An operator without a kernel of the type's
    own computes on the values, where it does so for integers.

    Args:
        name: of the type, which ``dtype=`` of the quantizing functions takes
        bits: of a code, 4 or 8
        largest: the greatest number at scale 1, by which scales are chosen
        encode: gets float32 numbers of one dimension at scale 1 and returns the codes, uint8; numbers beyond
            ``largest`` saturate
        decode: gets codes, uint8 of one dimension, and returns their numbers at scale 1, float32
        kernels: functions that serve an operator, such as "aten::linear", for arguments of this type; each gets the
            operator's arguments as they are, and reads codes by `memory` and scales by `scheme`

    Raises:
        RuntimeError: there is a numeric type of that name already
        ValueError: ``bits`` is neither 4 nor 8, or ``largest`` is not positive

    >>> signs = lamella.quantization.register_type(
    ...     "signs", bits=4, largest=1.0, encode=lambda x: (x > 0).to(lamella.uint8), decode=lambda c: c.float() * 2 - 1
    ... )
    >>> lamella.quantize_per_tensor(lamella.tensor([-0.3, 5.0]), 0.5, 0, "signs")
    tensor([-0.5000,  0.5000], opaque, quantized=signs, scale=0.5, zero_point=0)
    >>> signs.close()
    """
    if name in type_names():
        raise RuntimeError(f"register_type: there is a numeric type {name!r} already")
    namespace = f"numeric_type_{name}_{next(NUMBER)}"
    library = Library(namespace, "DEF")
    try:
        for own, function in (("encode", encode), ("decode", decode)):
            library.define(f"{own}(Tensor x) -> Tensor")
            library.impl(own, function, "CompositeImplicitAutograd")
        served = {}
        for operator, function in (kernels or {}).items():
            own = "kernel_" + operator.rpartition("::")[2].replace(".", "_")
            library.define(own + signature(operator))
            library.impl(own, function, "CompositeImplicitAutograd")
            served[operator] = f"{namespace}::{own}"
        lamella.ops.quantized.register_type(name, bits, largest, f"{namespace}::encode", f"{namespace}::decode", served)
    except BaseException:
        library.close()
        raise
    return NumericType(name, library)


def memory(tensor: Tensor) -> Tensor:
    """Returns the memory of a quantized tensor's codes, for kernels: one dimension, not a copy.

    The codes of four bits lie two a byte, the first in the low half. ``tensor``'s elements are those at its strides and
    its storage offset, which count codes.

    Raises:
        RuntimeError: the tensor is not quantized
    """
    return lamella.ops.quantized.memory(tensor)


def scheme(tensor: Tensor) -> dict[str, Any]:
    """Returns what a quantized tensor's codes mean, for kernels and for printing.

    The keys are ``type``, ``kind`` ("per_tensor_affine", …), ``scale`` and ``zero_point`` (numbers, or tensors of one
    dimension; None where all zero points are 0), ``axis`` (the dimension that has the scales, or -1), ``inner`` and
    ``first`` (code k of the memory has scale (first + k) // inner % len(scale)), ``quant_min`` and ``quant_max``.

    Raises:
        RuntimeError: the tensor is not quantized

    >>> q = lamella.quantize_per_tensor(lamella.ones(2), 0.5, 0, lamella.int8)
    >>> lamella.quantization.scheme(q)["kind"], lamella.quantization.scheme(q)["scale"]
    ('per_tensor_symmetric', 0.5)
    """
    return described("scheme", tensor)
