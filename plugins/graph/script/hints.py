"""Annotations of Python as types of scripts."""

from __future__ import annotations

import ast
import builtins
import collections
import enum
import inspect
import types
import typing
from typing import Any

import lamella.plugins.graph.script.markers as markers
from lamella.plugins.graph.script.types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    DTYPE,
    FLOAT,
    GENERATOR,
    INT,
    LAYOUT,
    MEMORY_FORMAT,
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

ADMITTED = (
    "int, float, bool, complex, str, Tensor, None, List, Dict, Tuple, Optional, Union, device, dtype, named tuples, "
    "enums, and classes"
)


class AnnotationError(Exception):
    """Raised for an annotation that is no type of scripts; the text says why."""


def names_of(function: Any) -> dict[str, Any]:
    """Returns the names that a function sees: those around it, its module's, and Python's."""
    found = dict(vars(builtins))
    found.update(getattr(function, "__globals__", {}))
    code = getattr(function, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), function.__closure__ or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found


def evaluate(node: ast.expr, function: Any) -> Any:
    """Returns the Python object that an annotation is, in the names of a function."""
    expression = ast.fix_missing_locations(ast.Expression(node))
    names = names_of(function)
    for name in ("List", "Dict", "Tuple", "Optional", "Union", "Any", "NamedTuple", "Final"):
        names.setdefault(name, getattr(typing, name))
    if "Tensor" not in names:
        import lamella

        names["Tensor"] = lamella.Tensor
    try:
        found = eval(compile(expression, "<annotation>", "eval"), names)
        if isinstance(found, str):
            found = eval(found, names)
    except Exception as error:
        text = str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)
        raise AnnotationError(f"the type '{text}' cannot be read: {error}") from None
    return found


def type_of(program: Any, found: Any) -> Type:
    """Returns the type that a Python object stands for in an annotation.

    Raises:
        AnnotationError: it stands for none
    """
    import lamella

    simple: dict[Any, Type] = {
        int: INT,
        float: FLOAT,
        bool: BOOL,
        complex: COMPLEX,
        str: STR,
        None: NONE,
        type(None): NONE,
        lamella.Tensor: TENSOR,
        lamella.nn.Parameter: TENSOR,
        lamella.device: DEVICE,
        lamella.dtype: DTYPE,
        lamella.layout: LAYOUT,
        lamella.memory_format: MEMORY_FORMAT,
        lamella.Generator: GENERATOR,
        lamella.Size: List(INT),
        typing.Any: ANY,
        lamella.types.Number: SCALAR,
    }
    if isinstance(found, Type):
        return found
    try:
        if found in simple:
            return simple[found]
    except TypeError:
        pass
    if isinstance(found, str):
        raise AnnotationError(f"the type '{found}' cannot be read")
    origin, args = typing.get_origin(found), typing.get_args(found)
    if origin is not None:
        return _generic(program, found, origin, args)
    if found in (list, dict, tuple, list, dict, tuple):
        name = getattr(found, "__name__", None) or found._name
        full = {"list": "List[int]", "dict": "Dict[str, int]", "tuple": "Tuple[int, int]"}[name.lower()]
        raise AnnotationError(f"the type '{name}' needs the types of its elements, as in '{full}'")
    if isinstance(found, typing.TypeVar):
        raise AnnotationError(f"the type variable '{found}' is not admitted; write the type")
    if isinstance(found, type):
        if issubclass(found, enum.Enum):
            return program.enum_of(found)
        if issubclass(found, tuple) and hasattr(found, "_fields"):
            return named_tuple(program, found)
        if found.__module__ == "builtins" or found is object:
            raise AnnotationError(f"the type '{found.__name__}' is not admitted; {ADMITTED} are")
        if issubclass(found, lamella.nn.Module):
            raise AnnotationError(
                f"the module class '{found.__name__}' is no type, since its methods depend on the module; a class "
                "under jit.interface is"
            )
        return program.class_of(found)
    raise AnnotationError(f"'{found}' is no type of scripts; {ADMITTED} are")


def _generic(program: Any, found: Any, origin: Any, args: tuple[Any, ...]) -> Type:
    inner = [a for a in args if a is not Ellipsis]
    if origin in (list, collections.abc.Sequence):
        return List(type_of(program, inner[0]))
    if origin in (dict, collections.OrderedDict):
        return Dict(type_of(program, inner[0]), type_of(program, inner[1]))
    if origin is tuple:
        if len(inner) != len(args):
            raise AnnotationError("a tuple of any length is not admitted; use a list, or write each type")
        return Tuple(tuple(type_of(program, a) for a in inner if a != ()))
    if origin in (typing.Union, types.UnionType):
        return union_of([type_of(program, a) for a in inner])
    if origin is typing.Final or origin is typing.ClassVar:
        return type_of(program, inner[0])
    if origin is typing.Annotated:
        return type_of(program, inner[0])
    if origin is markers.Future:
        return Future(type_of(program, inner[0]))
    raise AnnotationError(f"'{found}' is no type of scripts; {ADMITTED} are")


def named_tuple(program: Any, python: type) -> Tuple:
    """Returns the type of a named tuple; a field without an annotation is a tensor."""
    hints = {}
    for name, annotation in inspect.get_annotations(python).items():
        if isinstance(annotation, (str, typing.ForwardRef)):
            text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
            module = inspect.getmodule(python)
            names = {**vars(typing), **(vars(module) if module else {})}
            try:
                annotation = eval(text, names)
            except Exception as error:
                raise AnnotationError(f"the type '{text}' cannot be read: {error}") from None
        hints[name] = type_of(program, annotation)
    fields = tuple(python._fields)  # type: ignore[attr-defined]
    return Tuple(tuple(hints.get(f, TENSOR) for f in fields), python.__name__, fields, python)
