"""Expressions: names, literals, attributes, operators, comparisons, texts."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from lamella.plugins.graph.script.conditions import Conditions
from lamella.plugins.graph.script.emit import UNKNOWN, Value
from lamella.plugins.graph.script.errors import ScriptError, UnsupportedNodeError
from lamella.plugins.graph.script.scope import Undefined
from lamella.plugins.graph.script.signatures import overloads
from lamella.plugins.graph.script.statics import Python, Sequence
from lamella.plugins.graph.script.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NUMBERS,
    STR,
    TENSOR,
    Dict,
    List,
    Object,
    Optional,
    Tuple,
    Type,
    is_subtype,
    named,
    unify,
    union_of,
)

BINARY = {
    ast.Add: ("add", "+"),
    ast.Sub: ("sub", "-"),
    ast.Mult: ("mul", "*"),
    ast.Div: ("div", "/"),
    ast.FloorDiv: ("floordiv", "//"),
    ast.Mod: ("remainder", "%"),
    ast.Pow: ("pow", "**"),
    ast.MatMult: ("matmul", "@"),
    ast.BitAnd: ("__and__", "&"),
    ast.BitOr: ("__or__", "|"),
    ast.BitXor: ("__xor__", "^"),
    ast.LShift: ("__lshift__", "<<"),
    ast.RShift: ("__rshift__", ">>"),
}
TENSOR_BINARY = {
    "floordiv": "floor_divide",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
}
LONGEST = 65_535  # the items of a tuple that an operator makes
COMMUTES = {"add", "mul", "bitwise_and", "bitwise_or", "bitwise_xor"}
COMPARISONS = {
    ast.Eq: ("eq", "==", "eq"),
    ast.NotEq: ("ne", "!=", "ne"),
    ast.Lt: ("lt", "<", "gt"),
    ast.LtE: ("le", "<=", "ge"),
    ast.Gt: ("gt", ">", "lt"),
    ast.GtE: ("ge", ">=", "le"),
}
SPECIAL = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.MatMult: "__matmul__",
    ast.BitAnd: "__and__",
    ast.BitOr: "__or__",
    ast.BitXor: "__xor__",
    ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
}
EXPRESSIONS = {
    ast.Lambda: "a lambda is not admitted; write a function",
    ast.Yield: "a 'yield' is not admitted in a scripted function; return a list instead",
    ast.YieldFrom: "a 'yield' is not admitted in a scripted function; return a list instead",
    ast.Await: "an 'await' is not admitted; jit.fork and jit.wait run calls beside each other",
    ast.Set: "a set is not admitted; use a list, or a dictionary",
    ast.SetComp: "a set is not admitted; use a list, or a dictionary",
    ast.Starred: "a '*' is admitted in calls and in assignments only",
}


class Expressions(Conditions):
    """Compiles expressions to values of the graph, or to statics."""

    resolve: Callable[[str], Any]
    attribute: Callable[..., Any]
    method: Callable[..., Any]
    call: Callable[[ast.Call], Any]
    subscript: Callable[[ast.Subscript], Any]
    comprehension: Callable[..., Any]
    wished: Type | None = None
    """The type that the place of the expression wants, for literals without elements."""

    def expression(self, node: ast.expr, wished: Type | None = None) -> Any:  # type: ignore[override]
        """Compiles an expression. ``wished`` is the type that its place wants, which an empty list takes."""
        compile_it = getattr(self, f"on_{type(node).__name__}", None)
        with self.standing_at(node):
            if compile_it is None:
                text = EXPRESSIONS.get(type(node), f"a {type(node).__name__} is not admitted")  # type: ignore[call-overload]
                raise self.error(text, node, UnsupportedNodeError)
            before, self.wished = self.wished, wished
            try:
                return compile_it(node)
            finally:
                self.wished = before

    def evaluated(self, node: ast.expr, wished: Type | None = None) -> Value:
        """Compiles an expression that has to be a value of the graph."""
        return self.value(self.expression(node, wished), node)

    # ---- names and literals ----

    def on_Name(self, node: ast.Name) -> Any:
        bound = self.scope.find(node.id)
        if isinstance(bound, Undefined):
            raise self.error(bound.why, node)
        if bound is not None:
            return bound.value
        return self.resolve(node.id)

    def on_Constant(self, node: ast.Constant) -> Any:
        if node.value is Ellipsis:
            raise self.error("'...' is admitted as an index of a tensor only", node)
        if isinstance(node.value, bytes):
            raise self.error("bytes are not admitted; use a str", node)
        return self.constant(node.value, node)

    def on_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.expression(node.value)
        if isinstance(value, Value) and isinstance(value.type, List):
            value.items = None  # from here on the list may grow
        self.scope.set(node.target.id, value)
        return value

    def on_List(self, node: ast.List) -> Any:
        wished = self.wished
        element = wished.element if isinstance(wished, List) else None
        if any(isinstance(e, ast.Starred) for e in node.elts):
            raise self.error("a '*' in a list is not admitted; add the lists", node)
        parts = [self.expression(e, element) for e in node.elts]
        if parts and not all(isinstance(p, Value) for p in parts):
            if any(not isinstance(p, (Value, Python)) for p in parts) or any(
                isinstance(p, Python) and callable(p.object) for p in parts
            ):
                return Sequence(tuple(parts))
        values = [self.value(p, e) for p, e in zip(parts, node.elts, strict=True)]
        return self.list_of(values, self.element_type(values, element, "a list"))

    def element_type(self, values: list[Value], wished: Type | None, what: str) -> Type:
        """Returns the common type of elements."""
        if wished is not None and all(is_subtype(v.type, wished) for v in values):
            return wished
        if not values:
            return TENSOR
        found: Type | None = values[0].type
        for v in values[1:]:
            found = unify(found, v.type) if found else None
        return found or union_of([v.type for v in values])

    def on_Tuple(self, node: ast.Tuple) -> Any:
        wished = self.wished
        wishes: list[Type | None] = list(wished.items) if isinstance(wished, Tuple) else []
        parts: list[Any] = []
        for i, e in enumerate(node.elts):
            if isinstance(e, ast.Starred):
                inner = self.evaluated(e.value)
                if not isinstance(inner.type, Tuple):
                    raise self.error(f"'*' in a tuple takes a tuple, got {named(inner.type)}", e)
                parts += self.unpacked(inner)
            else:
                parts.append(self.expression(e, wishes[i] if i < len(wishes) else None))
        if any(not isinstance(p, (Value, Python)) for p in parts) or any(
            isinstance(p, Python) and callable(p.object) for p in parts
        ):
            return Sequence(tuple(parts))
        return self.tuple_of([self.value(p, node) for p in parts])

    def on_Dict(self, node: ast.Dict) -> Any:
        wished = self.wished
        k, v = (wished.key, wished.value) if isinstance(wished, Dict) else (None, None)
        if any(key is None for key in node.keys):
            raise self.error("'**' in a dictionary is not admitted; use update()", node)
        keys = [self.evaluated(e, k) for e in node.keys if e]
        values = [self.evaluated(e, v) for e in node.values]
        if not keys and k is None:
            k, v = STR, TENSOR
        t = Dict(self.element_type(keys, k, "the keys"), self.element_type(values, v, "the values"))
        return self.dict_of(keys, values, t)

    def dict_of(self, keys: list[Value], values: list[Value], t: Dict) -> Value:
        if not (t.key in (INT, FLOAT, COMPLEX, BOOL, STR, TENSOR) or hasattr(t.key, "python")):
            raise self.error(f"{named(t.key)} is no key of a dictionary; numbers, bools, texts and tensors are")
        return self.one("prim::DictConstruct", [x for pair in zip(keys, values, strict=True) for x in pair], t)

    def on_ListComp(self, node: ast.ListComp) -> Any:
        return self.comprehension(node, [node.elt], self.wished)

    def on_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        """Compiles a generator as the list of what it gives."""
        return self.comprehension(node, [node.elt], self.wished)

    def on_DictComp(self, node: ast.DictComp) -> Any:
        return self.comprehension(node, [node.key, node.value], self.wished)

    def on_Call(self, node: ast.Call) -> Any:
        return self.call(node)

    def on_Attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.expression(node.value), node.attr, node)

    def on_Subscript(self, node: ast.Subscript) -> Any:
        return self.subscript(node)

    # ---- operators ----

    def on_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            found = self.condition(node).value
            return self.constant(found) if isinstance(found, bool) else found
        value = self.evaluated(node.operand)
        name = {ast.USub: "__neg__", ast.UAdd: "__pos__"}.get(type(node.op), "__invert__")
        if isinstance(value.type, Object) and value.type.info.method(name) is not None:
            return self.method(value, name, [], {})
        if isinstance(node.op, ast.USub):
            if type(value.constant) in (int, float, complex):
                return self.constant(-value.constant, node)
            return self.op("aten::neg", self.as_number(value))
        if isinstance(node.op, ast.UAdd):
            return self.as_number(value)
        return self.op(
            "aten::bitwise_not", self.as_number(value) if value.type != BOOL else self.op("aten::Int", value)
        )

    def as_number(self, value: Value) -> Value:
        return self.op("aten::Int", value) if value.type == BOOL else value

    def on_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.expression(node.left, self.wished), self.expression(node.right, self.wished)
        if isinstance(left, Sequence) and isinstance(right, Sequence) and isinstance(node.op, ast.Add):
            return Sequence(left.items + right.items)
        return self.binary(node.op, self.value(left, node.left), self.value(right, node.right))

    def binary(self, operation: ast.operator, a: Value, b: Value) -> Value:
        """Appends the operator for ``a + b`` and the like."""
        name, sign = BINARY[type(operation)]
        special = self.special(operation, a, b)
        if special is not None:
            return special
        folded = _folded(name, a.constant, b.constant)
        if folded is not None:
            return self.constant(folded)
        if a.type == STR and name == "remainder":
            return self.op("aten::percentFormat", a, *(self.unpacked(b) if isinstance(b.type, Tuple) else [b]))
        if isinstance(a.type, Tuple) and isinstance(b.type, Tuple) and name == "add":
            self.check_length(len(a.type.items) + len(b.type.items))
            return self.tuple_of(self.unpacked(a) + self.unpacked(b))
        if name == "mul" and isinstance(a.type, Tuple) != isinstance(b.type, Tuple) and INT in (a.type, b.type):
            given, count = (a, b) if isinstance(a.type, Tuple) else (b, a)
            if not isinstance(count.constant, int):
                raise self.error("a tuple times a number needs one that is known, for its length; use a list")
            assert isinstance(given.type, Tuple)
            self.check_length(len(given.type.items) * count.constant)
            return self.tuple_of(self.unpacked(given) * count.constant)
        if a.type == TENSOR or b.type == TENSOR:
            return self.tensor_binary(TENSOR_BINARY.get(name, name), sign, a, b)
        if name == "pow" and a.type == b.type == INT and isinstance(b.constant, int) and b.constant >= 0:
            return self.one("aten::pow.int_to_int", [a, b], INT)
        return self.operate(f"aten::{name}", sign, a, b)

    def check_length(self, length: int) -> None:
        """Raises ScriptError for the length of a tuple that is too great: its type names each item."""
        if length > LONGEST:
            raise self.error(f"this makes a tuple of {length} items, and {LONGEST} are the most; use a list")

    def tensor_binary(self, name: str, sign: str, a: Value, b: Value) -> Value:
        """Appends an operator of which one operand at least is a tensor, as Python's operator on tensors calls it."""
        if a.type != TENSOR and a.type in NUMBERS:
            if name == "sub":
                return self.operate("aten::rsub", sign, b, a)
            if name in COMMUTES:
                a, b = b, a
        return self.operate(f"aten::{name}", sign, a, b)

    def operate(self, operator: str, sign: str, a: Value, b: Value) -> Value:
        """Appends an operator; the error of operands that do not fit names the sign."""
        from lamella.plugins.graph.script.matching import Match, choose

        found = choose(overloads(operator), [a, b], {}, self.place)
        if not isinstance(found, Match) or (found.schema.generic and BOOL in (a.type, b.type) and a.type != b.type):
            hint = ""
            for v in (a, b):
                if isinstance(v.type, Optional):
                    hint = f"; {named(v.type)} may be None: check that with 'is not None' first"
            raise self.error(f"'{sign}' does not take {named(a.type)} and {named(b.type)}{hint}")
        inputs = [plan(self.block) for plan in found.plans]
        return self.one(found.schema.full_name, inputs, found.results[0])

    def special(self, operation: ast.AST, a: Value, b: Value) -> Value | None:
        """Calls the method of an object's class for an operator, if it has one."""
        info = getattr(a.type, "info", None)
        name = SPECIAL.get(type(operation))  # type: ignore[call-overload]
        if info is None or name is None or info.method(name) is None:
            return None
        return self.value(self.method(a, name, [b], {}))

    def on_BoolOp(self, node: ast.BoolOp) -> Any:
        """Compiles ``a and b`` as a value: the operand that Python gives."""
        return self.operand(isinstance(node.op, ast.And), node.values)

    def operand(self, both: bool, values: list[ast.expr]) -> Value:
        if len(values) == 1:
            return self.evaluated(values[0])
        if _is_bool(values[0]):
            condition = self.condition(values[0])
        else:
            first = self.evaluated(values[0])
            if isinstance(first.type, Optional):
                text = f"{named(first.type)} is no operand of 'and' and 'or'; compare it with None"
                raise self.error(text, values[0])
            condition = self.truth(first)
            if first.type != BOOL and not isinstance(condition.value, bool):
                return self.choice(condition.value, *self.ordered(both, lambda: self.operand(both, values[1:]), first))
        if isinstance(condition.value, bool):
            return self.operand(both, values[1:]) if condition.value == both else self.constant(condition.value)

        def rest() -> Value:
            self.refine(condition.yes if both else condition.no)
            return self.operand(both, values[1:])

        return self.choice(condition.value, *self.ordered(both, rest, None))

    def ordered(self, both: bool, rest: Callable[[], Value], first: Value | None) -> tuple:
        """Returns the branches of ``and`` or ``or``: the other operands, and the first, which decides."""

        def decided() -> Value:
            return self.constant(not both) if first is None else first

        return (rest, decided) if both else (decided, rest)

    def on_IfExp(self, node: ast.IfExp) -> Any:
        return self.select(self.condition(node.test), node.body, node.orelse)

    # ---- comparisons ----

    def on_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            found = self.identity(node).value
            return self.constant(found) if isinstance(found, bool) else found
        return self.chain(self.expression(node.left), node.ops, node.comparators)

    def chain(self, left: Any, ops: list[ast.cmpop], rest: list[ast.expr]) -> Value:
        """Compiles ``a < b < c``: each operand once, and those behind a comparison that fails not at all."""
        right = self.expression(rest[0])
        first = self.compare(ops[0], left, right, rest[0])
        if len(ops) == 1:
            return first
        condition = self.as_condition(first)
        return self.choice(condition, lambda: self.chain(right, ops[1:], rest[1:]), lambda: first)

    def compare(self, op: ast.cmpop, left: Any, right: Any, node: ast.expr) -> Value:
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.contains(left, right)
            if isinstance(op, ast.In):
                return found
            return (
                self.constant(not found.constant) if found.constant is not UNKNOWN else self.op("aten::__not__", found)
            )
        if isinstance(op, (ast.Is, ast.IsNot)):
            raise self.error("'is' is not admitted in a chain of comparisons", node)
        name, sign, mirrored = COMPARISONS[type(op)]
        if isinstance(left, Python) and isinstance(right, Python):
            if callable(left.object) and callable(right.object) and name in ("eq", "ne"):
                return self.constant((left.object is right.object) == (name == "eq"))
        a, b = self.value(left), self.value(right)
        known = (type(a.constant), type(b.constant))
        if all(k in (int, float, str, bool) for k in known) and (str in known) == (known[0] is known[1] is str):
            return self.constant(getattr(operator, name)(a.constant, b.constant))
        special = self.special(op, a, b)
        if special is not None:
            return special
        if a.type in NUMBERS and b.type == TENSOR:
            return self.operate(f"aten::{mirrored}", sign, b, a)
        if self.caller is not None and isinstance(a.type, List) != isinstance(b.type, List):  # type: ignore[attr-defined]
            a, b = (self.as_list(x) if isinstance(x.type, Tuple) else x for x in (a, b))  # type: ignore[attr-defined]
        if BOOL in (a.type, b.type) and a.type != b.type and {a.type, b.type} <= set(NUMBERS):
            a, b = self.as_number(a), self.as_number(b)
        if {"eq": True, "ne": False}.get(name) is not None and self.never_equal(a.type, b.type):
            return self.constant(name == "ne")
        return self.operate(f"aten::{name}", sign, a, b)

    def never_equal(self, a: Type, b: Type) -> bool:
        return hasattr(a, "python") and hasattr(b, "python") and a != b and not isinstance(a, Tuple)

    def contains(self, item: Any, container: Any) -> Value:
        if isinstance(container, Sequence):
            key = item.constant if isinstance(item, Value) else None
            if container.keys is None or not isinstance(key, str):
                raise self.error("'in' a container of modules takes a text that is known without running")
            return self.constant(key in container.keys)
        held = getattr(container, "object", None)
        if isinstance(held, (list, tuple, dict, set, frozenset)) and isinstance(item, Value):
            if isinstance(item.constant, (int, float, str)):
                return self.constant(item.constant in held)
            if not isinstance(held, (list, tuple)):
                container = Python(list(held))
        a, b = self.value(item), self.value(container)
        if isinstance(b.type, Object):
            return self.method(b, "__contains__", [a], {})
        if isinstance(b.type, Tuple):
            items = self.unpacked(b)
            b = self.list_of(items, self.element_type(items, None, "the tuple"))
        if isinstance(b.type, List) and b.items is not None and a.type != b.type.element:
            wider = unify(a.type, b.type.element)
            b = self.list_of(b.items, wider) if wider else b
        return self.operate("aten::__contains__", "in", b, a)


def _folded(name: str, a: Any, b: Any) -> Any:
    """Returns the result of an operator on two ints that are known; None if they are not, or it does not fit."""
    if type(a) is not int or type(b) is not int or name not in ("add", "sub", "mul", "floordiv", "remainder"):
        return None
    if b == 0 and name in ("floordiv", "remainder"):
        return None
    found = getattr(operator, {"floordiv": "floordiv", "remainder": "mod"}.get(name, name))(a, b)
    return found if -(2**63) <= found < 2**63 else None


def _is_bool(node: ast.expr) -> bool:
    """Returns whether an expression gives a bool for its form alone."""
    if isinstance(node, ast.BoolOp):
        return all(map(_is_bool, node.values))
    if isinstance(node, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("isinstance", "hasattr", "bool", "callable")
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


__all__ = ["Expressions", "ScriptError"]
