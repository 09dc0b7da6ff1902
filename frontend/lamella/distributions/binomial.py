"""Binomial: numbers of successes in several trials."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions._choices import _Chance

__all__ = ["Binomial"]


class Binomial(_Chance):
    """The number of successes in ``total_count`` trials with probability ``probs`` or log odds ``logits``.

    >>> lamella.distributions.Binomial(4, lamella.tensor(0.5)).log_prob(lamella.tensor(2.0))
    tensor(-0.9808)
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        value, self.total_count = self._take(probs, logits, total_count)
        self.total_count = self.total_count.to(value.dtype)
        super().__init__(value.shape, (), validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        """The whole numbers from 0 to ``total_count``."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return lamella.binomial(self.total_count.detach().expand(shape), self.probs.detach().expand(shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n, x = self.total_count, self.logits
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        # log(p) = -softplus(-x) and log(1 - p) = -softplus(x)
        return ways + value * x - n * lamella.nn.functional.softplus(x)

    def entropy(self) -> Any:
        """Returns the entropy, in nats; NotImplementedError if the counts differ within the batch."""
        n = int(self.total_count.max())
        if not bool((self.total_count == n).all()):
            raise NotImplementedError("Binomial: the entropy of different numbers of trials in a batch is not computed")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        """Returns the numbers from 0 to ``total_count``; NotImplementedError if the counts differ within the batch."""
        n = int(self.total_count.max())
        if not bool((self.total_count == n).all()):
            raise NotImplementedError("Binomial: different numbers of trials in a batch have different supports")
        values = lamella.arange(n + 1, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values
