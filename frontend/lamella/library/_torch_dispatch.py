"""Names of torch.library for ``__torch_dispatch__`` and for kernels of fake tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from lamella import _C

from ._checks import check_callable, check_type
from ._functions import register_fake
from ._library import Library
from ._rules import found

RULES = "_lamella_dispatch_rules"  # the attribute of a class: a dict from an operator's full name to its function


class FakeImplCtx:
    """The object that `get_ctx` returns."""

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """Raises NotImplementedError.

        torch's compiler continues with a symbol in place of a size that follows from values. Device "meta" has
        neither values nor symbols, so that a kernel for it cannot make such a result.
        """
        raise NotImplementedError(
            "new_dynamic_size: the shape of the operator's result depends on the data, and device 'meta' has no data; "
            "call the operator on tensors with data"
        )

    create_unbacked_symint = new_dynamic_size


def get_ctx() -> FakeImplCtx:
    """Returns the context of the kernel of ``register_fake`` that runs now, for programs that call its methods.

    Raises:
        RuntimeError: no kernel runs on this thread

    >>> try:
    ...     lamella.library.get_ctx()
    ... except RuntimeError as error:
    ...     print(error)
    get_ctx: no kernel that register_fake has registered runs on this thread
    """
    if not _C._in_kernel():
        raise RuntimeError("get_ctx: no kernel that register_fake has registered runs on this thread")
    return FakeImplCtx()


def impl_abstract(qualname: Any, func: Callable[..., Any] | None = None, *, lib: Library | None = None) -> Any:
    """Calls `register_fake`, its newer name.

    >>> lib = lamella.library.Library("mine", "DEF")
    >>> _ = lib.define("same(Tensor self) -> Tensor")
    >>> _ = lamella.library.impl_abstract("mine::same", lambda x: x.new_empty(x.shape), lib=lib)
    >>> lamella.ops.mine.same(lamella.empty(3, device="meta")).shape
    lamella.Size([3])
    >>> lib.close()
    """
    return register_fake(qualname, func, lib=lib)


def register_torch_dispatch(
    op: Any, torch_dispatch_class: type, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Callable[..., Any]:
    """Sets what a class with ``__torch_dispatch__`` does with an operator, from outside of the class; a decorator, too.

    Args:
        op: an operator such as ``lamella.ops.mine.twice``, for all its overloads, or its name
        torch_dispatch_class: a subclass of ``TorchDispatchMode`` or of Tensor
        func: ``func(mode, func, types, args, kwargs)`` for a mode; for a subclass of Tensor the first argument is the
            class. It is called in place of ``__torch_dispatch__``
        lib: a library, whose ``close`` ends the registration

    Raises:
        RuntimeError: there is no such operator, or the class has a function for it

    >>> from lamella.utils._python_dispatch import TorchDispatchMode
    >>> class Plain(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         return func(*args, **(kwargs or {}))
    >>> @lamella.library.register_torch_dispatch("aten::neg", Plain)
    ... def _(mode, func, types, args, kwargs):
    ...     return args[0] + 100
    >>> with Plain():
    ...     lamella.neg(lamella.ones(1)), lamella.exp(lamella.zeros(1))
    (tensor([101.]), tensor([1.]))
    """
    who = "register_torch_dispatch"
    check_type(who, "torch_dispatch_class", torch_dispatch_class, type)
    if not hasattr(torch_dispatch_class, "__torch_dispatch__"):
        raise RuntimeError(
            f"{who}: argument 'torch_dispatch_class': {torch_dispatch_class.__name__} has no __torch_dispatch__"
        )
    if lib is not None:
        check_type(who, "lib", lib, Library)
    name = _name_of(who, op)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        check_callable(who, "func", function)
        rules = _rules_of(torch_dispatch_class)
        if name in rules and _is_open(rules[name][1]):
            raise RuntimeError(f"{who}: {torch_dispatch_class.__name__} already has a function for {name}")
        rules[name] = (function, lib)
        return function

    return register if func is None else register(func)


def _name_of(who: str, op: Any) -> str:
    """Returns the full name of an operator without an overload."""
    if isinstance(op, str):
        op = op.rpartition(".")[0] if "." in op.partition("::")[2] else op
        space, _, name = op.partition("::")
        packet = getattr(getattr(_ops(), space), name, None) if name else None
        if packet is None or not packet.schemas:
            raise RuntimeError(f"{who}: there is no operator {op}")
        return op
    schemas = getattr(op, "schemas", None)
    if schemas is None:
        return found(who, op)[0].partition(".")[0]
    return str(schemas[0]).partition("(")[0].partition(".")[0]


def _ops() -> Any:
    from lamella._namespace import ops

    return ops


def _is_open(lib: Library | None) -> bool:
    return lib is None or not lib._closed


def _rules_of(cls: Any) -> dict[str, tuple[Callable[..., Any], Library | None]]:
    """Returns the functions of a class. The first call wraps its ``__torch_dispatch__``, so that it reads them."""
    if RULES in vars(cls):
        return vars(cls)[RULES]
    rules: dict[str, tuple[Callable[..., Any], Library | None]] = {}
    held = vars(cls).get("__torch_dispatch__")
    inner = cls.__torch_dispatch__ if held is None else held
    is_class_method = isinstance(held, classmethod) or hasattr(inner, "__self__")
    plain = held.__func__ if isinstance(held, classmethod) else getattr(inner, "__func__", inner)

    @functools.wraps(plain)
    def dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        function, lib = rules.get(str(func.schemas[0]).partition("(")[0].partition(".")[0], (None, None))
        if function is not None and _is_open(lib):
            return function(self, func, types, args, kwargs or {})
        return plain(self, func, types, args, kwargs)

    setattr(cls, RULES, rules)
    cls.__torch_dispatch__ = classmethod(dispatch) if is_class_method else dispatch
    return rules
