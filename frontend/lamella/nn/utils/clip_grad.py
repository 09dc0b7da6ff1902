"""The norm of the gradients of several parameters together, and bounds for it or for each element."""

from __future__ import annotations

import functools
import math
import types
import warnings
from collections.abc import Iterable
from typing import Any

import lamella
from lamella._C import Tensor
from lamella._history import without_history

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_"]

Tensors = Tensor | Iterable[Tensor]


def _listed(who: str, parameters: Tensors) -> list[Any]:
    if isinstance(parameters, Tensor):
        return [parameters]
    listed = list(parameters)
    if not listed and isinstance(parameters, types.GeneratorType):
        warnings.warn(f"{who}: the generator of parameters is empty, so nothing is clipped", stacklevel=4)
    return listed


def _checked_bound(who: str, name: str, bound: float) -> float:
    """Returns the bound as a float, unless it is negative, which would turn gradients round, or NaN."""
    if not float(bound) >= 0:
        raise ValueError(f"{who}: argument '{name}' must be a number of 0 or more, got {bound}")
    return float(bound)


def _grads(parameters: Iterable[Any]) -> list[Any]:
    return [p.grad for p in parameters if getattr(p, "grad", None) is not None]


@without_history
def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """Returns the norm of the elements of all tensors, as if they were one vector; 0 without tensors.

    Args:
        norm_type: the order, ``float("inf")`` for the greatest absolute value
        error_if_nonfinite: raises a RuntimeError if the norm is infinite or NaN
        foreach: accepted for torch's programs, and ignored

    >>> lamella.nn.utils.get_total_norm([lamella.tensor([3.0]), lamella.tensor([0.0, 4.0])])
    tensor(5.)
    """
    listed = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    order = float(norm_type)
    if math.isnan(order):
        raise ValueError(f"get_total_norm: argument 'norm_type' must be a number, got {norm_type}")
    if not listed:
        return lamella.tensor(0.0)
    parts = [t.norm(order).to(listed[0].device) for t in listed]
    total = lamella.stack(parts).norm(order)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"get_total_norm: the norm of order {order} of the gradients is {total.item()}, and nothing can be scaled "
            "by it; error_if_nonfinite=False does so all the same"
        )
    return total


@without_history
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales the gradients by ``max_norm / (total_norm + 1e-6)`` where that is less than 1, in their memory.

    Raises:
        ValueError: ``max_norm`` is negative or NaN

    >>> w = lamella.nn.Parameter(lamella.ones(2), requires_grad=False)
    >>> lamella.nn.utils.clip_grads_with_norm_(w, 1.0, lamella.tensor(4.0))  # it has no gradient
    """
    most = _checked_bound("clip_grads_with_norm_", "max_norm", max_norm)
    factor = (most / (total_norm + 1e-6)).clamp(max=1.0)
    for grad in _grads([parameters] if isinstance(parameters, Tensor) else parameters):
        grad.mul_(factor.to(grad.device))


@without_history
def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients so that the norm of all of them is ``max_norm`` at most; returns what it was before.

    Args:
        parameters: a tensor or several; those without a gradient are skipped
        norm_type: the order, ``float("inf")`` for the greatest absolute value
        error_if_nonfinite: raises a RuntimeError if the norm is infinite or NaN; otherwise gradients become 0 or NaN
        foreach: accepted for torch's programs, and ignored

    Raises:
        ValueError: ``max_norm`` is negative or NaN, or ``norm_type`` is NaN

    >>> lamella.nn.utils.clip_grad_norm_([], 1.0)
    tensor(0.)
    """
    _checked_bound("clip_grad_norm_", "max_norm", max_norm)
    listed = _listed("clip_grad_norm_", parameters)
    total = get_total_norm(_grads(listed), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


@functools.wraps(clip_grad_norm_, assigned=("__annotations__",))
def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """``clip_grad_norm_`` under its old name. It warns.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True):
    ...     lamella.nn.utils.clip_grad_norm([], 1.0)
    tensor(0.)
    """
    warnings.warn("clip_grad_norm is the old name of clip_grad_norm_", FutureWarning, stacklevel=2)
    return clip_grad_norm_(*args, **kwargs)


@without_history
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamps every element of the gradients to the range from ``-clip_value`` to ``clip_value``, in their memory.

    Raises:
        ValueError: ``clip_value`` is negative or NaN

    >>> lamella.nn.utils.clip_grad_value_([], 1.0)
    """
    bound = _checked_bound("clip_grad_value_", "clip_value", clip_value)
    for grad in _grads([parameters] if isinstance(parameters, Tensor) else parameters):
        grad.clamp_(-bound, bound)
