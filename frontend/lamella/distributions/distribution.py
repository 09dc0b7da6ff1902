"""Distribution, the base class: shapes, checks of parameters and values, and methods that call those of subclasses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella
from lamella._C import Tensor

# A condition on a parameter or a value: a text for messages, and a function that tests the elements.
Constraint = tuple[str, Callable[[Any], Any]]
REAL: Constraint = ("a number", lambda x: x == x)
POSITIVE: Constraint = ("above 0", lambda x: x > 0)
NOT_NEGATIVE: Constraint = ("0 or more", lambda x: x >= 0)
SHARE: Constraint = ("in [0, 1]", lambda x: (x >= 0) & (x <= 1))
BOOLEAN: Constraint = ("0 or 1", lambda x: (x == 0) | (x == 1))


def tensors(*values: Any) -> tuple[Any, ...]:
    """Returns numbers and tensors as floating-point tensors of one shape. Numbers first take the dtype and the device
    of the first tensor; then integers become the default dtype."""
    given = next((v for v in values if isinstance(v, Tensor)), None)
    like: dict[str, Any] = {} if given is None else {"dtype": given.dtype, "device": given.device}
    made = [v if isinstance(v, Tensor) else lamella.tensor(v, **like) for v in values]
    made = [m if m.is_floating_point() else m.to(lamella.get_default_dtype()) for m in made]
    return tuple(lamella.broadcast_tensors(made))


class Distribution:
    """The base class: a batch of independent distributions, of shape ``batch_shape``; each draw is of shape
    ``event_shape``.

    Args:
        validate_args: whether parameters and the values of ``log_prob`` are checked; None means the default of
            :meth:`set_default_validate_args`, which is True

    A subclass defines ``sample`` or ``rsample``, and ``log_prob``. Other methods raise a NotImplementedError unless it
    defines them, except those that are computed from others, such as ``stddev``.

    Raises:
        ValueError: a parameter is out of its range

    >>> lamella.distributions.Normal(0.0, lamella.ones(3)).batch_shape
    lamella.Size([3])
    """

    has_rsample = False
    has_enumerate_support = False
    _checked: bool = True
    _parameters: dict[str, Constraint] = {}  # the condition on each parameter
    _support: Constraint = REAL

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = lamella.Size(batch_shape), lamella.Size(event_shape)
        if validate_args is not None:
            self._checked = validate_args
        for name, (text, check) in self._parameters.items() if self._checked else ():
            value = self.__dict__.get(name)
            if value is not None and not bool(check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution {self!r} to be "
                    f"{text}, but found invalid values:\n{value}"
                )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets whether distributions check their arguments by default.

        >>> lamella.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args takes True or False, got {value!r}")
        Distribution._checked = value

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one draw."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise NotImplementedError(f"{type(self).__name__} has no mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws a tensor of ``sample_shape``, followed by the batch and the event, without a history."""
        with lamella.no_grad():  # type: ignore[attr-defined]
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample")

    def sample_n(self, n: int) -> Any:
        """Returns ``sample((n,))``, for older programs."""
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the density, or of the probability, at a value."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: Any) -> Any:
        """Returns the probability that a draw is not greater than the value."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf")

    def icdf(self, value: Any) -> Any:
        """Returns the inverse of ``cdf``."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf")

    def enumerate_support(self, expand: bool = True) -> Any:
        """Returns all values that can be drawn, in a new first dimension before the batch."""
        raise NotImplementedError(f"{type(self).__name__} has no enumerate_support")

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy")

    def perplexity(self) -> Any:
        """Returns the exponential of the entropy."""
        return self.entropy().exp()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Returns the same distribution over a larger batch.

        >>> lamella.distributions.Normal(0.0, 1.0).expand((2,)).batch_shape
        lamella.Size([2])
        """
        made, shape = object.__new__(type(self)), lamella.Size(batch_shape)
        for key, value in self.__dict__.items():
            made.__dict__[key] = value.expand(shape) if isinstance(value, Tensor) else value
        made._batch_shape = shape
        return made

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        return lamella.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """Raises ValueError unless a value is a tensor that fits the batch and is in the support."""
        if not self._checked:
            return
        if not isinstance(value, Tensor):
            raise ValueError(f"The value argument to log_prob must be a Tensor, got {type(value).__name__}")
        events, own = len(self._event_shape), tuple(value.shape)
        if events and own[-events:] != tuple(self._event_shape):
            raise ValueError(f"The right-most size of value must match event_shape: {own} vs {self._event_shape}.")
        for i, j in zip(reversed(own), reversed(self._extended_shape()), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {own} vs {self._extended_shape()}."
                )
        text, check = self._support
        if not bool(check(value).all()):
            raise ValueError(
                f"Expected value argument (Tensor of shape {own}) to be {text}, the support of the distribution "
                f"{self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        shown = {n: self.__dict__[n] for n in self._parameters if n in self.__dict__}
        inner = (f"{n}: {p.item() if p.numel() == 1 and not p.dim() else p.size()}" for n, p in shown.items())
        return f"{type(self).__name__}({', '.join(inner)})"
