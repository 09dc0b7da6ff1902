"""Functions whose arguments or results vary, which a schema cannot say, over operators that it can."""

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


_nonzero = _C._packet("aten::nonzero")
_tensordot = _C._packet("aten::tensordot")


def nonzero(input: Tensor, *, as_tuple: bool = False, **out):
    """The indices of the elements that are not zero: a row for each, or one vector of indices for each dimension.

    >>> lamella.nonzero(lamella.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
    >>> lamella.nonzero(lamella.tensor([0, 1, 2]), as_tuple=True)
    (tensor([1, 2]),)
    """
    return _nonzero(input, as_tuple=True, **out) if as_tuple else _nonzero(input, **out)


def tensordot(a: Tensor, b: Tensor, dims=2, out=None):
    """Products summed over dimensions of both: the last ones of ``a`` with the first of ``b``, or those that are named.

    Args:
        dims: how many; or a pair of lists, the dimensions of ``a`` and those of ``b``; or both as the rows of a tensor

    Raises:
        RuntimeError: the sizes of two dimensions differ, or the lists' lengths

    >>> lamella.tensordot(lamella.ones(2, 3, 4), lamella.ones(3, 4), 2)
    tensor([12., 12.])
    >>> lamella.tensordot(lamella.ones(2, 3), lamella.ones(4, 3), dims=([1], [1])).shape
    lamella.Size([2, 4])
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, (tuple, list)):
        if len(dims) != 2:
            raise RuntimeError(f"tensordot: argument 'dims' must be a number or two lists, got {dims!r}")
        left, right = ([d] if hasattr(d, "__index__") else list(d) for d in dims)
        made = _tensordot(a, b, left, right)
    else:
        made = _tensordot(a, b, dims)
    return made if out is None else out.resize_(made.shape).copy_(made)


METHODS = {f.__name__: f for f in (unique, unique_consecutive, nonzero)}  # of the functions, those that are methods too
