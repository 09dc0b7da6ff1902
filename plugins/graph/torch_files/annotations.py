"""The types that the code of a ``.pt`` writes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from lamella.plugins.graph.script.types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    SCALAR,
    STR,
    TENSOR,
    Dict,
    Future,
    List,
    Tuple,
    Type,
    union_of,
)
from lamella.plugins.graph.torch_files.syntax import File, dotted

SIMPLE: dict[str, Type] = {
    "Tensor": TENSOR,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "complex": COMPLEX,
    "number": SCALAR,
    "Scalar": SCALAR,
    "str": STR,
    "NoneType": NONE,
    "None": NONE,
    "Device": DEVICE,
    "Generator": GENERATOR,
    "Any": ANY,
}
GENERIC = {"List": 1, "Optional": 1, "Future": 1, "Final": 1, "Dict": 2, "Tuple": None, "Union": None}
LARGEST = 10_000  # the parts of a type: its text has them all, and classes may have one another several times


def read_type(node: ast.expr, file: File, named: Callable[[str], Type | None]) -> Type:
    """Returns the type that an expression writes.

    Args:
        node: the expression
        file: makes errors with its lines
        named: returns the type of a class by its full name; None if there is no such class

    Raises:
        ScriptError: no type has this text, or it has more than 10,000 parts
    """
    found = _read(node, file, named)
    if found.size > LARGEST:
        raise file.fail(node, f"the type '{ast.unparse(node)[:80]}' has {found.size} parts; {LARGEST} are the most")
    return found


def _read(node: ast.expr, file: File, named: Callable[[str], Type | None]) -> Type:
    if isinstance(node, ast.Constant) and node.value is None:
        return NONE
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in GENERIC:
        inside = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [read_type(part, file, named) for part in inside]
        count = GENERIC[node.value.id]
        if count is None or len(parts) == count:
            return _generic(node.value.id, parts)
    name = dotted(node)
    found = SIMPLE.get(name) or (named(name) if name else None)
    if found is None:
        text = ast.unparse(node)
        raise file.fail(node, f"the type '{text}' is not read here; no class of the program has this name")
    return found


def _generic(name: str, parts: list[Any]) -> Type:
    if name == "List":
        return List(parts[0])
    if name == "Optional":
        return union_of([parts[0], NONE])
    if name == "Future":
        return Future(parts[0])
    if name == "Dict":
        return Dict(parts[0], parts[1])
    if name == "Tuple":
        return Tuple(tuple(parts))
    return parts[0] if name == "Final" else union_of(parts)
