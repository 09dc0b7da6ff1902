"""cond: one of two functions, by a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamella import Tensor

from ._values import batch_of, check_like, choose, trees

__all__ = ["cond"]


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    """Returns ``true_fn(*operands)`` if ``pred`` holds, otherwise ``false_fn(*operands)``.

    The other function is not called, unless ``pred`` differs between the samples of ``vmap``: then both are called, and
    each sample gets the result of its own, by ``where``. Derivatives are those of the function that is chosen; as with
    ``where``, one that is infinite or NaN in the other function makes them NaN, and neither function may write to an
    operand.

    Args:
        pred: a bool or another number, or a tensor of one element
        operands: a tuple or list of tensors, or nestings of tensors

    Raises:
        RuntimeError: an argument is of another kind, or the condition differs between samples and the two results
            differ in nesting, sizes, dtypes or devices

    >>> x = lamella.tensor([1.0, 2.0])
    >>> lamella.cond(x.sum() > 4, lamella.cos, lambda x: x * 2, (x,))
    tensor([2., 4.])
    """
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("cond: arguments 'true_fn' and 'false_fn' must be functions")
    if not isinstance(operands, tuple | list):
        raise RuntimeError(f"cond: argument 'operands' must be a tuple or a list, got {type(operands).__name__}")
    if isinstance(pred, bool | int | float):
        return true_fn(*operands) if pred else false_fn(*operands)
    if not isinstance(pred, Tensor):
        raise RuntimeError(f"cond: argument 'pred' must be a bool or a tensor, got {type(pred).__name__}")
    if pred.numel() != 1:
        raise RuntimeError(f"cond: argument 'pred' must have one element, got a tensor of size {tuple(pred.shape)}")
    leaves = trees().tree_leaves(operands)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"cond: argument 'operands' must hold tensors alone, got {type(leaf).__name__}")
    if batch_of(pred) is None:
        return true_fn(*operands) if pred else false_fn(*operands)
    versions = [leaf._version for leaf in leaves]
    one, nesting = trees().tree_flatten(true_fn(*operands))
    other, its_nesting = trees().tree_flatten(false_fn(*operands))
    if versions != [leaf._version for leaf in leaves]:
        raise RuntimeError(
            "cond: 'pred' differs between samples, so that both functions are called, and one of them writes in place "
            "to an operand; let it write to a clone()"
        )
    if nesting != its_nesting:
        raise RuntimeError(
            f"cond: 'pred' differs between samples, and the results have the nestings {nesting} and {its_nesting}"
        )
    check_like("cond", one, other, ("the result of 'true_fn'", "the result of 'false_fn'"))
    return trees().tree_unflatten(choose(pred != 0, one, other), nesting)
