"""Distances and similarities of vectors, as modules."""

from __future__ import annotations

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The norm of order ``p`` of ``x1 - x2 + eps`` along the last dimension.

    Names of the arguments must agree; the result has them without the last one.

    >>> lamella.nn.PairwiseDistance()(lamella.tensor([3.0, 4.0]), lamella.zeros(2))
    tensor(5.0000)
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle of the vectors along a dimension, with norms of at least ``eps``.

    Names of the arguments must agree; the result has them without that of ``dim``.

    >>> lamella.nn.CosineSimilarity(dim=0)(lamella.tensor([3.0, 4.0]), lamella.tensor([1.0, 0.0]))
    tensor(0.6000)
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
