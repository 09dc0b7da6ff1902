"""associative_scan: a scan by a function that may combine its arguments in any grouping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella

from ..vectorize import vmap
from ._values import check_scanned, trees

__all__ = ["associative_scan"]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """Returns the results of combining the first, the first two, the first three slices of ``xs``, and so on.

    ``combine_fn(a, b)`` must be associative. It is called on whole groups of slices, about 2 log2(n) times for n
    slices (Blelloch, Prefix sums and their applications, 1990).

    Args:
        xs: a tensor or a nesting of tensors of one size in ``dim``
        reverse: begins with the last slice
        combine_mode: "pointwise" calls a function of pointwise operators on tensors that have all dimensions, those of
            a group included; "generic" calls any function by ``vmap`` on slices, which lack ``dim``

    Raises:
        ValueError: an argument is of another kind, or ``xs`` has no elements along ``dim``
        IndexError: ``xs`` has no such dimension
        RuntimeError: ``combine_fn`` returns another nesting than ``xs``

    >>> scan = lamella._higher_order_ops.associative_scan
    >>> scan(lamella.mul, lamella.tensor([1, 2, 3, 4]), 0)
    tensor([ 1,  2,  6, 24])
    """
    if not callable(combine_fn):
        raise ValueError(f"associative_scan: argument 'combine_fn' must be a function, got {type(combine_fn).__name__}")
    if not isinstance(dim, int):
        raise ValueError(f"associative_scan: argument 'dim' must be an int, got {type(dim).__name__}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"associative_scan: argument 'reverse' must be a bool, got {type(reverse).__name__}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(
            f"associative_scan: argument 'combine_mode' must be 'pointwise' or 'generic', got {combine_mode!r}"
        )
    leaves, nesting = trees().tree_flatten(xs)
    dim = check_scanned("associative_scan", leaves, dim, ValueError)
    function = combine_fn if combine_mode == "pointwise" else vmap(combine_fn)

    def combine(a: list[Any], b: list[Any]) -> list[Any]:
        made = function(trees().tree_unflatten(a, nesting), trees().tree_unflatten(b, nesting))
        found, its_nesting = trees().tree_flatten(made)
        if its_nesting != nesting:
            raise RuntimeError(
                f"associative_scan: the result of 'combine_fn' has the nesting {its_nesting}, and 'xs' has {nesting}"
            )
        return found

    slices = [leaf.movedim(dim, 0) for leaf in leaves]
    if reverse:
        slices = [leaf.flip(0) for leaf in slices]
    found = _scan(combine, slices)
    if reverse:
        found = [leaf.flip(0) for leaf in found]
    return trees().tree_unflatten([leaf.movedim(0, dim) for leaf in found], nesting)


def _scan(combine: Callable[[list[Any], list[Any]], list[Any]], xs: list[Any]) -> list[Any]:
    """Scans along dimension 0: pairs of neighbours are combined, their scan gives every second result."""
    n = xs[0].shape[0]
    if n < 2:
        return xs
    pairs = combine([x[: n - 1 : 2] for x in xs], [x[1::2] for x in xs])
    odd = _scan(combine, pairs)
    if n == 2:
        return [lamella.cat((x[:1], o)) for x, o in zip(xs, odd, strict=True)]
    even = combine([o[: (n - 1) // 2] for o in odd], [x[2::2] for x in xs])
    return [_interleaved(lamella.cat((x[:1], e)), o) for x, e, o in zip(xs, even, odd, strict=True)]


def _interleaved(even: Any, odd: Any) -> Any:
    """Returns the elements of two tensors along dimension 0 in turn; the first has as many, or one more."""
    n = odd.shape[0]
    both = lamella.stack((even[:n], odd), 1).flatten(0, 1)
    return both if even.shape[0] == n else lamella.cat((both, even[n:]))
