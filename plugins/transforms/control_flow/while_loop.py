"""while_loop: a function that is called again as long as a condition holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor

from ._values import batch_of, check_like, choose, trees

__all__ = ["while_loop"]


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> tuple[Any, ...]:
    """Returns ``carried_inputs`` after ``body_fn`` was applied to it as often as ``cond_fn`` of it held.

    ``body_fn`` returns what it takes: a tuple of the same nesting, sizes, dtypes and devices. Neither function may
    write to its arguments. Derivatives of the result are those of the calls. Within ``vmap`` the condition may differ
    between samples: a sample keeps its values from the iteration on in which its condition no longer holds, and ints
    become tensors of int64.

    Args:
        cond_fn: returns a bool, or a bool tensor without dimensions
        carried_inputs: a tuple or list of tensors and ints, or nestings of them

    Raises:
        RuntimeError: an argument or a result is of another kind

    >>> lamella.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, lamella.ones(2)))
    (3, tensor([8., 8.]))
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("while_loop: arguments 'cond_fn' and 'body_fn' must be functions")
    if not isinstance(carried_inputs, tuple | list):
        raise RuntimeError(
            f"while_loop: argument 'carried_inputs' must be a tuple or a list, got {type(carried_inputs).__name__}"
        )
    leaves, nesting = trees().tree_flatten(tuple(carried_inputs))
    for leaf in leaves:
        if not isinstance(leaf, Tensor | int):
            raise RuntimeError(
                f"while_loop: argument 'carried_inputs' must hold tensors and ints, got {type(leaf).__name__}"
            )
    carried = leaves
    active: Tensor | None = None  # the condition of each sample; None while all samples share it
    while True:
        holds = cond_fn(*trees().tree_unflatten(carried, nesting))
        if not isinstance(holds, bool) and not (
            isinstance(holds, Tensor) and holds.dim() == 0 and holds.dtype == lamella.bool
        ):
            raise RuntimeError(
                "while_loop: 'cond_fn' must return a bool or a bool tensor without dimensions, got "
                + (f"{holds.dtype} of size {tuple(holds.shape)}" if isinstance(holds, Tensor) else type(holds).__name__)
            )
        if active is not None:
            holds = active & holds
        values = batch_of(holds)
        if values is not None:
            if active is None:
                carried = [leaf if isinstance(leaf, Tensor) else lamella.tensor(leaf) for leaf in carried]
            active = holds
        if not (holds if values is None else values.any()):
            break
        made = body_fn(*trees().tree_unflatten(carried, nesting))
        if not isinstance(made, tuple | list):
            raise RuntimeError(f"while_loop: 'body_fn' must return a tuple, got {type(made).__name__}")
        found, its_nesting = trees().tree_flatten(tuple(made))
        if its_nesting != nesting:
            raise RuntimeError(
                f"while_loop: the result of 'body_fn' has the nesting {its_nesting}, and 'carried_inputs' has {nesting}"
            )
        check_like("while_loop", found, carried, ("the result of 'body_fn'", "'carried_inputs'"))
        carried = found if active is None else choose(active, found, carried)
    return trees().tree_unflatten(
        [a.clone() if a is b and isinstance(a, Tensor) else a for a, b in zip(carried, leaves, strict=True)], nesting
    )
