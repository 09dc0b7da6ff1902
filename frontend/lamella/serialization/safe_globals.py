"""Classes and functions that a program allows in files of torch, in addition to those of tensors and containers."""

from __future__ import annotations

from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from typing import Any

BLOCKED = ("sys", "os", "posix", "nt", "subprocess", "importlib")  # modules of which nothing can be allowed
BUILTINS = ("builtins", "__builtin__")
# Builtins that would let a file run code, or access the internals of objects.
CODE = {"__import__", "breakpoint", "compile", "delattr", "eval", "exec", "getattr", "globals", "input", "locals",
        "open", "setattr", "type", "vars"}  # fmt: skip
_allowed: dict[str, Any] = {}

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals"]


def _named(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, tuple):
        if len(entry) != 2:
            raise ValueError(
                f"add_safe_globals: expected a pair of an object and its full name, got {len(entry)} parts"
            )
        if type(entry[1]) is not str:
            raise TypeError(f"add_safe_globals: the name must be str, got {type(entry[1]).__name__}")
        return entry[1], entry[0]
    try:
        return f"{entry.__module__}.{entry.__qualname__}", entry
    except AttributeError:
        raise TypeError(f"add_safe_globals: expected a class or a function, got {type(entry).__name__}") from None


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Allows classes and functions in files of torch, for ``load``, which builds such objects: their code runs.

    Args:
        safe_globals: classes and functions, or pairs of such an object and its full name in files

    ``load`` still refuses functions that would let a file run any code, such as ``eval`` and those of ``os``, if the
    file gives their own names.

    >>> class Config:
    ...     pass
    >>> lamella.serialization.add_safe_globals([Config])
    >>> Config in lamella.serialization.get_safe_globals()
    True
    >>> lamella.serialization.clear_safe_globals()
    """
    _allowed.update([_named(entry) for entry in safe_globals])


def get_safe_globals() -> list[Any]:
    """Returns the objects that ``add_safe_globals`` has allowed.

    >>> lamella.serialization.get_safe_globals()
    []
    """
    return [
        value if getattr(value, "__qualname__", None) and _named(value)[0] == name else (value, name)
        for name, value in _allowed.items()
    ]


def clear_safe_globals() -> None:
    """Removes all that ``add_safe_globals`` has allowed.

    >>> lamella.serialization.clear_safe_globals()
    """
    _allowed.clear()


class safe_globals:
    """Allows further classes and functions within a ``with`` block.

    >>> with lamella.serialization.safe_globals([(int, "shop.Count")]):
    ...     lamella.serialization.get_safe_globals()
    [(<class 'int'>, 'shop.Count')]
    """

    def __init__(self, safe_globals: list[Any]):
        self.entries = list(safe_globals)
        self.before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        self.before.append(dict(_allowed))
        add_safe_globals(self.entries)

    def __exit__(self, *exception: Any) -> None:
        before = self.before.pop()
        _allowed.clear()
        _allowed.update(before)


def is_blocked(module: Any, name: Any) -> bool:
    """Returns whether a global can never be allowed."""
    home = str(module).split(".")[0]
    return home in BLOCKED or (home in BUILTINS and name in CODE)


def find_allowed(module: str, name: str) -> Any:
    """Returns the allowed object that a file names, perhaps by its name in Python 2; None if there is none."""
    if is_blocked(module, name):
        return None
    found = _allowed.get(f"{module}.{name}")
    if found is None:
        module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
        found = None if is_blocked(module, name) else _allowed.get(f"{module}.{name}")
    return found


def is_allowed(value: Any) -> bool:
    """Returns whether the program has allowed this object."""
    return any(value is allowed for allowed in _allowed.values())
