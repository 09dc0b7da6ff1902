"""Loops: while and for, their carried values, comprehensions, and loops over containers of modules."""

from __future__ import annotations

import ast
import enum
import functools
from collections.abc import Callable
from typing import Any

from lamella.plugins.graph.script.emit import Block, Value
from lamella.plugins.graph.script.exits import assigned
from lamella.plugins.graph.script.scope import Binding, Scope, Undefined
from lamella.plugins.graph.script.statements import Statements
from lamella.plugins.graph.script.statics import Enumerate, Python, Range, Reversed, Sequence, Zip
from lamella.plugins.graph.script.types import (
    BOOL,
    INT,
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
)

FOREVER = 2**63 - 1


class Iterable:
    """Something to loop over: its length, and the item at a position.

    A length that is an int of Python is known now; such a loop is unrolled, with positions that are known, too.
    """

    def __init__(self, length: Value | int, item: Callable[[Any], Any]):
        self.length, self.item = length, item


class Loops(Statements):
    """Compiles loops."""

    def on_While(self, node: ast.While) -> None:  # type: ignore[override]
        self.no_else(node)
        first = self.condition(node.test)
        if first.value is False:
            return

        def body(_: Value) -> Value:
            self.refine(first.yes)
            self.statements(node.body)
            return self.again(node, lambda: self.condition(node.test).value)

        start = self.constant(True) if first.value is True else first.value
        self.loop(self.constant(FOREVER), start, node.body, body)
        if not isinstance(first.value, bool) and not node.stops:  # type: ignore[attr-defined]
            self.refine(first.no)

    def no_else(self, node: ast.For | ast.While) -> None:
        if node.orelse:
            raise self.unsupported("the 'else' of a loop is not admitted; use a variable", node.orelse[0])

    def again(self, node: ast.For | ast.While, test: Callable[[], Value | bool]) -> Value:
        """Returns whether the loop goes on: no flag stops it, and the test holds."""
        if self.scope.dead:
            return self.block.add("prim::Uninitialized", [], BOOL).outputs[0]

        def tested() -> Value:
            found = test()
            return self.constant(found) if isinstance(found, bool) else found

        endless = isinstance(node, ast.For) or (isinstance(node.test, ast.Constant) and bool(node.test.value))

        stops = node.stops  # type: ignore[union-attr]
        if not stops:
            return tested()
        names: list[ast.expr] = [ast.copy_location(ast.Name(n, ast.Load()), node) for n in stops]
        flags = names[0] if len(names) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), names), node)
        condition = self.condition(flags)
        if isinstance(condition.value, bool):
            return self.constant(False) if condition.value else tested()
        if endless:
            return self.op("aten::__not__", condition.value)
        return self.choice(condition.value, lambda: self.constant(False), tested)

    def on_For(self, node: ast.For) -> None:  # type: ignore[override]
        self.no_else(node)
        over = self.iterable(self.expression(node.iter), node.iter)
        if isinstance(over.length, int):
            self.unrolled(node, over, 0)
            return

        def body(i: Value) -> Value:
            with self.standing_at(node.iter):
                item = over.item(i)
            self.assign(node.target, item)
            self.statements(node.body)
            return self.again(node, lambda: True)

        names = ast.Assign(targets=[node.target], value=ast.Constant(None))
        self.loop(over.length, self.constant(True), [names, *node.body], body)

    def unrolled(self, node: ast.For, over: Iterable, at: int) -> None:
        """Compiles the body once for each item from a position on."""
        assert isinstance(over.length, int)
        while at < over.length and not self.scope.dead:
            self.assign(node.target, over.item(at))
            self.statements(node.body)
            at += 1
            stops = [n for n in node.stops if isinstance(self.scope.find(n), Binding)]  # type: ignore[attr-defined]
            if stops and at < over.length and not self.scope.dead:
                names: list[ast.expr] = [ast.copy_location(ast.Name(n, ast.Load()), node) for n in stops]
                flags = names[0] if len(names) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), names), node)
                go_on = functools.partial(self.unrolled, node, over, at)
                self.run_if(self.condition(flags), lambda: None, go_on)
                return

    # ---- carried values ----

    def loop(self, trips: Value, start: Value, statements: list[ast.stmt], body: Callable[[Value], Value]) -> None:
        """Appends a Loop. ``body`` emits one trip, and returns whether there is a next one."""
        names = [n for n in assigned(statements) if isinstance(self.scope.find(n), Binding)]
        before: dict[str, Binding] = {}
        for name in names:
            bound = self.scope.find(name)
            assert isinstance(bound, Binding)
            if isinstance(bound.value, Value):
                before[name] = bound
        types: dict[str, Type] = {n: b.value.type for n, b in before.items()}
        node = self.add("prim::Loop", [trips, start])
        while True:
            scope, block, next_trip = self.trip(before, types, body)
            wider = self.widened(before, types, scope)
            if wider == types:
                break
            types = wider
        node.blocks = [block]
        inputs, results = [], [next_trip]
        for name, b in before.items():
            inputs.append(b.value)
            end = scope.find(name)
            dead = scope.dead or not isinstance(end, Binding)
            results.append(block.add("prim::Uninitialized", [], types[name]).outputs[0] if dead else end.value)  # type: ignore[union-attr]
            made = Value(types[name], name)
            node.outputs.append(made)
            self.scope.set(name, made, b.declared)
        for name, bound in scope.names.items():
            if name in before:
                continue
            if name.startswith("$") and isinstance(bound, Binding):
                t = bound.value.type
                self.block.nodes.remove(node)
                inputs.append(self.block.add("prim::Uninitialized", [], t).outputs[0])
                self.block.nodes.append(node)
                block.parameters.append(Value(t, name))
                results.append(bound.value)
                node.outputs.append(Value(t, name))
                self.scope.set(name, node.outputs[-1])
            elif self.scope.find(name) is None:
                why = f"'{name}' is defined in a loop, which may run no time; give it a value before the loop"
                self.scope.names[name] = Undefined(why)
        node.inputs += inputs
        block.results = results

    def trip(
        self, before: dict[str, Binding], types: dict[str, Type], body: Callable[[Value], Value]
    ) -> tuple[Scope, Block, Value]:
        """Emits the body of a loop into a new block, with carried values of the types."""
        block, scope = Block(), Scope(self.scope)
        index = Value(INT)
        block.parameters.append(index)
        for name, b in before.items():
            block.parameters.append(Value(types[name], name))
            scope.names[name] = Binding(block.parameters[-1], b.declared)
        with self.inside(block, scope):
            return scope, block, body(index)

    def widened(self, before: dict[str, Binding], types: dict[str, Type], scope: Scope) -> dict[str, Type]:
        """Returns the types of carried values, made so wide that they hold those at the end of the body."""
        found = dict(types)
        if scope.dead:
            return found
        for name, t in types.items():
            end = scope.find(name)
            if isinstance(end, Undefined):
                raise self.error(end.why)
            assert end is not None
            if not isinstance(end.value, Value):
                raise self.error(f"'{name}' has a value before the loop, and becomes {end.value.what} in it")
            if is_subtype(end.value.type, t):
                continue
            wider = unify(t, end.value.type)
            declared = before[name].declared
            if wider is None and declared is not None and is_subtype(end.value.type, declared):
                wider = declared
            if wider is None:
                raise self.error(
                    f"'{name}' is {named(t)} before the loop, and becomes {named(end.value.type)} in it; give it "
                    "one type"
                )
            found[name] = wider
        return found

    # ---- what is looped over ----

    def iterable(self, thing: Any, node: ast.AST | None = None) -> Iterable:
        """Returns how to loop over a compiled expression."""
        if isinstance(thing, Range):
            return self.over_range(thing)
        if isinstance(thing, Reversed):
            inner = self.iterable(thing.inside)
            last = self.op("aten::sub", self.length(inner), self.constant(1))
            return Iterable(inner.length, lambda i: inner.item(self.op("aten::sub", last, i)))
        if isinstance(thing, Enumerate):
            return self.over_enumerate(thing)
        if isinstance(thing, Zip):
            return self.over_zip(thing)
        if isinstance(thing, Sequence):
            keys = thing.keys
            if keys is not None:
                return Iterable(len(keys), lambda i: self.constant(keys[i]))
            return Iterable(len(thing.items), lambda i: thing.items[i])
        if isinstance(thing, Python) and isinstance(thing.object, type) and issubclass(thing.object, enum.Enum):
            members = list(thing.object)
            return Iterable(len(members), lambda i: self.constant(members[i]))
        if isinstance(thing, Python) and isinstance(thing.object, (list, tuple)) and len(thing.object) <= 64:
            known = thing.object
            return Iterable(len(known), lambda i: self.program.static(self, known[i]))
        value = self.value(thing, node)  # type: ignore[arg-type]
        t = value.type
        if isinstance(t, Object):
            found = self.sequence_of(value)
            if found is not None:
                return self.iterable(found)
        if isinstance(t, Tuple):
            items = self.unpacked(value)
            return Iterable(len(items), lambda i: items[i])
        if isinstance(t, Dict):
            value = self.op("aten::keys", value)
            t = value.type
        if isinstance(t, List) or t == STR:
            return Iterable(self.op("aten::len", value), lambda i: self.op("aten::__getitem__", value, i))
        if t == TENSOR:
            zero = self.constant(0)
            return Iterable(self.op("aten::len", value), lambda i: self.op("aten::select", value, zero, i))
        hint = "; check that it is not None first" if isinstance(t, Optional) else ""
        raise self.error(f"{named(t)} cannot be looped over{hint}", node)

    def sequence_of(self, value: Value) -> Sequence | None:
        """Returns the modules of a container; None for another object."""
        return value.type.info.sequence(self, value)  # type: ignore[attr-defined]

    def length(self, over: Iterable) -> Value:
        return self.constant(over.length) if isinstance(over.length, int) else over.length

    def over_range(self, r: Range) -> Iterable:
        if r.start is None and r.step is None:
            return Iterable(r.stop, lambda i: self.as_value(i))
        start = r.start or self.constant(0)
        step = r.step or self.constant(1)
        length = self.op("aten::__range_length", start, r.stop, step)
        return Iterable(length, lambda i: self.op("aten::__derive_index", self.as_value(i), start, step))

    def as_value(self, i: Any) -> Value:
        return i if isinstance(i, Value) else self.constant(i)

    def over_enumerate(self, e: Enumerate) -> Iterable:
        inner = self.iterable(e.inside)

        def item(i: Any) -> Any:
            if e.start is None:
                count = self.as_value(i)
            elif isinstance(i, int) and isinstance(e.start.constant, int):
                count = self.constant(e.start.constant + i)
            else:
                count = self.op("aten::add", e.start, self.as_value(i))
            return self.pair([count, inner.item(i)])

        return Iterable(inner.length, item)

    def pair(self, things: list[Any]) -> Any:
        return Sequence(tuple(things))

    def over_zip(self, z: Zip) -> Iterable:
        inner = [self.iterable(x) for x in z.inside]
        known = [x.length for x in inner if isinstance(x.length, int)]
        if known:
            if len(known) < len(inner):
                return self.zip_known(inner, min(known))
            return Iterable(min(known), lambda i: self.pair([x.item(i) for x in inner]))
        length = inner[0].length
        for x in inner[1:]:
            length = self.op("aten::min", length, x.length)  # type: ignore[arg-type]
        return Iterable(length, lambda i: self.pair([x.item(i) for x in inner]))

    def zip_known(self, inner: list[Iterable], count: int) -> Iterable:
        """Zips a container of modules with lists, whose lengths are checked when the script runs."""
        for x in inner:
            if isinstance(x.length, Value):
                short = self.op("aten::lt", x.length, self.constant(count))

                def failed() -> None:
                    text = f"zip() of {count} modules and a list that is shorter"
                    self.add("prim::RaiseException", [self.constant(text)], kind="ValueError")
                    self.scope.dead = True

                self.branch(short, failed, lambda: None)
        return Iterable(
            count, lambda i: self.pair([x.item(i if isinstance(x.length, int) else self.constant(i)) for x in inner])
        )

    # ---- comprehensions ----

    def collected(self, thing: Any) -> Value:
        """Returns a list of what a loop over a compiled expression gives."""
        over = self.iterable(thing)
        if isinstance(over.length, int):
            items = [self.whole(over.item(i)) for i in range(over.length)]
            return self.list_of(items, self.element_type(items, None, "the list"))
        made = self.list_of([], TENSOR)
        made.items = None

        def body(i: Value) -> Value:
            self.append(made, self.whole(over.item(i)))
            return self.constant(True)

        self.loop(over.length, self.constant(True), [], body)
        return made

    def whole(self, thing: Any) -> Value:
        """Returns a compiled expression as a value; several items become a tuple."""
        if isinstance(thing, Sequence):
            return self.tuple_of([self.whole(x) for x in thing.items])
        return self.value(thing)

    def append(self, made: Value, item: Value, element: Type | None = None) -> None:
        """Appends to a list that is being made, whose elements have the type `element`, or that of the item."""
        made.type = List(element or item.type)
        self.one("aten::append.t", [made, item], made.type)

    def comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, elements: list[ast.expr], wished: Type | None
    ) -> Any:  # type: ignore[override]
        """Compiles a list or a dictionary in brackets with ``for``; its variables end with it."""
        first = node.generators[0]
        over = self.iterable(self.expression(first.iter), first.iter)
        names = assigned([ast.Assign(targets=[g.target for g in node.generators], value=ast.Constant(None))])
        if (
            not isinstance(node, ast.DictComp)
            and isinstance(over.length, int)
            and len(node.generators) == 1
            and not first.ifs
        ):
            return self.known_comprehension(node, over, wished)
        if isinstance(node, ast.DictComp):
            made = self.one("prim::DictConstruct", [], wished if isinstance(wished, Dict) else Dict(STR, TENSOR))
        else:
            made = self.list_of([], TENSOR)
            made.items = None
        element = wished.element if isinstance(wished, List) else None

        def add_item() -> None:
            values = [self.whole(self.expression(e, element)) for e in elements]
            if len(values) == 1:
                if element is not None:
                    values[0] = self.converted(values[0], element, lambda: "the element")
                self.append(made, values[0], element)
                return
            made.type = wished if isinstance(wished, Dict) else Dict(values[0].type, values[1].type)
            self.add("aten::_set_item.Dict", [made, *values])

        self.nest(node.generators, 0, over, add_item)
        for name in names:
            if name in self.scope.names and isinstance(self.scope.names[name], Undefined):
                del self.scope.names[name]
        return made

    def nest(self, generators: list[ast.comprehension], at: int, over: Iterable, add_item: Callable[[], None]) -> None:
        g = generators[at]

        def inner() -> None:
            if at + 1 == len(generators):
                add_item()
                return
            following = generators[at + 1]
            self.nest(generators, at + 1, self.iterable(self.expression(following.iter), following.iter), add_item)

        def filtered(tests: list[ast.expr]) -> None:
            if not tests:
                inner()
            else:
                self.run_if(self.condition(tests[0]), lambda: filtered(tests[1:]), lambda: None)

        def body(i: Any) -> Value:
            hidden = Scope(self.scope)
            with self.inside(self.block, hidden):
                self.assign(g.target, over.item(i))
                filtered(g.ifs)
            return self.constant(True)

        if isinstance(over.length, int):
            for i in range(over.length):
                body(i)
        else:
            self.loop(over.length, self.constant(True), [], body)

    def known_comprehension(self, node: ast.ListComp | ast.GeneratorExp, over: Iterable, wished: Type | None) -> Any:
        element = wished.element if isinstance(wished, List) else None
        things = []
        assert isinstance(over.length, int)
        for i in range(over.length):
            with self.inside(self.block, Scope(self.scope)):
                self.assign(node.generators[0].target, over.item(i))
                things.append(self.expression(node.elt, element))
        if all(isinstance(t, Value) and not isinstance(t.type, Object) for t in things):
            return self.list_of(things, self.element_type(things, element, "the list"))
        return Sequence(tuple(things))


__all__ = ["Loops"]
