"""NegativeBinomial: successes before a number of failures."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._history import no_history
from lamella.distributions import constraints
from lamella.distributions._choices import _Chance

__all__ = ["NegativeBinomial"]


class NegativeBinomial(_Chance):
    """The number of successes before ``total_count`` trials fail; ``probs`` is the probability of success.

    ``total_count`` need not be whole: the numbers are Poisson ones whose rates are gamma numbers.

    >>> lamella.distributions.NegativeBinomial(2.0, lamella.tensor(0.5)).mean
    tensor(2.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        value, self.total_count = self._take(probs, logits, total_count)
        self.total_count = self.total_count.to(value.dtype)
        super().__init__(value.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.mean / lamella.sigmoid(-self.logits)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_history():
            shape = self._extended_shape(sample_shape)
            rates = lamella._standard_gamma(self.total_count.expand(shape)) * self.logits.exp()
            return lamella.poisson(rates)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n, logsigmoid = self.total_count, lamella.nn.functional.logsigmoid
        ways = (n + value).lgamma() - (value + 1).lgamma() - n.lgamma()
        ways = lamella.where(n + value == 0, 0.0, ways)
        return n * logsigmoid(-self.logits) + value * logsigmoid(self.logits) + ways
