"""Weibull: lifetimes."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.exponential import Exponential
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.transforms import AffineTransform, PowerTransform
from lamella.distributions.utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """The distribution of Weibull, of ``scale`` times an exponential number to the power of ``1 / concentration``.

    >>> lamella.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(lamella.ones_like(self.scale), False)
        parts = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, parts, validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.scale, made.concentration = self.scale.expand(shape), self.concentration.expand(shape)
        made.concentration_reciprocal = self.concentration_reciprocal.expand(shape)
        made.base_dist = self.base_dist.expand(shape)
        made.transforms = [PowerTransform(made.concentration_reciprocal), AffineTransform(0, made.scale)]

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        k, z = self.concentration, value / self.scale
        return k.log() - self.scale.log() + lamella.xlogy(k - 1, z) - z.pow(k)

    @property
    def mean(self) -> Any:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        k = self.concentration
        return self.scale * ((k - 1).clamp(min=0) / k).pow(self.concentration_reciprocal)

    @property
    def variance(self) -> Any:
        inverse = self.concentration_reciprocal
        squares = (1 + 2 * inverse).lgamma().exp() - (2 * (1 + inverse).lgamma()).exp()
        return self.scale.square() * squares

    def entropy(self) -> Any:
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + (self.scale * inverse).log() + 1
