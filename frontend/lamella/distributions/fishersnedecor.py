"""FisherSnedecor: ratios of mean squares."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The distribution of Fisher and Snedecor: the ratio of two chi-square numbers, each over its degrees of freedom.

    >>> lamella.distributions.FisherSnedecor(1.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        """The mean, NaN for ``df2`` up to 2."""
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, math.nan)

    @property
    def mode(self) -> Any:
        """The most probable value, NaN for ``df1`` up to 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        """The variance, NaN for ``df2`` up to 4."""
        a, b = self.df1, self.df2
        return (2 * b.square() * (a + b - 2) / (a * (b - 2).square() * (b - 4))).masked_fill(b <= 4, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        above, below = (lamella._standard_gamma(0.5 * df.expand(shape)) / df for df in (self.df1, self.df2))
        tiny = lamella.finfo(above.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        a, b, ratio = 0.5 * self.df1, 0.5 * self.df2, self.df1 / self.df2
        whole = (a + b).lgamma() - a.lgamma() - b.lgamma() + a * ratio.log()
        return whole + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()
