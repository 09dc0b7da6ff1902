"""Operators as torch's programs call them: those of Lamella, with torch's numbers for dtypes, layouts and formats."""

from __future__ import annotations

import re
from typing import Any

import lamella.plugins.graph.script.library_torch as library_torch
import lamella.plugins.graph.script.members as members
from lamella.plugins.graph.script.builder import Builder
from lamella.plugins.graph.script.emit import UNKNOWN, Value, Word
from lamella.plugins.graph.script.expressions import TENSOR_BINARY
from lamella.plugins.graph.script.matching import Match, choose
from lamella.plugins.graph.script.signatures import Schema, overloads
from lamella.plugins.graph.script.types import (
    DTYPE,
    INT,
    LAYOUT,
    MEMORY_FORMAT,
    NONE,
    TENSOR,
    Optional,
    Tuple,
    Type,
    without_none,
)

LAYOUTS = {0: "strided"}
FORMATS = {0: "contiguous_format", 1: "preserve_format", 2: "channels_last", 3: "channels_last_3d"}
WORDS: dict[Any, dict[int, str]] = {DTYPE: library_torch.DTYPES, LAYOUT: LAYOUTS, MEMORY_FORMAT: FORMATS}
# Arguments of torch's operators that say nothing where they are None, False or 0, and are left out here.
SILENT = frozenset({"layout", "pin_memory", "non_blocking", "memory_format", "generator", "implicit"})
# Arguments that have a place in torch's operators, and names alone in Lamella's.
LATER = frozenset({"memory_format", "reverse"})
# Names by which torch's code calls an operator of another name.
OTHER_NAMES = {f"prim::{name}": f"aten::{name}" for name in ("min", "max", "abs", "sum")}
OTHER_NAMES["aten::broadcast_shapes"] = "aten::_infer_size"
OTHER_NAMES |= {f"aten::__i{sign}__": f"aten::__{sign}__" for sign in ("and", "or", "xor", "lshift", "rshift")}
# Attributes of tensors that are operators in torch's code.
PROPERTIES = {"aten::numpy_T": "T", "aten::T": "T", "aten::mT": "mT", "aten::mH": "mH", "aten::matrix_H": "H"}
# Operators of control flow and of types, which the compiler makes nodes of.
FORMS = frozenset({"prim::RaiseException", "prim::NumToTensor", "prim::unchecked_unwrap_optional"})
FORMS |= {"aten::_unwrap_optional"}
UPSAMPLE = re.compile(r"aten::_?upsample_[a-z_]+(\d)d(?:_aa)?")


def is_here(name: str) -> bool:
    """Returns whether a program of torch that calls an operator can run.

    >>> is_here("aten::_convolution"), is_here("aten::new_zeros"), is_here("aten::no_such_operator")
    (True, True, False)
    """
    name = OTHER_NAMES.get(name, name)
    if name in FORMS or name in PROPERTIES or name in library_torch.OPERATORS or overloads(name):
        return True
    return name.startswith("aten::") and members.is_tensor_method(name.removeprefix("aten::"))


class TorchOperators(Builder):
    """Appends operators that a program of torch calls."""

    def torch_operator(self, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Appends an operator by its full name, ``aten::add``."""
        in_place = name.startswith("aten::__i") and name in OTHER_NAMES
        name = OTHER_NAMES.get(name, name)
        short = name.removeprefix("aten::")
        if name == "prim::NumToTensor":
            return self.number_to_tensor(args[0])
        if name == "aten::percentFormat" and len(args) == 2 and isinstance(args[1].type, Tuple):
            args = [args[0], *self.unpacked(args[1])]
        if name == "aten::format" and args and isinstance(args[0].constant, str):
            args = [self.constant(python_template(args[0].constant)), *args[1:]]
        if name in PROPERTIES and args:
            return self.attribute(args[0], PROPERTIES[name])  # type: ignore[attr-defined]
        if short in TENSOR_BINARY and any(v.type == TENSOR for v in args):
            name = f"aten::{TENSOR_BINARY[short]}{'_' if in_place else ''}"
        args = self.with_dtypes(name, args)
        schemas = overloads(name)
        fits = bool(schemas) and isinstance(self.choose(schemas, args, kwargs), Match)
        if name in library_torch.OPERATORS and not fits:
            return self.call_function(library_torch.OPERATORS[name], args, kwargs)  # type: ignore[attr-defined]
        if not fits and len(args) > 2 and (found := UPSAMPLE.fullmatch(name)):
            return self.upsampled(name, int(found[1]), args)
        if not fits and args and args[0].type == TENSOR and members.is_tensor_method(short):
            kwargs = {k: v for k, v in kwargs.items() if k not in SILENT or not is_silent(v)}
            kwargs = {k: self.as_word(DTYPE, v) if k == "dtype" else v for k, v in kwargs.items()}
            return self.call_tensor_method(args[0], short, args[1:], kwargs)  # type: ignore[attr-defined]
        return self.call_operator(name, args, kwargs)

    def upsampled(self, name: str, dims: int, args: list[Value]) -> Value:
        """Appends an upsampling in torch's form with a list of factors, or None, in place of a factor for each axis."""
        call = self.call_function  # type: ignore[attr-defined]
        size = call(library_torch.upsampled_size, [args[0], args[1], args[-1]], {})
        scales = [call(library_torch.upsampled_scale, [args[-1], self.constant(i)], {}) for i in range(dims)]
        return self.call_operator(name, [args[0], size, *args[2:-1], *scales], {})

    def number_to_tensor(self, number: Value) -> Value:
        """Appends the tensor without dimensions that torch makes of a number, whose dtype is the widest of its kind."""
        widest = {"int": "int64", "float": "float64", "bool": "bool"}.get(str(number.type))
        if widest is None:
            return self.call_operator("aten::scalar_tensor", [number], {})
        return self.call_operator("aten::scalar_tensor", [number], {"dtype": self.word(DTYPE, widest)})

    def with_dtypes(self, name: str, args: list[Value]) -> list[Value]:
        """Returns the arguments of a comparison of dtypes, which are numbers in torch."""
        if name in ("aten::eq", "aten::ne") and len(args) == 2 and DTYPE in (args[0].type, args[1].type):
            return [self.as_word(DTYPE, v) for v in args]
        return args

    def choose(self, schemas: tuple[Schema, ...], args: list[Value], kwargs: dict[str, Value]) -> Any:
        made: dict[tuple[Value, Type], Value] = {}

        def converted(t: Type, value: Value) -> Value:
            inside = without_none(t)
            if inside not in WORDS or without_none(value.type) != INT:
                return value
            if (value, inside) not in made:
                made[value, inside] = self.as_word(inside, value)
            return made[value, inside]

        def adapt(schema: Schema) -> tuple[list[Value], dict[str, Value]]:
            known = {a.name: a for a in schema.arguments}
            places = [a for a in schema.arguments if not a.keyword_only]
            by_place, given = list(args), dict(kwargs)
            later = [a.name for a in schema.arguments if a.keyword_only and a.name in LATER]
            extra = args[len(places) :]
            if extra and not schema.more and len(extra) <= len(later):  # torch's have places, Lamella's names alone
                by_place, given = args[: len(places)], given | dict(zip(later, extra, strict=False))
            by_place[: len(places)] = [converted(a.type, v) for a, v in zip(places, by_place, strict=False)]
            given = {k: converted(known[k].type, v) if k in known else v for k, v in given.items()}
            return by_place, {k: v for k, v in given.items() if k in known or k not in SILENT or not is_silent(v)}

        return choose(schemas, args, kwargs, self.place, adapt)

    def word(self, t: Type, text: str) -> Value:
        """Appends a constant that is a dtype, a layout or a memory format."""
        return self.block.constant(Word(str(t), text), t, self.place)

    def as_word(self, t: Type, value: Value) -> Value:
        """Returns a dtype, a layout or a memory format for torch's number of it."""
        if type(value.constant) is int:
            found = WORDS[t].get(value.constant)
            return value if found is None else self.word(t, found)
        if t != DTYPE or without_none(value.type) != INT:
            return value
        of_number = library_torch.dtype_or_none if isinstance(value.type, Optional) else library_torch.dtype_of_number
        return self.call_function(of_number, [value], {})  # type: ignore[attr-defined]

    def as_number_of_dtype(self, value: Value) -> Value:
        """Returns torch's number of a dtype, or of None, which is None."""
        number = library_torch.number_or_none if isinstance(value.type, Optional) else library_torch.number_of_dtype
        return self.call_function(number, [value], {})  # type: ignore[attr-defined]


def is_silent(value: Value) -> bool:
    """Returns whether an argument is None, False or 0."""
    return value.type == NONE or (value.constant is not UNKNOWN and not value.constant)


def python_template(text: str) -> str:
    """Returns a template of ``aten::format``, in which {} alone stands for a value, as one of Python's ``format``.

    >>> python_template("{a} is {}")
    '{{a}} is {}'
    """
    return "{}".join(part.replace("{", "{{").replace("}", "}}") for part in text.split("{}"))
