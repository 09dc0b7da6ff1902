"""Checks of arguments for lamella.library: each raises an error that names the function and the argument."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lamella import _C

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200  # flags of a code object, as in inspect


def check_type(who: str, what: str, value: Any, wanted: type = str, name: str = "") -> None:
    """Raises unless the value is of the type; ``name`` is the type's name in the message."""
    if not isinstance(value, wanted):
        name = name or ("an int" if wanted is int else f"a {wanted.__name__}")
        raise TypeError(f"{who}: argument '{what}': expected {name}, got {type(value).__name__}")


def version_from_one(who: str, what: str, value: Any) -> None:
    """Raises unless the value is a version: a whole number from 1 on."""
    check_type(who, what, value, int)
    if not 1 <= value < 2**32:
        raise ValueError(f"{who}: argument '{what}': expected a whole number from 1 on, got {value}")


def check_callable(who: str, what: str, f: Any) -> None:
    """Raises unless a call of ``f`` computes its result; a generator or a coroutine would not."""
    if not callable(f):
        raise TypeError(f"{who}: argument '{what}': expected a callable, got {type(f).__name__}")
    code = getattr(f, "__code__", None)
    if code and code.co_flags & (GENERATOR | COROUTINE | ASYNC_GENERATOR):
        kind = "a generator function" if code.co_flags & GENERATOR else "an async function"
        raise TypeError(f"{who}: argument '{what}': {f.__qualname__} is {kind}; expected one that returns its results")


def several(who: str, what: str, given: Any) -> list[str]:
    """Returns the names as a list; a single str is one name."""
    if isinstance(given, str):
        return [given]
    try:
        found = list(given)
    except TypeError:
        raise TypeError(
            f"{who}: argument '{what}': expected a str or a list of str, got {type(given).__name__}"
        ) from None
    for o in found:
        if not isinstance(o, str):
            raise TypeError(
                f"{who}: argument '{what}': expected a str or a list of str, got one with {type(o).__name__}"
            )
    return found


def key_name(who: str, key: Any, what: str = "key") -> str:
    """Returns the name of a key of kernels, such as a device or a layer; also accepts torch's spellings, such as "CPU"
    and "CompositeImplicitAutograd"."""
    if not isinstance(key, str) or not key:
        got = repr(key) if isinstance(key, str) else type(key).__name__
        raise TypeError(f"{who}: argument '{what}': expected the name of a device or a layer, got {got}")
    return _C._read_key(f"{who}: argument '{what}'", key)


def devices(who: str, device_types: str | Iterable[str] | None, what: str = "device_types") -> list[str]:
    """Returns the keys for ``device_types``; None and torch's "default" mean every device."""
    if device_types is None:
        return ["backend"]
    return [key_name(who, d, what) for d in several(who, what, device_types)]
