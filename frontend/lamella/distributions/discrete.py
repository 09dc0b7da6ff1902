"""Discrete distributions, given by probabilities or by logits. Logits of a single probability p are log(p / (1 - p)),
those of several are their logarithms up to a constant."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions.distribution import BOOLEAN, REAL, SHARE, Distribution, tensors
from lamella.nn.functional import binary_cross_entropy_with_logits, one_hot


def _one_of(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        got = "neither" if probs is None else "both"
        raise ValueError(f"Either `probs` or `logits` must be specified, but not both. Got {got}.")


def _clamped(probs: Any) -> Any:
    """Returns the probabilities clamped between eps and 1 - eps, so that their logarithms are finite."""
    least = lamella.finfo(probs.dtype).eps
    return probs.clamp(min=least, max=1 - least)


class _Choice(Distribution):
    """A distribution with the parameters ``probs`` and ``logits``, one of which is given and the other computed."""

    def __getattr__(self, name: str) -> Any:
        given = self.__dict__
        if name == "logits" and "probs" in given:
            self.logits = made = self._logits(given["probs"])
            return made
        if name == "probs" and "logits" in given:
            self.probs = made = self._probs(given["logits"])
            return made
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _logits(self, probs: Any) -> Any:
        raise NotImplementedError

    def _probs(self, logits: Any) -> Any:
        raise NotImplementedError

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self.probs.size()

    @property
    def _given(self) -> Any:
        given = self.__dict__
        return given["probs"] if "probs" in given else given["logits"]


class _Trial(_Choice):
    """A distribution given by the probability of 1 in one draw."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _one_of(probs, logits)
        if probs is None:
            (self.logits,) = tensors(logits)
        else:
            (self.probs,) = tensors(probs)
        super().__init__(self._given.shape, (), validate_args)

    def _logits(self, probs: Any) -> Any:
        clamped = _clamped(probs)
        return clamped.log() - (-clamped).log1p()

    def _probs(self, logits: Any) -> Any:
        return lamella.sigmoid(logits)


class Bernoulli(_Trial):
    """The distribution of a number that is 1 with probability ``probs``, or ``sigmoid(logits)``, else 0.

    >>> lamella.distributions.Bernoulli(lamella.tensor([0.25])).log_prob(lamella.tensor([1.0]))
    tensor([-1.3863])
    """

    has_enumerate_support = True
    _parameters = {"probs": SHARE, "logits": REAL}
    _support = BOOLEAN

    @property
    def mean(self) -> Any:
        """The probability of 1."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The most probable value; NaN if 0 and 1 are equally probable."""
        half = lamella.full_like(self.probs, float("nan"))
        return lamella.where(self.probs == 0.5, half, (self.probs > 0.5).to(self.probs.dtype))

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws a tensor of ``sample_shape``, followed by the batch and the event."""
        with lamella.no_grad():  # type: ignore[attr-defined]
            return lamella.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the probability."""
        self._validate_sample(value)
        logits, value = lamella.broadcast_tensors([self.logits, value])
        return -binary_cross_entropy_with_logits(logits, value.to(logits.dtype), reduction="none")

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        """Returns 0 and 1, in a new first dimension before the batch."""
        values = lamella.arange(2, dtype=self._given.dtype, device=self._given.device)
        values = values.view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values


class Geometric(_Trial):
    """The number of zeros before the first 1, in draws that are 1 with probability ``probs``.

    >>> lamella.distributions.Geometric(0.25).mean
    tensor(3.)
    """

    _parameters = {"probs": ("above 0 and at most 1", lambda p: (p > 0) & (p <= 1)), "logits": REAL}
    _support = ("a whole number of 0 or more", lambda x: (x >= 0) & (x == x.floor()))

    @property
    def mean(self) -> Any:
        """The mean."""
        return 1 / self.probs - 1

    @property
    def mode(self) -> Any:
        """The most probable value, 0."""
        return lamella.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        """The variance."""
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws a tensor of ``sample_shape``, followed by the batch and the event."""
        probs = self.probs.detach()
        drawn = lamella.rand(self._extended_shape(sample_shape), dtype=probs.dtype, device=probs.device)
        return (drawn.clamp(min=lamella.finfo(drawn.dtype).tiny).log() / (-probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the probability."""
        self._validate_sample(value)
        value, probs = lamella.broadcast_tensors([value.to(self.probs.dtype), self.probs])
        rest = lamella.where((probs == 1) & (value == 0), lamella.zeros_like(probs), probs)
        return value * (-rest).log1p() + probs.log()

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


def _has_shares(probs: Any) -> Any:
    """Returns for each row of probabilities whether its sum can divide it."""
    sums = probs.sum(-1)
    return (probs >= 0).all(-1) & (sums > 0) & (sums < float("inf"))


def _has_exponentials(logits: Any) -> Any:
    return logits.logsumexp(-1).isfinite()


class Categorical(_Choice):
    """The distribution of a number from 0 to n - 1, with the probabilities of the last dimension divided by their sum.

    Raises:
        ValueError: neither or both are given, they have no dimension, a probability is negative, or those of a row add
            up to 0 or infinity

    >>> die = lamella.distributions.Categorical(lamella.ones(6))
    >>> die.entropy(), die.log_prob(lamella.tensor([0, 5]))
    (tensor(1.7918), tensor([-1.7918, -1.7918]))
    """

    has_enumerate_support = True
    _parameters = {
        "probs": ("0 or more, with a finite sum above 0", _has_shares),
        "logits": ("numbers below infinity, not all of them -infinity", _has_exponentials),
    }

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _one_of(probs, logits)
        name, value = ("logits", logits) if probs is None else ("probs", probs)
        if value.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        (value,) = tensors(value)
        self.__dict__[name] = value
        super().__init__(value.shape[:-1], (), validate_args)
        if probs is None:
            self.logits = value - lamella.logsumexp(value, -1, True)
        else:
            self.probs = value / value.sum(-1, keepdim=True)
        self._num_events = value.shape[-1]
        last = self._num_events - 1
        self._support = (
            f"a whole number from 0 to {last}",
            lambda x: (x >= 0) & (x <= last) & (x == x.to(lamella.int64)),
        )

    def _logits(self, probs: Any) -> Any:
        return _clamped(probs).log()

    def _probs(self, logits: Any) -> Any:
        return lamella.softmax(logits, -1)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Returns the same distribution over a larger batch."""
        name = "probs" if "probs" in self.__dict__ else "logits"
        value = self._given.expand((*batch_shape, self._num_events))
        return type(self)(**{name: value}, validate_args=self._checked)

    @property
    def mean(self) -> Any:
        """NaN: the numbers are labels, which have no mean."""
        return lamella.full(self._extended_shape(), float("nan"), dtype=self._given.dtype, device=self._given.device)

    variance = mean

    @property
    def mode(self) -> Any:
        """The most probable number."""
        return self._given.argmax(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws a tensor of ``sample_shape``, followed by the batch and the event."""
        n = lamella.Size(sample_shape).numel()
        rows = self.probs.detach().reshape(-1, self._num_events)
        return lamella.multinomial(rows, n, True).t().reshape((*sample_shape, *self._batch_shape))

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the probability."""
        self._validate_sample(value)
        index = value.to(lamella.int64).unsqueeze(-1)
        index, logits = lamella.broadcast_tensors([index, self.logits])
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        logits = self.logits.clamp(min=lamella.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """Returns the numbers of all categories, in a new first dimension before the batch."""
        values = lamella.arange(self._num_events, device=self._given.device)
        values = values.view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values


class OneHotCategorical(Distribution):
    """Like Categorical, but a draw is a one-hot row.

    >>> lamella.distributions.OneHotCategorical(lamella.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    has_enumerate_support = True
    _support = ("0 or 1, with one 1 in each row", lambda x: ((x == 0) | (x == 1)) & (x.sum(-1, keepdim=True) == 1))

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
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

    @property
    def mean(self) -> Any:
        """The probabilities."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The most probable row."""
        return self._rows(self._categorical.mode)

    @property
    def variance(self) -> Any:
        """The variance of each element of a row."""
        return self.probs * (1 - self.probs)

    def _rows(self, numbers: Any) -> Any:
        return one_hot(numbers, self._event_shape[0]).to(self.probs.dtype)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Returns the same distribution over a larger batch."""
        return type(self)(logits=self.logits.expand((*batch_shape, *self._event_shape)), validate_args=self._checked)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws a tensor of ``sample_shape``, followed by the batch and the event."""
        return self._rows(self._categorical.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the probability."""
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        """Returns all one-hot rows, in a new first dimension before the batch."""
        n = self._event_shape[0]
        values = lamella.eye(n, dtype=self.probs.dtype, device=self.probs.device)
        values = values.view((n, *[1] * len(self._batch_shape), n))
        return values.expand((n, *self._batch_shape, n)) if expand else values
