"""Registration from Python: operators, kernels and layers, by the door that native plugins use.

>>> lib = lattis.library.Library("mine", owner="an example")
>>> _ = lib.define("twice(Tensor self) -> Tensor")
>>> _ = lib.impl("twice", lambda x: x + x, "composite")
>>> lattis.ops.mine.twice(lattis.tensor([1, 2]))
tensor([2, 4])
>>> lib.close()
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lattis import _C
from lattis._C import Call
from lattis._rules import Derivative, Rule, Subscription, find, keep, on_rule, remove_all, rules

api = _C._api  # a capsule: the table of the C ABI, for <lattis/python.h>
DECOMPOSE, INSIDE, FOLLOWS_ALIAS, FALLTHROUGH = 1, 2, 4, 8
INPLACE, OUT, METHOD, FUNCTION = 1, 2, 4, 8
CPU_FALLBACK = 4  # of a backend

__all__ = [
    "Call",
    "Derivative",
    "Layer",
    "Library",
    "Rule",
    "Subscription",
    "kernels_disabled",
    "on_rule",
    "register_autograd",
    "register_layer",
    "rules",
    "set_kernel_enabled",
]


def _caller() -> tuple[str, int]:
    frame = sys._getframe(2)
    return frame.f_code.co_filename, frame.f_lineno


@dataclass(frozen=True)
class Layer:
    """A registered layer: switch it on with ``with layer:`` or for the whole process with ``layer.always(True)``."""

    name: str
    bit: int
    handle: int
    library: Library

    @contextmanager
    def on(self):
        """The layer sees every call of this thread inside the block."""
        include, exclude = _C._thread_layers()
        _C._set_thread_layers(include | 1 << self.bit, exclude & ~(1 << self.bit))
        try:
            yield self
        finally:
            _C._set_thread_layers(include, exclude)

    @contextmanager
    def off(self):
        """The layer sees no call of this thread inside the block."""
        include, exclude = _C._thread_layers()
        _C._set_thread_layers(include, exclude | 1 << self.bit)
        try:
            yield self
        finally:
            _C._set_thread_layers(include, exclude)

    def always(self, on: bool) -> None:
        """Switches the layer on or off for every thread of the process."""
        _C._process_include(1 << self.bit, on)

    def remove(self) -> None:
        """Withdraws the layer."""
        self.always(False)
        self.library.withdraw(self.handle)


class Library:
    """Registers under one namespace and one owner; ``close`` withdraws everything.

    Args:
        namespace: where unqualified operator names belong, as "mine" in "mine::twice"
        owner: who registers, for messages and tables; the calling file if absent
    """

    def __init__(self, namespace: str, owner: str | None = None):
        self.namespace = namespace
        self.owner = owner or _caller()[0]
        self._library = _C._Library(namespace, self.owner)
        self._kept: dict[Rule | Subscription, None] = {}  # what is Python's alone, in the order of registration

    def define(
        self, schema: str, *, category: str = "", doc: str = "", inplace: bool = False, out: bool = False
    ) -> int:
        """Defines an operator by its schema, in PyTorch's grammar.

        Raises:
            ValueError: the schema does not parse; the message shows the column
            RuntimeError: somebody has defined it already; the message names both owners
        """
        file, line = _caller()
        forms = FUNCTION | (INPLACE if inplace else 0) | (OUT if out else 0)
        return self._library.define(schema, category, doc, forms, file, line)

    def impl(self, name: str, kernel: Callable[..., Any] | None, key: str) -> int:
        """Registers a kernel for an operator under a device's name, a layer's name or "composite".

        It stacks over one that is there; withdrawing the returned handle restores that. For a layer the kernel is
        called as ``kernel(call, *args, **kwargs)``; None makes the operator fall through the layer.
        """
        file, line = _caller()
        return self._library.impl(name, key, kernel, file, line)

    def impl_category(self, category: str, kernel: Callable[..., Any], key: str) -> int:
        """Registers a kernel for every operator of a category that has none of its own under this key."""
        file, line = _caller()
        return self._library.category(category, key, kernel, file, line)

    def register_layer(
        self,
        name: str,
        handler: Callable[..., Any] | None = None,
        *,
        at: str = "",
        outside: tuple[str, ...] = (),
        inside: tuple[str, ...] = (),
        decompose: bool = False,
        stays_inside: bool = False,
        follows_alias: bool = False,
        fallthrough: bool = False,
    ) -> Layer:
        """Registers a layer: ``handler(call, *args, **kwargs)`` runs for operators without a kernel of their own there.

        Args:
            at: the anchor in whose band it stands: modes, profiler, names, autocast, autograd or backend
            outside: layers and anchors that it must run before
            inside: layers and anchors that it must run after
            stays_inside: it also sees the calls that composites and Python kernels make

        Raises:
            RuntimeError: the wishes contradict, or no bit is free; the message names the neighbours
        """
        flags = DECOMPOSE * decompose | INSIDE * stays_inside
        flags |= FOLLOWS_ALIAS * follows_alias | FALLTHROUGH * fallthrough
        bit, handle = self._library.layer(name, handler, at, list(outside), list(inside), flags)
        return Layer(name, bit, handle, self)

    def register_backend(
        self,
        name: str,
        *,
        alloc: Callable[[int, int], int],
        free: Callable[[int, int, int], None],
        copy_from_host: Callable[[int, int, int, int], None],
        copy_to_host: Callable[[int, int, int, int], None],
        synchronize: Callable[[int], None] | None = None,
        device_count: int = 1,
        fallback: bool = True,
    ) -> int:
        """Registers a device whose memory and copies are Python's; ``impl`` under its name registers its kernels.

        Addresses are integers, and belong to the backend: nobody else reads them.

        Args:
            alloc: ``alloc(nbytes, index)`` returns the address of new memory of the device with that index
            free: ``free(address, nbytes, index)``; it may run on any thread
            copy_from_host: ``copy_from_host(to, from, nbytes, index)`` between an address of the device and the host's
            copy_to_host: the same the other way
            synchronize: ``synchronize(index)`` waits for the device; absent if everything is done when a call returns
            fallback: whether the host may serve operators that this device has neither a kernel nor a composite for

        Raises:
            RuntimeError: the name is taken
            ValueError: the name is no identifier, or there are fewer than one device
        """
        if not name.isidentifier():
            raise ValueError(f"register_backend: argument 'name': expected an identifier, got {name!r}")
        if device_count < 1:
            raise ValueError(f"register_backend: argument 'device_count': must be at least 1, got {device_count}")
        calls = {"alloc": alloc, "free": free, "copy_from_host": copy_from_host, "copy_to_host": copy_to_host}
        for what, f in calls.items():
            if not callable(f):
                raise TypeError(f"register_backend: argument '{what}': expected a callable, got {type(f).__name__}")
        flags = CPU_FALLBACK if fallback else 0
        return self._library.backend(name, *calls.values(), synchronize, device_count, flags)

    def register_keyword(self, name: str, apply: Callable[[Any, Any], Any]) -> int:
        """Contributes a keyword to everything that makes tensors: operators that take ``dtype``, and ``lattis.tensor``.

        ``apply(tensor, value)`` is called with the fresh tensor; if it raises, so does the call.

        Raises:
            RuntimeError: somebody contributes it already; the message names both owners

        >>> lib = lattis.library.Library("mine", owner="an example")
        >>> _ = lib.register_keyword("filled", lambda tensor, value: tensor.fill_(value))
        >>> lattis.zeros(2, filled=7), lattis.tensor([1, 2], filled=3)
        (tensor([7., 7.]), tensor([3, 3]))
        >>> lib.close()
        """
        if not name.isidentifier():
            raise ValueError(f"register_keyword: argument 'name': expected an identifier, got {name!r}")
        if not callable(apply):
            raise TypeError(f"register_keyword: argument 'apply': expected a callable, got {type(apply).__name__}")
        return self._library.keyword(name, apply)

    def rule(self, op: Any, layer: str, payload: Any) -> Rule:
        """Keeps what an operator brings for a layer, there or not; ``rules`` and ``on_rule`` find it.

        Several rules of one operator stack: the last counts, and removing it uncovers the one before.

        Args:
            op: a packet such as ``lattis.ops.mine.twice``, or a name; without a namespace it is this library's
            layer: the layer's name, as "autograd"
            payload: whatever that layer's plugin understands

        Raises:
            RuntimeError: there is no such operator, or there are several overloads
        """
        if isinstance(op, str) and "::" not in op:
            op = f"{self.namespace}::{op}"
        made = keep(Rule(find(op)[0], layer, payload, self))
        self.remember(made)
        return made

    def register_autograd(
        self, op: Any, backward: Callable[..., Any], *, setup_context: Callable[..., Any] | None = None
    ) -> Rule:
        """Gives an operator its derivative; see :func:`register_autograd`."""
        if isinstance(op, str) and "::" not in op:
            op = f"{self.namespace}::{op}"
        for what, f in (("backward", backward), ("setup_context", setup_context)):
            if not callable(f) and (what == "backward" or f is not None):
                raise TypeError(f"register_autograd: argument '{what}': expected a callable, got {type(f).__name__}")
        name, schema = find(op)
        if re.search(r"\([a-z](!|\)|\|| ->)", schema):  # an alias annotation
            why = f"{name} writes to an argument or returns a view; give a functional operator the derivative"
            raise RuntimeError(f"register_autograd: argument 'op': {why}, not {schema}")
        return self.rule(op, "autograd", Derivative(backward, setup_context))

    def remember(self, kept: Rule | Subscription) -> None:
        """``close`` will remove it."""
        self._kept[kept] = None

    def forget(self, kept: Rule | Subscription) -> None:
        """It is removed already."""
        self._kept.pop(kept, None)

    def withdraw(self, handle: int) -> None:
        """Takes one registration back."""
        self._library.withdraw(handle)

    def close(self) -> None:
        """Takes everything back."""
        try:
            remove_all(list(reversed(self._kept)))
        finally:
            self._library.close()


def register_layer(name: str, handler: Callable[..., Any], **wishes: Any) -> Layer:
    """A layer in a library of its own; see :meth:`Library.register_layer`.

    >>> seen = []
    >>> def watch(call, *args, **kwargs):
    ...     seen.append(call.name)
    ...     return call(*args, **kwargs)
    >>> layer = lattis.library.register_layer("watch", watch)
    >>> with layer.on():
    ...     _ = lattis.ones(1) + 1
    >>> seen[-1]
    'aten::add'
    >>> layer.remove()
    """
    return Library(name, owner=_caller()[0]).register_layer(name, handler, **wishes)


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> Rule:
    """Gives an operator its derivative: before or after a plugin for autograd is loaded, or without one.

    Args:
        op: a packet such as ``lattis.ops.mine.twice``, or its name
        backward: ``backward(ctx, *grads)`` returns a gradient, or None, for each input of the operator
        setup_context: ``setup_context(ctx, inputs, output)`` keeps for the backward pass what that needs, by
            ``ctx.save_for_backward`` or as attributes; with keyword-only arguments these are passed before ``output``
        lib: the library whose ``close`` withdraws it; without one it stays

    Raises:
        RuntimeError: there is no such operator, it has several overloads, or it writes to an argument or returns a view

    >>> lib = lattis.library.Library("mine", owner="an example")
    >>> _ = lib.define("cube(Tensor self) -> Tensor")
    >>> _ = lib.impl("cube", lambda x: x * x * x, "cpu")
    >>> def setup_context(ctx, inputs, output):
    ...     ctx.save_for_backward(*inputs)
    >>> def backward(ctx, grad):
    ...     [x] = ctx.saved_tensors
    ...     return 3 * x * x * grad
    >>> rule = lattis.library.register_autograd("mine::cube", backward, setup_context=setup_context, lib=lib)
    >>> lattis.library.rules("mine::cube")[0].payload.backward is backward
    True
    >>> lib.close()
    """
    lib = lib or Library("aten", owner=_caller()[0])
    return lib.register_autograd(op, backward, setup_context=setup_context)


def set_kernel_enabled(op: str, key: str, enabled: bool) -> None:
    """Passes over the kernels that an operator has under a device's or a layer's name, or no longer does.

    The kernel of the operator's category counts too; what is left is what the dispatcher tries next: the composite,
    then the fallback. An operator's in-place and out= forms follow it, and can be passed over alone. Each call with
    False needs one with True.

    Raises:
        RuntimeError: there is no such operator, device or layer

    >>> lattis.library.set_kernel_enabled("aten::relu", "cpu", True)
    """
    _C._set_kernel_enabled(op, key, enabled)


@contextmanager
def kernels_disabled(ops, key: str):
    """Passes over the kernels of several operators under one key while it is open.

    >>> with lattis.library.kernels_disabled(["aten::mm"], "cpu"):
    ...     lattis.ones(1, 2) @ lattis.ones(2, 1)
    tensor([[2.]])
    """
    done = []
    try:
        for op in ops:
            set_kernel_enabled(op, key, False)
            done.append(op)
        yield
    finally:
        for op in done:
            set_kernel_enabled(op, key, True)
