"""Rules that the functions of the standard share: kinds of dtypes, promotion, Python scalars, axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import lamella
from lamella import Tensor
from lamella import dtype as DType

SCALARS = (bool, int, float, complex)
OPERANDS = (Tensor, *SCALARS)

KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (lamella.bool,),
    "signed integer": (lamella.int8, lamella.int16, lamella.int32, lamella.int64),
    "unsigned integer": (lamella.uint8, lamella.uint16, lamella.uint32, lamella.uint64),
    "real floating": (lamella.float32, lamella.float64),
    "complex floating": (lamella.complex64, lamella.complex128),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]

_HALVES = (
    lamella.float16,
    lamella.bfloat16,
)  # functions take them like real floating dtypes, though no standard has them
INTEGER = frozenset(KINDS["integral"])
BOOLEAN = frozenset(KINDS["bool"])
REAL_FLOATING = frozenset(KINDS["real floating"] + _HALVES)
COMPLEX = frozenset(KINDS["complex floating"])
FLOATING = REAL_FLOATING | COMPLEX
REAL = INTEGER | REAL_FLOATING
NUMERIC = REAL | COMPLEX
BITS = BOOLEAN | INTEGER
ANY = BOOLEAN | NUMERIC
# Maps a set of dtypes to its name in messages.
NAMES = {
    INTEGER: "integer",
    BOOLEAN: "bool",
    REAL_FLOATING: "real floating",
    COMPLEX: "complex floating",
    FLOATING: "floating",
    REAL: "real numeric",
    NUMERIC: "numeric",
    BITS: "integer or bool",
    ANY: "the standard's",
}
_SCALARS_OF = {bool: BOOLEAN, int: NUMERIC, float: FLOATING, complex: FLOATING}  # the dtypes that a scalar's type joins


def checked(who: str, allowed: frozenset[DType], x: Any, name: str = "x") -> Tensor:
    """Returns ``x`` if it is a tensor of an allowed dtype.

    Raises:
        TypeError: it is no tensor, or has another dtype
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"{who}: argument '{name}' must be a tensor, got {type(x).__name__}; use asarray first")
    if x.dtype not in allowed:
        raise TypeError(f"{who}: argument '{name}' takes {NAMES[allowed]} dtypes, got {x.dtype}; use astype first")
    return x


def _family(dtype: DType) -> int:
    return 0 if dtype is lamella.bool else 1 if dtype in INTEGER else 2


def promoted_dtype(who: str, first: DType, second: DType) -> DType:
    """Returns the dtype in which two dtypes meet, by the standard's table.

    Raises:
        TypeError: the standard has no entry: the dtypes are of different kinds, or uint64 meets a signed integer
    """
    if first is second:
        return first
    if _family(first) == _family(second):
        try:
            return lamella.promote_types(first, second)
        except RuntimeError:  # uint64 with a signed integer
            pass
    raise TypeError(f"{who}: the standard does not promote {first} with {second}; use astype on one of them")


def scalar_dtype(who: str, scalar: Any, dtype: DType) -> DType:
    """Returns the dtype in which a Python scalar and a tensor of ``dtype`` meet: that of the tensor, except that a
    complex number makes a real floating dtype complex.

    Raises:
        TypeError: the scalar is of a kind above the dtype's, or only one of the two is boolean
    """
    if dtype not in _SCALARS_OF[type(scalar) if type(scalar) in _SCALARS_OF else _base(scalar)]:
        kind = type(scalar).__name__
        raise TypeError(f"{who}: a Python {kind} does not combine with a tensor of dtype {dtype}; use astype first")
    if isinstance(scalar, complex) and dtype not in COMPLEX:
        return lamella.promote_types(dtype, lamella.complex64)
    return dtype


def _base(scalar: Any) -> type:
    return next(kind for kind in SCALARS if isinstance(scalar, kind))  # of a subclass, as numpy.float64 is one


def number(value: Any, dtype: DType, device: Any = None) -> Tensor:
    """Returns a Python scalar as a tensor without dimensions. A float beyond the range of its dtype is infinite.

    Raises:
        RuntimeError: an integer does not fit the dtype
    """
    if isinstance(value, int):
        return lamella.full((), value, dtype=dtype, device=device)
    return lamella.tensor(value, dtype=dtype, device=device)


def _to(x: Tensor, dtype: DType) -> Tensor:
    return x if x.dtype is dtype else x.to(dtype)


def pair(who: str, allowed: frozenset[DType], x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """Returns two operands as tensors of their common dtype. One of them may be a Python scalar.

    A tensor without dimensions counts like any other tensor, in contrast to torch.

    Raises:
        TypeError: neither is a tensor, a dtype is not allowed, or the standard does not promote the two
    """
    first, second = isinstance(x1, Tensor), isinstance(x2, Tensor)
    if first and second:
        dtype = x1.dtype
        if dtype is x2.dtype and dtype in allowed:
            return x1, x2
        checked(who, allowed, x1, "x1"), checked(who, allowed, x2, "x2")
        dtype = promoted_dtype(who, dtype, x2.dtype)
        return x1.to(dtype), x2.to(dtype)
    if first and isinstance(x2, SCALARS):
        dtype = scalar_dtype(who, x2, checked(who, allowed, x1, "x1").dtype)
        return _to(x1, dtype), number(x2, dtype, x1.device)
    if second and isinstance(x1, SCALARS):
        dtype = scalar_dtype(who, x1, checked(who, allowed, x2, "x2").dtype)
        return number(x1, dtype, x2.device), _to(x2, dtype)
    name, wrong = ("x2", x2) if first else ("x1", x1)
    raise TypeError(
        f"{who}: argument '{name}' must be a tensor, or a Python scalar beside a tensor, got {type(wrong).__name__}"
    )


def together(who: str, arrays: Iterable[Tensor]) -> list[Tensor]:
    """Returns tensors converted to the dtype in which they all meet."""
    found = [checked(who, ANY, x, "arrays") for x in arrays]
    if not found:
        raise ValueError(f"{who}: argument 'arrays' is empty; pass at least one tensor")
    dtype = found[0].dtype
    for x in found[1:]:
        dtype = promoted_dtype(who, dtype, x.dtype)
    return [x.to(dtype) for x in found]


def as_tuple(value: Any) -> tuple[int, ...]:
    """Returns one integer, or a sequence of them, as a tuple."""
    return (value,) if hasattr(value, "__index__") else tuple(value)


def axes_of(who: str, axis: int | Iterable[int] | None, ndim: int) -> tuple[int, ...]:
    """Returns axes as distinct numbers from 0 on; None stands for all.

    Raises:
        IndexError: an axis is out of range
        ValueError: an axis is named twice
    """
    if axis is None:
        return tuple(range(ndim))
    given = as_tuple(axis)
    for a in given:
        if not -ndim <= a < ndim:
            raise IndexError(f"{who}: argument 'axis' must be from {-ndim} to {ndim - 1}, got {a}")
    found = tuple(a % ndim for a in given)
    if len(set(found)) < len(found):
        raise ValueError(f"{who}: argument 'axis' names an axis twice: {given}")
    return found


def kept(shape: Iterable[int], axes: Iterable[int]) -> tuple[int, ...]:
    """Returns the shape of a reduction with ``keepdims=True``."""
    return tuple(1 if d in axes else n for d, n in enumerate(shape))


def over_last(f: Callable[[Tensor], Tensor], x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """Reduces several axes by a function that reduces the last one."""
    rest = [d for d in range(x.ndim) if d not in axes]
    length = 1
    for d in axes:
        length *= x.shape[d]
    flat = x.permute([*rest, *axes]).reshape([*(x.shape[d] for d in rest), length])
    made = f(flat)
    return made.reshape(kept(x.shape, axes)) if keepdims else made
