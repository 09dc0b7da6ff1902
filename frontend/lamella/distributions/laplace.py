"""Laplace: the double exponential distribution."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import broadcast_all, open_uniform

__all__ = ["Laplace"]


class Laplace(Distribution):
    """The distribution of Laplace, whose density is proportional to ``exp(-|x - loc| / scale)``.

    >>> lamella.distributions.Laplace(0.0, 1.0).log_prob(lamella.tensor(0.0))
    tensor(-0.6931)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Any:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        u = open_uniform(self._extended_shape(sample_shape), self.loc) - 0.5
        return self.loc - self.scale * u.sign() * (-2 * u.abs()).clamp(min=lamella.finfo(u.dtype).eps - 1).log1p()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        x = value - self.loc
        return 0.5 - 0.5 * x.sign() * (-x.abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Any:
        x = value - 0.5
        return self.loc - self.scale * x.sign() * (-2 * x.abs()).log1p()

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()
