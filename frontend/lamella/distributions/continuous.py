"""Continuous distributions: with a location and a scale, exponential, and uniform."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions.distribution import NOT_NEGATIVE, POSITIVE, REAL, Distribution, tensors

EULER = 0.5772156649015329


class _Located(Distribution):
    """A distribution with a location and a scale."""

    has_rsample = True
    _parameters = {"loc": REAL, "scale": POSITIVE}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = tensors(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    def _uniform(self, sample_shape: Any) -> Any:
        """Returns random numbers in (0, 1)."""
        drawn = lamella.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        least = lamella.finfo(drawn.dtype).tiny
        return drawn.clamp(min=least)


class Normal(_Located):
    """The normal distribution with mean ``loc`` and standard deviation ``scale``.

    >>> normal = lamella.distributions.Normal(0.0, 1.0)
    >>> normal.log_prob(lamella.tensor(0.0)), normal.cdf(lamella.tensor(0.0))
    (tensor(-0.9189), tensor(0.5000))
    """

    @property
    def mean(self) -> Any:
        """The mean, which is ``loc``."""
        return self.loc

    mode = mean

    @property
    def stddev(self) -> Any:
        """The standard deviation, which is ``scale``."""
        return self.scale

    @property
    def variance(self) -> Any:
        """The square of ``scale``."""
        return self.scale * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in ``loc`` and ``scale``."""
        shape = self._extended_shape(sample_shape)
        return self.loc + self.scale * lamella.randn(shape, dtype=self.loc.dtype, device=self.loc.device)

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the density."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -0.5 * z * z - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Any) -> Any:
        """Returns the probability that a draw is not greater than the value."""
        self._validate_sample(value)
        return 0.5 * (1 + lamella.erf((value - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value: Any) -> Any:
        """Returns the inverse of ``cdf``."""
        return self.loc + self.scale * lamella.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class LogNormal(Normal):
    """The exponential of a normal distribution's draws.

    >>> lamella.distributions.LogNormal(0.0, 1.0).log_prob(lamella.tensor(1.0))
    tensor(-0.9189)
    """

    _support = POSITIVE

    @property
    def mean(self) -> Any:
        """The mean of the draws, not of their logarithms."""
        return (self.loc + self.scale * self.scale / 2).exp()

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return (self.loc - self.scale * self.scale).exp()

    @property
    def variance(self) -> Any:
        """The variance of the draws."""
        square = self.scale * self.scale
        return square.expm1() * (2 * self.loc + square).exp()

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return self.variance.sqrt()

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in ``loc`` and ``scale``."""
        return super().rsample(sample_shape).exp()

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the density."""
        self._validate_sample(value)
        logs = value.log()
        return self._normal().log_prob(logs) - logs

    def _normal(self) -> Normal:
        return Normal(self.loc, self.scale, False)

    def cdf(self, value: Any) -> Any:
        """Returns the probability that a draw is not greater than the value."""
        self._validate_sample(value)
        return self._normal().cdf(value.log())

    def icdf(self, value: Any) -> Any:
        """Returns the inverse of ``cdf``."""
        return super().icdf(value).exp()

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return super().entropy() + self.loc


class Laplace(_Located):
    """The distribution of Laplace, whose density is proportional to ``exp(-|x - loc| / scale)``.

    >>> lamella.distributions.Laplace(0.0, 1.0).log_prob(lamella.tensor(0.0))
    tensor(-0.6931)
    """

    @property
    def mean(self) -> Any:
        """The mean, which is ``loc``."""
        return self.loc

    mode = mean

    @property
    def variance(self) -> Any:
        """Twice the square of ``scale``."""
        return 2 * self.scale * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in ``loc`` and ``scale``."""
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the density."""
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        """Returns the probability that a draw is not greater than the value."""
        self._validate_sample(value)
        z = value - self.loc
        return 0.5 - 0.5 * z.sign() * (-z.abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Any:
        """Returns the inverse of ``cdf``."""
        z = value - 0.5
        return self.loc - self.scale * z.sign() * (-2 * z.abs()).log1p()

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return 1 + (2 * self.scale).log()


class Gumbel(_Located):
    """The distribution of Gumbel, a limit distribution of the largest of many draws.

    >>> lamella.distributions.Gumbel(0.0, 1.0).log_prob(lamella.tensor(0.0))
    tensor(-1.)
    """

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Any:
        """The most probable value, which is ``loc``."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The variance."""
        return (math.pi**2 / 6) * self.scale * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in ``loc`` and ``scale``."""
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the density."""
        self._validate_sample(value)
        z = (self.loc - value) / self.scale
        return z - z.exp() - self.scale.log()

    def cdf(self, value: Any) -> Any:
        """Returns the probability that a draw is not greater than the value."""
        self._validate_sample(value)
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value: Any) -> Any:
        """Returns the inverse of ``cdf``."""
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return self.scale.log() + 1 + EULER


class Exponential(Distribution):
    """The distribution of the time between events that occur ``rate`` times per unit of time.

    >>> lamella.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    has_rsample = True
    _parameters = {"rate": POSITIVE}
    _support = NOT_NEGATIVE

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = tensors(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.rate.reciprocal()

    stddev = mean

    @property
    def mode(self) -> Any:
        """The most probable value, 0."""
        return lamella.zeros_like(self.rate)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in ``rate``."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(lamella.rand(shape, dtype=self.rate.dtype, device=self.rate.device))

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the density."""
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        """Returns the probability that a draw is not greater than the value."""
        self._validate_sample(value)
        return -(-self.rate * value).expm1()

    def icdf(self, value: Any) -> Any:
        """Returns the inverse of ``cdf``."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return 1 - self.rate.log()


class Uniform(Distribution):
    """The uniform distribution on ``[low, high)``.

    >>> lamella.distributions.Uniform(1.0, 3.0).entropy()
    tensor(0.6931)
    """

    has_rsample = True
    _parameters = {"low": REAL, "high": REAL}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = tensors(low, high)
        super().__init__(self.low.shape, (), validate_args)
        if self._checked and not bool((self.low < self.high).all()):
            raise ValueError(f"Uniform is not defined when low >= high: low is {self.low}, high {self.high}")
        self._support = ("in [low, high]", lambda x: (x >= self.low) & (x <= self.high))

    @property
    def mean(self) -> Any:
        """The mean."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Any:
        """The variance."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in ``low`` and ``high``."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(lamella.rand(shape, dtype=self.low.dtype, device=self.low.device))

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the density; minus infinity outside of the interval, if values are not checked."""
        self._validate_sample(value)
        inside = ((value >= self.low) & (value < self.high)).to(self.low.dtype)
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        """Returns the probability that a draw is not greater than the value."""
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        """Returns the inverse of ``cdf``."""
        return self.low + value * (self.high - self.low)

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return (self.high - self.low).log()
