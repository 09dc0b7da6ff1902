"""Distribution, the base class: shapes, checks of parameters and values, and methods that call those of subclasses."""

from __future__ import annotations

import warnings
from typing import Any

from lamella._C import Size, Tensor
from lamella._history import no_history
from lamella.distributions import constraints
from lamella.distributions.utils import lazy_property

__all__ = ["Distribution"]

_HERE = __name__.rpartition(".")[0]
_Dependent = constraints._Dependent


def all_true(truths: Any) -> bool:
    """Returns whether all bools of a tensor are True."""
    return bool(truths.all())


def wrong_values(value: Any, right: Any, event_dim: int) -> str:
    """Returns the first values, or events, that a constraint refuses, with their places, for a message."""
    events = value.reshape((-1, *value.shape[value.dim() - event_dim :]))
    wrong = (~right).expand(value.shape[: value.dim() - event_dim]).nonzero()
    places = (~right).expand(value.shape[: value.dim() - event_dim]).flatten().nonzero().flatten().tolist()
    shown = [
        f"{events[i].tolist()} at {p}" if p else f"{events[i].tolist()}"
        for i, p in zip(places[:3], wrong.tolist()[:3], strict=True)
    ]
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    return ", ".join(shown) + more


class Distribution:
    """The base class: a batch of independent distributions, of shape ``batch_shape``; each draw is of shape
    ``event_shape``.

    A subclass defines ``arg_constraints``, ``support``, ``sample`` or ``rsample``, and ``log_prob``. Other methods
    raise a NotImplementedError unless it defines them, except those that are computed from others, such as ``stddev``.

    Args:
        validate_args: whether parameters and the values of ``log_prob`` are checked; None means the default of
            :meth:`set_default_validate_args`, which is True unless Python runs with ``-O``

    Raises:
        ValueError: a parameter is out of its range

    >>> lamella.distributions.Normal(0.0, lamella.ones(3)).batch_shape
    lamella.Size([3])
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__
    _kept: dict[str, int] = {}  # the event dimensions of tensors that are no parameters, which expand() keeps

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape = batch_shape if isinstance(batch_shape, Size) else Size(batch_shape)
        self._event_shape = event_shape if isinstance(event_shape, Size) else Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        try:
            checked = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self).__name__} has no arg_constraints, so its parameters are not checked; define "
                "arg_constraints, or pass validate_args=False",
                stacklevel=4,
            )
            return
        own = self.__dict__
        for name, constraint in checked.items():
            if isinstance(constraint, _Dependent):
                continue
            value = own.get(name)
            if value is None:
                if isinstance(getattr(type(self), name, None), lazy_property):
                    continue  # the parameter follows from another, which is checked
                value = getattr(self, name)
            right = constraint.check(value)
            if not right.all():
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution {self!r} to "
                    f"satisfy the constraint {constraint!r}, but found invalid values: "
                    f"{wrong_values(value, right, constraint.event_dim)}"
                )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets whether distributions check their arguments by default.

        >>> lamella.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args takes True or False, got {value!r}")
        Distribution._validate_args = value

    def _lacks(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what}")

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one draw."""
        return self._event_shape

    def _absent_constraints(self) -> Any:
        """The constraints of the parameters, by name."""
        raise self._lacks("arg_constraints")

    arg_constraints: Any = property(_absent_constraints)

    def _absent_support(self) -> Any:
        """The constraint of values."""
        raise self._lacks("support")

    support: Any = property(_absent_support)

    @property
    def mean(self) -> Any:
        """The mean."""
        raise self._lacks("mean")

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise self._lacks("mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise self._lacks("variance")

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws a tensor of ``sample_shape``, followed by the batch and the event, without a history."""
        with no_history():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in the parameters."""
        raise self._lacks("rsample")

    def sample_n(self, n: int) -> Any:
        """Returns ``sample((n,))``, with a FutureWarning as torch's."""
        warnings.warn("sample_n(n) is for older programs; use sample((n,))", FutureWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the density, or of the probability, at a value."""
        raise self._lacks("log_prob")

    def cdf(self, value: Any) -> Any:
        """Returns the probability that a draw is not greater than the value."""
        raise self._lacks("cdf")

    def icdf(self, value: Any) -> Any:
        """Returns the inverse of ``cdf``."""
        raise self._lacks("icdf")

    def enumerate_support(self, expand: bool = True) -> Any:
        """Returns all values that can be drawn, in a new first dimension before the batch.

        With ``expand=False`` the dimensions of the batch have size 1.
        """
        raise self._lacks("enumerate_support")

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        raise self._lacks("entropy")

    def perplexity(self) -> Any:
        """Returns the exponential of the entropy."""
        return self.entropy().exp()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Returns the same distribution over a larger batch, without copies or checks of its parameters.

        Raises:
            NotImplementedError: a class of yours has an ``__init__`` of its own and no ``expand``

        >>> lamella.distributions.Normal(0.0, 1.0).expand((2,)).batch_shape
        lamella.Size([2])
        """
        made = _instance
        if made is None:
            if not type(self).__init__.__module__.startswith(_HERE):
                raise NotImplementedError(
                    f"{type(self).__name__} has an __init__ of its own, so it must define expand, too"
                )
            made = object.__new__(type(self))
        made._batch_shape, made._event_shape = Size(batch_shape), self._event_shape
        if "_validate_args" in self.__dict__:
            made._validate_args = self._validate_args
        self._expand_into(made, made._batch_shape)
        return made

    def _expand_into(self, made: Any, shape: Any) -> None:
        """Sets in ``made`` the expanded parameters, and other fields of the instance as they are."""
        dims = {**{n: c.event_dim for n, c in self.arg_constraints.items()}, **self._kept}
        for name, value in self.__dict__.items():
            if name in dims and isinstance(value, Tensor):
                made.__dict__[name] = value.expand(shape + value.shape[value.dim() - dims[name] :])
            elif isinstance(value, Distribution):
                made.__dict__[name] = value.expand(shape)
            elif not isinstance(value, Tensor):
                made.__dict__.setdefault(name, value)

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Returns the instance that ``expand`` of a subclass gave, or a new one without fields."""
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"{type(self).__name__} has an __init__ of its own, so it must define expand, as {cls.__name__} does"
            )
        return object.__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Any) -> None:
        """Raises ValueError unless a value is a tensor that fits the batch and is in the support."""
        if not isinstance(value, Tensor):
            raise ValueError(f"The value argument to log_prob must be a Tensor, got {type(value).__name__}")
        own, events = value.shape, len(self._event_shape)
        if events and own[-events:] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {own} vs {self._event_shape}.")
        whole = self._batch_shape + self._event_shape
        if own[len(own) - len(whole) :] != whole:
            for i, j in zip(reversed(own), reversed(whole), strict=False):
                if i != 1 and j != 1 and i != j:
                    raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {own} vs {whole}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self).__name__} has no support, so values are not checked; define support, or pass "
                "validate_args=False",
                stacklevel=3,
            )
            return
        right = support.check(value)
        if not right.all():
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(own)}) to be within the support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values: {wrong_values(value, right, support.event_dim)}"
            )

    def __repr__(self) -> str:
        own = self.__dict__
        shown = {n: own[n] for n in self.arg_constraints if n in own}
        inner = (f"{n}: {p.item() if not p.dim() else p if p.numel() == 1 else p.size()}" for n, p in shown.items())
        return f"{type(self).__name__}({', '.join(inner)})"
