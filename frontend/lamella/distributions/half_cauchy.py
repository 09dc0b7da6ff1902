"""HalfCauchy: sizes of Cauchy numbers."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.cauchy import Cauchy
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """The size |x| of numbers with Cauchy's distribution of median 0 and half width ``scale``.

    >>> lamella.distributions.HalfCauchy(1.0).cdf(lamella.tensor(1.0))
    tensor(0.5000)
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, False), AbsTransform(), validate_args)

    @property
    def scale(self) -> Any:
        """The half width of Cauchy's distribution."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """Infinity."""
        return lamella.full_like(self.scale, math.inf)

    @property
    def mode(self) -> Any:
        return lamella.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        """Infinity."""
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value = lamella.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return lamella.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)
