"""custom_op: makes an operator of a Python function, and returns the object to register its kernels and rules with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from lamella import _C
from lamella._namespace import operator

from ._checks import check_callable, check_type, devices, key_name, several, version_from_one
from ._functions import register_autocast
from ._library import Library
from ._rules import Rule, Vmap
from ._site import Registration, Site, latest, supersede


class CustomOpDef:
    """The object that :func:`custom_op` returns: a call runs the operator; methods register its kernels and rules.

    A second registration under one key replaces the first one of this definition. A pickle holds the name, and is
    loaded as the operator that has this name.
    """

    __call__: Callable[..., Any]  # the operator itself; each definition has its own class

    def __init__(self, name: str, fn: Callable[..., Any], library: Library):
        self._qualname, self._library = name, library
        self._switches: dict[str, list[list[int | None]]] = {}
        self._registered: dict[str, int | Rule] = {}  # handles of kernels by key, rules by layer
        self._site: Registration | None = None
        self.__name__ = name.rpartition("::")[2]
        self.__qualname__, self.__module__ = self.__name__, fn.__module__
        self.__doc__, self.__wrapped__ = fn.__doc__, fn

    def __repr__(self) -> str:
        return f"<CustomOpDef {_C._find_operator(self._qualname)[1]}>"

    def __reduce__(self) -> Any:
        return _defined, (self._qualname,)

    def register_kernel(
        self, device_types: str | Iterable[str] | None, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Registers a kernel for the named devices, or with None for every device that has none; also as a decorator.

        >>> @lamella.library.custom_op("mine::twice", mutates_args=(), device_types="cpu")
        ... def twice(x: lamella.Tensor) -> lamella.Tensor:
        ...     return x + x
        >>> @twice.register_kernel("meta")
        ... def twice_meta(x):
        ...     return lamella.empty_like(x)
        >>> twice(lamella.ones(2, device="meta")).shape
        lamella.Size([2])
        >>> twice.close()
        """
        return self._kernel("register_kernel", devices("register_kernel", device_types), fn)

    def _kernel(self, who: str, keys: list[str], fn: Callable[..., Any] | None) -> Callable[..., Any]:
        """Registers the kernel under each key, or returns the decorator that does."""

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            check_callable(who, "fn", fn)
            for key in keys:
                self._replace(key, self._library.impl(self._qualname, fn, key))
            return fn

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any] | None = None, /) -> Callable[..., Any]:
        """Registers the kernel for device "meta", which makes results without elements; also as a decorator.

        >>> @lamella.library.custom_op("mine::pairs", mutates_args=())
        ... def pairs(x: lamella.Tensor) -> lamella.Tensor:
        ...     return lamella.stack([x, x], dim=-1)
        >>> @pairs.register_fake
        ... def pairs_fake(x):
        ...     return x.new_empty((*x.shape, 2))
        >>> pairs(lamella.empty(3, device="meta")).shape
        lamella.Size([3, 2])
        >>> pairs.close()
        """
        return self._kernel("register_fake", ["meta"], fn)

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Gives the operator its derivative; see :func:`lamella.library.register_autograd`.

        >>> @lamella.library.custom_op("mine::cube", mutates_args=())
        ... def cube(x: lamella.Tensor) -> lamella.Tensor:
        ...     return x * x * x
        >>> def setup_context(ctx, inputs, output):
        ...     ctx.save_for_backward(*inputs)
        >>> def backward(ctx, grad):
        ...     [x] = ctx.saved_tensors
        ...     return 3 * x * x * grad
        >>> cube.register_autograd(backward, setup_context=setup_context)
        >>> cube.close()
        """
        check_callable("register_autograd", "backward", backward)
        rule = self._library.register_autograd(self._qualname, backward, setup_context=setup_context)
        self._replace("rule autograd", rule)

    def register_autocast(self, device_type: str, cast_inputs: Any, /) -> None:
        """Sets the dtype to which autocast casts the inputs; see :func:`lamella.library.register_autocast`."""
        rule = register_autocast(self, device_type, cast_inputs, lib=self._library)
        self._replace(f"rule autocast {rule.payload.device_type}", rule)

    def register_vmap(self, func: Callable[..., Any] | None = None, /) -> Callable[..., Any]:
        """Gives the operator its batching rule; see :func:`lamella.library.register_vmap`."""

        def register(func: Callable[..., Any]) -> Callable[..., Any]:
            check_callable("register_vmap", "func", func)
            self._replace("rule vmap", self._library.rule(self._qualname, "vmap", Vmap(func)))
            return func

        return register if func is None else register(func)

    def register_rule(self, layer: str, payload: Any, /) -> None:
        """Keeps a rule of the operator for any other layer; see :meth:`Library.rule`."""
        self._replace(f"rule {layer}", self._library.rule(self._qualname, layer, payload))

    def _replace(self, what: str, made: int | Rule) -> None:
        """Notes the new registration, and withdraws the one that it replaces, unless that was withdrawn before."""
        before, self._registered[what] = self._registered.get(what), made
        if before is not None and self._library.holds(before):
            self._library.withdraw(before) if isinstance(before, int) else before.remove()

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Within a ``with`` block, disables the operator's kernel for a device if ``enabled`` is False; if it is True,
        enables the kernel again inside a block that disabled it.

        >>> @lamella.library.custom_op("mine::twice", mutates_args=())
        ... def twice(x: lamella.Tensor) -> lamella.Tensor:
        ...     return x + x
        >>> @twice.register_kernel("cpu")
        ... def twice_cpu(x):
        ...     return x * 2.0
        >>> with twice.set_kernel_enabled("cpu", False):
        ...     twice(lamella.tensor([1]))
        tensor([2])
        >>> twice.close()
        """
        check_type("set_kernel_enabled", "enabled", enabled, bool)
        key = key_name("set_kernel_enabled", device_type, "device_type")
        # One for each open block: [its handle, or None while an inner block enables the kernel].
        switches = self._switches.setdefault(key, [])
        lifted = [s for s in switches if s[0] is not None] if enabled else []
        for switch in lifted:
            self._lift(switch)
        own: list[int | None] = [None if enabled else self._library.disable_kernel(self._qualname, key)]
        switches.append(own)
        try:
            yield
        finally:
            switches[:] = [s for s in switches if s is not own]
            self._lift(own)
            for switch in lifted:
                if any(s is switch for s in switches) and not self._library._closed:
                    switch[0] = self._library.disable_kernel(self._qualname, key)

    def _lift(self, switch: list[int | None]) -> None:
        handle, switch[0] = switch[0], None
        if handle is not None and self._library.holds(handle):
            self._library.withdraw(handle)

    def close(self) -> None:
        """Withdraws the operator, and all that was registered for it."""
        self._library.close()
        self._registered.clear()
        if self._site:
            self._site.forget()


def _defined(name: str) -> Any:
    """Returns the object that custom_op returned for a name in this process, else the operator of that name."""
    return latest(("custom_op", name)) or operator(name)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Iterable[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
    dims: str = "",
    effects: str = "",
    since: int = 1,
) -> Any:
    """Makes an operator from a function, which becomes its kernel; also as a decorator.

    Layers do not look into the function: autograd needs :meth:`CustomOpDef.register_autograd`, and the device "meta"
    needs :meth:`CustomOpDef.register_fake`. The function must not return one of its arguments, nor a view of one.

    Args:
        name: namespace and name, as "mine::twice"
        mutates_args: names of the arguments that the function writes to; "unknown" means all tensors
        device_types: the devices for which the function is the kernel, such as "cpu"; None means every device that has
            no kernel of its own
        schema: arguments and results, such as "(Tensor x) -> Tensor"; by default from the function's type hints
        tags: accepted for torch's sake; has no effect
        dims: how the results' dimensions follow from the arguments', for layers such as names: see
            :meth:`Library.define`
        effects: "state" if the function reads or writes what none of its arguments shows, as a file or the clock
        since: the version of the namespace in which the operator got the arguments that it has now

    Raises:
        ValueError: the name has no namespace, the schema cannot be inferred, ``dims`` does not parse, ``effects`` is
            another word, or ``since`` is below 1
        RuntimeError: the operator is defined already; the message names both owners. If the same place of a program
            runs again, such as a cell of a notebook, the earlier definition is closed instead.

    >>> @lamella.library.custom_op("mine::scaled", mutates_args=())
    ... def scaled(x: lamella.Tensor, by: float = 2.0) -> lamella.Tensor:
    ...     return x * by
    >>> scaled(lamella.ones(2)), lamella.ops.mine.scaled(lamella.ones(2), by=3.0)
    (tensor([2., 2.]), tensor([3., 3.]))
    >>> scaled.close()
    """
    check_type("custom_op", "name", name)
    ns, colons, base = name.partition("::")
    named = ns.isidentifier() and all(p.isidentifier() for p in base.split(".", 1))
    if not colons or not named or base.endswith(".default"):
        raise ValueError(f"custom_op: argument 'name': expected a namespace and a name, as 'mine::twice', got {name!r}")
    version_from_one("custom_op", "since", since)
    keys = devices("custom_op", device_types)
    if not isinstance(mutates_args, str):
        mutates_args = tuple(several("custom_op", "mutates_args", mutates_args))

    def make(fn: Callable[..., Any]) -> CustomOpDef:
        check_callable("custom_op", "fn", fn)
        if schema is None:
            from ._schema import infer_schema

            text = infer_schema(fn, mutates_args=mutates_args)
        else:
            text = _checked(name, schema, mutates_args)
        _C._parse_schema(base + text, ns)  # checked before an earlier definition is closed
        site = Site()
        supersede(("custom_op", name), site)
        library = Library(ns, "FRAGMENT", owner=str(site), version=since)
        try:
            library.define(base + text, doc=fn.__doc__ or "", dims=dims, effects=effects, since=since)
            own = name if "." in name else f"{name}.default"
            packet = staticmethod(_C._packet(own))  # a call of the operator makes no Python frame
            made = type(CustomOpDef.__name__, (CustomOpDef,), {"__call__": packet})(name, fn, library)
            made._kernel("custom_op", keys, fn)
        except BaseException:
            library.close()
            raise
        made._site = Registration(("custom_op", name), site, made.close, made)
        return made

    return make if fn is None else make(fn)


def _checked(name: str, schema: Any, mutates_args: str | Iterable[str]) -> str:
    """Returns the schema that was passed, whose (a!) marks must agree with ``mutates_args``."""
    check_type("custom_op", "schema", schema)
    if not schema.lstrip().startswith("("):
        wanted = 'arguments and results without a name, as "(Tensor x) -> Tensor"'
        raise ValueError(f"custom_op: {name}: argument 'schema': expected {wanted}, got {schema!r}")
    text = _C._parse_schema("f" + schema, "checked")
    if mutates_args == "unknown":
        return schema
    said = set(re.findall(r"Tensor\([^()]*!(?: -> [^()]*)?\)\S* (\w+)", text.partition(") ->")[0]))
    if isinstance(mutates_args, str) or said != set(mutates_args):
        raise ValueError(
            f"custom_op: {name}: the schema {schema} writes to {sorted(said) or 'nothing'}, mutates_args says "
            f"{mutates_args!r}"
        )
    return schema
