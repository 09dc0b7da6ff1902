"""Which overload of an operator a call means, and the nodes that convert its arguments.

Note [Matching]  The overloads are tried in their order, first as the arguments are, then with conversions: of a tensor
  to a number, of an int or a bool to a float. In both passes a tuple becomes a list, one int a list of ints where the
  schema has a size, and ints at the end of the arguments a list, as in x.view(2, 3). These are the rules by which the
  package reads arguments in Python, so that a script calls the operator that Python would call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lamella.plugins.graph.script.emit import UNKNOWN, Block, Value, Word
from lamella.plugins.graph.script.errors import Place
from lamella.plugins.graph.script.signatures import NO_DEFAULT, Argument, Schema
from lamella.plugins.graph.script.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    SCALAR,
    STR,
    TENSOR,
    List,
    Optional,
    Tuple,
    Type,
    bind,
    filled,
    is_subtype,
    named,
)

Plan = Callable[[Block], Value]
"""A value to be, which emits its conversions into a block."""


class Match(NamedTuple):
    """An overload that fits, the arguments to pass, and the types of its results."""

    schema: Schema
    plans: list[Plan]
    results: list[Type]


class Mismatch(NamedTuple):
    """Why an overload does not fit; ``progress`` is the number of arguments that did."""

    progress: int
    why: str


def choose(
    schemas: tuple[Schema, ...],
    args: list[Value],
    kwargs: dict[str, Value],
    place: Place | None,
    adapt: Callable[[Schema], tuple[list[Value], dict[str, Value]]] | None = None,
) -> Any:
    """Returns the `Match` of the first overload that fits, or the `Mismatch` of the one that came furthest.

    ``adapt`` returns the arguments in the form that an overload takes, for callers with a form of their own.
    """
    worst = Mismatch(-1, "")
    for convert in (False, True):
        for schema in schemas:
            if schema.writes and "out" not in kwargs:
                continue
            by_place, by_name = adapt(schema) if adapt else (args, kwargs)
            found = _Call(schema, by_place, by_name, convert, place).match()
            if isinstance(found, Match):
                return found
            if found.progress > worst.progress:
                worst = found
    return worst


class _Call:
    def __init__(self, schema: Schema, args: list[Value], kwargs: dict, convert: bool, place: Place | None):
        self.schema, self.args, self.kwargs, self.convert, self.place = schema, args, kwargs, convert, place
        self.letters: dict[str, Type] = {}

    def match(self) -> Match | Mismatch:
        plans: list[Plan | None] = []
        left, rest = dict(self.kwargs), list(self.args)
        arguments = self.schema.arguments
        positional = [a for a in arguments if not a.keyword_only]
        for i, a in enumerate(arguments):
            last = a is positional[-1] if positional else False
            given: Value | list[Value] | None = None
            if rest and not a.keyword_only:
                if last and not self.schema.more and _spelled_out(arguments, i, rest):
                    given, rest = rest, []
                else:
                    given = rest.pop(0)
            name = next((n for n in (a.name, a.other_name) if n in left), None)
            if name is not None:
                if given is not None:
                    return Mismatch(i, f"argument '{a.name}' is given twice")
                given = left.pop(name)
            if given is None:
                if a.default is NO_DEFAULT:
                    return Mismatch(i, f"argument '{a.name}' is missing")
                plans.append(None)
                continue
            plan = self.spelled(a, given) if isinstance(given, list) else self.fit(a.type, a.size, given)
            if plan is None:
                got = given[-1] if isinstance(given, list) else given
                return Mismatch(i, f"argument '{a.name}' has to be {named(a.type)}, got {named(got.type)}")
            plans.append(plan)
        if rest and self.schema.more:
            plans += [_same(v) for v in rest]
        elif rest:
            return Mismatch(len(positional), too_many(len(positional), len(self.args)))
        if left:
            return Mismatch(len(self.args), f"has no argument '{next(iter(left))}'")
        while plans and plans[-1] is None:
            plans.pop()
        done = [p or self.default(a) for p, a in zip(plans, arguments, strict=False)]
        done += [p for p in plans[len(arguments) :] if p]
        return Match(self.schema, done, [filled(t, self.letters) for t in self.schema.returns])

    def default(self, a: Argument) -> Plan:
        value = [a.default] * a.size if a.size and not isinstance(a.default, (list, type(None))) else a.default
        t = NONE if value is None else a.type.inside if isinstance(a.type, Optional) else a.type
        if isinstance(value, int) and t == FLOAT:
            value = float(value)
        if t == SCALAR:
            t = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}[type(value)]
        return lambda block: block.constant(value, t, self.place)

    def spelled(self, a: Argument, given: list[Value]) -> Plan | None:
        element = a.type.element  # type: ignore[attr-defined]
        plans = [self.fit(element, 0, v) for v in given]
        return None if None in plans else self.listed(List(element), plans)

    def listed(self, t: List, plans: list) -> Plan:
        return lambda block: block.add("prim::ListConstruct", [p(block) for p in plans], t, place=self.place).outputs[0]

    def fit(self, wanted: Type, size: int, given: Value) -> Plan | None:
        """Returns how to make an argument of a value; None if it does not fit."""
        before = dict(self.letters)
        if bind(wanted, given.type, self.letters):
            return _same(given)
        self.letters.clear()
        self.letters.update(before)
        inside = wanted.inside if isinstance(wanted, Optional) else wanted
        t = given.type
        if inside == SCALAR and t == BOOL:
            return _same(given)
        if isinstance(inside, List):
            element = inside.element
            if size and is_subtype(t, element) and element != TENSOR:
                return self.listed(inside, [_same(given)] * size)
            items = getattr(given, "items", None)
            if isinstance(t, Tuple) and items is None:
                fits = all(is_subtype(i, element) for i in t.items)
                return self.from_tuple(inside, t, given) if fits else None
            if isinstance(t, (Tuple, List)) and items is not None:
                plans = [self.fit(element, 0, v) for v in items]
                return None if None in plans else self.listed(filled(inside, self.letters), plans)  # type: ignore[arg-type]
        if inside == DEVICE and t == STR:
            if given.constant is not UNKNOWN:
                return lambda block: block.constant(Word("Device", given.constant), DEVICE, self.place)
            return self.through("aten::device.str", DEVICE, given)
        return self.converted(inside, given) if self.convert else None

    def from_tuple(self, wanted: List, t: Tuple, given: Value) -> Plan:
        def plan(block: Block) -> Value:
            parts = block.add("prim::TupleUnpack", [given], *t.items, place=self.place).outputs
            return block.add("prim::ListConstruct", list(parts), wanted, place=self.place).outputs[0]

        return plan

    def converted(self, wanted: Type, given: Value) -> Plan | None:
        t = given.type
        if t == TENSOR:
            operator = {
                INT: "IntImplicit",
                FLOAT: "FloatImplicit",
                COMPLEX: "ComplexImplicit",
                SCALAR: "ScalarImplicit",
            }
            return self.through(f"aten::{operator[wanted]}", wanted, given) if wanted in operator else None  # type: ignore[index]
        if wanted == FLOAT and t in (INT, BOOL, SCALAR):
            if isinstance(given.constant, int):
                return lambda block: block.constant(float(given.constant), FLOAT, self.place)
            return self.through(f"aten::Float.{t}", FLOAT, given)
        if wanted == INT and t == BOOL:
            return self.through("aten::Int.bool", INT, given)
        if wanted == COMPLEX and t in (INT, FLOAT, BOOL, SCALAR):
            return self.through("aten::Complex.Scalar", COMPLEX, given)
        if wanted == SCALAR and t == BOOL:
            return _same(given)
        return None

    def through(self, operator: str, t: Type, given: Value) -> Plan:
        return lambda block: block.add(operator, [given], t, place=self.place).outputs[0]


def too_many(most: int, given: int) -> str:
    return f"takes {most} positional argument{'' if most == 1 else 's'}, got {given}"


def _same(value: Value) -> Plan:
    return lambda block: value


def _spelled_out(arguments: tuple[Argument, ...], i: int, rest: list[Value]) -> bool:
    """Returns whether all remaining arguments are one list, as in ``zeros(2, 3)`` and ``einsum(equation, a, b)``."""
    t = arguments[i].type
    if not isinstance(t, List):
        return False
    if t.element == TENSOR:
        return rest[0].type == TENSOR
    first = 1 if arguments[0].type == TENSOR else 0
    wide = arguments[i].size <= 0 or len(rest) > 1
    return t.element == INT and i == first and wide and rest[0].type in (INT, TENSOR) and len(rest) >= 1
