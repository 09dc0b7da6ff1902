"""The standard's functions of dtypes: conversion, limits, kinds and promotion."""

from __future__ import annotations

from functools import reduce
from typing import Any

import lamella
from lamella import Tensor
from lamella import dtype as DType
from lamella.array_api._rules import COMPLEX, KINDS, SCALARS, promoted_dtype, scalar_dtype


def astype(x: Tensor, dtype: DType, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """Converts a tensor to a dtype.

    Args:
        copy: False returns ``x`` itself if it has the dtype, and is on the device
        device: where the result is to be; None leaves it where ``x`` is

    Raises:
        TypeError: ``x`` is complex, and ``dtype`` is not

    >>> lamella.array_api.astype(lamella.tensor([0, 2]), lamella.bool)
    tensor([False,  True])
    """
    if x.dtype in COMPLEX and dtype not in COMPLEX:
        raise TypeError(f"astype: complex numbers do not become {dtype}; take real(x) or imag(x)")
    return x.to(x.device if device is None else device, dtype, False, copy)


def can_cast(from_: DType | Tensor, to: DType, /) -> bool:
    """Returns whether the dtype ``from_`` meets ``to`` in ``to``, by the standard's table of promotion.

    >>> lamella.array_api.can_cast(lamella.int8, lamella.int16), lamella.array_api.can_cast(lamella.int8, lamella.uint8)
    (True, False)
    """
    try:
        return promoted_dtype("can_cast", from_.dtype if isinstance(from_, Tensor) else from_, to) is to
    except TypeError:
        return False


class finfo:
    """Limits of a floating dtype, or of the parts of a complex one: bits, eps, max, min, smallest_normal, dtype.

    >>> lamella.array_api.finfo(lamella.complex64).dtype
    lamella.float32
    """

    def __init__(self, type: DType | Tensor, /):
        limits = lamella.finfo(type.dtype if isinstance(type, Tensor) else type)
        self.bits, self.eps = limits.bits, limits.eps
        self.max, self.min, self.smallest_normal = limits.max, limits.min, limits.smallest_normal
        self.dtype: DType = getattr(lamella, limits.dtype)  # lamella.finfo has the dtype's name, as torch

    def __repr__(self):
        return f"finfo(bits={self.bits}, eps={self.eps:g}, max={self.max:g}, min={self.min:g}, dtype={self.dtype})"


class iinfo:
    """Limits of an integer dtype: bits, max, min, dtype.

    >>> lamella.array_api.iinfo(lamella.int8).max
    127
    """

    def __init__(self, type: DType | Tensor, /):
        limits = lamella.iinfo(type.dtype if isinstance(type, Tensor) else type)
        self.bits, self.max, self.min = limits.bits, limits.max, limits.min
        self.dtype: DType = getattr(lamella, limits.dtype)

    def __repr__(self):
        return f"iinfo(bits={self.bits}, max={self.max}, min={self.min}, dtype={self.dtype})"


def isdtype(dtype: DType, kind: Any) -> bool:
    """Returns whether a dtype is of a kind.

    Args:
        kind: a dtype; ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``,
            ``"complex floating"`` or ``"numeric"``; or a tuple of dtypes and kinds

    Raises:
        TypeError: ``dtype`` or ``kind`` is something else
        ValueError: there is no such kind

    >>> lamella.array_api.isdtype(lamella.uint8, ("bool", "integral"))
    True
    """
    if not isinstance(dtype, DType):
        raise TypeError(f"isdtype: argument 'dtype' must be a dtype, got {dtype!r}")
    return any(_is_of(dtype, k) for k in (kind if isinstance(kind, tuple) else (kind,)))


def _is_of(dtype: DType, kind: Any) -> bool:
    if isinstance(kind, DType):
        return dtype is kind
    if not isinstance(kind, str):
        raise TypeError(f"isdtype: argument 'kind' must be a dtype, a kind or a tuple of them, got {kind!r}")
    if kind not in KINDS:
        raise ValueError(f"isdtype: argument 'kind': there is no kind {kind!r}; the kinds are {', '.join(KINDS)}")
    return dtype in KINDS[kind] or (kind in ("real floating", "numeric") and dtype.is_floating_point)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Returns the dtype in which tensors, dtypes and Python scalars meet.

    Raises:
        TypeError: the standard does not promote them, or an argument is none of these
        ValueError: there is neither a tensor nor a dtype

    >>> lamella.array_api.result_type(lamella.float32, lamella.complex64, 1)
    lamella.complex64
    """
    scalars, dtypes = [], []
    for o in arrays_and_dtypes:
        if isinstance(o, SCALARS):
            scalars.append(o)
        elif isinstance(o, (Tensor, DType)):
            dtypes.append(o.dtype if isinstance(o, Tensor) else o)
        else:
            raise TypeError(f"result_type: expected tensors, dtypes and Python scalars, got {type(o).__name__}")
    if not dtypes:
        raise ValueError("result_type: at least one argument must be a tensor or a dtype")
    found = reduce(lambda a, b: promoted_dtype("result_type", a, b), dtypes)
    return reduce(lambda d, s: scalar_dtype("result_type", s, d), scalars, found)
