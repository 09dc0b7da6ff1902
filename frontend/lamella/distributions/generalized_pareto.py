"""GeneralizedPareto: excesses over a threshold."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import broadcast_all, open_uniform

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """The generalized distribution of Pareto, of excesses over the threshold ``loc``.

    For ``concentration`` 0 it is exponential; below 0 it ends at ``loc - scale / concentration``.

    >>> lamella.distributions.GeneralizedPareto(0.0, 1.0, 0.5).cdf(lamella.tensor(2.0))
    tensor(0.7500)
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        """The numbers of at least ``loc``, and up to the end if ``concentration`` is negative."""
        high = lamella.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, high)

    def _parts(self) -> tuple[Any, Any]:
        """Returns a mask of the concentrations for which the exponential formulas hold, and divisors other than 0."""
        near = self.concentration.abs() < 4 * lamella.finfo(self.loc.dtype).eps
        return near, lamella.where(near, 1.0, self.concentration)

    @property
    def mean(self) -> Any:
        """The mean, infinite for a concentration of 1 or more."""
        mean = self.loc + self.scale / (1 - self.concentration)
        return lamella.where(self.concentration < 1, mean, math.inf)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The variance, infinite for a concentration of 1/2 or more."""
        c = self.concentration
        return lamella.where(c < 0.5, self.scale.square() / ((1 - c).square() * (1 - 2 * c)), math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(open_uniform(self._extended_shape(sample_shape), self.loc))

    def log_survival_function(self, value: Any) -> Any:
        """Returns the logarithm of the probability that a draw is above the value."""
        if self._validate_args:
            self._validate_sample(value)
        z, (near, c) = (value - self.loc) / self.scale, self._parts()
        return lamella.where(near, -z, -(c * z).log1p() / c)

    def log_cdf(self, value: Any) -> Any:
        """Returns the logarithm of the probability that a draw is not greater than the value."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Any) -> Any:
        return -self.log_survival_function(value).expm1()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        z, (near, c) = (value - self.loc) / self.scale, self._parts()
        return lamella.where(near, -z, -(1 + 1 / c) * (c * z).log1p()) - self.scale.log()

    def icdf(self, value: Any) -> Any:
        left, (near, c) = (-value).log1p(), self._parts()
        return self.loc + self.scale * lamella.where(near, -left, (-c * left).expm1() / c)

    def entropy(self) -> Any:
        return self.scale.log() + self.concentration + 1
