"""Bernoulli: successes of single trials."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions._choices import _Chance
from lamella.distributions.exp_family import ExponentialFamily

__all__ = ["Bernoulli"]


class Bernoulli(_Chance, ExponentialFamily):
    """The distribution of 1, with probability ``probs``, and 0; or with the log odds ``logits``.

    Raises:
        ValueError: neither or both are given, or a probability is not in [0, 1]

    >>> lamella.distributions.Bernoulli(0.25).log_prob(lamella.tensor([0.0, 1.0]))
    tensor([-0.2877, -1.3863])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0.0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (value,) = self._take(probs, logits)
        super().__init__(value.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        """The more probable of 0 and 1, NaN for a probability of a half."""
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return mode.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        return lamella.bernoulli(self.probs.detach().expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = lamella.broadcast_tensors([self.logits, value.to(self._param.dtype)])
        return -lamella.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return lamella.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        values = lamella.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> Any:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return lamella.nn.functional.softplus(x)
