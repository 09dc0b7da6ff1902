"""OneHotCategorical: one of several rows with a single 1."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.categorical import Categorical
from lamella.distributions.distribution import Distribution

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """Like Categorical, but a draw is a row with a single 1.

    >>> lamella.distributions.OneHotCategorical(lamella.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], False)
        if validate_args is None:
            del self._validate_args  # the default, which may change; the parameters are those of the Categorical
        else:
            self._validate_args = validate_args

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return self._rows(self._categorical.mode)

    @property
    def variance(self) -> Any:
        """The variance of each element of a row."""
        return self.probs * (1 - self.probs)

    def _rows(self, numbers: Any) -> Any:
        return lamella.nn.functional.one_hot(numbers, self._event_shape[0]).to(self._param.dtype)

    def sample(self, sample_shape: Any = ()) -> Any:
        return self._rows(self._categorical.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical._log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self._event_shape[0]
        values = lamella.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n, *[1] * len(self._batch_shape), n))
        return values.expand((n, *self._batch_shape, n)) if expand else values

    def __repr__(self) -> str:
        return f"{type(self).__name__}{repr(self._categorical).removeprefix('Categorical')}"


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical with draws whose gradients pass straight to the probabilities (Bengio et al., 2013).

    >>> p = lamella.tensor([0.5, 0.5], requires_grad=True)
    >>> lamella.distributions.OneHotCategoricalStraightThrough(p).rsample().requires_grad
    True
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        probs = self.probs
        return self.sample(sample_shape) + (probs - probs.detach())
