"""RelaxedOneHotCategorical: smooth approximations of rows with a single 1."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.categorical import Categorical
from lamella.distributions.distribution import Distribution
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.transforms import ExpTransform
from lamella.distributions.utils import clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """The logarithms of RelaxedOneHotCategorical's draws.

    >>> from lamella.distributions.relaxed_categorical import ExpRelaxedCategorical
    >>> ExpRelaxedCategorical(lamella.tensor(1.0), lamella.ones(3)).event_shape
    lamella.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # the logarithms add up, as exponentials, to 1, which is not tested
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical, self.temperature = Categorical(probs, logits, validate_args), temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

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

    def _expand_into(self, made: Any, shape: Any) -> None:
        made._categorical, made.temperature = self._categorical.expand(shape), self.temperature

    def rsample(self, sample_shape: Any = ()) -> Any:
        logits = self.logits
        u = clamp_probs(lamella.rand(self._extended_shape(sample_shape), dtype=logits.dtype, device=logits.device))
        return lamella.log_softmax((logits - (-u.log()).log()) / self.temperature, -1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self._event_shape[0], self.logits
        t = lamella.as_tensor(self.temperature, dtype=logits.dtype)
        apart = logits - value * t
        return (apart - apart.logsumexp(-1, True)).sum(-1) + math.lgamma(n) + (n - 1) * t.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """Shares near a row with a single 1, differentiable in the parameters (Maddison et al., and Jang et al., 2017).

    >>> d = lamella.distributions.RelaxedOneHotCategorical(lamella.tensor(0.5), lamella.ones(3))
    >>> round(d.rsample().sum().item(), 4)
    1.0
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self.base_dist.probs
