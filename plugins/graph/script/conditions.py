"""Conditions: which branch runs, whether that is known without running, and what each branch knows about types."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import lamella.plugins.graph.script.constants as constants
import lamella.plugins.graph.script.markers as markers
from lamella.plugins.graph.script.builder import Builder
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.scope import Binding
from lamella.plugins.graph.script.statics import Python, Sequence, Static
from lamella.plugins.graph.script.types import (
    ANY,
    BOOL,
    NONE,
    STR,
    TENSOR,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    may_be_none,
    shown,
    without_none,
)


@dataclass
class Condition:
    """A condition: a bool of the graph, or a bool that is known now.

    ``yes`` and ``no`` are the types that variables have where it holds and where it does not.
    """

    value: Value | bool
    yes: dict[str, Type] = field(default_factory=dict)
    no: dict[str, Type] = field(default_factory=dict)


class Conditions(Builder):
    """Compiles conditions, and runs the branches that depend on them."""

    expression: Callable[[ast.expr], Any]
    annotation: Callable[[ast.expr], Type]

    def condition(self, node: ast.expr) -> Condition:
        """Compiles an expression of which only the truth matters."""
        with self.standing_at(node):
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                inner = self.condition(node.operand)
                if isinstance(inner.value, bool):
                    return Condition(not inner.value)
                return Condition(self.op("aten::__not__", inner.value), inner.no, inner.yes)
            if isinstance(node, ast.BoolOp):
                return self.joined(isinstance(node.op, ast.And), node.values)
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                return self.identity(node)
            if isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
                called = self.expression(node.func) if ast.unparse(node.func).endswith("isinstance") else None
                if getattr(called, "object", None) in (isinstance, markers.isinstance):
                    return self.is_instance(node)
            return self.truth(self.expression(node))

    def truth(self, thing: Any) -> Condition:
        """Returns the condition that a compiled expression is."""
        if isinstance(thing, Value):
            if isinstance(thing.constant, bool):
                return Condition(thing.constant)
            if thing.type == NONE:
                return Condition(False)
            if isinstance(thing.type, Tuple):
                return Condition(bool(thing.type.items))
            if isinstance(thing.type, Object) and thing.type.info.method("__bool__") is not None:
                return Condition(self.method(thing, "__bool__", [], {}))  # type: ignore[attr-defined]
            if isinstance(thing.type, Object) and thing.type.info.method("__len__") is not None:
                return Condition(self.op("aten::ne", self.method(thing, "__len__", [], {}), self.constant(0)))  # type: ignore[attr-defined]
            return Condition(self.as_condition(thing))
        if isinstance(thing, Python) and thing.object is None:
            return Condition(False)
        if isinstance(thing, Sequence):
            return Condition(bool(thing.items))
        if isinstance(thing, Python) and callable(thing.object):
            return Condition(True)
        return self.truth(self.value(thing))

    def joined(self, both: bool, values: list[ast.expr]) -> Condition:
        """Compiles ``a and b`` or ``a or b``; what follows the first runs only if it decides nothing."""
        first = self.condition(values[0])
        if len(values) == 1:
            return first
        if isinstance(first.value, bool):
            return self.joined(both, values[1:]) if first.value == both else first
        inner: list[Condition] = []

        def rest() -> Value:
            self.refine(first.yes if both else first.no)
            inner.append(self.joined(both, values[1:]))
            found = inner[0].value
            return self.constant(found) if isinstance(found, bool) else found

        def decided() -> Value:
            return self.constant(not both)

        value = self.choice(first.value, *((rest, decided) if both else (decided, rest)))
        second = inner[0]
        if second.value is not both and isinstance(second.value, bool):
            return Condition(not both)  # what the first is decides nothing
        if both:
            return Condition(value, first.yes | second.yes, first.no if second.value is True else {})
        return Condition(value, first.yes if second.value is False else {}, first.no | second.no)

    def identity(self, node: ast.Compare) -> Condition:
        """Compiles ``a is b`` and ``a is not b``; with None it may be known, and says which type the branches have."""
        same = isinstance(node.ops[0], ast.Is)
        left, right = self.expression(node.left), self.expression(node.comparators[0])
        name = node.left
        if _is_none(left):
            left, right, name = right, left, node.comparators[0]
        if not _is_none(right):
            if isinstance(left, Static) or isinstance(right, Static):
                if isinstance(left, Python) and isinstance(right, Python):
                    return Condition((left.object is right.object) == same)
            a, b = self.value(left), self.value(right)
            if a.type == b.type == BOOL or str(a.type) in ("ScalarType", "Device") or hasattr(a.type, "python"):
                return Condition(self.op("aten::eq" if same else "aten::ne", a, b))
            return Condition(self.op("aten::__is__" if same else "aten::__isnot__", a, b))
        if _is_none(left):
            return Condition(same)
        if isinstance(left, Static):
            return Condition(not same)
        if not may_be_none(left.type):
            return Condition(not same)
        value = self.op("aten::__is__" if same else "aten::__isnot__", left, self.value(right))
        none: dict[str, Type] = {}
        some: dict[str, Type] = {}
        if isinstance(name, ast.Name) and left.type is not ANY:
            none, some = {name.id: NONE}, {name.id: without_none(left.type)}
        return Condition(value, none if same else some, some if same else none)

    def is_instance(self, node: ast.Call) -> Condition:
        """Compiles ``isinstance(value, types)``."""
        thing = self.expression(node.args[0])
        wanted = self.types_of(node.args[1])
        if not isinstance(thing, Value):
            empty: dict[type, Type] = {list: List(TENSOR), dict: Dict(STR, TENSOR)}
            found: Any = getattr(thing, "object", None)
            t = constants.type_of(self.program, found) or (None if found else empty.get(type(found)))
            return Condition(t is not None and self.narrowed(t, wanted)[0] is not None)
        yes, no = self.narrowed(thing.type, wanted)
        if isinstance(thing.type, Object) and yes is None:
            yes, no = (thing.type, None) if any(thing.type.info.is_a(w) for w in wanted) else (None, no)
        if yes is None:
            return Condition(False)
        if no is None:
            return Condition(True)
        value = self.one("prim::isinstance", [thing], BOOL, types=[str(t) for t in wanted])
        name = node.args[0]
        if not isinstance(name, ast.Name):
            return Condition(value)
        return Condition(value, {name.id: yes}, {} if no is ANY else {name.id: no})

    def types_of(self, node: ast.expr) -> list[Type]:
        """Reads the second argument of isinstance: a type, or a tuple of types."""
        if isinstance(node, ast.Tuple):
            return [t for e in node.elts for t in self.types_of(e)]
        bare = {"list": List(ANY), "tuple": Tuple((ANY,)), "dict": Dict(ANY, ANY)}
        if isinstance(node, ast.Name) and node.id in bare and self.scope.find(node.id) is None:
            return [bare[node.id]]
        found = self.expression(node)
        if isinstance(found, Python) and isinstance(found.object, tuple):
            return [self.program.annotation(t) for t in found.object]
        return [self.annotation(node)]

    # ---- branches ----

    def refine(self, types: dict[str, Type]) -> None:
        """Gives variables the types that they are known to have in this block."""
        for name, t in types.items():
            bound = self.scope.find(name)
            if isinstance(bound, Binding) and isinstance(bound.value, Value) and bound.value.type != t:
                if t == NONE:
                    made = self.block.constant(None, NONE, self.place)
                    made.name = name
                    self.scope.refine(name, made)
                else:
                    self.scope.refine(name, self.refined(bound.value, t))

    def run_if(self, condition: Condition, then: Callable[[], Any], other: Callable[[], Any]) -> None:
        """Compiles the branches of an ``if``; only one, if it is known which runs."""
        if isinstance(condition.value, bool):
            return then() if condition.value else other()

        def with_types(types: dict[str, Type], emit: Callable[[], Any]) -> Callable[[], Any]:
            def run() -> None:
                self.refine(types)
                emit()

            return run

        self.branch(condition.value, with_types(condition.yes, then), with_types(condition.no, other))

    def select(self, condition: Condition, then: ast.expr, other: ast.expr) -> Any:
        """Compiles ``a if condition else b``."""
        if isinstance(condition.value, bool):
            return self.expression(then if condition.value else other)

        def with_types(types: dict[str, Type], node: ast.expr) -> Callable[[], Value]:
            def run() -> Value:
                self.refine(types)
                return self.value(self.expression(node), node)

            return run

        return self.choice(condition.value, with_types(condition.yes, then), with_types(condition.no, other))


def _is_none(thing: Any) -> bool:
    return (isinstance(thing, Value) and thing.type == NONE) or (isinstance(thing, Python) and thing.object is None)


__all__ = ["Condition", "Conditions", "shown"]
