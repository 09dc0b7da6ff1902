"""Zeros at random, in training."""

from __future__ import annotations

from lamella._C import Tensor
from lamella.nn import functional as F
from lamella.nn.modules.module import Module

__all__ = ["Dropout"]


class _Dropout(Module):
    """A kind of dropout: each drawn element becomes zero with probability ``p``."""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: argument 'p' must be a probability from 0 to 1, got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training, zeros each element with probability ``p`` and scales the others by ``1 / (1 - p)``.

    >>> lamella.nn.Dropout(1.0)(lamella.ones(3))
    tensor([0., 0., 0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)
