"""Functions whose results vary in number, which a schema cannot say, over operators that it can."""

from __future__ import annotations

from lamella import _C
from lamella._C import Tensor

_unique2 = _C._packet("aten::_unique2")
_unique_dim = _C._packet("aten::unique_dim")
_unique_consecutive = _C._packet("aten::_unique_consecutive")


def _asked(results, *asked):
    """The results that were asked for, alone if it is one."""
    kept = tuple(r for r, wanted in zip(results, (True, *asked), strict=True) if wanted)
    return kept if len(kept) > 1 else kept[0]


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim=None):
    """The different elements, or slices along a dimension, in order; on request where each went, and their counts.

    Slices are ordered by their first elements, then by their second. Each NaN is different from all others.

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
    """One element, or slice along a dimension, of each run of equal ones; on request each one's run, and the lengths.

    >>> lamella.unique_consecutive(lamella.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    return _asked(_unique_consecutive(input, return_inverse, return_counts, dim), return_inverse, return_counts)


def extend(tensor_type: type) -> None:
    """Puts the functions of this file that are methods too on the type."""
    for f in (unique, unique_consecutive):
        setattr(tensor_type, f.__name__, f)
