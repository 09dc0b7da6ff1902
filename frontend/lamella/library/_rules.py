"""Rules: an operator's data for a layer, such as its derivative, registered from Python, kept until a plugin asks.

Neither side knows the other: ``Library.rule`` keeps a rule, ``on_rule`` tells a plugin of the rules that are there and
of those that come. The store is the dispatcher's, which C++ sees, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from lamella import _C

from ._checks import check_callable, check_type
from ._site import Site


@runtime_checkable
class Holder(Protocol):
    """What holds registrations, which are withdrawn with it: a Library."""

    owner: str
    _library: Any

    def _check_open(self) -> None: ...
    def withdraw(self, handle: int) -> None: ...
    def holds(self, made: Any) -> bool: ...


@dataclass(eq=False)
class Rule:
    """One rule: the operator's full name, the layer's name, and a payload whose meaning is that layer's.

    ``kind`` is "python" for a rule of Python's. Of others, which C++ has registered, the payload is None: it is a
    struct of the layer's, or of a kind that those who know it name.
    """

    op: str
    layer: str
    payload: Any
    owner: str
    kind: str = "python"
    handle: int = 0
    library: Holder | None = field(default=None, repr=False)

    def remove(self) -> None:
        """Withdraws the rule; each subscription that applied it takes that back.

        Raises:
            ValueError: it was withdrawn before, or is none of Python's
        """
        if not self.library or not self.library.holds(self):
            raise ValueError(f"rule: that of {self.op} for {self.layer} is no live registration of Python's")
        self.library.withdraw(self.handle)


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


class Subscription:
    """A callback that hears of a layer's rules; the rules that it applied are taken back when it is removed."""

    def __init__(self, layer: str, callback: Callable[[Rule], Callable[[], Any] | None], library: Any):
        self.layer, self.callback = layer, callback
        self.applied: dict[Rule | int, Callable[[], Any] | None] = {}  # what undoes each
        self._library, self._first, self._ended = library, True, False
        self.handle: int | None = None
        self.handle = library.on_rule(layer, self._told)
        self._first = False
        if self._ended:  # by its own callback
            self.remove()

    def _told(self, rule: Any, there: int) -> None:
        rule = seen(rule)
        key = rule if rule.kind == "python" else rule.handle
        if not there:
            if undo := self.applied.pop(key, None):
                undo()
            return
        try:
            undo = self.callback(rule)
            if undo is not None and not callable(undo):
                got = type(undo).__name__
                raise TypeError(f"on_rule: the callback must return a function that withdraws, or None; got {got}")
            self.applied[key] = undo
            if self._ended and not self._first:  # by the callback itself: it is told of nothing more
                del self.applied[key]
                if undo is not None:
                    undo()
        except Exception as error:
            if not self._first:
                raise
            whose = f"the rule of {rule.op} for {rule.layer} ({rule.owner})"
            text = f"{whose} is set aside: {type(error).__name__}: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=5)

    def remove(self) -> None:
        """Ends the subscription, and takes back its rules, the last first. A second call does nothing."""
        self._ended = True
        handle, self.handle = self.handle, None
        if handle is not None:
            self._library.withdraw(handle, missing_ok=True)  # its library may be closed


def seen(rule: Any) -> Rule:
    """A rule as the store gives it: Python's own as it was registered, another by what is known of it."""
    if isinstance(rule, Rule):
        return rule
    handle, op, layer, owner, kind = rule
    return Rule(op, layer, None, owner, kind or "", handle)


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
    """The rules that are kept for an operator, C++'s among them, in the order of their registration.

    Args:
        op: a packet such as ``lamella.ops.mine.twice``, or a name with its overload, as "mine::twice.Tensor"
        layer: only those for this layer

    Raises:
        RuntimeError: there is no such operator, or there are several overloads

    >>> lamella.library.rules("aten::relu", "autocast")
    []
    """
    name, _ = found("rules", op)
    return [r for r in map(seen, _C._rules(name)) if layer in (None, r.layer)]


def on_rule(
    layer: str, callback: Callable[[Rule], Callable[[], Any] | None], *, lib: Holder | None = None
) -> Subscription:
    """Calls ``callback(rule)`` for each rule that is kept for a layer, at once and whenever one comes: for those of
    C++, too, which ``rule.kind`` tells apart.

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
    if lib:
        lib._check_open()
    library = lib._library if lib else _C._Library("rules", str(Site()), "FRAGMENT")
    return Subscription(layer, callback, library)
