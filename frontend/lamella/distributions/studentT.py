"""StudentT: the distribution of Student."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import broadcast_all, standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """The distribution of Student with ``df`` degrees of freedom, a location and a scale.

    >>> lamella.distributions.StudentT(2.0).log_prob(lamella.tensor(0.0))
    tensor(-1.0397)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        """``loc``, or NaN for one degree of freedom or less."""
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The variance: infinite up to two degrees of freedom, NaN up to one."""
        variance = self.scale.square() * self.df / (self.df - 2)
        return variance.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        # x = normal * sqrt(df / chi2), chi2 = 2 * gamma(df / 2)
        shape = self._extended_shape(sample_shape)
        x, half = standard_normal(shape, self.df), 0.5 * self.df
        gamma = lamella._standard_gamma(half.expand(shape))
        return self.loc + self.scale * (x * lamella.rsqrt(gamma / half))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        half = 0.5 * self.df
        whole = (half + 0.5).lgamma() - half.lgamma() - 0.5 * (self.df * math.pi).log() - self.scale.log()
        return whole - (half + 0.5) * (((value - self.loc) / self.scale).square() / self.df).log1p()

    def entropy(self) -> Any:
        half = 0.5 * self.df
        beta = half.lgamma() + 0.5 * math.log(math.pi) - (half + 0.5).lgamma()
        digammas = (half + 0.5).digamma() - half.digamma()
        return self.scale.log() + (half + 0.5) * digammas + 0.5 * self.df.log() + beta
