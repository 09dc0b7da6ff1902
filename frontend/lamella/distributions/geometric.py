"""Geometric: failures before the first success."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions._choices import _Chance
from lamella.distributions.distribution import wrong_values
from lamella.distributions.utils import open_uniform

__all__ = ["Geometric"]


class Geometric(_Chance):
    """The number of failures before the first success of trials with probability ``probs`` or log odds ``logits``.

    Raises:
        ValueError: neither or both are given, or a probability is not in (0, 1]

    >>> lamella.distributions.Geometric(0.25).mean
    tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (value,) = self._take(probs, logits)
        super().__init__(value.shape, (), validate_args)
        if self._validate_args and "probs" in self.__dict__ and not (value > 0).all():
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {tuple(value.shape)}) of distribution {self!r} to be "
                f"positive, but found invalid values: {wrong_values(value, value > 0, 0)}"
            )

    @property
    def mean(self) -> Any:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Any:
        return lamella.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        probs = self.probs.detach()
        u = open_uniform(self._extended_shape(sample_shape), probs)
        return (u.log() / (-probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = lamella.broadcast_tensors([value.to(self._param.dtype), self.probs])
        never = lamella.where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-never).log1p() + self.probs.log()

    def entropy(self) -> Any:
        loss = lamella.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return loss / self.probs
