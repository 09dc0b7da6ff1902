"""Pareto: numbers above a least one, with a power law."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.exponential import Exponential
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.transforms import AffineTransform, ExpTransform
from lamella.distributions.utils import broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """The distribution of Pareto: numbers above ``scale``, proportional to ``x ** -(alpha + 1)``.

    >>> lamella.distributions.Pareto(1.0, 2.0).mean
    tensor(2.)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        parts = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(Exponential(self.alpha, validate_args), parts, validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.scale, made.alpha = self.scale.expand(shape), self.alpha.expand(shape)
        made.base_dist = self.base_dist.expand(shape)
        made.transforms = [ExpTransform(), AffineTransform(0, made.scale)]

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        """The numbers of at least ``scale``."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        """The mean, infinite for ``alpha`` up to 1."""
        return lamella.where(self.alpha > 1, self.alpha * self.scale / (self.alpha - 1), math.inf)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        """The variance, infinite for ``alpha`` up to 2."""
        a = self.alpha
        return lamella.where(a > 2, self.scale.square() * a / ((a - 1).square() * (a - 2)), math.inf)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
