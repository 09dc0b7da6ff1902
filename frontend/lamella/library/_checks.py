"""Checks of arguments for lamella.library: each raises an error that names the function and the argument."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lamella import _C

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200  # of a code object, as in inspect


def check_type(who: str, what: str, value: Any, wanted: type = str, name: str = "") -> None:
    """Raises unless the value is of the type; ``name`` is the type's name in the message."""
    if not isinstance(value, wanted):
        name = name or ("an int" if wanted is int else f"a {wanted.__name__}")
        raise TypeError(f"{who}: argument '{what}': expected {name}, got {type(value).__name__}")


def check_callable(who: str, what: str, f: Any) -> None:
    """Raises unless a call of it computes: a generator or a coroutine would only begin to."""
    if not callable(f):
        raise TypeError(f"{who}: argument '{what}': expected a callable, got {type(f).__name__}")
    code = getattr(f, "__code__", None)
    if code and code.co_flags & (GENERATOR | COROUTINE | ASYNC_GENERATOR):
        kind = "a generator function" if code.co_flags & GENERATOR else "an async function"
        raise TypeError(f"{who}: argument '{what}': {f.__qualname__} is {kind}; expected one that returns its results")


def several(who: str, what: str, given: Any) -> list[str]:
    """The names that were given as one or several: a str is one, not its letters."""
    if isinstance(given, str):
        return [given]
    try:
        found = list(given)
    except TypeError:
        raise TypeError(f"{who}: argument '{what}': expected a str or several, got {type(given).__name__}") from None
    for o in found:
        if not isinstance(o, str):
            raise TypeError(f"{who}: argument '{what}': expected a str or several, got one of {type(o).__name__}")
    return found


def key_name(who: str, key: Any, what: str = "key") -> str:
    """A device's or a layer's name; torch's spellings too, as "CPU" and "CompositeImplicitAutograd"."""
    if not isinstance(key, str) or not key:
        got = repr(key) if isinstance(key, str) else type(key).__name__
        raise TypeError(f"{who}: argument '{what}': expected the name of a device or a layer, got {got}")
    return _C._read_key(f"{who}: argument '{what}'", key)


def devices(who: str, device_types: str | Iterable[str] | None, what: str = "device_types") -> list[str]:
    """The keys of ``device_types``; None and torch's "default" are every device."""
    if device_types is None:
        return ["backend"]
    return [key_name(who, d, what) for d in several(who, what, device_types)]
