"""The parts that distributions with either probabilities or logits share."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def given(probs: Any, logits: Any) -> tuple[str, Any]:
    """Returns the name and the value of the parameter that is given; ValueError unless it is exactly one of the two."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("probs", probs) if logits is None else ("logits", logits)


class _Given(Distribution):
    """A distribution that stores one parameter, the probabilities or the logits, and computes the other one."""

    @property
    def _param(self) -> Any:
        own = self.__dict__
        return own["probs"] if "probs" in own else own["logits"]

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.shape


class _Chance(_Given):
    """A distribution with one probability, or log odds, for each element of the batch."""

    def _take(self, probs: Any, logits: Any, *others: Any) -> Any:
        """Stores the parameter that is given; returns it with other parameters, broadcast together."""
        name, value = given(probs, logits)
        made = broadcast_all(value, *others)
        self.__dict__[name] = made[0]
        return made

    @lazy_property
    def probs(self) -> Any:
        """The probability of success."""
        return logits_to_probs(self.logits, True)

    @lazy_property
    def logits(self) -> Any:
        """The log odds of success."""
        return probs_to_logits(self.probs, True)


class _Shares(_Given):
    """A distribution with probabilities, or their logarithms, in the last dimension; they are divided by their sum."""

    def _take(self, probs: Any, logits: Any) -> Any:
        name, value = given(probs, logits)
        if not isinstance(value, Tensor) or value.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if not value.is_floating_point():
            value = value.to(lamella.get_default_dtype())
        self.__dict__["_unnormalized"] = value
        if name == "probs":
            self.__dict__["probs"] = value / value.sum(-1, True)
        else:
            self.__dict__["logits"] = value - value.logsumexp(-1, True)
        return value

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)
