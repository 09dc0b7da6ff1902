"""ContinuousBernoulli: numbers between 0 and 1 with an exponential density."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions._choices import _Chance
from lamella.distributions.distribution import wrong_values
from lamella.distributions.exp_family import ExponentialFamily
from lamella.distributions.utils import clamp_probs, open_uniform

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(_Chance, ExponentialFamily):
    """Numbers in [0, 1] with a density proportional to ``probs ** x * (1 - probs) ** (1 - x)``.

    The normalizer and the moments are computed from Taylor series where ``probs`` is within ``lims``, near a half
    (Loaiza-Ganem and Cunningham, "The continuous Bernoulli", 2019).

    >>> lamella.distributions.ContinuousBernoulli(0.5).mean
    tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0.0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        (value,) = self._take(probs, logits)
        if "probs" in self.__dict__:
            if validate_args if validate_args is not None else self._validate_args:
                right = constraints.unit_interval.check(value)
                if not right.all():
                    raise ValueError(
                        "The parameter probs has invalid values: they must be in [0, 1], but found invalid values: "
                        f"{wrong_values(value, right, 0)}"
                    )
            self.__dict__["probs"] = clamp_probs(value)
        self._lims = lims
        super().__init__(value.shape, (), validate_args)

    def _split(self) -> tuple[Any, Any, Any]:
        """Returns a mask of the probabilities for which the closed forms are exact; the probabilities, with one of
        these in place of the others; and x = probs - 1/2."""
        probs = self.probs
        apart = (probs <= self._lims[0]) | (probs > self._lims[1])
        return apart, lamella.where(apart, probs, self._lims[0]), probs - 0.5

    def _log_norm(self) -> Any:
        """Returns the logarithm of the normalizer, 2 atanh(1 - 2 p) / (1 - 2 p), which is 2 at p = 1/2."""
        apart, safe, x = self._split()
        odds = 1 - 2 * safe
        square = x.square()
        near = math.log(2.0) + (4 / 3 + 104 / 45 * square) * square
        return lamella.where(apart, (2 * odds.atanh() / odds).log(), near)

    @property
    def mean(self) -> Any:
        apart, safe, x = self._split()
        far = safe / (2 * safe - 1) + 1 / (2 * (1 - 2 * safe).atanh())
        return lamella.where(apart, far, 0.5 + (1 / 3 + 16 / 45 * x.square()) * x)

    @property
    def variance(self) -> Any:
        apart, safe, x = self._split()
        odds = 1 - 2 * safe
        far = safe * (safe - 1) / odds.square() + 1 / (2 * odds.atanh()).square()
        square = x.square()
        return lamella.where(apart, far, 1 / 12 - (1 / 15 - 128 / 945 * square) * square)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(open_uniform(self._extended_shape(sample_shape), self.probs))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = lamella.broadcast_tensors([self.logits, value])
        loss = lamella.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._log_norm() - loss

    def _slope(self) -> tuple[Any, Any]:
        """Returns a mask of the densities that are level, and the slopes of the log densities, with 1 for these."""
        level = self.logits == 0
        return level, lamella.where(level, 1.0, self.logits)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        (level, slope), within = self._slope(), value.clamp(min=0, max=1)
        return lamella.where(level, within, (slope * within).expm1() / slope.expm1())

    def icdf(self, value: Any) -> Any:
        level, slope = self._slope()
        return lamella.where(level, value, (value * slope.expm1()).log1p() / slope)

    def entropy(self) -> Any:
        rest = (-self.probs).log1p()
        return self.mean * (rest - self.probs.log()) - self._log_norm() - rest

    @property
    def _natural_params(self) -> Any:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        """Returns log((e^x - 1) / x), by its series where x is small."""
        apart = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        safe = lamella.where(apart, x, self._lims[0] - 0.5)
        far = (safe.expm1() / safe).log()
        return lamella.where(apart, far, 0.5 * x + x.square() / 24 - x.pow(4) / 2880)
