"""What all parts of a function's compiler share: the block that grows, the scope, operators, and branches."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import lamella.plugins.graph.script.constants as constants
from lamella.plugins.graph.script.emit import UNKNOWN, Block, Node, Value
from lamella.plugins.graph.script.errors import NotSupportedError, Reporter, ScriptError
from lamella.plugins.graph.script.matching import Match, choose
from lamella.plugins.graph.script.scope import Binding, Scope, Undefined
from lamella.plugins.graph.script.signatures import Schema, overloads
from lamella.plugins.graph.script.statics import Sequence, Static
from lamella.plugins.graph.script.types import (
    ANY,
    BOOL,
    COMPLEX,
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
    Union,
    is_subtype,
    named,
    shown,
    unify,
    without_none,
)


class Builder:
    """Emits the nodes of one function.

    Args:
        program: the program that the function becomes a part of
        reporter: makes errors with the function's lines
    """

    def __init__(self, program: Any, reporter: Reporter):
        self.program, self.reporter = program, reporter
        self.top = Block()
        self.block = self.top
        self.scope = Scope()
        self.at: ast.AST | None = None
        """The node of the syntax tree that is being compiled."""

    # ---- errors ----

    def error(self, text: str, node: ast.AST | None = None, kind: type[ScriptError] = ScriptError) -> ScriptError:
        """Returns an error at a node of the syntax tree, by default at the one that is being compiled."""
        return self.reporter.fail(node or self.at, text, kind)

    def unsupported(self, text: str, node: ast.AST | None = None) -> ScriptError:
        return self.error(text, node, NotSupportedError)

    @property
    def place(self):
        return self.reporter.place(self.at)

    @contextmanager
    def standing_at(self, node: ast.AST) -> Iterator[None]:
        """Gives errors and nodes the place of a node of the syntax tree."""
        before = self.at
        if hasattr(node, "lineno"):
            self.at = node
        try:
            yield
        finally:
            self.at = before

    # ---- nodes ----

    def add(self, operator: str, inputs: list[Value], *types: Type, **attributes: Any) -> Node:
        """Appends a node at the current place."""
        return self.block.add(operator, inputs, *types, place=self.place, **attributes)

    def one(self, operator: str, inputs: list[Value], t: Type, **attributes: Any) -> Value:
        """Appends a node with one output, which is returned."""
        return self.add(operator, inputs, t, **attributes).outputs[0]

    def constant(self, value: Any, node: ast.AST | None = None) -> Value:
        """Appends a constant, whose type is that of the Python value."""
        made = constants.value_of(self, value)
        if made is None:
            raise self.error(
                f"a {type(value).__name__} of Python is not admitted as a constant; numbers, texts, tensors, dtypes, "
                "devices, and lists, tuples and dictionaries of them are",
                node,
            )
        return made

    def op(self, operator: str, *args: Value, **kwargs: Value) -> Value:
        """Appends the overload that fits the arguments; returns its result, several as a tuple."""
        return self.call_operator(operator, list(args), kwargs)

    def call_operator(self, operator: str, args: list[Value], kwargs: dict[str, Value], title: str = "") -> Value:
        schemas = overloads(operator)
        title = title or operator.partition("::")[2]
        if not schemas:
            raise self.error(f"there is no operator '{operator}'")
        found = self.choose(schemas, args, kwargs)
        if not isinstance(found, Match):
            admitted = [s for s in schemas if not s.writes]
            texts = "".join(f"\n    {s.text.partition('::')[2]}" for s in admitted[:12])
            raise self.error(f"{title}: {found.why}; it is\n{texts[1:]}")
        inputs = [plan(self.block) for plan in found.plans]
        outputs = self.add(found.schema.full_name, inputs, *found.results).outputs
        if not outputs:
            return self.block.constant(None, NONE, self.place)
        if len(outputs) == 1:
            return outputs[0]
        t = Tuple(tuple(v.type for v in outputs), fields=found.schema.names)
        return self.tuple_of(list(outputs), t)

    def tuple_of(self, items: list[Value], t: Tuple | None = None) -> Value:
        made = self.one("prim::TupleConstruct", items, t or Tuple(tuple(v.type for v in items)))
        made.items = items
        return made

    def list_of(self, items: list[Value], element: Type) -> Value:
        made = self.one("prim::ListConstruct", items, List(element))
        made.items = items
        return made

    def unpacked(self, value: Value) -> list[Value]:
        """Returns the items of a tuple."""
        assert isinstance(value.type, Tuple)
        if value.items is not None:
            return value.items
        return self.add("prim::TupleUnpack", [value], *value.type.items).outputs

    def choose(self, schemas: tuple[Schema, ...], args: list[Value], kwargs: dict[str, Value]) -> Any:
        """Returns the overload that fits, as `matching.choose` does."""
        return choose(schemas, args, kwargs, self.place)

    # ---- conversions ----

    def converted(self, value: Value, wanted: Type, what: Callable[[], str]) -> Value:
        """Returns a value as one of a wider type; ``what`` names the place that wants it, for the error."""
        if is_subtype(value.type, wanted):
            if isinstance(value.type, Tuple) and isinstance(wanted, Tuple) and wanted.name != value.type.name:
                return value
            return value
        if isinstance(wanted, Tuple) and value.items is not None and len(value.items) == len(wanted.items):
            items = [self.converted(v, t, what) for v, t in zip(value.items, wanted.items, strict=True)]
            return self.tuple_of(items, wanted)
        if isinstance(without_none(wanted), List) and value.items is not None:
            element = without_none(wanted).element  # type: ignore[attr-defined]
            if all(is_subtype(v.type, element) for v in value.items):
                return self.list_of(value.items, element)
        if value.type == SCALAR and wanted in (INT, FLOAT, COMPLEX):
            return self.op({INT: "aten::Int", FLOAT: "aten::Float"}.get(wanted, "aten::Complex"), value)
        raise self.error(f"{what()} has the type {shown(wanted)}, and gets a value of type {shown(value.type)}")

    def as_condition(self, value: Value) -> Value:
        """Returns the truth of a value as a bool."""
        t = value.type
        if t == BOOL:
            return value
        if t in (INT, FLOAT, TENSOR, STR) or str(t) in ("complex", "Scalar"):
            return self.op("aten::Bool", value)
        if str(t) != "Tensor" and (isinstance(t, List) or str(t).startswith("Dict")):
            return self.op("aten::ne", self.op("aten::len", value), self.constant(0))
        if isinstance(t, Optional):
            raise self.error(f"{named(t)} is no condition; compare it with None")
        raise self.error(f"{named(t)} is no condition; a bool, a number, a text, a tensor, a list or a dict is")

    def value(self, thing: Any, node: ast.AST | None = None) -> Value:
        """Returns a value of the graph; a static is an error, unless it is a constant of Python."""
        if isinstance(thing, Value):
            return thing
        if isinstance(thing, Sequence) and thing.owner is None and thing.keys is None:
            return self.tuple_of([self.value(x, node) for x in thing.items])
        found = constants.value_of(self, getattr(thing, "object", thing))
        if found is not None:
            return found
        what = thing.what if isinstance(thing, Static) else f"a Python {type(thing).__name__}"
        raise self.error(f"{what} is no value; call it, or take an attribute of it", node)

    # ---- branches ----

    @contextmanager
    def inside(self, block: Block, scope: Scope) -> Iterator[None]:
        before = self.block, self.scope
        self.block, self.scope = block, scope
        try:
            yield
        finally:
            self.block, self.scope = before

    def branch(self, condition: Value, then: Callable[[], Any], other: Callable[[], Any]) -> tuple[Any, Any, Node]:
        """Appends an If; each function emits a branch, in a scope of its own. Names that a branch assigns are merged.

        Returns what the two functions returned, and the node.
        """
        node = self.add("prim::If", [condition])
        blocks, scopes, results = [Block(), Block()], [Scope(self.scope), Scope(self.scope)], []
        node.blocks = blocks
        for block, scope, emit in zip(blocks, scopes, (then, other), strict=True):
            with self.inside(block, scope):
                results.append(emit())
        self.merge(node, scopes)
        return results[0], results[1], node

    def choice(self, condition: Value, then: Callable[[], Value], other: Callable[[], Value]) -> Value:
        """Appends an If with a value, that of the branch which runs."""
        a, b, node = self.branch(condition, then, other)
        t = unify(a.type, b.type)
        if t is None:
            raise self.error(
                f"the two branches give {shown(a.type)} and {shown(b.type)}; both have to give the same type"
            )
        return self.output(node, [a, b], t)

    def output(self, node: Node, values: list[Value], t: Type, name: str = "") -> Value:
        """Adds an output to a node with blocks, and a result to each block."""
        for block, value in zip(node.blocks, values, strict=True):
            block.results.append(value)
        made = Value(t, name)
        node.outputs.append(made)
        return made

    def merge(self, node: Node, scopes: list[Scope]) -> None:
        """Gives the names that a branch assigned a value after the If."""
        names = list(dict.fromkeys([*scopes[0].names, *scopes[1].names]))
        if scopes[0].dead and scopes[1].dead:
            self.scope.dead = True
            return
        for name in names:
            found = [s.find(name) for s in scopes]
            bound = [b for b, s in zip(found, scopes, strict=True) if isinstance(b, Binding) and not s.dead]
            live = [b for b, s in zip(found, scopes, strict=True) if not s.dead]
            hidden = name.startswith("$")
            if len(bound) < len(live) and not (hidden and bound):
                self.scope.names[name] = self.missing(name, found, scopes)
                continue
            first = bound[0]
            if all(b.value == first.value for b in bound) and (
                not isinstance(first.value, Value) or self.scope.find(name) == first
            ):
                self.scope.names[name] = first
                continue
            statics = [b for b in bound if not isinstance(b.value, Value)]
            if statics:
                why = f"'{name}' is {getattr(statics[0].value, 'what', 'no value')} in one branch, and has no one value"
                self.scope.names[name] = Undefined(why)
                continue
            self.scope.names[name] = self.merged(node, name, found, scopes, bound)

    def missing(self, name: str, found: list, scopes: list[Scope]) -> Undefined:
        for b in found:
            if isinstance(b, Undefined):
                return b
        branch = "true" if found[0] is None else "false"
        return Undefined(f"'{name}' is not defined in the {branch} branch of the 'if'; give it a value before")

    def merged(self, node: Node, name: str, found: list, scopes: list[Scope], bound: list[Binding]) -> Any:
        t: Type | None = bound[0].value.type
        declared = next((b.declared for b in bound if b.declared), None)
        for b in bound[1:]:
            t = unify(t, b.value.type) if t else None
        if t is None and declared and all(is_subtype(b.value.type, declared) for b in bound):
            t = declared
        if t is None:
            types = " and ".join(shown(b.value.type) for b in bound)
            if name == "$return":
                text = f"the function returns {types}; all of its returns have to give one type"
                raise self.error(text, getattr(self, "last_return", None))
            return Undefined(f"'{name}' has the types {types} in the two branches of the 'if'; give it one type")
        values = []
        for block, b, scope in zip(node.blocks, found, scopes, strict=True):
            if isinstance(b, Binding) and not scope.dead and isinstance(b.value, Value):
                values.append(b.value)
            else:
                values.append(block.add("prim::Uninitialized", [], t).outputs[0])
        return Binding(self.output(node, values, t, name), declared)

    def refined(self, value: Value, t: Type) -> Value:
        """Returns a value with a narrower type that it is known to have here."""
        if value.type == t:
            return value
        made = self.one("prim::unchecked_cast", [value], t)
        made.name = value.name
        return made

    def narrowed(self, t: Type, wanted: list[Type]) -> tuple[Type | None, Type | None]:
        """Returns the parts of a type that isinstance admits and refuses; None for a part without values."""
        options = list(t.options) if isinstance(t, Union) else [t]
        if isinstance(t, Optional):
            options = [t.inside, NONE]
        if t is ANY:
            return wanted[0] if len(wanted) == 1 else ANY, ANY
        yes = [o for o in options if any(is_subtype(o, w) or _same_kind(o, w) for w in wanted)]
        no = [o for o in options if o not in yes]
        from lamella.plugins.graph.script.types import union_of

        return (union_of(yes) if yes else None), (union_of(no) if no else None)


def _same_kind(option: Type, wanted: Type) -> bool:
    """Returns whether isinstance asks for a container of any elements: ``isinstance(x, list)``."""
    if wanted == List(ANY):
        return isinstance(option, List)
    if wanted == Tuple((ANY,)):
        return isinstance(option, Tuple)
    return str(wanted) == "Dict(Any, Any)" and str(option).startswith("Dict")


__all__ = ["UNKNOWN", "Builder"]
