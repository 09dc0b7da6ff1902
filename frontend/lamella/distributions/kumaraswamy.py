"""Kumaraswamy: shares between 0 and 1."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella._history import no_history
from lamella.distributions import constraints
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.transforms import AffineTransform, PowerTransform
from lamella.distributions.uniform import Uniform
from lamella.distributions.utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


def _log_moment(a: Any, b: Any, n: int) -> Any:
    """Returns the logarithm of E[x^n], b B(1 + n / a, b)."""
    one = 1 + n / a
    return b.log() + one.lgamma() + b.lgamma() - (one + b).lgamma()


class Kumaraswamy(TransformedDistribution):
    """The distribution of Kumaraswamy, whose distribution function is ``1 - (1 - x ** a) ** b`` over [0, 1].

    ``concentration1`` is a, ``concentration0`` b.

    >>> lamella.distributions.Kumaraswamy(1.0, 1.0).mean
    tensor(0.5000)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        one = lamella.ones_like(self.concentration0)
        parts = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(Uniform(0 * one, one, False), parts, validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.__init__(self.concentration1.expand(shape), self.concentration0.expand(shape), False)
        if "_validate_args" in self.__dict__:
            made._validate_args = self._validate_args
        else:
            del made._validate_args

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in the parameters, none of which is 0 or 1."""
        drawn = super().rsample(sample_shape)
        info = lamella.finfo(drawn.dtype)
        return drawn.clamp(min=info.tiny, max=1 - info.eps / 2)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_history():
            return self.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        rest = lamella.xlogy(b - 1, -(a * value.log()).expm1())
        return a.log() + b.log() + lamella.xlogy(a - 1, value) + rest

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return -(self.concentration0 * (-value.pow(self.concentration1)).log1p()).expm1()

    def icdf(self, value: Any) -> Any:
        return (-((-value).log1p() / self.concentration0).expm1()).pow(1 / self.concentration1)

    @property
    def mean(self) -> Any:
        return _log_moment(self.concentration1, self.concentration0, 1).exp()

    @property
    def mode(self) -> Any:
        """The most probable value, NaN where the density has no largest value inside (0, 1)."""
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1).log() / a - (a * b - 1).log() / a).exp()
        return mode.masked_fill((a < 1) | (b < 1) | (a * b <= 1), math.nan)

    @property
    def variance(self) -> Any:
        return _log_moment(self.concentration1, self.concentration0, 2).exp() - self.mean.square()

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + euler_constant
        return 1 - 1 / b + (1 - 1 / a) * harmonic - a.log() - b.log()
