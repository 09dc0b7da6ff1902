"""RelaxedBernoulli: smooth approximations of successes."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions._choices import _Chance
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.transforms import SigmoidTransform
from lamella.distributions.utils import clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(_Chance):
    """The log odds of RelaxedBernoulli's draws: logistic numbers plus ``logits``, divided by ``temperature``.

    >>> from lamella.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
    >>> LogitRelaxedBernoulli(lamella.tensor(1.0), probs=0.5).log_prob(lamella.tensor(0.0))
    tensor(-1.3863)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        (value,) = self._take(probs, logits)
        super().__init__(value.shape, (), validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.temperature = self.temperature
        made.__dict__.update({n: self.__dict__[n].expand(shape) for n in ("probs", "logits") if n in self.__dict__})

    def rsample(self, sample_shape: Any = ()) -> Any:
        probs = clamp_probs(self.probs)
        u = clamp_probs(lamella.rand(self._extended_shape(sample_shape), dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        t = lamella.as_tensor(self.temperature, dtype=self._param.dtype)
        apart = self.logits - value * t
        return t.log() + apart - 2 * lamella.nn.functional.softplus(apart)


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1) near 0 or 1, differentiable in the parameters; they become Bernoulli's at temperature 0.

    See Maddison, Mnih and Teh, "The concrete distribution", and Jang, Gu and Poole (2017).

    >>> d = lamella.distributions.RelaxedBernoulli(lamella.tensor(1.0), probs=0.5)
    >>> d.log_prob(lamella.tensor(0.5))
    tensor(0.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args)

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The log odds of success."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probability of success."""
        return self.base_dist.probs
