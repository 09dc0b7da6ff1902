"""Gamma: waiting times for several events at a constant rate."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.exp_family import ExponentialFamily
from lamella.distributions.utils import broadcast_all

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """The gamma distribution of shape ``concentration`` and inverse scale ``rate``.

    Draws are by Marsaglia and Tsang's method (2000); their gradients are implicit ones (Figurnov et al., 2018).

    >>> lamella.distributions.Gamma(2.0, 1.0).log_prob(lamella.tensor(1.0))
    tensor(-1.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0.0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = lamella._standard_gamma(self.concentration.expand(shape)) / self.rate
        # a quotient that is too small for the dtype becomes the least normal number, whose logarithm is finite
        return drawn.clamp(min=lamella.finfo(drawn.dtype).tiny)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        whole = lamella.xlogy(self.concentration, self.rate) - self.concentration.lgamma()
        return lamella.addcmul(whole + lamella.xlogy(self.concentration - 1, value), self.rate, value, value=-1)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return lamella.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()

    @property
    def _natural_params(self) -> Any:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return (x + 1).lgamma() - (x + 1) * (-y).log()
