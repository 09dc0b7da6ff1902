"""functionalize: a function that writes in place becomes one that makes new tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import lamella
from lamella import Tensor

from . import _python
from .kinds import FUNCTIONAL
from .vectorize import trees

__all__ = ["functionalize"]

VIEWS = {"mutations": 0, "mutations_and_views": 1}


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Returns a function that computes what ``func`` computes, without writes in place to tensors.

    Each in-place call becomes a call of the operator's functional form, and what ``func`` writes to a view becomes the
    new value of the tensor that it is a view of. Arguments, and other tensors that ``func`` writes to, get their new
    values by one copy at the end; if ``func`` raises an error, they keep the old ones. So a function that writes to a
    tensor which the samples of ``vmap`` share can be mapped.

    Args:
        func: takes and returns tensors, in any nesting of tuples, lists and dicts, and other values
        remove: "mutations", or "mutations_and_views", which also replaces view operators by those that copy

    Raises:
        RuntimeError: another ``remove``

    >>> def total(x):
    ...     sums = lamella.zeros(2)
    ...     sums[0] = x.sum()
    ...     return sums.add_(1)
    >>> lamella.func.functionalize(total)(lamella.ones(3))
    tensor([4., 1.])
    >>> lamella.vmap(lamella.func.functionalize(total))(lamella.ones(2, 3))
    tensor([[4., 1.],
            [4., 1.]])
    """
    if remove not in VIEWS:
        raise RuntimeError(
            f"functionalize: argument 'remove' must be 'mutations' or 'mutations_and_views', got {remove!r}"
        )

    @functools.wraps(func)
    def functional(*args: Any, **kwargs: Any) -> Any:
        leaves, nesting = trees().tree_flatten((args, kwargs))
        level = _python.open_level(FUNCTIONAL, 0, 0, VIEWS[remove])
        boxes: dict[int, tuple[Tensor, Tensor]] = {}  # by the identity of the argument, which may be given twice
        try:
            for leaf in leaves:
                if isinstance(leaf, Tensor) and id(leaf) not in boxes:
                    boxes[id(leaf)] = leaf, _python.functional(leaf, level)
            inside = [boxes[id(leaf)][1] if isinstance(leaf, Tensor) else leaf for leaf in leaves]
            given, named = trees().tree_unflatten(inside, nesting)
            results, its_nesting = trees().tree_flatten(func(*given, **named))
            made = [_value(result, level) if isinstance(result, Tensor) else result for result in results]
            written = _python.settle(level)
        except BaseException:
            _python.settle(level)  # forgets what was written
            raise
        finally:
            _python.close_level(level)
        # A value or a result may lie in memory that is written next.
        targets = {target._storage_id() for target, _ in written}
        values = [_apart(value, targets) for _, value in written]
        made = [
            _apart(m, targets) if isinstance(m, Tensor) and m is not result else m
            for m, result in zip(made, results, strict=True)
        ]
        for (target, _), value in zip(written, values, strict=True):
            # A leaf that was written under no_grad gets its value so.
            recorded = value.requires_grad or not (target.is_leaf and target.requires_grad)
            with nullcontext() if recorded else lamella.no_grad():
                target.copy_(value)
        for leaf, box in boxes.values():
            if (box.shape, box.stride()) != (leaf.shape, leaf.stride()):  # changed by t_, resize_ and the like
                at = leaf.storage_offset() + box.storage_offset()
                leaf.set_(leaf.detach().as_strided(box.shape, box.stride(), at))
        return trees().tree_unflatten(made, its_nesting)

    return functional


def _value(tensor: Tensor, level: int) -> Tensor:
    """Returns the value of a box of the level; another tensor itself."""
    found = _python.inner_of(tensor)
    return found[0] if found is not None and found[1] == level else tensor


def _apart(value: Tensor, storages: set[int]) -> Tensor:
    """Returns a tensor, or a copy if its memory is one of these."""
    return value.clone() if value._storage_id() in storages else value
