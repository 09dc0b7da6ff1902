"""Calls of the functions of jit that mean something to the compiler, and the arguments of such calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from lamella.plugins.graph.script.conditions import Conditions
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.types import TENSOR, Future, Optional


class JitCalls(Conditions):
    """Compiles calls of jit's functions."""

    evaluated: Callable[..., Value]
    call_thing: Callable[..., Any]

    def arguments(self, node: ast.Call, least: int, most: int, *keywords: str) -> list[Any]:
        """Compiles positional arguments, after a check of their number; keywords in the order of their names."""
        title = ast.unparse(node.func)
        given: list[Any] = []
        for e in node.args:
            if isinstance(e, ast.Starred):
                given += self.starred(e)  # type: ignore[attr-defined]
            else:
                given.append(self.expression(e))
        for k in node.keywords:
            if k.arg not in keywords:
                raise self.error(f"{title}() has no argument '{k.arg}'", k.value)
        if not least <= len(given) <= most:
            count = str(least) if least == most else f"{least} to {most}" if most < 99 else f"at least {least}"
            raise self.error(f"{title}() takes {count} arguments, got {len(given)}", node)
        return given

    def keyword(self, node: ast.Call, name: str) -> Value | None:
        return next((self.evaluated(k.value) for k in node.keywords if k.arg == name), None)

    def call_annotate(self, node: ast.Call) -> Any:
        if len(node.args) != 2:
            raise self.error("annotate() takes a type and a value")
        t = self.annotation(node.args[0])
        value = self.evaluated(node.args[1], t)
        value = self.converted(value, t, lambda: "the value of annotate()")
        if value.type != t:
            made = self.one("prim::unchecked_cast", [value], t)
            return made
        return value

    def call_is_scripting(self, node: ast.Call) -> Any:
        return self.constant(True)

    def call_is_tracing(self, node: ast.Call) -> Any:
        return self.constant(False)

    def call_is_tensor(self, node: ast.Call) -> Any:
        (thing,) = self.arguments(node, 1, 1)
        return self.constant(isinstance(thing, Value) and thing.type == TENSOR)

    def call_fork(self, node: ast.Call) -> Any:
        if not node.args:
            raise self.error("fork() takes a function, and its arguments")
        called = self.expression(node.args[0])
        args = [self.evaluated(e) for e in node.args[1:]]
        kwargs = {k.arg: self.evaluated(k.value) for k in node.keywords if k.arg}
        result = self.call_thing(called, args, kwargs)
        made = self.block.nodes[-1]
        if made.operator not in ("prim::CallFunction", "prim::CallMethod"):
            raise self.error("fork() takes a scripted function or a method of a module")
        name = made.attributes["name"]
        if made.operator == "prim::CallMethod":
            name = f"{made.inputs[0].type}.{name}"
        self.block.nodes.pop()
        return self.one("prim::fork", made.inputs, Future(result.type), name=name)

    def call_unwrap(self, node: ast.Call) -> Any:
        """Compiles the check that a value is not None."""
        (thing,) = self.arguments(node, 1, 1)
        return self.unwrapped(self.value(thing))

    def unwrapped(self, value: Value) -> Value:
        """Returns a value that is not None; the program raises an error where it is."""
        if not isinstance(value.type, Optional):
            return value
        none = self.op("aten::__is__", value, self.constant(None))

        def failed() -> None:
            self.add("prim::RaiseException", [self.constant("Unwrapping null optional")], kind="AssertionError")
            self.scope.dead = True

        self.branch(none, failed, lambda: None)
        return self.refined(value, value.type.inside)

    def call_wait(self, node: ast.Call) -> Any:
        (thing,) = self.arguments(node, 1, 1)
        return self.op("aten::wait", self.value(thing))
