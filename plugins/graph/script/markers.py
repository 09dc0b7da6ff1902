"""Decorators and functions of jit that a program contains, and that mean something to the compiler only."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, get_args, get_origin

F = TypeVar("F", bound=Callable)
T = TypeVar("T")

__all__ = [
    "Attribute",
    "Final",
    "Future",
    "annotate",
    "export",
    "fork",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "mark_of",
]
__all__ += ["unused", "wait"]


def ignore(function: Any = None, *, drop: bool = False) -> Any:
    """Leaves a function or a method in Python: a script calls it there. Such a program cannot be saved.

    >>> @lamella.jit.ignore
    ... def log(x): print(x)
    """
    if function is None:
        return lambda f: ignore(f, drop=drop)
    function._lamella_script = "unused" if drop else "ignore"
    return function


def unused(function: F) -> F:
    """Leaves a method out of a script: where a script calls it, an error is raised.

    >>> @lamella.jit.unused
    ... def debug(self, x): return x
    """
    if builtins.isinstance(function, property):
        function.fget._lamella_script = "unused"  # type: ignore[union-attr]
        return function
    function._lamella_script = "unused"  # type: ignore[attr-defined]
    return function


def export(function: F) -> F:
    """Makes a method of a module an entry of its script beside ``forward``.

    >>> @lamella.jit.export
    ... def inverse(self, y): return y
    """
    function._lamella_script = "export"  # type: ignore[attr-defined]
    return function


def mark_of(function: Any) -> str:
    """Returns "ignore", "unused", "export", or "" for a function without a mark."""
    found = getattr(function, "__dict__", {}).get("_lamella_script", "")
    return found if builtins.isinstance(found, str) else ""


def annotate(the_type: Any, the_value: T) -> T:
    """Returns the value; in a script, the value has the type.

    >>> lamella.jit.annotate(list[int], [])
    []
    """
    return the_value


class Attribute:
    """A value with its type, for an attribute of a module whose type is not that of the value."""

    def __init__(self, value: Any, type: Any):
        self.value, self.type = value, type


def isinstance(obj: Any, target_type: Any) -> bool:
    """Returns whether an object is of a type; unlike Python's, for types of elements, too, such as ``List[int]``.

    >>> lamella.jit.isinstance([1, 2], list[int]), lamella.jit.isinstance([1, "a"], list[int])
    (True, False)
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, t) for t in target_type)
    origin, args = get_origin(target_type), get_args(target_type)
    if origin is list:
        return builtins.isinstance(obj, list) and all(isinstance(x, args[0]) for x in obj)
    if origin is dict:
        held = builtins.isinstance(obj, dict)
        return held and all(isinstance(k, args[0]) and isinstance(v, args[1]) for k, v in obj.items())
    if origin is tuple:
        held = builtins.isinstance(obj, tuple) and len(obj) == len(args)
        return held and all(isinstance(x, t) for x, t in zip(obj, args, strict=True))
    if origin is not None:
        return any(isinstance(obj, t) for t in args)
    return obj is None if target_type is None else builtins.isinstance(obj, target_type)


def is_scripting() -> bool:
    """Returns False; a script reads it as True, and compiles the branch for that only.

    >>> lamella.jit.is_scripting()
    False
    """
    return False


def is_tracing() -> bool:
    """Returns whether this thread records a function for :func:`trace`; in a script it is False.

    >>> lamella.jit.is_tracing()
    False
    """
    from lamella.plugins.graph import _python

    return _python.is_tracing()


def interface(cls: T) -> T:
    """Makes a class an interface: a value of it is an object of any class that has its methods.

    >>> @lamella.jit.interface
    ... class Layer:
    ...     def forward(self, x: lamella.Tensor) -> lamella.Tensor: ...
    """
    cls._lamella_interface = True  # type: ignore[attr-defined]
    return cls


def fork(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """Calls a function; a script calls it beside what follows, and ``wait`` gives the result.

    >>> lamella.jit.wait(lamella.jit.fork(lamella.add, lamella.ones(1), 1))
    tensor([2.])
    """
    return Future(function(*args, **kwargs))


class Future(Generic[T]):
    """The result of a call, as ``fork`` gives it outside of a script; ``Future[T]`` is its type in annotations."""

    def __init__(self, result: T):
        self.result = result

    def wait(self) -> T:
        """Returns the result."""
        return self.result

    def value(self) -> T:
        """Returns the result."""
        return self.result


def _unwrap_optional(value: Any) -> Any:
    """Returns a value that is not None; None raises an error.

    >>> lamella.jit._unwrap_optional(3)
    3
    """
    assert value is not None, "Unwrapping null optional"
    return value


def wait(future: Any) -> Any:
    """Returns the result of a forked call.

    Raises:
        TypeError: ``future`` is no result of :func:`fork`.

    >>> lamella.jit.wait(lamella.jit.fork(len, [1, 2]))
    2
    """
    if not callable(getattr(future, "wait", None)):
        raise TypeError(f"wait: argument 'future' must be a result of jit.fork, got {type(future).__name__}")
    return future.wait()
