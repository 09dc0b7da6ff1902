"""Dropout as modules."""

from __future__ import annotations

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules.module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    """The base of all kinds of dropout: elements or channels are dropped with probability ``p``."""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: argument 'p' must be a probability from 0 to 1, got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, zeros each element with probability ``p`` and scales the others by ``1 / (1 - p)``.

    Names of dimensions stay.

    >>> lamella.nn.Dropout(1.0)(lamella.ones(3))
    tensor([0., 0., 0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of (N, C, L) or (C, L). Names of dimensions stay.

    >>> lamella.nn.Dropout1d(1.0)(lamella.ones(1, 2))
    tensor([[0., 0.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of (N, C, H, W). After Tompson et al. (2015).

    As in torch, an input of three dimensions is taken as (N, C, L), with a warning. Names of dimensions stay.

    >>> lamella.nn.Dropout2d(1.0)(lamella.ones(1, 1, 1, 2))
    tensor([[[[0., 0.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W). Names of dimensions stay.

    >>> lamella.nn.Dropout3d(1.0)(lamella.ones(1, 1, 1, 1, 2))
    tensor([[[[[0., 0.]]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """In training, sets each element with probability ``p`` to the limit of SELU at minus infinity, and then scales and
    shifts all, so that mean 0 and variance 1 stay.

    As in torch, ``inplace`` is stored and has no effect. After Klambauer et al. (2017). Names of dimensions stay.

    >>> lamella.nn.AlphaDropout().eval()(lamella.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels of (N, C, ...).

    As in torch, ``inplace`` is stored and has no effect. Names of dimensions stay.

    >>> lamella.nn.FeatureAlphaDropout().eval()(lamella.ones(1, 2))
    tensor([[1., 1.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
