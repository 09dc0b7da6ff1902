"""Functions over elements that no schema describes: a comparison, unique elements, indices, Python callables."""

from __future__ import annotations

import operator
from typing import Any

from lamella import _C
from lamella._C import Tensor
from lamella._devices import host

_unique2 = _C._packet("aten::_unique2")
_unique_dim = _C._packet("aten::unique_dim")
_unique_consecutive = _C._packet("aten::_unique_consecutive")
_nonzero = _C._packet("aten::nonzero")
_tensordot = _C._packet("aten::tensordot")
_einsum = _C._packet("aten::einsum")
_polygamma = _C._packet("aten::polygamma")


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Returns whether ``|input - other| <= atol + rtol * |other|`` everywhere. Equal infinities are close.

    Raises:
        RuntimeError: the dtypes differ, the shapes do not broadcast, or a tolerance is negative

    >>> lamella.allclose(lamella.tensor([1.0]), lamella.tensor([1.000001]))
    True
    """
    for name, t in (("input", input), ("other", other)):
        if not isinstance(t, Tensor):
            raise TypeError(f"allclose: argument '{name}' must be Tensor, got {type(t).__name__}")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"allclose: dtypes {input.dtype} and {other.dtype} differ; convert one with .to(...)")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"allclose: argument '{name}' must not be negative, got {tolerance}")
    close = input == other
    if equal_nan:
        close = close.logical_or((input != input).logical_and(other != other))
    if not (input.is_floating_point() or input.is_complex()):
        input, other = input.to(_C.float64), other.to(_C.float64)
    difference = (input - other).abs()
    within = (difference <= atol + rtol * other.abs()).logical_and(difference < float("inf"))
    return int(close.logical_or(within).logical_not().sum()) == 0


def isreal(input):
    """Returns a bool tensor: True for each element whose imaginary part is 0.

    >>> lamella.isreal(lamella.tensor([1.0, 1j]))
    tensor([ True, False])
    """
    if input.is_complex():
        return input.imag == 0
    return _C._packet("aten::ones_like")(input, dtype=_C.bool)


def _asked(results, *asked):
    """Returns the first result and each later one whose flag in ``asked`` is set; the first alone if no flag is."""
    kept = tuple(r for r, wanted in zip(results, (True, *asked), strict=True) if wanted)
    return kept if len(kept) > 1 else kept[0]


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim=None):
    """Returns the unique elements, or unique slices along ``dim``, in ascending order.

    ``return_inverse`` adds the index of each input element in the result, and ``return_counts`` how often each occurs.
    Slices are ordered by their first elements, then by their second, and so on. Each NaN is unique.

    >>> lamella.unique(lamella.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    >>> lamella.unique(lamella.tensor([[1, 2], [0, 3], [1, 2]]), dim=0)
    tensor([[0, 3],
            [1, 2]])
    """
    if dim is None:
        return _asked(_unique2(input, sorted, return_inverse, return_counts), return_inverse, return_counts)
    return _asked(_unique_dim(input, dim, sorted, return_inverse, return_counts), return_inverse, return_counts)


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim=None):
    """Returns one element of each run of equal elements, or one slice of each run of equal slices along ``dim``.

    ``return_inverse`` adds the index of each element's run, and ``return_counts`` the lengths of the runs.

    >>> lamella.unique_consecutive(lamella.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    return _asked(_unique_consecutive(input, return_inverse, return_counts, dim), return_inverse, return_counts)


def nonzero(input: Tensor, *, as_tuple: bool = False, **out):
    """Returns the indices of nonzero elements: a row for each element, or with ``as_tuple`` one vector a dimension.

    >>> lamella.nonzero(lamella.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
    >>> lamella.nonzero(lamella.tensor([0, 1, 2]), as_tuple=True)
    (tensor([1, 2]),)
    """
    return _nonzero(input, as_tuple=True, **out) if as_tuple else _nonzero(input, **out)


def _numbers(t, dims):
    """Returns the dimensions of a tensor with numbers in place of names."""
    return [_C._resolve_dim("tensordot: argument 'dims'", t, d) if isinstance(d, str) else d for d in dims]


def tensordot(a: Tensor, b: Tensor, dims=2, out=None):
    """Sums products of elements over pairs of dimensions, one of ``a`` and one of ``b``.

    Args:
        dims: the number of dimensions, the last of ``a`` and the first of ``b``; or two lists, the dimensions of ``a``
            and those of ``b``, by number or by name; or a tensor with the lists as rows

    Raises:
        RuntimeError: the sizes of two paired dimensions differ, or the lengths of the lists do

    >>> lamella.tensordot(lamella.ones(2, 3, 4), lamella.ones(3, 4), 2)
    tensor([12., 12.])
    >>> lamella.tensordot(lamella.ones(2, 3), lamella.ones(4, 3), dims=([1], [1])).shape
    lamella.Size([2, 4])
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, str):
        raise TypeError(f"tensordot: argument 'dims' must be a number or two lists, got the str {dims!r}")
    for name, t in (("a", a), ("b", b)):
        if not isinstance(t, Tensor):
            raise TypeError(f"tensordot: argument '{name}' must be Tensor, got {type(t).__name__}")
    if isinstance(dims, (tuple, list)):
        if len(dims) != 2:
            raise RuntimeError(f"tensordot: argument 'dims' must be a number or two lists, got {dims!r}")
        left, right = ([d] if hasattr(d, "__index__") or isinstance(d, str) else list(d) for d in dims)
        made = _tensordot(a, b, _numbers(a, left), _numbers(b, right))
    else:
        made = _tensordot(a, b, dims)
    return made if out is None else out.resize_(made.shape).copy_(made)


def _labels(sublist) -> str:
    """Returns a list of numbers and ``...`` as a part of an equation: 0 to 25 are A to Z, 26 to 51 are a to z."""
    letters = ""
    for label in sublist:
        if label is Ellipsis:
            letters += "..."
        elif not hasattr(label, "__index__"):
            raise TypeError(f"einsum: a list of labels must hold ints and '...', got {type(label).__name__}")
        elif 0 <= (number := operator.index(label)) < 52:
            letters += chr(number + (ord("A") if number < 26 else ord("a") - 26))
        else:
            raise ValueError(f"einsum: a label must be from 0 to 51, got {number}")
    return letters


def einsum(*args, **keywords) -> Tensor:
    """Sums products by an equation: letters label dimensions, ',' parts operands, what the output after '->' lacks is
    summed.

    Without '->', the output has the labels that occur once, in alphabetical order; '...' stands for dimensions that
    broadcast. In place of the equation each operand may have its labels behind it, a list of ints from 0 to 51 and
    ``...``, with the output's list at the end.

    Raises:
        RuntimeError: the equation is no equation, or does not fit the shapes
        TypeError: an operand or its list of labels is something else
        ValueError: a label is not from 0 to 51, or the last operand has no list

    >>> a, b = lamella.tensor([[1, 2], [3, 4]]), lamella.tensor([1, 10])
    >>> lamella.einsum("ij,j->i", a, b)
    tensor([21, 43])
    >>> lamella.einsum(a, [0, 1], b, [1], [0])
    tensor([21, 43])
    """
    if not args or not isinstance(args[0], Tensor):
        return _einsum(*args, **keywords)
    operands, lists = args[0 : len(args) // 2 * 2 : 2], args[1::2]
    for i, (operand, sublist) in enumerate(zip(operands, lists, strict=True)):
        if not isinstance(operand, Tensor) or isinstance(sublist, Tensor) or not hasattr(sublist, "__iter__"):
            what = f"{type(operand).__name__} and {type(sublist).__name__}"
            raise TypeError(f"einsum: expected operand {i} and its list of labels, got {what}")
    if len(args) == 1 or isinstance(args[-1], Tensor):
        raise ValueError("einsum: the last operand has no list of labels; pass it behind the operand")
    equation = ",".join(map(_labels, lists))
    return _einsum(equation + ("->" + _labels(args[-1]) if len(args) % 2 else ""), list(operands), **keywords)


def polygamma(self, n):
    """Returns the ``n``-th derivative of digamma, element by element.

    >>> lamella.tensor([1.0, 0.5]).polygamma(1)
    tensor([1.6449, 4.9348])
    """
    return _polygamma(n, self)


def polygamma_(self, n):
    """Replaces each element by the ``n``-th derivative of digamma there.

    Raises:
        RuntimeError: the dtype is not floating

    >>> lamella.tensor([1.0, 0.5]).polygamma_(1)
    tensor([1.6449, 4.9348])
    """
    if not self.is_floating_point():
        raise RuntimeError(f"polygamma_: argument 'self': the result is floating, and {self.dtype} cannot hold it")
    return self.copy_(_polygamma(n, self))


def where(self, condition, other):
    """Selects elements of the tensor where ``condition`` is True, and of ``other`` elsewhere.

    >>> lamella.tensor([1, 2]).where(lamella.tensor([True, False]), 0)
    tensor([1, 0])
    """
    return _C._packet("aten::where")(condition, self, other)


def _on_host(name, *tensors):
    for t in tensors:
        if t.device != host():
            raise TypeError(f"{name}: it calls Python for each element, and the tensor is on device '{t.device}'")
        if getattr(t, "requires_grad", False):
            raise RuntimeError(f"{name}: a function of Python has no derivative; detach() the tensor first")


def _filled(self, numbers):
    flat = _C._tensor_from(numbers, self.dtype)[0] if numbers else self.new_empty(0)
    return self.copy_(flat.to(self.dtype).view(self.shape))


def apply_(self, callable):
    """Replaces each element ``x`` by ``callable(x)``. It is slow, with one call of Python for each element.

    >>> lamella.tensor([1, 2]).apply_(lambda x: 10 * x)
    tensor([10, 20])
    """
    _on_host("apply_", self)
    return _filled(self, [callable(x) for x in self.reshape(-1).tolist()])


def map_(self, tensor, callable):
    """Replaces each element ``x`` by ``callable(x, y)``, with the element ``y`` of ``tensor``, which broadcasts.

    >>> lamella.tensor([1, 2]).map_(lamella.tensor(10), lambda x, y: x * y)
    tensor([10, 20])
    """
    _on_host("map_", self, tensor)
    pairs = zip(self.reshape(-1).tolist(), tensor.expand(self.shape).reshape(-1).tolist(), strict=True)
    return _filled(self, [callable(x, y) for x, y in pairs])


def map2_(self, x, y, callable):
    """Replaces each element by ``callable`` of it and of the elements of ``x`` and ``y``, which broadcast.

    >>> lamella.tensor([1, 2]).map2_(lamella.tensor(3), lamella.tensor([4, 5]), lambda a, b, c: a * b + c)
    tensor([ 7, 11])
    """
    _on_host("map2_", self, x, y)
    rows = [t.expand(self.shape).reshape(-1).tolist() for t in (self, x, y)]
    return _filled(self, [callable(*row) for row in zip(*rows, strict=True)])


def methods() -> dict[str, Any]:
    """Returns the methods in this file for Tensor, by name."""
    known = (allclose, isreal, unique, unique_consecutive, nonzero, polygamma, polygamma_, where, apply_, map_, map2_)
    return {f.__name__: f for f in known}
