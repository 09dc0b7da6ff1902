"""The tensors that the namespace makes, whose operators follow the standard's rules in place of torch's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import lamella
import lamella.array_api._elementwise as elementwise  # not `from` the package, whose file would run
from lamella import Tensor
from lamella.array_api._rules import BITS, FLOATING, INTEGER, NUMERIC, OPERANDS, REAL, pair


class Count(int):
    """The number of a tensor's elements; a call gives what the method of Tensor gives, since it has the same name."""

    shape: Any

    def __call__(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]


def _forward(key: Any, x: Tensor) -> tuple[Any, list[int]]:
    """Returns a key whose slices all go forward, and the dimensions of the result that are in reverse order."""
    parts = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(p, slice) and p.step is not None and p.step < 0 for p in parts):
        return key, []
    if any(isinstance(p, Tensor) for p in parts):
        raise IndexError("a slice with a negative step does not combine with an index tensor; use flip first")
    rest = x.ndim - sum(p is not None and p is not Ellipsis for p in parts)
    forward, reversed_dims, axis, dim = [], [], 0, 0
    for p in parts:
        if isinstance(p, slice) and p.step is not None and p.step < 0:
            places = range(*p.indices(x.shape[axis]))[::-1]
            p = slice(places.start, places.stop, places.step) if places else slice(0, 0)
            reversed_dims.append(dim)
        forward.append(p)
        axis += rest if p is Ellipsis else p is not None
        dim += rest if p is Ellipsis else p is None or isinstance(p, slice)
    return tuple(forward), reversed_dims


def _no_element(key: Any, x: Tensor) -> bool:
    """Returns whether a key is a mask that is empty along some dimensions, and covers the others."""
    if not isinstance(key, Tensor) or key.dtype is not lamella.bool or 0 not in key.shape or key.ndim > x.ndim:
        return False
    return all(n in (m, 0) for n, m in zip(key.shape, x.shape[: key.ndim], strict=True))


def _operator(function: Callable[[Any, Any], Tensor], reflected: bool = False) -> Callable[[Any, Any], Any]:
    def method(self, other, /):
        if not isinstance(other, OPERANDS):
            return NotImplemented
        return function(other, self) if reflected else function(self, other)

    return method


def _in_place(symbol: str, allowed: frozenset, operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self, other, /):
        if not isinstance(other, OPERANDS):
            return NotImplemented
        first, second = pair(symbol, allowed, self, other)
        if first.dtype is not self.dtype:
            raise TypeError(f"{symbol}: the result has dtype {first.dtype}, and a tensor keeps its dtype, {self.dtype}")
        return operator(self, second)

    return method


def _by_parts(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Makes an operator in place add the parts of complex numbers each, as the functions do."""

    def write(x: Tensor, other: Tensor) -> Tensor:
        if x.dtype.is_complex:
            operator(lamella.view_as_real(x), lamella.view_as_real(other.resolve_conj()))
            return x
        return operator(x, other)

    return write


def _written(function: Callable[[Any, Any], Tensor]) -> Callable[[Any, Any], Any]:
    """An operator in place, of a function whose rules the operator in place of Tensor does not have."""

    def write(x: Tensor, other: Tensor) -> Tensor:
        made = function(x, other)
        if made.shape != x.shape:
            raise ValueError(
                f"the result has shape {tuple(made.shape)}, and a tensor keeps its shape, {tuple(x.shape)}"
            )
        return x.copy_(made)

    return write


class Array(Tensor):
    """A tensor whose operators are the functions of the standard: ``x // y`` is ``floor_divide(x, y)``, and so on.

    Operators of other tensors have torch's rules: a tensor without dimensions has no say in the dtype of ``x + y``, and
    dtypes of different kinds promote. The functions that make tensors return an ``Array``; functions of an ``Array``
    return one, and functions of plain tensors return plain tensors. ``x.as_subclass(Array)`` shares the memory.

    >>> xp = lamella.array_api
    >>> (xp.asarray([1, 2], dtype=xp.int8) + xp.asarray(1, dtype=xp.int16)).dtype
    lamella.int16
    """

    __hash__ = Tensor.__hash__

    @property
    def size(self) -> Count:
        """The number of elements."""
        count = Count(math.prod(self.shape))
        count.shape = self.shape
        return count

    def __getitem__(self, key, /):
        """Returns elements. In contrast to tensors, the step of a slice may be negative, which copies."""
        if _no_element(key, self):
            return self.new_empty((0, *self.shape[key.ndim :])).as_subclass(Array)
        key, dims = _forward(key, self)
        found = super().__getitem__(key)
        return lamella.flip(found, dims) if dims else found

    def __setitem__(self, key, value, /):
        if _no_element(key, self):
            return
        key, dims = _forward(key, self)
        if dims and isinstance(value, Tensor):
            missing = super().__getitem__(key).ndim - value.ndim  # the value broadcasts, so its last dimensions count
            value = lamella.flip(value, [d - missing for d in dims if d >= missing])
        super().__setitem__(key, value)

    __eq__ = _operator(elementwise.equal)
    __ne__ = _operator(elementwise.not_equal)
    __lt__ = _operator(elementwise.less)
    __le__ = _operator(elementwise.less_equal)
    __gt__ = _operator(elementwise.greater)
    __ge__ = _operator(elementwise.greater_equal)

    __add__, __radd__ = _operator(elementwise.add), _operator(elementwise.add, True)
    __sub__, __rsub__ = _operator(elementwise.subtract), _operator(elementwise.subtract, True)
    __mul__, __rmul__ = _operator(elementwise.multiply), _operator(elementwise.multiply, True)
    __truediv__, __rtruediv__ = _operator(elementwise.divide), _operator(elementwise.divide, True)
    __floordiv__, __rfloordiv__ = _operator(elementwise.floor_divide), _operator(elementwise.floor_divide, True)
    __mod__, __rmod__ = _operator(elementwise.remainder), _operator(elementwise.remainder, True)
    __pow__, __rpow__ = _operator(elementwise.pow), _operator(elementwise.pow, True)
    __and__, __rand__ = _operator(elementwise.bitwise_and), _operator(elementwise.bitwise_and, True)
    __or__, __ror__ = _operator(elementwise.bitwise_or), _operator(elementwise.bitwise_or, True)
    __xor__, __rxor__ = _operator(elementwise.bitwise_xor), _operator(elementwise.bitwise_xor, True)
    __lshift__ = _operator(elementwise.bitwise_left_shift)
    __rlshift__ = _operator(elementwise.bitwise_left_shift, True)
    __rshift__ = _operator(elementwise.bitwise_right_shift)
    __rrshift__ = _operator(elementwise.bitwise_right_shift, True)

    __iadd__ = _in_place("+=", NUMERIC, _by_parts(Tensor.__iadd__))
    __isub__ = _in_place("-=", NUMERIC, _by_parts(Tensor.__isub__))
    __imul__ = _in_place("*=", NUMERIC, Tensor.__imul__)
    __itruediv__ = _in_place("/=", FLOATING, Tensor.__itruediv__)
    __ifloordiv__ = _in_place("//=", REAL, _written(elementwise.floor_divide))
    __imod__ = _in_place("%=", REAL, _written(elementwise.remainder))
    __ipow__ = _in_place("**=", NUMERIC, Tensor.__ipow__)
    __iand__ = _in_place("&=", BITS, Tensor.__iand__)
    __ior__ = _in_place("|=", BITS, Tensor.__ior__)
    __ixor__ = _in_place("^=", BITS, Tensor.__ixor__)
    __ilshift__ = _in_place("<<=", INTEGER, Tensor.__ilshift__)
    __irshift__ = _in_place(">>=", INTEGER, Tensor.__irshift__)

    def __matmul__(self, other, /):
        return _matmul(self, other) if isinstance(other, Tensor) else NotImplemented

    def __rmatmul__(self, other, /):
        return _matmul(other, self) if isinstance(other, Tensor) else NotImplemented

    __imatmul__ = _in_place("@=", NUMERIC, _written(lamella.matmul))


Array.__module__ = "lamella.array_api"  # by which pickles find it


def _matmul(x1: Tensor, x2: Tensor) -> Tensor:
    return lamella.matmul(*pair("@", NUMERIC, x1, x2))


def made(x: Tensor) -> Array:
    """Returns a tensor as an ``Array`` over the same memory."""
    return x if type(x) is Array else x.as_subclass(Array)
