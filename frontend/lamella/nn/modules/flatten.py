"""Flattens and unflattens dimensions."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.nn.modules.module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Flattens a range of dimensions into one, by default all but the first.

    Names: the new dimension has none, all others stay.

    >>> lamella.nn.Flatten()(lamella.ones(32, 1, 5, 5)).shape
    lamella.Size([32, 25])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


def _is_pair(x: Any) -> bool:
    """Returns whether a value is a name and a size."""
    return isinstance(x, (tuple, list)) and len(x) == 2 and isinstance(x[0], str) and isinstance(x[1], int)


class Unflatten(Module):
    """Splits one dimension, a number or a name, into several. One of the sizes may be -1.

    Names: new dimensions have those of ``unflattened_size``, ``((name, size), ...)``, else none; all others stay.

    >>> lamella.nn.Unflatten(1, (2, -1))(lamella.ones(3, 50)).shape
    lamella.Size([3, 2, 25])
    """

    def __init__(self, dim: int | str, unflattened_size: Any):
        super().__init__()
        if isinstance(dim, bool) or not isinstance(dim, (int, str)):
            kind = type(dim).__name__
            raise TypeError(f"Unflatten: argument 'dim' must be an int or the name of a dimension, got {kind}")
        sizes = unflattened_size if isinstance(unflattened_size, (tuple, list)) else (None,)
        if not (all(isinstance(n, int) for n in sizes) or all(_is_pair(n) for n in sizes)):
            raise TypeError(
                "Unflatten: argument 'unflattened_size' must be a tuple or list of ints, or of pairs of a name and an "
                f"int, got {unflattened_size!r}"
            )
        self.dim: Any = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
