"""Rules: an operator's data for a layer, such as its derivative, registered from Python, kept until a plugin asks.

Neither side knows the other: ``Library.rule`` keeps a rule, ``on_rule`` tells a plugin of the rules that are there and
of those that come.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from lamella import _C

from ._checks import check_callable, check_type

_lock = threading.RLock()  # held while callbacks run, which may register rules themselves
_rules: list[Rule] = []
_subscriptions: list[Subscription] = []


@runtime_checkable
class Holder(Protocol):
    """The holder of rules and subscriptions, which are removed with it: a Library."""

    owner: str

    def remember(self, kept: Any) -> Any: ...
    def forget(self, kept: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule: the operator's full name, the layer's name, and a payload whose meaning is that layer's."""

    op: str
    layer: str
    payload: Any
    library: Holder = field(repr=False)

    @property
    def owner(self) -> str:
        """Who registered it."""
        return self.library.owner

    def remove(self) -> None:
        """Withdraws the rule; each subscription that applied it takes that back.

        Raises:
            ValueError: it was withdrawn before
        """
        with _lock:
            if self not in _rules:
                raise ValueError(f"rule: that of {self.op} for {self.layer} is no live registration")
            _rules.remove(self)
            self.library.forget(self)
            _each(lambda s: s.withdraw(self), [s for s in reversed(_subscriptions) if self in s.applied])


@dataclass(frozen=True)
class Derivative:
    """The payload of the layer "autograd" that ``register_autograd`` makes."""

    backward: Callable[..., Any]
    setup_context: Callable[..., Any] | None = None
    defaults: dict[str, Any] = field(default_factory=dict, repr=False)  # of each positional argument, by its name
    keyword_defaults: dict[str, Any] | None = field(default=None, repr=False)  # None: it has no keyword-only ones

    def set_up(self, ctx: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Calls ``setup_context``, if there is one, with the defaults of the arguments that the call left out."""
        if self.setup_context is None:
            return
        inputs = (*args, *tuple(self.defaults.values())[len(args) :])
        if self.keyword_defaults is None:
            self.setup_context(ctx, inputs=inputs, output=output)
        else:
            keywords = self.keyword_defaults | kwargs
            self.setup_context(ctx, inputs=inputs, keyword_only_inputs=keywords, output=output)


@dataclass(frozen=True)
class Autocast:
    """The payload of the layer "autocast" that ``register_autocast`` makes: cast to a dtype on a type of device."""

    device_type: str
    cast_inputs: Any


@dataclass(frozen=True)
class Vmap:
    """The payload of the layer "vmap" that ``register_vmap`` makes: ``func(info, in_dims, *args)``."""

    func: Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Subscription:
    """A callback that hears of a layer's rules; the rules that it applied are taken back when it is removed."""

    layer: str
    callback: Callable[[Rule], Callable[[], Any] | None]
    library: Holder | None = field(repr=False)
    applied: dict[Rule, Callable[[], Any] | None] = field(default_factory=dict, repr=False)

    def apply(self, rule: Rule) -> None:
        """Tells the callback of a rule."""
        undo = self.callback(rule)
        if undo is not None and not callable(undo):
            got = type(undo).__name__
            raise TypeError(f"on_rule: the callback must return a function that withdraws, or None; got {got}")
        self.applied[rule] = undo

    def withdraw(self, rule: Rule) -> None:
        """Calls the function that undoes the callback's work for a rule."""
        if undo := self.applied.pop(rule, None):
            undo()

    def remove(self) -> None:
        """Ends the subscription, and takes back its rules, the last first. A second call does nothing."""
        with _lock:
            if self not in _subscriptions:
                return
            _subscriptions.remove(self)
            if self.library:
                self.library.forget(self)
            _each(self.withdraw, list(reversed(self.applied)))


def _each(call: Callable[[Any], None], items: list[Any]) -> None:
    """Calls it for every item, also after an exception; then raises the first exception."""
    first = None
    for item in items:
        try:
            call(item)
        except Exception as error:
            first = first or error
    if first:
        raise first


def remove_all(kept: list[Any]) -> None:
    """Removes what a library holds: rules, subscriptions, kinds of objects."""
    _each(lambda one: one.remove(), kept)


def keep(rule: Rule) -> Rule:
    """Adds a rule and tells the subscriptions of its layer; if one of them raises, the rule is not kept."""
    with _lock:
        hearing = [s for s in _subscriptions if s.layer == rule.layer]
        try:
            for s in hearing:
                s.apply(rule)
        except BaseException:
            _each(lambda s: s.withdraw(rule), hearing[::-1])
            raise
        _rules.append(rule)
    return rule


def named(who: str, op: Any, what: str = "op") -> Any:
    """An operator's packet, or the name of a definition, which is without the overload "default"."""
    op = getattr(op, "_qualname", op)
    if not isinstance(op, str | _C.OperatorPacket):
        wanted = "an operator or its name, as 'aten::add.Tensor'"
        raise TypeError(f"{who}: argument '{what}': expected {wanted}, got {type(op).__name__}")
    return op.removesuffix(".default") if isinstance(op, str) else op


def find(op: Any) -> tuple[str, str]:
    """Full name and schema of an operator, by its packet, its definition or its name."""
    return found("find", op)


def found(who: str, op: Any) -> tuple[str, str]:
    """The same as ``find``, for the function ``who``, which an error names."""
    return _C._find_operator(named(who, op))


def rules(op: Any, layer: str | None = None) -> list[Rule]:
    """The rules that are kept for an operator, in the order of their registration.

    Args:
        op: a packet such as ``lamella.ops.mine.twice``, or a name with its overload, as "mine::twice.Tensor"
        layer: only those for this layer

    Raises:
        RuntimeError: there is no such operator, or there are several overloads

    >>> lamella.library.rules("aten::relu")
    []
    """
    name, _ = found("rules", op)
    with _lock:
        return [r for r in _rules if r.op == name and layer in (None, r.layer)]


def on_rule(
    layer: str, callback: Callable[[Rule], Callable[[], Any] | None], *, lib: Holder | None = None
) -> Subscription:
    """Calls ``callback(rule)`` for each rule that is kept for a layer, at once and whenever one comes.

    The callback returns a function that withdraws what it did; it is called when the rule or the subscription is
    removed. A rule that replaces another one comes before that goes. If the callback raises, so does the call that
    registers the rule, and the rule is not kept. A rule that was there before stays, unapplied, with a RuntimeWarning:
    one mistake does not stop the layer's plugin.

    Args:
        lib: a library whose ``close`` removes the subscription too

    >>> twice = lamella.library.Library("mine", "DEF")
    >>> _ = twice.define("twice(Tensor self) -> Tensor")
    >>> rule = twice.rule("twice", "shout", "louder")
    >>> def hear(rule):
    ...     print(rule.op, rule.payload)
    ...     return lambda: print("no longer", rule.payload)
    >>> subscription = lamella.library.on_rule("shout", hear)
    mine::twice louder
    >>> twice.close()
    no longer louder
    >>> subscription.remove()
    """
    check_type("on_rule", "layer", layer)
    check_callable("on_rule", "callback", callback)
    if lib is not None:
        check_type("on_rule", "lib", lib, Holder)
    made = Subscription(layer, callback, lib)
    with _lock:
        _subscriptions.append(made)
        if lib:
            lib.remember(made)
        for rule in [r for r in _rules if r.layer == layer]:
            try:
                made.apply(rule)
            except Exception as error:
                text = f"the rule of {rule.op} for {layer} ({rule.owner}) is set aside: {type(error).__name__}: {error}"
                warnings.warn(text, RuntimeWarning, stacklevel=2)
    return made
