"""The standard's functions that search, sort, and treat tensors as sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import lamella
from lamella import Tensor
from lamella.array_api._rules import (
    ANY,
    BOOLEAN,
    INTEGER,
    REAL,
    SCALARS,
    checked,
    pair,
)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Returns the indices of the elements that are not 0, in their order, a vector for each dimension.

    Raises:
        ValueError: ``x`` has no dimension

    >>> lamella.array_api.nonzero(lamella.tensor([0, 2, 3]))
    (tensor([1, 2]),)
    """
    if checked("nonzero", ANY, x).ndim == 0:
        raise ValueError("nonzero: argument 'x' must have at least one dimension; use reshape(x, (1,))")
    return tuple(lamella.nonzero(x, as_tuple=True))


def searchsorted(x1: Tensor, x2: Any, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Returns the place of each element of ``x2`` in the sorted vector ``x1``, such that the order is kept.

    Args:
        x2: a tensor or a Python scalar
        side: "left" gives the place before equal elements, "right" the one after them
        sorter: indices that sort ``x1``, as ``argsort`` returns them, if it is not sorted

    >>> lamella.array_api.searchsorted(lamella.tensor([1, 3, 3]), lamella.tensor([3, 4]))
    tensor([1, 3])
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: argument 'side' must be 'left' or 'right', got {side!r}")
    x1, x2 = pair("searchsorted", REAL, x1, x2)
    if sorter is not None:
        x1 = lamella.index_select(x1, 0, checked("searchsorted", INTEGER, sorter, "sorter").to(lamella.int64))
    return lamella.searchsorted(x1, x2.contiguous(), side=side)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """Returns the elements of ``x1`` where the condition is true, else those of ``x2``. The shapes broadcast.

    Args:
        condition: a bool tensor
        x1, x2: tensors of promotable dtypes; each may be a Python scalar

    >>> lamella.array_api.where(lamella.tensor([True, False]), lamella.tensor([1.0, 2.0]), 0)
    tensor([1., 0.])
    """
    checked("where", BOOLEAN, condition, "condition")
    if isinstance(x1, SCALARS) and isinstance(x2, SCALARS):
        x1 = lamella.tensor(x1, device=condition.device)  # with its default dtype
    return lamella.where(condition, *pair("where", ANY, x1, x2))


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Returns the indices that sort ``x`` along an axis.

    Args:
        stable: whether equal elements keep their order, also if ``descending`` is true

    >>> lamella.array_api.argsort(lamella.tensor([3, 1, 2]))
    tensor([1, 2, 0])
    """
    return lamella.argsort(checked("argsort", REAL, x), dim=axis, descending=descending, stable=stable)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Returns the elements of ``x`` in their order along an axis.

    Args:
        stable: whether equal elements keep their order, also if ``descending`` is true

    >>> lamella.array_api.sort(lamella.tensor([3, 1, 2]))
    tensor([1, 2, 3])
    """
    return lamella.sort(checked("sort", REAL, x), dim=axis, descending=descending, stable=stable)[0]


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Returns for each element of ``x1`` whether ``x2`` contains it.

    Args:
        x1, x2: tensors of promotable dtypes; one of them may be a Python integer
        invert: whether the result is negated

    >>> lamella.array_api.isin(lamella.tensor([1, 2, 3]), lamella.tensor([3, 1]))
    tensor([ True, False,  True])
    """
    x1, x2 = pair("isin", ANY, x1, x2)
    if x1.dtype.is_complex or x1.dtype is lamella.bool:
        found = lamella.any(x1[..., None] == x2.reshape(-1), -1)
        return lamella.logical_not(found) if invert else found
    return lamella.isin(x1, x2, invert=invert)


class UniqueAll(NamedTuple):
    """The result of :func:`unique_all`."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The result of :func:`unique_counts`."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The result of :func:`unique_inverse`."""

    values: Tensor
    inverse_indices: Tensor


def _order(flat: Tensor) -> Tensor:
    """Returns the indices that sort a vector, complex numbers by their real parts first; equal elements keep order."""
    if flat.dtype.is_complex:
        by_imag = lamella.argsort(flat.imag + 0, stable=True)  # the sum turns -0.0, which is equal, into 0.0
        return by_imag[lamella.argsort(flat.real[by_imag] + 0, stable=True)]
    if flat.dtype is lamella.bool:
        flat = flat.to(lamella.uint8)
    return lamella.argsort(flat, stable=True)


def unique_all(x: Tensor, /) -> UniqueAll:
    """Returns the distinct elements in their order, the index of the first of each, for each element of ``x`` the
    place of its value, and the counts.

    Each nan is distinct, and 0.0 and -0.0 are equal. Indices count the elements of ``x`` in order.

    >>> lamella.array_api.unique_all(lamella.tensor([2, 1, 2])).counts
    tensor([1, 2])
    """
    flat = checked("unique_all", ANY, x).reshape(-1)
    count = flat.shape[0]
    order = _order(flat)
    ordered = flat[order]
    begins = lamella.ones_like(flat, dtype=lamella.bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    starts = lamella.nonzero(begins)[:, 0]
    ends = lamella.cat([starts[1:], starts.new_full((min(count, 1),), count)])
    inverse = lamella.empty_like(order)
    inverse[order] = lamella.cumsum(begins, 0) - 1
    return UniqueAll(ordered[starts], order[starts], inverse.reshape(x.shape), ends - starts)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Returns the distinct elements in their order, and how often each occurs. Each nan is distinct.

    >>> lamella.array_api.unique_counts(lamella.tensor([2, 1, 2])).values
    tensor([1, 2])
    """
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Returns the distinct elements in their order, and for each element of ``x`` the place of its value there.

    >>> lamella.array_api.unique_inverse(lamella.tensor([2, 1, 2])).inverse_indices
    tensor([1, 0, 1])
    """
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """Returns the distinct elements in their order. Each nan is distinct.

    >>> lamella.array_api.unique_values(lamella.tensor([2, 1, 2]))
    tensor([1, 2])
    """
    return unique_all(x).values
