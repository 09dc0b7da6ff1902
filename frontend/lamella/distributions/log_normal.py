"""LogNormal: the exponential of normal numbers."""

from __future__ import annotations

from typing import Any

from lamella.distributions import constraints
from lamella.distributions.normal import Normal
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.transforms import ExpTransform

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """The exponential of a normal distribution's draws.

    >>> lamella.distributions.LogNormal(0.0, 1.0).log_prob(lamella.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, False), ExpTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the draws' logarithms."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the draws' logarithms."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """The mean of the draws, not of their logarithms."""
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        """The variance of the draws, not of their logarithms."""
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc

    def __repr__(self) -> str:
        return f"LogNormal{repr(self.base_dist).removeprefix('Normal')}"
