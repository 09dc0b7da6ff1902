"""Python's values as constants of a graph."""

from __future__ import annotations

import enum
from typing import Any

from lamella.plugins.graph.script.emit import Data, Value, Word
from lamella.plugins.graph.script.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    DTYPE,
    FLOAT,
    INT,
    LAYOUT,
    MEMORY_FORMAT,
    NONE,
    STR,
    TENSOR,
    Dict,
    List,
    Tuple,
    Type,
    unify,
)

NUMBERS = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX, str: STR, type(None): NONE}


def word_of(value: Any) -> Word | None:
    """Returns the literal of a dtype, a device, a layout or a memory format; None for another object."""
    import lamella

    kinds = {lamella.dtype: DTYPE, lamella.device: DEVICE, lamella.layout: LAYOUT, lamella.memory_format: MEMORY_FORMAT}
    t = kinds.get(type(value))
    return Word(str(t), str(value).removeprefix("lamella.")) if t else None


def type_of(program: Any, value: Any) -> Type | None:
    """Returns the type that a Python value has in a script; None if it has none."""
    import lamella

    if type(value) in NUMBERS:
        return NUMBERS[type(value)]
    if isinstance(value, lamella.Tensor):
        return TENSOR
    if (word := word_of(value)) is not None:
        return {"ScalarType": DTYPE, "Device": DEVICE, "Layout": LAYOUT, "MemoryFormat": MEMORY_FORMAT}[word.type]
    if isinstance(value, enum.Enum):
        return program.enum_of(type(value))
    if isinstance(value, lamella.Size):
        return List(INT)
    if isinstance(value, tuple):
        items = [type_of(program, v) for v in value]
        if None in items:
            return None
        if hasattr(value, "_fields"):
            return program.annotation(type(value))
        return Tuple(tuple(items))  # type: ignore[arg-type]
    if isinstance(value, list):
        element = _common(program, value)
        return List(element) if element else None
    if isinstance(value, dict):
        key, item = _common(program, list(value)), _common(program, list(value.values()))
        return Dict(key, item) if key and item else None
    return None


def _common(program: Any, values: list) -> Type | None:
    if not values:
        return None
    found = type_of(program, values[0])
    for v in values[1:]:
        t = type_of(program, v)
        found = unify(found, t) if found and t else None
    return found


def value_of(f: Any, value: Any) -> Value | None:
    """Appends the nodes that make a Python value; returns None if it has no type in a script."""
    import lamella

    t = type_of(f.program, value)
    if t is None:
        if isinstance(value, list) and not value:
            return f.list_of([], TENSOR)
        return None
    if type(value) in NUMBERS:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise f.error(f"the int {value} does not fit 64 bits")
        return f.block.constant(value, t, f.place)
    if isinstance(value, lamella.Tensor):
        return f.block.constant(Data(f.program.constant(value)), TENSOR, f.place)
    if (word := word_of(value)) is not None:
        made = f.block.constant(word, t, f.place)
        made.constant = value
        return made
    if isinstance(value, enum.Enum):
        made = f.block.constant(list(type(value)).index(value), t, f.place)
        made.constant = value
        return made
    if isinstance(value, dict):
        parts = [value_of(f, x) for pair in value.items() for x in pair]
        return f.one("prim::DictConstruct", parts, t)
    items = [value_of(f, v) for v in value]
    if isinstance(t, Tuple):
        return f.tuple_of(items, t)
    return f.list_of(items, t.element)  # type: ignore[attr-defined]
