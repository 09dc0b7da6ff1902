"""Masks for pruning, and the number of elements that they remove."""

from __future__ import annotations

import numbers
from typing import Any

import lamella


def checked_amount(amount: Any) -> Any:
    """Returns the amount after a check: a number of elements of at least 0, or a fraction from 0.0 to 1.0."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"prune: argument 'amount' must be an int or a float, got {type(amount).__name__}")
    whole = isinstance(amount, numbers.Integral)
    if float(amount) < 0 or (not whole and float(amount) > 1):
        raise ValueError(f"prune: argument 'amount' must be a float from 0 to 1 or an int from 0 on, got {amount}")
    return amount


def pruned(amount: Any, size: int) -> int:
    """Returns the number of elements to prune, for an amount that is a number or a fraction of ``size``."""
    count = int(amount) if isinstance(amount, numbers.Integral) else round(amount * size)
    if count > size:
        raise ValueError(f"prune: argument 'amount' is {count}, and there are {size} to prune")
    return count


def channels(t: Any, dim: int) -> int:
    """Returns the size of a dimension. The tensor must have at least two."""
    if t.dim() <= 1:
        raise ValueError(
            f"prune: slices are pruned of tensors of two dimensions or more, got the shape {tuple(t.shape)}"
        )
    if not -t.dim() <= dim < t.dim():
        raise IndexError(f"prune: argument 'dim' is {dim}, and the tensor has the shape {tuple(t.shape)}")
    return t.size(dim)


def without(default_mask: Any, scores: Any, count: int, largest: bool) -> Any:
    """Returns the mask with zeros at the ``count`` smallest, or largest, scores."""
    mask = default_mask.clone(memory_format=lamella.contiguous_format)
    if count:
        mask.view(-1)[scores.reshape(-1).topk(count, largest=largest).indices] = 0
    return mask


def only(t: Any, dim: int, kept: Any) -> Any:
    """Returns a mask of ones in the slices that are kept, and zeros elsewhere."""
    mask = lamella.zeros_like(t)
    place: list[Any] = [slice(None)] * t.dim()
    place[dim] = kept
    mask[tuple(place)] = 1
    return mask


def slice_norms(t: Any, n: Any, dim: int) -> Any:
    """Returns the norm of each slice along a dimension."""
    return t.norm(p=n, dim=[d for d in range(t.dim()) if d != dim % t.dim()])
