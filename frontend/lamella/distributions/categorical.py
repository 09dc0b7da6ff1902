"""Categorical: one of several numbers."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella._C import Size
from lamella.distributions import constraints
from lamella.distributions._choices import _Shares

__all__ = ["Categorical"]


class Categorical(_Shares):
    """The distribution of a number from 0 to n - 1, with the probabilities of the last dimension divided by their sum.

    Raises:
        ValueError: neither or both are given, they have no dimension, a probability is negative, or those of a row add
            up to 0 or infinity

    >>> die = lamella.distributions.Categorical(lamella.ones(6))
    >>> die.entropy(), die.log_prob(lamella.tensor([0, 5]))
    (tensor(1.7918), tensor([-1.7918, -1.7918]))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        value = self._take(probs, logits)
        self._num_events = value.shape[-1]
        super().__init__(value.shape[:-1], (), validate_args)
        del self.__dict__["_unnormalized"]

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        """The whole numbers from 0 to n - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        """NaN: the numbers are labels, which have no mean."""
        return lamella.full(self._extended_shape(), math.nan, dtype=self._param.dtype, device=self._param.device)

    @property
    def mode(self) -> Any:
        return self._param.argmax(-1)

    @property
    def variance(self) -> Any:
        """NaN: the numbers are labels, which have no variance."""
        return self.mean

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        return lamella.multinomial(rows, shape.numel(), True).t().reshape(shape + self._batch_shape)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self._log_prob(value)

    def _log_prob(self, value: Any) -> Any:
        index, logits, dims = value.to(lamella.int64), self.logits, len(self._batch_shape)
        if index.shape[index.dim() - dims :] == self._batch_shape and index.dim() >= dims:
            # a row of the table has the logits of a member of the batch, a row of the index has its values
            found = logits.reshape(-1, self._num_events).gather(1, index.reshape(-1, self._batch_shape.numel()).t())
            return found.t().reshape(index.shape)
        index, logits = lamella.broadcast_tensors([index.unsqueeze(-1), logits])
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=lamella.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = lamella.arange(self._num_events, device=self._param.device)
        values = values.view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values
