"""Normal: the normal distribution."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.exp_family import ExponentialFamily
from lamella.distributions.utils import broadcast_all, standard_normal

__all__ = ["Normal"]


_HALF_LOG = 0.5 * math.log(2 * math.pi)


class Normal(ExponentialFamily):
    """The normal distribution with mean ``loc`` and standard deviation ``scale``.

    >>> normal = lamella.distributions.Normal(0.0, 1.0)
    >>> normal.log_prob(lamella.tensor(0.0)), normal.cdf(lamella.tensor(0.0))
    (tensor(-0.9189), tensor(0.5000))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = -_HALF_LOG

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
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale.square()

    def rsample(self, sample_shape: Any = ()) -> Any:
        return lamella.addcmul(self.loc, self.scale, standard_normal(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        least = (self.scale.log() + _HALF_LOG).neg()
        return lamella.addcmul(least, (value - self.loc).square(), self.scale.square().reciprocal(), value=-0.5)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * lamella.erfc((self.loc - value) / (self.scale * math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * lamella.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + _HALF_LOG + self.scale.log()

    @property
    def _natural_params(self) -> Any:
        return self.loc / self.variance, -0.5 / self.variance

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return -0.25 * x.square() / y + 0.5 * (-math.pi / y).log()
