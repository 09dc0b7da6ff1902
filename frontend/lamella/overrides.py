"""Overriding the functions of Lamella from Python: ``__torch_function__`` of a class, and modes.

A class may define ``__torch_function__(cls, func, types, args=(), kwargs=None)``, a class method: it is called in place
of each operator that gets an argument of the class, and of indexing. ``func`` is the operator as the namespace has it
(``lamella.add``, which ``Tensor.add`` and ``+`` are, too) or ``Tensor.__getitem__``. A subclass of Tensor that does not
define it has Tensor's, which gives results the subclass. A ``TorchFunctionMode`` sees every such call of its thread.

Functions of the namespace that are written in Python are seen by the operators that they call; attributes such as
``shape``, and methods that return numbers, are not seen.
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
    """A context manager that is called in place of every operator that the thread calls inside.

    Of several, the innermost is called; what it calls itself goes to the next one.

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
    """Whether a function with these arguments must go through ``handle_torch_function``: one has a class with
    ``__torch_function__``, or a mode is on.

    >>> lamella.overrides.has_torch_function((lamella.ones(1), 2))
    False
    """
    return bool(_C._overriders(tuple(relevant_args)) or _C._modes("function"))


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Calls what overrides a function of yours: a mode, or the class of an argument.

    Args:
        public_api: the function that was called
        relevant_args: the arguments whose classes may override it
        args, kwargs: all arguments of the call

    Raises:
        TypeError: each that was asked returned NotImplemented

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
    """A decorator that makes a function of yours one that classes and modes may override.

    Args:
        dispatcher: gets the arguments of the call, and returns those whose classes may override it

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
    """Whether it is a Tensor, or of a class that has ``__torch_function__``.

    >>> lamella.overrides.is_tensor_like(lamella.ones(1)), lamella.overrides.is_tensor_like(1)
    (True, False)
    """
    return type(inp) is lamella.Tensor or hasattr(type(inp), "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function that came to ``__torch_function__`` is one of Tensor's methods.

    >>> lamella.overrides.is_tensor_method_or_property(lamella.Tensor.__getitem__)
    True
    """
    return any(found is func for found in vars(lamella.Tensor).values()) or getattr(func, "__name__", "") == "__get__"


def resolve_name(f: Any) -> str:
    """The public name of a function that came to ``__torch_function__`` or to ``__torch_dispatch__``.

    >>> lamella.overrides.resolve_name(lamella.add), lamella.overrides.resolve_name(lamella.Tensor.__getitem__)
    ('lamella.add', 'lamella.Tensor.__getitem__')
    """
    if isinstance(f, _C.OperatorPacket):
        name: str = getattr(f, "__qualname__")  # noqa: B009
        return f"lamella.ops.{name.replace('::', '.')}" if "::" in name else f"lamella.{name}"
    return f"{getattr(f, '__module__', None) or 'lamella'}.{getattr(f, '__qualname__', f.__name__)}"


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The operators that classes and modes may override, by where they are found: ``lamella``, ``lamella.Tensor``.

    >>> lamella.add in lamella.overrides.get_overridable_functions()[lamella]
    True
    """
    places = (lamella, lamella.Tensor, lamella.nn.functional)
    found: dict[Any, list[Callable[..., Any]]] = {}
    for place in places:
        found[place] = [f for name in dir(place) if isinstance(f := vars(place).get(name), _C.OperatorPacket)]
    found[lamella.Tensor] += [lamella.Tensor.__getitem__, lamella.Tensor.__setitem__]
    return found
