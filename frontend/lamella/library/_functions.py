"""Registration without a Library object: each function opens one, or uses the library passed as ``lib``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lamella import _C

from ._backend import Backend
from ._checks import check_callable, check_type, devices, key_name
from ._layer import Layer
from ._library import Library
from ._rules import Autocast, Rule, Vmap, found, named
from ._site import Registration, Site, earlier

OpOrName = Any  # a packet such as lamella.ops.mine.twice, a result of custom_op, or a name: "mine::twice.Tensor"


def library_for(who: str, op: OpOrName, lib: Library | None, what: str = "op") -> Library:
    """Returns the library that was passed, or a new one for the operator's namespace."""
    if lib is not None:
        check_type(who, "lib", lib, Library)
    op = named(who, op, what)
    if lib is None and isinstance(op, str) and "::" not in op:
        raise ValueError(f"{who}: argument '{what}': expected a name with its namespace, as 'mine::{op}', got {op!r}")
    name = op if isinstance(op, str) else "lamella::"
    return lib or Library(name.partition("::")[0], "FRAGMENT", owner=str(Site()))


def define(qualname: str, schema: str, *, lib: Library | None = None, **options: Any) -> Library:
    """Defines an operator; ``options`` are those of :meth:`Library.define`, as ``tags`` and ``category``.

    Args:
        qualname: the operator's full name, as "mine::twice"
        schema: its arguments and results, as "(Tensor self) -> Tensor"

    Returns:
        The library of the operator: its ``close`` withdraws it.

    >>> lib = lamella.library.define("mine::twice", "(Tensor self) -> Tensor")
    >>> @lamella.library.impl("mine::twice", "default", lib=lib)
    ... def twice(x):
    ...     return x + x
    >>> lamella.ops.mine.twice(lamella.tensor([1, 2]))
    tensor([2, 4])
    >>> lib.close()
    """
    for what, text in (("qualname", qualname), ("schema", schema)):
        check_type("define", what, text)
    lib = library_for("define", qualname, lib, "qualname")
    lib.define(qualname + schema, **options)
    return lib


def register_kernel(
    op: OpOrName,
    device_types: str | Iterable[str] | None,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Callable[..., Any]:
    """Registers a kernel for the named devices, or with None for every device that has none; also as a decorator.

    >>> lib = lamella.library.Library("mine", "DEF")
    >>> _ = lib.define("twice(Tensor self) -> Tensor")
    >>> @lamella.library.register_kernel("mine::twice", "cpu", lib=lib)
    ... def twice(x):
    ...     return x + x
    >>> lamella.ops.mine.twice(lamella.tensor([1, 2]))
    tensor([2, 4])
    >>> lib.close()
    """
    return _kernel("register_kernel", op, devices("register_kernel", device_types), func, lib)


def _kernel(
    who: str, op: OpOrName, keys: list[str], func: Callable[..., Any] | None, lib: Library | None
) -> Callable[..., Any]:
    """Registers the kernel under each key, or returns the decorator that does."""

    def register(func: Callable[..., Any]) -> Callable[..., Any]:
        check_callable(who, "func", func)
        into = library_for(who, op, lib, "qualname" if who == "impl" else "op")
        for key in keys:
            into.impl(op, func, key)
        return func

    return register if func is None else register(func)


def impl(
    qualname: OpOrName | Library,
    types: Any,
    func: Any = None,
    *,
    lib: Library | None = None,
    dispatch_key: str = "",
) -> Callable[..., Any]:
    """Registers a kernel for types of device, "default" for all; also as a decorator. Torch's name for
    :func:`register_kernel`; see :func:`define`.

    Torch's other form is a decorator too: ``impl(library, name, dispatch_key)`` is that of :meth:`Library.impl`.

    >>> lib = lamella.library.Library("mine", "DEF")
    >>> _ = lib.define("twice(Tensor self) -> Tensor")
    >>> @lamella.library.impl(lib, "twice", "CPU")
    ... def twice(x):
    ...     return x + x
    >>> lamella.ops.mine.twice(lamella.tensor([1, 2]))
    tensor([2, 4])
    >>> lib.close()
    """
    if not isinstance(qualname, Library):
        if dispatch_key:
            raise TypeError("impl: argument 'dispatch_key' belongs to impl(library, name, dispatch_key); pass 'types'")
        return _kernel("impl", qualname, devices("impl", types, "types"), func, lib)
    if lib is not None:
        raise TypeError("impl: argument 'lib': the library is the first argument already; leave it out")
    key = func or dispatch_key

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        qualname.impl(types, fn, key)
        return fn

    return register


def register_fake(
    op: OpOrName, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Callable[..., Any]:
    """Registers an operator's kernel for device "meta": it computes shapes, strides and dtypes without values.

    ``func`` gets tensors of that device and returns new ones. It is the operator's kernel under the key "meta"; also as
    a decorator. If a shape depends on values, raise an error that says so.

    >>> lib = lamella.library.Library("mine", "DEF")
    >>> _ = lib.define("pairs(Tensor self) -> Tensor")
    >>> @lamella.library.register_fake("mine::pairs", lib=lib)
    ... def pairs(x):
    ...     return x.new_empty((*x.shape, 2))
    >>> lamella.ops.mine.pairs(lamella.empty(3, device="meta")).shape
    lamella.Size([3, 2])
    >>> lib.close()
    """
    return _kernel("register_fake", op, ["meta"], func, lib)


def register_autograd(
    op: OpOrName,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> Rule:
    """Gives an operator its derivative: before or after a plugin for autograd is loaded, or without one.

    Args:
        op: a packet such as ``lamella.ops.mine.twice``, or its name
        backward: ``backward(ctx, *grads)`` returns a gradient, or None, for each input of the operator
        setup_context: ``setup_context(ctx, inputs, output)`` keeps what the backward pass needs, by
            ``ctx.save_for_backward`` or as attributes; ``inputs`` has all inputs, also those that the call left at
            their defaults; ``keyword_only_inputs`` has the keyword-only ones of an operator that has some
        lib: the library whose ``close`` withdraws it; without one it stays

    Raises:
        RuntimeError: there is no such operator, it has several overloads, or it writes to an argument or returns a view

    >>> lib = lamella.library.Library("mine", "DEF")
    >>> _ = lib.define("cube(Tensor self) -> Tensor")
    >>> _ = lib.impl("cube", lambda x: x * x * x, "cpu")
    >>> def setup_context(ctx, inputs, output):
    ...     ctx.save_for_backward(*inputs)
    >>> def backward(ctx, grad):
    ...     [x] = ctx.saved_tensors
    ...     return 3 * x * x * grad
    >>> rule = lamella.library.register_autograd("mine::cube", backward, setup_context=setup_context, lib=lib)
    >>> lamella.library.rules("mine::cube")[0].payload.backward is backward
    True
    >>> lib.close()
    """
    return library_for("register_autograd", op, lib).register_autograd(op, backward, setup_context=setup_context)


def register_autocast(op: OpOrName, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None) -> Rule:
    """Makes autocast on a type of device cast an operator's floating-point inputs to a dtype.

    It is kept as a rule of the layer "autocast", which that layer's plugin applies.

    >>> rule = lamella.library.register_autocast("aten::mm", "cpu", lamella.bfloat16)
    >>> lamella.library.rules("aten::mm", "autocast")[0].payload
    Autocast(device_type='cpu', cast_inputs=lamella.bfloat16)
    >>> rule.remove()
    """
    check_type("register_autocast", "cast_inputs", cast_inputs, _C.dtype)
    payload = Autocast(key_name("register_autocast", device_type, "device_type"), cast_inputs)
    return library_for("register_autocast", op, lib).rule(op, "autocast", payload)


def register_vmap(
    op: OpOrName, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Callable[..., Any]:
    """Gives an operator its batching rule: ``func(info, in_dims, *args)`` returns the results and their batch dims.

    It is kept as a rule of the layer "vmap", which that layer's plugin applies; also as a decorator.

    >>> lib = lamella.library.Library("mine", "DEF")
    >>> _ = lib.define("twice(Tensor self) -> Tensor")
    >>> @lamella.library.register_vmap("mine::twice", lib=lib)
    ... def twice_vmap(info, in_dims, x):
    ...     return x + x, in_dims[0]
    >>> lamella.library.rules("mine::twice", "vmap")[0].payload.func is twice_vmap
    True
    >>> lib.close()
    """

    def register(func: Callable[..., Any]) -> Callable[..., Any]:
        check_callable("register_vmap", "func", func)
        library_for("register_vmap", op, lib).rule(op, "vmap", Vmap(func))
        return func

    return register if func is None else register(func)


def register_layer(name: str, handler: Callable[..., Any] | None = None, **wishes: Any) -> Layer:
    """Registers a layer in a library of its own; see :meth:`Library.register_layer`, whose arguments it takes.

    >>> seen = []
    >>> def watch(call, *args, **kwargs):
    ...     seen.append(call.name)
    ...     return call(*args, **kwargs)
    >>> layer = lamella.library.register_layer("watch", watch)
    >>> with layer.on():
    ...     _ = lamella.ones(1) + 1
    >>> seen[-1]
    'aten::add'
    >>> layer.remove()
    """
    return Library("layers", "FRAGMENT", owner=str(Site())).register_layer(name, handler, **wishes)


def register_backend(name: str, backend: Backend) -> Library:
    """Registers a backend in a library of its own, whose ``close`` withdraws it; see
    :meth:`Library.register_backend`."""
    lib = Library(name, "FRAGMENT", owner=str(Site()))
    lib.register_backend(name, backend)
    return lib


def get_kernel(op: OpOrName, key: str) -> Callable[..., Any]:
    """Returns the kernel that serves an operator under a key now. A call runs it without the layers above it.

    So a kernel that is registered over it can pass on the calls that it does not handle itself.

    Args:
        op: a packet, or a name with its overload, as "aten::add.Tensor"
        key: a device, a layer, a plugin's dtype, "backend" or "composite"

    A cell of a notebook may get a kernel, and register another one over it. If the cell runs again, it first gets its
    own earlier kernel; when it registers again, the object that it got becomes the kernel below that.

    Raises:
        RuntimeError: there is no such operator; or, at a call, the kernel is written in Python and was withdrawn
        NotImplementedError: nothing serves the operator under this key

    >>> sine = lamella.library.get_kernel("aten::sin", "cpu")
    >>> lib = lamella.library.Library("aten", "IMPL", "cpu")
    >>> handle = lib.impl("sin", lambda x: sine(x) if (x < 0).any() else lamella.zeros_like(x))
    >>> lamella.sin(lamella.tensor([1.0, 2.0])), lamella.sin(lamella.tensor([-1.0, 2.0]))
    (tensor([0., 0.]), tensor([-0.8415,  0.9093]))
    >>> lib.close()
    """
    op, key = named("get_kernel", op), key_name("get_kernel", key)
    kernel = _C._get_kernel(op, key)
    before = earlier(("kernel", found("get_kernel", op)[0], key), Site())
    return Replaceable(kernel, op, key, before) if before else kernel


class Replaceable:
    """A kernel that ``get_kernel`` returned to a site that registered it, and has run again since.

    Note [A kernel that is about to be replaced]  Such a site is about to register a kernel over this one. The new
      kernel must call neither the earlier one nor itself. So when the earlier one is withdrawn, this object takes the
      kernel below it.
    """

    def __init__(self, kernel: Callable[..., Any], op: OpOrName, key: str, registration: Registration):
        self._kernel, self._op, self._key = kernel, op, key
        registration.followers.add(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._kernel(*args, **kwargs)

    def __repr__(self) -> str:
        return repr(self._kernel)

    def look_again(self) -> None:
        """Takes the kernel that serves the operator now; called when the registration is withdrawn."""
        with suppress(NotImplementedError):  # no kernel is left: a call raises that it was withdrawn
            self._kernel = _C._get_kernel(self._op, self._key)


@contextmanager
def kernels_disabled(ops: OpOrName | Iterable[OpOrName], key: str) -> Iterator[None]:
    """Disables the kernels of one or several operators under one key, within a ``with`` block.

    :meth:`Library.disable_kernel` does so until its handle is withdrawn.

    >>> with lamella.library.kernels_disabled(["aten::mm"], "cpu"):
    ...     lamella.ones(1, 2) @ lamella.ones(2, 1)
    tensor([[2.]])
    """
    key = key_name("kernels_disabled", key)
    several = isinstance(ops, Iterable) and not isinstance(ops, str)
    names = [found("kernels_disabled", op)[0] for op in (ops if several else [ops])]
    library = Library("switches", "FRAGMENT", owner=str(Site()))
    try:
        for name in names:
            library.disable_kernel(name, key)
        yield
    finally:
        library.close()


def error_class(name: str) -> type[Exception]:
    """Returns the class of a kind of errors that a plugin has registered; it is lamella.library.NAME as well.

    Raises:
        ValueError: no plugin has registered a kind of this name

    >>> lamella.library.error_class("NoSuchError")
    Traceback (most recent call last):
    ...
    ValueError: error_class: no plugin has registered a kind of errors 'NoSuchError'
    """
    check_type("error_class", "name", name, str)
    return _C._error_class(name)
