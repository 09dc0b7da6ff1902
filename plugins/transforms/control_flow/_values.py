"""Checks and choices that the functions of control flow share."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import Tensor

from .. import _python
from ..kinds import VMAP
from ..vectorize import trees

__all__ = ["batch_of", "check_like", "check_scanned", "choose", "trees"]


def batch_of(condition: Any) -> Tensor | None:
    """Returns the values of a condition for all samples, of nested levels too; None if all samples share it."""
    found: Tensor | None = None
    while isinstance(condition, Tensor) and (inner := _python.inner_of(condition)) is not None:
        if _python.kind_of(condition) == VMAP:
            found = inner[0]
        condition = inner[0]
    return None if found is None else condition


def choose(condition: Tensor, one: list[Any], other: list[Any]) -> list[Any]:
    """Returns for each leaf the first value where a sample's condition holds, and the second elsewhere."""
    chosen = condition.reshape(())
    return [a if a is b else lamella.where(chosen, a, b) for a, b in zip(one, other, strict=True)]


def check_like(who: str, made: list[Any], given: list[Any], names: tuple[str, str]) -> None:
    """Checks that two lists of leaves agree in their types, sizes, dtypes and devices.

    Raises:
        RuntimeError: they do not; the message names the first leaf that differs
    """
    if len(made) != len(given):
        raise RuntimeError(f"{who}: {names[0]} has {len(made)} values, and {names[1]} has {len(given)}")
    for i, (a, b) in enumerate(zip(made, given, strict=True)):
        if a is not b and (one := described(a)) != (other := described(b)):
            raise RuntimeError(f"{who}: value {i} of {names[0]} is {one}, and that of {names[1]} is {other}")


def described(value: Any) -> str:
    if not isinstance(value, Tensor):
        return type(value).__name__
    return f"a tensor of size {tuple(value.shape)}, {value.dtype} on {value.device}"


def check_scanned(who: str, leaves: list[Any], dim: Any, error: type[Exception]) -> int:
    """Checks the leaves that are scanned along a dimension; returns it as a non-negative number.

    Raises:
        error: there is no leaf, one is no tensor, or one has no elements along the dimension
        IndexError: the first leaf has no such dimension
    """
    if not leaves:
        raise error(f"{who}: argument 'xs' must have at least one tensor")
    for x in leaves:
        if not isinstance(x, Tensor):
            raise error(f"{who}: argument 'xs' must be tensors, got {type(x).__name__}")
    ndim = leaves[0].dim()
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        raise IndexError(
            f"{who}: argument 'dim' must be from {-max(ndim, 1)} to {max(ndim, 1) - 1} for a tensor of {ndim} "
            f"dimensions, got {dim}"
        )
    dim %= max(ndim, 1)
    for x in leaves:
        if x.dim() <= dim or x.shape[dim] == 0:
            raise error(f"{who}: each tensor of 'xs' must have elements along dimension {dim}, got {tuple(x.shape)}")
    if len({x.shape[dim] for x in leaves}) > 1:
        raise error(f"{who}: tensors of 'xs' have the sizes {[x.shape[dim] for x in leaves]} in dimension {dim}")
    return dim
