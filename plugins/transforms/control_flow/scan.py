"""scan: a function that is applied along a dimension and hands a state on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor

from ._values import check_like, check_scanned, trees

__all__ = ["scan"]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False
) -> tuple[Any, Any]:
    """Returns the last state and the stacked outputs of ``combine_fn`` along a dimension of ``xs``.

    ``combine_fn(state, x)`` takes the state and the next slice of ``xs``, and returns the next state and an output.

    Args:
        init: the first state, a tensor or a nesting of tensors
        xs: a tensor or a nesting of tensors of one size in ``dim``
        dim: the dimension of ``xs`` to go along, which the outputs have, too
        reverse: begins with the last slice

    Raises:
        RuntimeError: an argument is of another kind, ``xs`` has no elements along ``dim``, or a state differs from
            ``init`` in nesting, sizes, dtypes or devices
        IndexError: ``xs`` has no such dimension

    >>> def add(total, x):
    ...     return total + x, total * x
    >>> lamella._higher_order_ops.scan(add, lamella.tensor(0.0), lamella.tensor([1.0, 2.0, 3.0]))
    (tensor(6.), tensor([0., 2., 9.]))
    """
    if not callable(combine_fn):
        raise RuntimeError(f"scan: argument 'combine_fn' must be a function, got {type(combine_fn).__name__}")
    if not isinstance(dim, int):
        raise RuntimeError(f"scan: argument 'dim' must be an int, got {type(dim).__name__}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"scan: argument 'reverse' must be a bool, got {type(reverse).__name__}")
    first, state_nesting = trees().tree_flatten(init)
    leaves, nesting = trees().tree_flatten(xs)
    if not leaves:
        return init, []
    dim = check_scanned("scan", leaves, dim, RuntimeError)
    if not first:
        raise RuntimeError("scan: argument 'init' must have at least one tensor")
    for leaf in first:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"scan: argument 'init' must be tensors, got {type(leaf).__name__}")
    slices = list(zip(*(leaf.unbind(dim) for leaf in leaves), strict=True))
    state, outputs, output_nesting = init, [], None
    for part in reversed(slices) if reverse else slices:
        made = combine_fn(state, trees().tree_unflatten(list(part), nesting))
        if not isinstance(made, tuple | list) or len(made) != 2:
            raise RuntimeError("scan: 'combine_fn' must return a pair, the next state and an output")
        state, output = made
        found, its_nesting = trees().tree_flatten(state)
        if its_nesting != state_nesting:
            raise RuntimeError(f"scan: a state has the nesting {its_nesting}, and 'init' has {state_nesting}")
        check_like("scan", found, first, ("a state", "'init'"))
        output_leaves, output_nesting = trees().tree_flatten(output)
        for leaf in output_leaves:
            if not isinstance(leaf, Tensor):
                raise RuntimeError(f"scan: outputs must be tensors, got {type(leaf).__name__}")
        outputs.append(output_leaves)
    if reverse:
        outputs.reverse()
    columns = [list(column) for column in zip(*outputs, strict=True)]
    stacked = [lamella.stack(column, min(dim, column[0].dim())) for column in columns]
    return state, trees().tree_unflatten(stacked, output_nesting)
