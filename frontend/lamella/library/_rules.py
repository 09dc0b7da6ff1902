"""Rules: data of an operator for a layer, such as its derivative, kept until the layer's plugin applies them.

The operator and the layer's plugin are independent: ``Library.rule`` registers a rule, and ``on_rule`` calls a plugin's
function for the rules that exist and for later ones. The dispatcher stores the rules, so C++ sees them as well.
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
    """An owner of registrations, which are withdrawn with it: a Library."""

    owner: str
    _library: Any

    def _check_open(self) -> None: ...
    def withdraw(self, handle: int) -> None: ...
    def holds(self, made: Any) -> bool: ...


@dataclass(eq=False)
class Rule:
    """One rule: the operator's full name, the layer's name, and a payload whose meaning the layer's plugin defines.

    ``kind`` is "python" for a rule that Python registered. The payload of a rule that C++ registered is None, since it
    is a struct of C; ``kind`` is the name of its type, or "" for the layer's own.
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
            ValueError: it was withdrawn before, or was not registered from Python
        """
        if not self.library or not self.library.holds(self):
            raise ValueError(f"rule: that of {self.op} for {self.layer} is no live registration of Python's")
        self.library.withdraw(self.handle)


@dataclass(frozen=True)
class Derivative:
    """The payload of the layer "autograd" that ``register_autograd`` makes."""

    backward: Callable[..., Any]
    setup_context: Callable[..., Any] | None = None
    defaults: dict[str, Any] = field(default_factory=dict, repr=False)  # defaults of the positional arguments, by name
    # None if there are no keyword-only arguments.
    keyword_defaults: dict[str, Any] | None = field(default=None, repr=False)

    def set_up(self, ctx: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Calls ``setup_context``, if there is one, and adds the defaults of arguments that the call left out."""
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
    """The payload of the layer "autocast" that ``register_autocast`` makes: the dtype to cast to on a type of
    device."""

    device_type: str
    cast_inputs: Any


@dataclass(frozen=True)
class Vmap:
    """The payload of the layer "vmap" that ``register_vmap`` makes: ``func(info, in_dims, *args)``."""

    func: Callable[..., Any]


class Subscription:
    """A callback for a layer's rules. When the subscription is removed, the effects of the callback are undone."""

    def __init__(self, layer: str, callback: Callable[[Rule], Callable[[], Any] | None], library: Any):
        self.layer, self.callback = layer, callback
        self.applied: dict[Rule | int, Callable[[], Any] | None] = {}  # the function that undoes each rule's effect
        self._library, self._first, self._ended = library, True, False
        self.handle: int | None = None
        self.handle = library.on_rule(layer, self._told)
        self._first = False
        if self._ended:  # the callback has removed its own subscription
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
            # The callback has removed its own subscription: undo its last effect, too.
            if self._ended and not self._first:
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
        """Ends the subscription, and undoes its effects, the last one first. A second call does nothing."""
        self._ended = True
        handle, self.handle = self.handle, None
        if handle is not None:
            self._library.withdraw(handle, missing_ok=True)  # the library may be closed


def seen(rule: Any) -> Rule:
    """Returns a rule that the dispatcher stores as a Rule: the registered object for one of Python, else a new one."""
    if isinstance(rule, Rule):
        return rule
    handle, op, layer, owner, kind = rule
    return Rule(op, layer, None, owner, kind or "", handle)


def named(who: str, op: Any, what: str = "op") -> Any:
    """Returns an operator's packet, or its name without the overload "default"."""
    op = getattr(op, "_qualname", op)
    if not isinstance(op, str | _C.OperatorPacket):
        wanted = "an operator or its name, as 'aten::add.Tensor'"
        raise TypeError(f"{who}: argument '{what}': expected {wanted}, got {type(op).__name__}")
    return op.removesuffix(".default") if isinstance(op, str) else op


def find(op: Any) -> tuple[str, str]:
    """Returns the full name and the schema of an operator, given by its packet, its definition or its name."""
    return found("find", op)


def found(who: str, op: Any) -> tuple[str, str]:
    """Does the same as ``find`` for the function ``who``, which an error names."""
    return _C._find_operator(named(who, op))


def rules(op: Any, layer: str | None = None) -> list[Rule]:
    """Returns the rules of an operator, also those of C++, in the order of their registration.

    Args:
        op: a packet such as ``lamella.ops.mine.twice``, or a name with its overload, such as "mine::twice.Tensor"
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
    """Calls ``callback(rule)`` for each rule of a layer: for the existing ones at once, and for later ones when they
    are registered; also for those of C++, which have another ``rule.kind``.

    The callback returns a function that undoes its effect, which is called when the rule or the subscription is
    removed. If one rule replaces another, the callback is called for the new one before the old one is undone. If the
    callback raises, so does the call that registers the rule, and the rule is not kept. An existing rule for which it
    raises is skipped with a RuntimeWarning, so that one mistake does not stop the layer's plugin.

    Args:
        lib: a library whose ``close`` also removes the subscription

    >>> twice = lamella.library.Library("mine", "DEF")
    >>> _ = twice.define("twice(Tensor self) -> Tensor")
    >>> rule = twice.rule("twice", "shout", "louder")
    >>> def handle(rule):
    ...     print(rule.op, rule.payload)
    ...     return lambda: print("no longer", rule.payload)
    >>> subscription = lamella.library.on_rule("shout", handle)
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
