"""Functions whose results vary in number, which a schema cannot say, over operators that it can."""

from __future__ import annotations

from lattis import _C
from lattis._C import Tensor

_unique2 = _C._packet("aten::_unique2")
_unique_consecutive = _C._packet("aten::_unique_consecutive")


def _asked(results, *asked):
    """The results that were asked for, alone if it is one."""
    kept = tuple(r for r, wanted in zip(results, (True, *asked), strict=True) if wanted)
    return kept if len(kept) > 1 else kept[0]


def _whole(name: str, dim) -> None:
    if dim is not None:
        raise NotImplementedError(f"{name}: argument 'dim': only None, all elements, is here yet; got {dim!r}")


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim=None):
    """The different elements, in order; on request where each element went, and how many there were of each.

    Each NaN is different from all others.

    >>> lattis.unique(lattis.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    _whole("unique", dim)
    return _asked(_unique2(input, sorted, return_inverse, return_counts), return_inverse, return_counts)


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim=None):
    """One element of each run of equal ones; on request the run of each element, and the runs' lengths.

    >>> lattis.unique_consecutive(lattis.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    _whole("unique_consecutive", dim)
    return _asked(_unique_consecutive(input, return_inverse, return_counts), return_inverse, return_counts)


def extend(tensor_type: type) -> None:
    """Puts what are methods too on the type."""
    for f in (unique, unique_consecutive):
        setattr(tensor_type, f.__name__, f)
