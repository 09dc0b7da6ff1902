"""Calls of Python's builtin functions, of math, and of the functions of jit that mean something to the compiler."""

from __future__ import annotations

import ast
import builtins
import cmath
import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import lamella.plugins.graph.script.markers as markers
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.jit_calls import JitCalls
from lamella.plugins.graph.script.source import is_of_package
from lamella.plugins.graph.script.statics import Enumerate, Method, Python, Range, Reversed, Sequence, Zip
from lamella.plugins.graph.script.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMBERS,
    SCALAR,
    STR,
    TENSOR,
    Dict,
    Enum,
    List,
    Object,
    Optional,
    Tuple,
    Type,
    is_subtype,
    named,
)

# Functions that are one of the builtin operators.
SIMPLE = {
    abs: "abs",
    divmod: "divmod",
    ord: "ord",
    chr: "chr",
    bin: "bin",
    oct: "oct",
    hex: "hex",
    hash: "hash",
    repr: "repr",
}
MATH_ONE = (
    "sqrt exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc gamma "
    "lgamma fabs degrees radians floor ceil trunc isfinite isinf isnan"
).split()
MATH_TWO = {"atan2": "atan2", "copysign": "copysign", "fmod": "fmod", "remainder": "mathremainder", "pow": "mathpow"}
MATH_TWO |= {"log": "log", "hypot": "hypot", "isclose": "isclose"}
MATH_OTHER = ("ldexp", "frexp", "modf", "factorial", "gcd", "isqrt")
CMATH = "sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh isfinite isinf isnan".split()


class Builtins(JitCalls):
    """Compiles calls that have a meaning of their own."""

    evaluated: Callable[..., Value]
    call_thing: Callable[..., Any]
    as_list: Callable[[Value], Value]

    def special_call(self, target: Any, node: ast.Call) -> Callable[[], Any] | None:
        """Returns what compiles the call of a Python object; None if it is called as any other."""
        try:
            handler = _handlers().get(target)
        except TypeError:
            return None
        return functools.partial(handler, self, node) if handler else None

    # ---- sizes, conversions ----

    def call_len(self, node: ast.Call) -> Any:
        (thing,) = self.arguments(node, 1, 1)
        if isinstance(thing, Sequence):
            return self.constant(len(thing.items))
        value = self.value(thing)
        if isinstance(value.type, Tuple):
            return self.constant(len(value.type.items))
        if isinstance(value.type, Object):
            found = self.sequence_of(value)  # type: ignore[attr-defined]
            if found is not None:
                return self.constant(len(found.items))
            return self.method(value, "__len__", [], {})  # type: ignore[attr-defined]
        if value.type not in (TENSOR, STR) and not isinstance(value.type, (List, Dict)):
            raise self.error(f"len() takes a tensor, a list, a tuple, a dict or a str, got {named(value.type)}")
        return self.op("aten::len", value)

    def call_int(self, node: ast.Call) -> Any:
        given = self.arguments(node, 0, 1)
        return self.cast("Int", given, (BOOL, INT, FLOAT, STR, SCALAR, TENSOR), 0)

    def call_float(self, node: ast.Call) -> Any:
        given = self.arguments(node, 0, 1)
        if given and isinstance(given[0], Value) and isinstance(given[0].constant, str):
            try:
                return self.constant(float(given[0].constant))
            except ValueError:
                pass
        return self.cast("Float", given, (BOOL, INT, FLOAT, STR, SCALAR, TENSOR), 0.0)

    def cast(self, name: str, given: list[Any], admitted: tuple[Type, ...], empty: Any) -> Value:
        if not given:
            return self.constant(empty)
        value = self.value(given[0])
        if str(value.type) == name.lower():
            return value
        if value.type not in admitted:
            title = name.lower()
            raise self.error(f"{title}() takes a number, a str or a tensor, got {named(value.type)}")
        return self.op(f"aten::{name}", value)

    def call_bool(self, node: ast.Call) -> Any:
        given = self.arguments(node, 0, 1)
        if not given:
            return self.constant(False)
        found = self.truth(given[0]).value
        return self.constant(found) if isinstance(found, bool) else found

    def call_complex(self, node: ast.Call) -> Any:
        given = [self.as_float(self.value(g)) for g in self.arguments(node, 0, 2)]
        while len(given) < 2:
            given.append(self.constant(0.0))
        return self.op("aten::Complex", *given)

    def as_float(self, value: Value) -> Value:
        if value.type == FLOAT:
            return value
        if isinstance(value.constant, int):
            return self.constant(float(value.constant))
        return self.op("aten::Float", value)

    def call_str(self, node: ast.Call) -> Any:
        given = self.arguments(node, 0, 1)
        if not given:
            return self.constant("")
        return self.text_of(self.value(given[0]))  # type: ignore[attr-defined]

    def call_list(self, node: ast.Call) -> Any:
        given = self.arguments(node, 0, 1)
        if not given:
            wished = self.wished  # type: ignore[attr-defined]
            return self.list_of([], wished.element if isinstance(wished, List) else TENSOR)
        thing = given[0]
        if isinstance(thing, Sequence):
            return thing
        if isinstance(thing, Value):
            if isinstance(thing.type, (List,)) or thing.type == STR:
                return self.op("aten::list", thing)
            if isinstance(thing.type, Tuple):
                return self.as_list(thing)
            if isinstance(thing.type, Dict):
                return self.op("aten::keys", thing)
        return self.collected(thing)  # type: ignore[attr-defined]

    def call_tuple(self, node: ast.Call) -> Any:
        given = self.arguments(node, 0, 1)
        if not given:
            return self.tuple_of([])
        if isinstance(given[0], Sequence):
            return given[0]
        value = self.value(given[0])
        if isinstance(value.type, Tuple):
            return value
        if isinstance(value.type, List) and value.items is not None:
            return self.tuple_of(value.items)
        inlined = self.caller is not None  # type: ignore[attr-defined]
        if isinstance(value.type, List) and (inlined or is_of_package(self.function.python)):  # type: ignore[attr-defined]
            return value  # for the messages of the package's errors
        raise self.error(f"tuple() of {named(value.type)} has a length that is not known; use a list")

    def call_dict(self, node: ast.Call) -> Any:
        given = self.arguments(node, 0, 1, *[k.arg for k in node.keywords if k.arg])
        wished = self.wished  # type: ignore[attr-defined]
        if node.keywords and not given:
            values = [self.evaluated(k.value) for k in node.keywords]
            keys = [self.constant(k.arg) for k in node.keywords]
            return self.dict_of(keys, values, Dict(STR, self.element_type(values, None, "dict()")))  # type: ignore[attr-defined]
        if not given:
            return self.one("prim::DictConstruct", [], wished if isinstance(wished, Dict) else Dict(STR, TENSOR))
        value = self.value(given[0]) if isinstance(given[0], Value) else self.collected(given[0])  # type: ignore[attr-defined]
        return self.op("aten::dict", value)

    # ---- numbers ----

    def call_simple(self, node: ast.Call, name: str) -> Any:
        given = [self.value(g) for g in self.arguments(node, 0, 3)]
        if name == "abs" and len(given) == 1:
            given = [self.as_number(given[0])]  # type: ignore[attr-defined]
        return self.call_operator(f"aten::{name}", given, {}, name)

    def call_round(self, node: ast.Call) -> Any:
        given = [self.value(g) for g in self.arguments(node, 1, 2)]
        if given[0].type == TENSOR:
            return self.op("aten::round", *given)
        return self.op("aten::round", self.as_float(given[0]), *given[1:])

    def call_min(self, node: ast.Call, name: str) -> Any:
        given = [self.value(g) for g in self.arguments(node, 1, 99)]
        if len(given) == 1:
            if isinstance(given[0].type, Tuple):
                given = [self.as_list(given[0])]
            return self.op(f"aten::{name}", *given)
        found = given[0]
        for g in given[1:]:
            found = self.op(f"aten::{name}", found, g)
        return found

    def call_sum(self, node: ast.Call) -> Any:
        given = self.arguments(node, 1, 2)
        value = given[0] if isinstance(given[0], Value) else self.collected(given[0])  # type: ignore[attr-defined]
        value = self.as_list(value)
        if value.type == List(TENSOR):
            total = self.program.library(self, "sum_of_tensors", [value])
        else:
            total = self.op("aten::sum", value)
        return self.binary(ast.Add(), self.value(given[1]), total) if len(given) == 2 else total  # type: ignore[attr-defined]

    def call_all(self, node: ast.Call, name: str) -> Any:
        (thing,) = self.arguments(node, 1, 1)
        value = thing if isinstance(thing, Value) else self.collected(thing)  # type: ignore[attr-defined]
        return self.op(f"aten::{name}", self.as_list(value))

    def call_sorted(self, node: ast.Call) -> Any:
        (thing,) = self.arguments(node, 1, 1, "reverse")
        value = self.as_list(thing if isinstance(thing, Value) else self.collected(thing))  # type: ignore[attr-defined]
        reverse = self.keyword(node, "reverse")
        return self.op("aten::sorted", value, **({"reverse": reverse} if reverse else {}))

    def call_reversed(self, node: ast.Call) -> Any:
        (thing,) = self.arguments(node, 1, 1)
        if isinstance(thing, Sequence):
            return Sequence(thing.items[::-1], thing.keys and thing.keys[::-1])
        if isinstance(thing, Range):
            return Reversed(thing)
        value = self.value(thing)
        if isinstance(value.type, Object):
            found = self.sequence_of(value)  # type: ignore[attr-defined]
            if found is not None:
                return Sequence(found.items[::-1], found.keys and found.keys[::-1])
        if isinstance(value.type, Tuple):
            return self.tuple_of(self.unpacked(value)[::-1])
        return self.op("aten::reversed", value)

    def call_math(self, node: ast.Call, name: str, count: int) -> Any:
        keywords = [k.arg for k in node.keywords if k.arg]
        given = [self.value(g) for g in self.arguments(node, count, count, *keywords)]
        kwargs = {
            k: self.as_float(self.evaluated(next(w.value for w in node.keywords if w.arg == k))) for k in keywords
        }
        if name in ("factorial", "gcd", "isqrt"):
            return self.call_operator(f"aten::{name}", given, {}, f"math.{name}")
        whole = name in ("floor", "ceil", "trunc")
        if whole and given[0].type in (INT, BOOL):
            return self.as_number(given[0])  # type: ignore[attr-defined]
        if any(v.type not in NUMBERS or v.type == COMPLEX for v in given if v.type != TENSOR):
            raise self.error(f"math.{name}() takes numbers, got {named(given[0].type)}")
        given = [v if name == "ldexp" and i == 1 else self.as_float(v) for i, v in enumerate(given)]
        return self.call_operator(f"aten::{name}", given, kwargs, f"math.{name}")

    def call_prod(self, node: ast.Call) -> Any:
        (thing,) = self.arguments(node, 1, 1)
        return self.program.library(self, "product", [self.as_list(self.value(thing))])

    def call_log(self, node: ast.Call) -> Any:
        return self.call_math(node, "log", len(node.args))

    def call_cmath(self, node: ast.Call, name: str) -> Any:
        (given,) = self.arguments(node, 1, 1)
        value = self.value(given)
        return self.op(f"aten::{name}", value if value.type == COMPLEX else self.op("aten::Complex", value))

    # ---- iteration ----

    def call_range(self, node: ast.Call) -> Any:
        given = []
        for g in self.arguments(node, 1, 3):
            value = self.value(g)
            if value.type == TENSOR:
                value = self.op("aten::IntImplicit", value)
            if value.type != INT:
                raise self.error(f"range() takes ints, got {named(value.type)}")
            given.append(value)
        start, stop = (None, given[0]) if len(given) == 1 else (given[0], given[1])
        return Range(start, stop, given[2] if len(given) == 3 else None)

    def call_enumerate(self, node: ast.Call) -> Any:
        given = self.arguments(node, 1, 2, "start")
        start = self.value(given[1]) if len(given) == 2 else self.keyword(node, "start")
        return Enumerate(given[0], start)

    def call_zip(self, node: ast.Call) -> Any:
        return Zip(tuple(self.arguments(node, 1, 99, "strict")))

    # ---- objects ----

    def call_isinstance(self, node: ast.Call) -> Any:
        if len(node.args) != 2:
            raise self.error("isinstance() takes a value and a type, or a tuple of types")
        found = self.is_instance(node).value
        return self.constant(found) if isinstance(found, bool) else found

    def call_hasattr(self, node: ast.Call) -> Any:
        thing, name = self.arguments(node, 2, 2)
        return self.constant(self.find_attribute(thing, self.known_text(name, "hasattr")) is not None)  # type: ignore[attr-defined]

    def call_getattr(self, node: ast.Call) -> Any:
        thing, name, *default = self.arguments(node, 2, 3)
        found = self.find_attribute(thing, self.known_text(name, "getattr"))  # type: ignore[attr-defined]
        if found is not None:
            return found
        if default:
            return default[0]
        return self.attribute(thing, name.constant)  # type: ignore[attr-defined]

    def known_text(self, value: Any, title: str) -> str:
        text = getattr(value, "constant", None)
        if not isinstance(text, str):
            raise self.error(f"{title}() takes a name that is known without running: a text in quotes")
        return text

    def call_callable(self, node: ast.Call) -> Any:
        (thing,) = self.arguments(node, 1, 1)
        return self.constant(isinstance(thing, Method) or (isinstance(thing, Python) and callable(thing.object)))

    def call_print(self, node: ast.Call) -> Any:
        values = [self.value(g) for g in self.arguments(node, 0, 99)]
        values = [self.text_of(v) if isinstance(v.type, (Object, Enum)) else v for v in values]  # type: ignore[attr-defined]
        self.add("prim::Print", values)
        return self.block.constant(None, NONE, self.place)

    def call_type(self, node: ast.Call) -> Any:
        import lamella

        (thing,) = self.arguments(node, 1, 1)
        value = self.value(thing)
        plain: dict[Type, type] = {
            INT: int,
            FLOAT: float,
            BOOL: bool,
            STR: str,
            COMPLEX: complex,
            TENSOR: lamella.Tensor,
        }
        if self.caller is not None and value.type not in plain:  # type: ignore[attr-defined]
            plain[value.type] = object  # for the messages of the package's errors
        if isinstance(value.type, Object):
            return Python(value.type.info.python)
        if value.type in plain:
            return Python(plain[value.type])
        raise self.error(f"type() of {named(value.type)} is not admitted; isinstance() asks for a type", node)

    def call_interpolate(self, node: ast.Call) -> Any:
        """Compiles ``interpolate``, of which a number for size or scale_factor stands for all axes."""
        names = ("input", "size", "scale_factor", "mode", "align_corners", "recompute_scale_factor", "antialias")
        given = dict(zip(names, self.arguments(node, 1, len(names), *names), strict=False))
        given |= {k.arg: self.evaluated(k.value) for k in node.keywords if k.arg}
        values = {k: self.value(v) for k, v in given.items()}
        if values.pop("antialias", None) is not None and getattr(given["antialias"], "constant", True) is not False:
            raise self.error("interpolate: argument 'antialias' is not admitted in a script")
        for name, element in (("size", INT), ("scale_factor", FLOAT)):
            if name in values and values[name].type in (INT, FLOAT):
                values[name] = self.list_of([values[name]], values[name].type)
            if name in values and isinstance(values[name].type, (List, Tuple)) and values[name].items is not None:
                items = [self.as_float(v) if element == FLOAT else v for v in values[name].items or []]
                values[name] = self.list_of(items, element)
        plain = {"size": None, "scale_factor": None, "mode": "nearest", "align_corners": None}
        for name, default in {**plain, "recompute_scale_factor": False}.items():
            if name not in values or (name == "recompute_scale_factor" and values[name].type == NONE):
                values[name] = self.constant(default)
        return self.call_function(self.program.library_function("_interpolate"), [], values)  # type: ignore[attr-defined]

    def call_warn(self, node: ast.Call) -> Any:
        given = self.arguments(node, 1, 3, "category", "stacklevel")
        level = self.keyword(node, "stacklevel")
        return self.op("aten::warn", self.text_of(self.value(given[0])), *([level] if level else []))  # type: ignore[attr-defined]

    # ---- tensors ----

    def call_tensor(self, node: ast.Call, name: str) -> Any:
        keywords = [k.arg for k in node.keywords if k.arg]
        (thing,) = self.arguments(node, 1, 1, *keywords)
        value = self.value(thing)
        if isinstance(value.type, Tuple):
            value = self.as_list(value)
        if value.type == TENSOR and name == "tensor":
            raise self.error("tensor() takes numbers and lists of them; clone().detach() copies a tensor")
        if isinstance(value.type, Optional) or not is_number_or_list(value.type):
            raise self.error(f"{name}() takes numbers and lists of them, got {named(value.type)}")
        return self.call_operator(
            f"aten::{name}", [value], {k: self.evaluated_keyword(node, k) for k in keywords}, name
        )

    def evaluated_keyword(self, node: ast.Call, name: str) -> Value:
        return next(self.evaluated(k.value) for k in node.keywords if k.arg == name)

    def call_builtin(self, node: ast.Call, operator: str) -> Any:
        given = [self.value(g) for g in self.arguments(node, 0, 99, *[k.arg for k in node.keywords if k.arg])]
        kwargs = {k.arg: self.evaluated(k.value) for k in node.keywords if k.arg}
        return self.call_operator(operator, given, kwargs)


def is_number_or_list(t: Type) -> bool:
    """Returns whether tensors can be made of values of a type."""
    while isinstance(t, List):
        t = t.element
    return t in NUMBERS or t == TENSOR


@functools.cache
def _handlers() -> dict[Any, Callable]:
    """Returns the methods of `Builtins` that compile calls, by the Python function that is called."""
    import lamella

    b = Builtins
    found: dict[Any, Callable] = {
        len: b.call_len,
        int: b.call_int,
        float: b.call_float,
        bool: b.call_bool,
        complex: b.call_complex,
        str: b.call_str,
        list: b.call_list,
        tuple: b.call_tuple,
        dict: b.call_dict,
        round: b.call_round,
        sum: b.call_sum,
        sorted: b.call_sorted,
        reversed: b.call_reversed,
        range: b.call_range,
        enumerate: b.call_enumerate,
        zip: b.call_zip,
        isinstance: b.call_isinstance,
        markers.isinstance: b.call_isinstance,
        hasattr: b.call_hasattr,
        getattr: b.call_getattr,
        callable: b.call_callable,
        print: b.call_print,
        warnings.warn: b.call_warn,
        type: b.call_type,
        math.log: b.call_log,
        math.prod: b.call_prod,
        markers.annotate: b.call_annotate,
        markers.is_scripting: b.call_is_scripting,
        markers.is_tracing: b.call_is_tracing,
        markers.fork: b.call_fork,
        markers.wait: b.call_wait,
        markers._unwrap_optional: b.call_unwrap,
        lamella.nn.functional.interpolate: b.call_interpolate,
        lamella.is_tensor: b.call_is_tensor,
    }

    def with_name(handler: Callable, *more: Any) -> Callable:
        return lambda f, node: handler(f, node, *more)

    for function, name in SIMPLE.items():
        found[function] = with_name(b.call_simple, name)
    for name in ("min", "max"):
        found[getattr(builtins, name)] = with_name(b.call_min, name)
    for name in ("all", "any"):
        found[getattr(builtins, name)] = with_name(b.call_all, name)
    for name in MATH_ONE:
        if name != "log":
            found[getattr(math, name)] = with_name(b.call_math, name, 1)
    for name, operator in MATH_TWO.items():
        if name != "log":
            found[getattr(math, name)] = with_name(b.call_math, operator, 2)
    for name, count in zip(MATH_OTHER, (2, 1, 1, 1, 2, 1), strict=True):
        found[getattr(math, name)] = with_name(b.call_math, name, count)
    for name in CMATH:
        found[getattr(cmath, name)] = with_name(b.call_cmath, name)
    for name in ("tensor", "as_tensor"):
        found[getattr(lamella, name)] = with_name(b.call_tensor, name)
    for name in (
        "is_floating_point is_complex is_signed is_conj is_neg is_same_size numel is_grad_enabled set_grad_enabled "
        "manual_seed initial_seed get_default_dtype promote_types can_cast result_type device"
    ).split():
        if hasattr(lamella, name):  # autograd brings those about gradients
            found[getattr(lamella, name)] = with_name(b.call_builtin, f"aten::{name}")
    return found


__all__ = ["Builtins", "is_subtype"]
