"""Statements: assignments, branches, errors, and those that are not admitted."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from lamella.plugins.graph.script.calls import Calls
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.errors import UnsupportedNodeError
from lamella.plugins.graph.script.exits import RETURN
from lamella.plugins.graph.script.scope import Binding, Undefined
from lamella.plugins.graph.script.statics import Python, Sequence
from lamella.plugins.graph.script.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NONE,
    STR,
    TENSOR,
    List,
    Object,
    Optional,
    Tuple,
    Type,
    is_subtype,
    named,
    unify,
)

STATEMENTS = {
    ast.Try: "a 'try' is not admitted, since errors are not caught in a script; test before instead",
    ast.Global: "a 'global' is not admitted; return the value, or make it an attribute of a module",
    ast.Nonlocal: "a 'nonlocal' is not admitted; return the value, or make it an attribute of a module",
    ast.Import: "an 'import' is not admitted in a scripted function; import at the top of the file",
    ast.ImportFrom: "an 'import' is not admitted in a scripted function; import at the top of the file",
    ast.FunctionDef: "a function in a function is not admitted; define it outside",
    ast.AsyncFunctionDef: "an 'async def' is not admitted; jit.fork runs calls beside each other",
    ast.ClassDef: "a class in a function is not admitted; define it outside",
    ast.Match: "a 'match' is not admitted; write it with 'if'",
    ast.AsyncFor: "an 'async for' is not admitted; jit.fork runs calls beside each other",
    ast.AsyncWith: "an 'async with' is not admitted; jit.fork runs calls beside each other",
    ast.Break: "a 'break' is admitted in a loop only",
    ast.Continue: "a 'continue' is admitted in a loop only",
}


class Statements(Calls):
    """Compiles statements."""

    returns: Type | None = None
    """The declared type of the function's result; None for one that is found from its returns."""
    on_For: Callable[[ast.For], None]
    on_While: Callable[[ast.While], None]
    title = "the function"
    last_return: ast.Assign | None = None

    def statements(self, body: list[ast.stmt]) -> None:
        """Compiles statements up to one behind which none is reached."""
        for s in body:
            if self.scope.dead:
                return
            compile_it = getattr(self, f"on_{type(s).__name__}", None)
            with self.standing_at(s):
                if compile_it is None:
                    text = STATEMENTS.get(type(s), f"a {type(s).__name__} is not admitted")  # type: ignore[call-overload]
                    raise self.error(text, s, UnsupportedNodeError)
                compile_it(s)

    def on_Pass(self, node: ast.Pass) -> None:
        pass

    def on_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    # ---- assignments ----

    def on_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id == RETURN:
            self.give_back(node)
            return
        wished = None
        comment = self.reporter.type_comment(node)  # type: ignore[attr-defined]
        if comment is not None:
            wished = self.annotation(comment)
        elif len(node.targets) == 1:
            wished = self.declared_of(node.targets[0])
        thing = self.expression(node.value, wished)
        if comment is not None:
            assert wished is not None
            thing = self.declared(thing, wished, node.value)
        for target in node.targets:
            self.assign(target, thing, wished if comment is not None else None)

    def declared_of(self, target: ast.expr) -> Type | None:
        """Returns the type that a target was declared with."""
        if isinstance(target, ast.Name):
            bound = self.scope.find(target.id)
            if isinstance(bound, Binding):
                return bound.declared
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            bound = self.scope.find(target.value.id)
            t = getattr(getattr(bound, "value", None), "type", None)
            if isinstance(t, Object):
                return t.info.attributes.get(target.attr)
        return None

    def declared(self, thing: Any, t: Type, node: ast.expr) -> Value:
        """Returns a value as one of the annotation's type."""
        value = self.value(thing, node)
        return self.converted(value, t, lambda: "the variable")

    def on_AnnAssign(self, node: ast.AnnAssign) -> None:
        t = self.annotation(node.annotation)
        if node.value is None:
            raise self.error("an annotation without a value is not admitted; give the variable a value", node)
        thing = self.expression(node.value, t)
        if t is ANY and not isinstance(thing, Value):
            self.assign(node.target, thing)
            return
        value = self.converted(self.value(thing, node.value), t, lambda: f"'{ast.unparse(node.target)}'")
        if isinstance(node.target, ast.Attribute):
            self.assign_attribute(node.target, value, t)
            return
        self.assign(node.target, value, t)

    def assign(self, target: ast.expr, thing: Any, declared: Type | None = None) -> None:
        """Gives a target a value: a name, an attribute, an element, or several of them."""
        with self.standing_at(target):
            if isinstance(target, ast.Name):
                self.assign_name(target, thing, declared)
            elif isinstance(target, ast.Attribute):
                self.assign_attribute(target, thing)
            elif isinstance(target, ast.Subscript):
                self.assign_item(target, self.value(thing, target))
            elif isinstance(target, (ast.Tuple, ast.List)):
                self.assign_several(target, thing)
            else:
                raise self.error(f"a {type(target).__name__} cannot be assigned")

    def assign_name(self, target: ast.Name, thing: Any, declared: Type | None) -> None:
        if isinstance(thing, Value):
            if not target.id.startswith("$") and not thing.name:
                thing.name = target.id
            if isinstance(thing.type, List):
                thing.items = None  # from here on the list may grow
        self.scope.set(target.id, thing, declared)

    def assign_several(self, target: ast.Tuple | ast.List, thing: Any) -> None:
        """Unpacks a tuple, a list whose length the targets tell, or a container of modules."""
        stars = [i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)]
        count = len(target.elts)
        if isinstance(thing, Sequence):
            parts: list[Any] = list(thing.items)
        else:
            value = self.value(thing)
            if isinstance(value.type, Tuple):
                parts = list(self.unpacked(value))
            elif isinstance(value.type, List) and not stars:
                parts = list(self.add("prim::ListUnpack", [value], *[value.type.element] * count).outputs)
            elif isinstance(value.type, List):
                parts = self.unpacked_list(value, count, stars[0])
                for e, part in zip(target.elts, parts, strict=True):
                    self.assign(e.value if isinstance(e, ast.Starred) else e, part)
                return
            elif value.type == TENSOR and not stars:
                rows = self.op("aten::unbind", value)
                parts = list(self.add("prim::ListUnpack", [rows], *[TENSOR] * count).outputs)
            else:
                raise self.error(f"{named(value.type)} cannot be unpacked")
        if stars:
            behind = count - stars[0] - 1
            if len(parts) < count - 1:
                raise self.error(f"{len(parts)} values for {count - 1} variables at least")
            middle = parts[stars[0] : len(parts) - behind]
            values = [self.value(p) for p in middle]
            rest = self.list_of(values, self.element_type(values, None, "the starred variable"))
            parts = [*parts[: stars[0]], rest, *parts[len(parts) - behind :]]
        if len(parts) != count:
            raise self.error(f"{len(parts)} values for {count} variables")
        for e, part in zip(target.elts, parts, strict=True):
            self.assign(e.value if isinstance(e, ast.Starred) else e, part)

    def unpacked_list(self, value: Value, count: int, star: int) -> list[Value]:
        behind = count - star - 1
        parts = [self.op("aten::__getitem__", value, self.constant(i)) for i in range(star)]
        stop = self.constant(-behind if behind else None)
        parts.append(self.op("aten::slice", value, self.constant(star), stop, self.constant(1)))
        return parts + [self.op("aten::__getitem__", value, self.constant(i - behind)) for i in range(behind)]

    def on_AugAssign(self, node: ast.AugAssign) -> None:
        def right(wished: Type | None = None) -> Value:
            return self.evaluated(node.value, wished)

        if isinstance(node.target, ast.Subscript):
            self.augment_item(node.target, node.op, right)
            return
        if isinstance(node.target, ast.Attribute):
            load = ast.copy_location(ast.Attribute(node.target.value, node.target.attr, ast.Load()), node.target)
            old = self.evaluated(load)
            new = self.augmented(node.op, old, right(old.type))
            if old.type != TENSOR and not isinstance(old.type, List):
                self.assign_attribute(node.target, new)
            return
        assert isinstance(node.target, ast.Name)
        old_thing = self.expression(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        old = self.value(old_thing)
        new = self.augmented(node.op, old, right(old.type if isinstance(old.type, List) else None))
        self.assign(node.target, new)

    def on_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self.delete_item(target)
            elif isinstance(target, ast.Name):
                if self.scope.find(target.id) is None:
                    raise self.error(f"'{target.id}' is not defined", target)
                self.scope.names[target.id] = Undefined(f"'{target.id}' was deleted")
            else:
                raise self.error("an attribute cannot be deleted", target)

    # ---- branches and results ----

    def on_If(self, node: ast.If) -> None:
        self.run_if(self.condition(node.test), lambda: self.statements(node.body), lambda: self.statements(node.orelse))

    def give_back(self, statement: ast.Assign) -> None:
        """Compiles ``return value``, which exits.py has made an assignment."""
        node = statement.value
        implicit = statement.implicit  # type: ignore[attr-defined]
        if implicit and self.returns is not None and not is_subtype(NONE, self.returns):
            raise self.error(
                f"{self.title} is declared to return {named(self.returns)}, and its end is reached without a 'return'",
                self.function.source.tree,  # type: ignore[attr-defined]
            )
        thing = self.expression(node, self.returns)
        if not implicit:
            self.last_return = statement
        if self.caller is not None and not isinstance(thing, Value):  # type: ignore[attr-defined]
            self.scope.set(RETURN, thing)
            return
        value = self.value(thing, node)
        if self.returns is not None:
            if self.returns == NONE and value.type != NONE:
                raise self.error(f"{self.title} is declared to return None, and returns {named(value.type)}", node)
            if value.type == TENSOR and self.returns in (INT, FLOAT):
                value = self.op("aten::IntImplicit" if self.returns == INT else "aten::FloatImplicit", value)
            value = self.converted(value, self.returns, lambda: f"the result of {self.title}")
        old = self.scope.find(RETURN)
        if isinstance(old, Binding) and isinstance(old.value, Value) and unify(old.value.type, value.type) is None:
            raise self.error(
                f"{self.title} returns {named(value.type)} here, and {named(old.value.type)} before; all of its "
                "returns have to give one type",
                node,
            )
        self.scope.set(RETURN, value)

    def on_Assert(self, node: ast.Assert) -> None:
        condition = self.condition(node.test)

        def failed() -> None:
            if node.msg is None:
                message = self.constant("")
            else:
                message = self.evaluated(node.msg)
                message = message if message.type == STR else self.op("aten::str", message)
            self.add("prim::RaiseException", [message], kind="AssertionError")
            self.scope.dead = True

        self.run_if(condition, lambda: None, failed)

    def on_Raise(self, node: ast.Raise) -> None:
        thing = node.exc
        if thing is None:
            raise self.error("a 'raise' without an error is not admitted", node)
        args: list[ast.expr] = []
        called = thing
        if isinstance(thing, ast.Call):
            called, args = thing.func, thing.args
        found = self.expression(called)
        if not (
            isinstance(found, Python) and inspect.isclass(found.object) and issubclass(found.object, BaseException)
        ):
            raise self.error("'raise' takes an error such as ValueError('text')", thing)
        if len(args) > 1:
            message = self.op("aten::str", self.tuple_of([self.evaluated(a) for a in args]))
        elif args:
            message = self.evaluated(args[0])
            message = message if message.type == STR else self.op("aten::str", message)
        else:
            message = self.constant("")
        self.add("prim::RaiseException", [message], kind=found.object.__name__)
        self.scope.dead = True

    def on_With(self, node: ast.With) -> None:
        """Compiles ``with``: of no_grad and enable_grad, and of objects with __enter__ and __exit__."""
        exits: list[Callable[[], Any]] = []
        for item in node.items:
            exits.append(self.enter(item))
        self.statements(node.body)
        if not self.scope.dead:
            for leave in reversed(exits):
                leave()

    def enter(self, item: ast.withitem) -> Callable[[], Any]:
        node = item.context_expr
        enabled = self.grad_mode(node)
        if enabled is not None:
            before = self.op("aten::is_grad_enabled")
            self.op("aten::set_grad_enabled", enabled)
            return lambda: self.op("aten::set_grad_enabled", before)
        thing = self.expression(node)
        if not isinstance(thing, Value) or not isinstance(thing.type, Object):
            raise self.unsupported(
                "'with' takes no_grad(), enable_grad(), set_grad_enabled() or a scripted object", node
            )
        entered = self.method(thing, "__enter__", [], {})
        if item.optional_vars is not None:
            self.assign(item.optional_vars, entered)

        def leave() -> None:
            none = self.constant(None)
            self.method(thing, "__exit__", [none, none, none], {})

        return leave

    def grad_mode(self, node: ast.expr) -> Value | None:
        """Returns the state of autograd that a context sets; None for another context."""
        import lamella

        if not isinstance(node, ast.Call):
            return None
        called = self.expression(node.func)
        target = getattr(called, "object", None)
        if target is lamella.no_grad or target is lamella.inference_mode:
            return self.constant(False)
        if target is lamella.enable_grad:
            return self.constant(True)
        if target is lamella.set_grad_enabled and len(node.args) == 1:
            return self.evaluated(node.args[0])
        return None


__all__ = ["BOOL", "Optional", "Statements"]
