"""The standard's functions that reduce axes, or accumulate along one."""

from __future__ import annotations

import builtins
import math

import lamella
from lamella import Tensor
from lamella import dtype as DType
from lamella.array_api._rules import ANY, FLOATING, INTEGER, NUMERIC, REAL, axes_of, checked, over_last

Axes = int | tuple[int, ...] | None


def _accumulator(x: Tensor, dtype: DType | None) -> DType:
    """Returns the dtype of a sum or product: int64 or uint64 for integers, of the same sign, unless one is given."""
    if dtype is not None:
        return dtype
    if x.dtype in INTEGER:
        return lamella.int64 if x.dtype.is_signed else lamella.uint64
    return x.dtype


def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Returns whether all elements along the axes are true, or not 0; None stands for all axes.

    >>> lamella.array_api.all(lamella.tensor([[1, 0], [2, 3]]), axis=1)
    tensor([False,  True])
    """
    axes = axes_of("all", axis, checked("all", ANY, x).ndim)
    truth = x if x.dtype is lamella.bool else x != 0
    return lamella.all(truth, axes, keepdims) if axes else truth.clone()


def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Returns whether an element along the axes is true, or not 0; None stands for all axes.

    >>> lamella.array_api.any(lamella.tensor([[1, 0], [0, 0]]), axis=1)
    tensor([ True, False])
    """
    axes = axes_of("any", axis, checked("any", ANY, x).ndim)
    truth = x if x.dtype is lamella.bool else x != 0
    return lamella.any(truth, axes, keepdims) if axes else truth.clone()


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Returns the position of the first of the largest elements along an axis; None counts all elements in order.

    >>> lamella.array_api.argmax(lamella.tensor([1, 3, 3]))
    tensor(1)
    """
    return _position("argmax", lamella.argmax, x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Returns the position of the first of the smallest elements along an axis; None counts all elements in order.

    >>> lamella.array_api.argmin(lamella.tensor([2, 1, 1]))
    tensor(1)
    """
    return _position("argmin", lamella.argmin, x, axis, keepdims)


def _position(who: str, operator, x: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    checked(who, REAL, x)
    if axis is None:
        made = operator(x.reshape(-1), 0)
        return made.reshape((1,) * x.ndim) if keepdims else made
    return operator(x, axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Returns the number of elements along the axes that are not 0; None stands for all axes.

    >>> lamella.array_api.count_nonzero(lamella.tensor([0, 2, 3]))
    tensor(2)
    """
    axes = axes_of("count_nonzero", axis, checked("count_nonzero", ANY, x).ndim)
    truth = x if x.dtype is lamella.bool else x != 0
    return lamella.sum(truth, axes, keepdims, dtype=lamella.int64) if axes else truth.to(lamella.int64)


def _along(who: str, x: Tensor, axis: int | None) -> int:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"{who}: argument 'axis' is needed for shape {tuple(x.shape)}")
        return 0
    return axes_of(who, axis, x.ndim)[0]


def _accumulated(who: str, operator, start: int, x: Tensor, axis: int | None, dtype, include_initial: bool) -> Tensor:
    along = _along(who, checked(who, NUMERIC, x), axis)
    dtype = _accumulator(x, dtype)
    made = operator(x, along, dtype=dtype)
    if not include_initial:
        return made
    first = list(x.shape)
    first[along] = 1
    return lamella.cat([lamella.full(first, start, dtype=dtype, device=x.device), made], along)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """Returns the products of the elements up to each place along an axis.

    Args:
        axis: None is possible if ``x`` has one dimension
        dtype: that of the result; None stands for int64 or uint64 for integers, else the dtype of ``x``
        include_initial: whether the result begins with 1

    >>> lamella.array_api.cumulative_prod(lamella.tensor([2, 3]), include_initial=True)
    tensor([1, 2, 6])
    """
    return _accumulated("cumulative_prod", lamella.cumprod, 1, x, axis, dtype, include_initial)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """Returns the sums of the elements up to each place along an axis.

    Args:
        axis: None is possible if ``x`` has one dimension
        dtype: that of the result; None stands for int64 or uint64 for integers, else the dtype of ``x``
        include_initial: whether the result begins with 0

    >>> lamella.array_api.cumulative_sum(lamella.tensor([2, 3]), include_initial=True)
    tensor([0, 2, 5])
    """
    return _accumulated("cumulative_sum", lamella.cumsum, 0, x, axis, dtype, include_initial)


def max(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Returns the largest element along the axes, nan if there is one; None stands for all axes.

    >>> lamella.array_api.max(lamella.tensor([[1, 2], [4, 3]]), axis=1)
    tensor([2, 4])
    """
    axes = axes_of("max", axis, checked("max", REAL, x).ndim)
    return lamella.amax(x, axes, keepdims) if axes else x.clone()


def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Returns the mean of the elements along the axes; None stands for all axes. ``x`` has a floating dtype.

    >>> lamella.array_api.mean(lamella.tensor([1.0, 2.0]))
    tensor(1.5000)
    """
    axes = axes_of("mean", axis, checked("mean", FLOATING, x).ndim)
    return lamella.mean(x, axes, keepdims) if axes else x.clone()


def min(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Returns the smallest element along the axes, nan if there is one; None stands for all axes.

    >>> lamella.array_api.min(lamella.tensor([[1, 2], [4, 3]]), axis=1)
    tensor([1, 3])
    """
    axes = axes_of("min", axis, checked("min", REAL, x).ndim)
    return lamella.amin(x, axes, keepdims) if axes else x.clone()


def prod(x: Tensor, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """Returns the product of the elements along the axes; None stands for all axes.

    Args:
        dtype: that of the result; None stands for int64 or uint64 for integers, else the dtype of ``x``

    >>> lamella.array_api.prod(lamella.tensor([2, 3]))
    tensor(6)
    """
    axes = axes_of("prod", axis, checked("prod", NUMERIC, x).ndim)
    x = x.to(_accumulator(x, dtype))
    return over_last(lambda flat: lamella.prod(flat, -1, dtype=x.dtype), x, axes, keepdims) if axes else x.clone()


def _spread(who: str, operator, x: Tensor, axis: Axes, correction: float, keepdims: bool) -> Tensor:
    axes = axes_of(who, axis, checked(who, FLOATING, x).ndim)
    if not axes:  # each element is a population of its own
        x, axes, keepdims = x[..., None], (x.ndim,), False
    if correction == int(correction):
        return operator(x, axes, correction=int(correction), keepdim=keepdims)
    made = operator(x, axes, correction=0, keepdim=keepdims)
    count = math.prod(x.shape[a] for a in axes)
    rest = builtins.max(count - correction, 0.0)
    factor = count / rest if rest else math.inf  # the variance of no degrees of freedom is infinite, or nan if it is 0
    return made * (math.sqrt(factor) if who == "std" else factor)


def std(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Returns the standard deviation of the elements along the axes; None stands for all axes.

    Args:
        correction: the divisor is the number of elements minus the correction

    >>> lamella.array_api.std(lamella.tensor([1.0, 3.0]))
    tensor(1.)
    """
    return _spread("std", lamella.std, x, axis, correction, keepdims)


def sum(x: Tensor, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """Returns the sum of the elements along the axes; None stands for all axes.

    Args:
        dtype: that of the result; None stands for int64 or uint64 for integers, else the dtype of ``x``

    >>> lamella.array_api.sum(lamella.tensor([2, 3], dtype=lamella.uint8))
    tensor(5, dtype=lamella.uint64)
    """
    axes = axes_of("sum", axis, checked("sum", NUMERIC, x).ndim)
    dtype = _accumulator(x, dtype)
    return lamella.sum(x, axes, keepdims, dtype=dtype) if axes else x.to(x.device, dtype, False, True)


def var(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Returns the variance of the elements along the axes; None stands for all axes.

    Args:
        correction: the divisor is the number of elements minus the correction

    >>> lamella.array_api.var(lamella.tensor([1.0, 5.0]))
    tensor(4.)
    """
    return _spread("var", lamella.var, x, axis, correction, keepdims)
