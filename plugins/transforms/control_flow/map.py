"""map: a function that is applied to each slice along dimension 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._values import check_scanned, trees
from .scan import scan

__all__ = ["map"]


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """Returns the stacked results of ``f(x, *args)`` of each slice ``x`` along dimension 0 of ``xs``, one by one.

    ``vmap`` computes the same in one call of ``f``.

    Args:
        xs: a tensor or a nesting of tensors of one size in dimension 0

    Raises:
        RuntimeError: ``xs`` is of another kind or has no elements, or results are no tensors

    >>> lamella._higher_order_ops.map(lambda x, by: x.sum() * by, lamella.ones(2, 3), 2.0)
    tensor([6., 6.])
    """
    leaves = trees().tree_leaves(xs)
    check_scanned("map", leaves, 0, RuntimeError)
    return scan(lambda state, x: (state, f(x, *args)), leaves[0], xs)[1]
