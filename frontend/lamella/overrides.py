"""Overriding the functions of Lamella from Python: ``__torch_function__`` of a class, and modes.

A class may define the class method ``__torch_function__(cls, func, types, args=(), kwargs=None)``, which is called in
place of each operator with an argument of the class, and of indexing. ``func`` is the operator as a function of the
namespace (``lamella.add`` also for ``Tensor.add`` and ``+``) or ``Tensor.__getitem__``. A subclass of Tensor inherits
Tensor's method, which converts results to the subclass. A ``TorchFunctionMode`` is called for all calls of its thread.

A function of the namespace that is written in Python is not overridden itself, but the operators that it calls are.
Attributes such as ``shape``, and methods that call no operator, such as ``size()``, cannot be overridden.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import lamella
from lamella import _C

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_overridable_functions",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


class TorchFunctionMode:
    """A context manager whose ``__torch_function__`` is called in place of every operator of the thread.

    Of several open modes the innermost is called; operators that it calls itself are passed to the next one.

    >>> class Names(lamella.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(lamella.overrides.resolve_name(func))
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     _ = lamella.ones(2) * 3
    lamella.ones
    lamella.mul
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        wanted = "__torch_function__(self, func, types, args, kwargs)"
        raise NotImplementedError(f"{type(self).__name__} must define {wanted}")

    def __enter__(self):
        _C._push_mode("function", self)
        return self

    def __exit__(self, *error: Any) -> None:
        _C._pop_mode("function")


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing.

    >>> with lamella.overrides.BaseTorchFunctionMode():
    ...     lamella.ones(1) + 1
    tensor([2.])
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Returns whether a function must call ``handle_torch_function`` for these arguments: the class of one of them
    defines ``__torch_function__``, or a mode is open.

    >>> lamella.overrides.has_torch_function((lamella.ones(1), 2))
    False
    """
    return bool(_C._overriders(tuple(relevant_args)) or _C._modes("function"))


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Calls the mode, or the class of an argument, that overrides a function of yours; returns its result.

    Args:
        public_api: the function that was called
        relevant_args: the arguments whose classes may override it
        args, kwargs: all arguments of the call

    Raises:
        TypeError: every override returned NotImplemented

    >>> def twice(x):
    ...     if lamella.overrides.has_torch_function((x,)):
    ...         return lamella.overrides.handle_torch_function(twice, (x,), x)
    ...     return x + x
    >>> class Loud(lamella.Tensor):
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return "loud " + lamella.overrides.resolve_name(func).rpartition(".")[2]
    >>> twice(lamella.ones(1)), twice(lamella.ones(1).as_subclass(Loud))
    (tensor([2.]), 'loud twice')
    """
    return _C._handle_function(public_api, tuple(relevant_args), args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """Decorates a function of yours, so that classes and modes may override it.

    Args:
        dispatcher: takes the arguments of the call, and returns those whose classes may override the function

    >>> @lamella.overrides.wrap_torch_function(lambda x: (x,))
    ... def twice(x):
    ...     return x + x
    >>> twice(lamella.ones(1))
    tensor([2.])
    """

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(call, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return call

    return wrap


def is_tensor_like(inp: Any) -> bool:
    """Returns whether an object is a Tensor, or of a class that has ``__torch_function__``.

    >>> lamella.overrides.is_tensor_like(lamella.ones(1)), lamella.overrides.is_tensor_like(1)
    (True, False)
    """
    return type(inp) is lamella.Tensor or hasattr(type(inp), "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Returns whether a function, as passed to ``__torch_function__``, is a method or a property of Tensor.

    >>> lamella.overrides.is_tensor_method_or_property(lamella.Tensor.__getitem__)
    True
    """
    return any(found is func for found in vars(lamella.Tensor).values()) or getattr(func, "__name__", "") == "__get__"


def resolve_name(f: Any) -> str:
    """Returns the public name of a function, as passed to ``__torch_function__`` or ``__torch_dispatch__``.

    >>> lamella.overrides.resolve_name(lamella.add), lamella.overrides.resolve_name(lamella.Tensor.__getitem__)
    ('lamella.add', 'lamella.Tensor.__getitem__')
    """
    if isinstance(f, _C.OperatorPacket):
        name: str = getattr(f, "__qualname__")  # noqa: B009
        return f"lamella.ops.{name.replace('::', '.')}" if "::" in name else f"lamella.{name}"
    return f"{getattr(f, '__module__', None) or 'lamella'}.{getattr(f, '__qualname__', f.__name__)}"


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Returns the operators that classes and modes may override, in a list for each place.

    The places are ``lamella``, ``lamella.Tensor`` (with its indexing) and ``lamella.nn.functional``.

    >>> lamella.add in lamella.overrides.get_overridable_functions()[lamella]
    True
    """
    places = (lamella, lamella.Tensor, lamella.nn.functional)
    found: dict[Any, list[Callable[..., Any]]] = {}
    for place in places:
        found[place] = [f for name in dir(place) if isinstance(f := vars(place).get(name), _C.OperatorPacket)]
    found[lamella.Tensor] += [lamella.Tensor.__getitem__, lamella.Tensor.__setitem__]
    return found
