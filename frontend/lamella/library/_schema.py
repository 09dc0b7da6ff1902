"""infer_schema: an operator's schema from the type hints of its function."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import math
import numbers
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

from lamella import _C

from ._checks import several

SIMPLE = {
    _C.Tensor: "Tensor",
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
    _C.dtype: "ScalarType",
    _C.device: "Device",
    _C.layout: "Layout",
    _C.memory_format: "MemoryFormat",
    _C.Generator: "Generator",
    numbers.Number: "Scalar",
}
NUMBERS = ({int, float}, {int, float, bool}, {int, float, complex}, {int, float, bool, complex})
LISTS = (list, collections.abc.Sequence)
DICTS = (dict, collections.abc.Mapping)
TAKES = (
    "Tensor, int, float, bool, str, dtype, device, layout, memory_format, Generator, a Union of int, float and bool "
    "(a number), Optional of these, list or Sequence of Tensor, int, float, bool (or Optional of one), str or a "
    "number, and dict of str to str, int, float, bool, a number or Any"
)
LISTED = ("Tensor", "Tensor?", "int", "int?", "float", "float?", "bool", "bool?", "str", "Scalar")
NAMED = ("str", "int", "float", "bool", "Scalar")


class _Unknown(Exception):
    """Raised for a type hint or a default that a schema cannot express."""


def _options(hint: Any) -> list[Any] | None:
    """Returns the members of a Union; None if the hint is no Union."""
    return list(typing.get_args(hint)) if typing.get_origin(hint) in (typing.Union, types.UnionType) else None


def _type(hint: Any) -> str:
    """Returns the schema's word for a hint."""
    if options := _options(hint):
        rest = [o for o in options if o is not type(None)]
        mark = "?" if len(rest) < len(options) else ""
        if len(rest) == 1:
            return _type(rest[0]) + mark
        if set(rest) in NUMBERS:
            return "Scalar" + mark
        raise _Unknown
    if typing.get_origin(hint) in LISTS:
        items = typing.get_args(hint)
        if len(items) != 1:
            raise _Unknown  # a list without an element type
        of = _type(items[0])
        if of not in LISTED:
            raise _Unknown
        return of + "[]"
    if typing.get_origin(hint) in DICTS:
        names, values = typing.get_args(hint)
        of = "Any" if values is Any else _type(values)
        if names is not str or of not in (*NAMED, "Any"):
            raise _Unknown
        return f"Dict(str, {of})"
    try:
        return SIMPLE[hint]
    except (KeyError, TypeError):
        raise _Unknown from None


def _default(value: Any) -> str:
    """Returns a default value in the notation of schemas."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return repr(int(value))  # the value of an instance of a subclass, such as an enum member
    if isinstance(value, float) and not math.isnan(value):
        return repr(float(value))
    if isinstance(value, str | _C.device):
        text = str.__str__(value) if isinstance(value, str) else str(value)
        if text.isprintable() and '"' not in text and "\\" not in text:
            return f'"{text}"'
    if isinstance(value, _C.dtype):
        return str(value).rpartition(".")[2]
    if isinstance(value, list | tuple) and all(v is None or isinstance(v, int | float | str) for v in value):
        return "[" + ", ".join(_default(v) for v in value) + "]"
    raise _Unknown


def _written(word: str, letter: str) -> str:
    return f"Tensor({letter}!){word[len('Tensor') :]}"


def _hints(fn: Callable[..., Any], fail: Callable[[str], Any]) -> dict[str, Any]:
    """Returns the hints of a function; for a callable object those of its ``__call__``."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    fn = inspect.unwrap(fn)
    if not inspect.isroutine(fn):
        fn = type(fn).__call__
    try:
        return typing.get_type_hints(fn)
    except NameError as error:
        fail(f"a type hint cannot be read: {error}; with `from __future__ import annotations`, hints name what is "
             "defined in the module, not inside a function")  # fmt: skip
    except Exception as error:
        fail(f"a type hint cannot be read: {type(error).__name__}: {error}")
    raise AssertionError("fail raises")


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str], op_name: str | None = None
) -> str:
    """Returns the schema of an operator with the arguments and results of a function's type hints.

    Args:
        mutates_args: names of the arguments that it writes to; "unknown" means all tensors
        op_name: the operator's name in the schema, or None for a schema without one

    Raises:
        ValueError: a hint is missing, or a schema cannot express it; the message names the argument

    >>> def clip(x: lamella.Tensor, low: float, high: float | None = None) -> lamella.Tensor:
    ...     return x.clamp(low, high)
    >>> lamella.library.infer_schema(clip, op_name="clip", mutates_args=())
    'clip(Tensor x, float low, float? high=None) -> Tensor'
    """
    if not callable(prototype_function):
        got = type(prototype_function).__name__
        raise TypeError(f"infer_schema: argument 'prototype_function': expected a callable, got {got}")
    everything = mutates_args == "unknown"
    if isinstance(mutates_args, str) and not everything:
        raise ValueError(f"infer_schema: argument 'mutates_args': expected names or 'unknown', got {mutates_args!r}")
    mutated = () if everything else several("infer_schema", "mutates_args", mutates_args)
    title = getattr(prototype_function, "__qualname__", repr(prototype_function))

    def fail(text: str) -> typing.NoReturn:
        raise ValueError(f"infer_schema: {title}: {text}")

    try:
        signature = inspect.signature(prototype_function)
    except (TypeError, ValueError) as error:
        fail(f"it has no signature that can be read ({error}); pass schema=")
    hints = _hints(prototype_function, fail)
    words: list[str] = []
    for i, (name, p) in enumerate(signature.parameters.items()):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            fail(f"parameter '{name}': a schema has no *args, no **kwargs and no positional-only parameters")
        if name not in hints:
            fail(f"parameter '{name}' has no type hint; give it one, or pass schema=")
        try:
            word = _type(hints[name])
        except _Unknown:
            fail(f"parameter '{name}': a schema cannot express {hints[name]}; it has {TAKES}")
        if name in mutated and not word.startswith("Tensor"):
            fail(f"parameter '{name}' is in mutates_args, but only tensors can be written to, and it is {word}")
        if name in mutated or (everything and word.startswith("Tensor")):
            word = _written(word, f"a{i}")
        if p.kind is p.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        try:
            words.append(f"{word} {name}" + ("" if p.default is p.empty else f"={_default(p.default)}"))
        except _Unknown:
            fail(f"parameter '{name}': a schema cannot express the default {p.default!r}")
    if strange := [n for n in mutated if n not in signature.parameters]:
        fail(f"mutates_args names {', '.join(map(repr, strange))}, which is no parameter")
    if "return" not in hints:
        fail("it has no type hint for its result; `-> None` means no result")
    try:
        result = _result(hints["return"])
    except _Unknown:
        fail(f"a schema cannot express the result {hints['return']}; it has Tensor, int, float, bool, a number, "
             "list[Tensor], a tuple of two or more of these, and None")  # fmt: skip
    return f"{op_name or ''}({', '.join(words)}) -> {result}"


def _result(hint: Any) -> str:
    if hint is None or hint is type(None):
        return "()"
    if typing.get_origin(hint) is not tuple:
        return _returned(hint)
    parts = typing.get_args(hint)
    if len(parts) < 2 or Ellipsis in parts:
        raise _Unknown  # the schema of a tuple of one is that of its element
    return "(" + ", ".join(map(_returned, parts)) + ")"


def _returned(hint: Any) -> str:
    word = _type(hint)
    if word not in ("Tensor", "Tensor[]", "int", "float", "bool", "Scalar"):
        raise _Unknown
    return word
