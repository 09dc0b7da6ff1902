"""Multinomial: counts of several draws among categories."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.binomial import Binomial
from lamella.distributions.categorical import Categorical
from lamella.distributions.distribution import Distribution

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """The count of each category among ``total_count`` draws with the probabilities of the last dimension.

    Raises:
        NotImplementedError: ``total_count`` is a tensor

    >>> lamella.distributions.Multinomial(4, lamella.tensor([1.0, 3.0])).mean
    tensor([1., 3.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(
                f"Multinomial: argument 'total_count': expected an int, got {type(total_count).__name__}"
            )
        self.total_count = total_count
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:  # type: ignore[override]
        """Counts that add up to ``total_count`` at most."""
        return constraints.multinomial(self.total_count)

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """The variance of each count."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        drawn = self._categorical.sample((self.total_count, *sample_shape)).unsqueeze(-1)
        shape, param = self._extended_shape(sample_shape), self._categorical._param
        counts = lamella.zeros(shape, dtype=param.dtype, device=param.device)
        if self.total_count:
            each = drawn.movedim(0, -1).squeeze(-2)
            counts.scatter_add_(-1, each, lamella.ones_like(each, dtype=param.dtype))
        return counts

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        logits, value = lamella.broadcast_tensors([self.logits, value])
        return ways + lamella.where((value == 0) & (logits == -math.inf), 0.0, logits * value).sum(-1)

    def entropy(self) -> Any:
        n = self.total_count
        values = lamella.arange(1, n + 1, dtype=self.probs.dtype, device=self.probs.device)
        values = values.view((-1, *[1] * (len(self._batch_shape) + 1)))
        counts = Binomial(n, probs=self.probs, validate_args=False).log_prob(values).exp()
        least = math.lgamma(n + 1)
        return n * self._categorical.entropy() - least + (counts * (values + 1).lgamma()).sum((0, -1))

    def __repr__(self) -> str:
        return f"Multinomial(total_count: {self.total_count}, {repr(self._categorical).partition('(')[2]}"
