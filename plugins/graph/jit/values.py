"""Values of Python as those of programs and back, by their types: named tuples, enums, objects of classes."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from lamella.plugins.graph.script.types import Dict, Enum, List, Object, Optional, Tuple, Type, Union, walk

Change = Callable[[Any], Any]


def needs_change(t: Type) -> bool:
    """Returns whether a type has values that Python and programs hold in different forms."""
    return any(isinstance(p, Enum) or (isinstance(p, Tuple) and p.python is not None) for p in walk(t))


def to_python(t: Type) -> Change | None:
    """Returns a function that makes a program's value one of Python; None if it is one already."""
    if not needs_change(t):
        return None
    if isinstance(t, Enum):
        return lambda v: t.members[v]
    if isinstance(t, Optional):
        return _some(to_python(t.inside))
    if isinstance(t, List):
        return _each(to_python(t.element), list)
    if isinstance(t, Tuple):
        parts = [to_python(i) for i in t.items]
        make = t.python._make if t.python is not None else tuple
        return lambda v: make([x if f is None else f(x) for f, x in zip(parts, v, strict=True)])
    if isinstance(t, Dict):
        key, value = to_python(t.key) or _same, to_python(t.value) or _same
        return lambda v: {key(k): value(x) for k, x in v.items()}
    return None


def to_program(t: Type) -> Change | None:
    """Returns a function that makes a value of Python one of a program; None if it is one already."""
    if not any(isinstance(p, Enum) for p in walk(t)):
        return None
    if isinstance(t, Enum):
        return lambda v: _number_of(v, t)
    if isinstance(t, Optional):
        return _some(to_program(t.inside))
    if isinstance(t, List):
        return _each(to_program(t.element), list)
    if isinstance(t, Tuple):
        parts = [to_program(i) for i in t.items]
        return lambda v: tuple(x if f is None else f(x) for f, x in zip(parts, v, strict=True))
    if isinstance(t, Dict):
        key, value = to_program(t.key) or _same, to_program(t.value) or _same
        return lambda v: {key(k): value(x) for k, x in v.items()}
    return None


def _number_of(value: Any, t: Enum) -> int:
    """Returns the number of a member of an enum. A loaded program has an enum of its own, with the same names."""
    if isinstance(value, t.python):
        return t.members.index(value)
    if isinstance(value, enum.Enum) and type(value).__name__ == t.python.__name__:
        names = [m.name for m in t.members]
        if value.name in names:
            return names.index(value.name)
    raise TypeError(f"expected a member of {t.name}, got {value!r}")


def _same(value: Any) -> Any:
    return value


def _some(change: Change | None) -> Change | None:
    return None if change is None else lambda v: None if v is None else change(v)


def _each(change: Change | None, make: Callable) -> Change | None:
    return None if change is None else lambda v: make(change(x) for x in v)


__all__ = ["Object", "Union", "needs_change", "to_program", "to_python"]
