"""Functions: their signatures, and the compiler that makes a graph of one."""

from __future__ import annotations

import ast
import builtins
import inspect
from dataclasses import dataclass, field
from typing import Any

import lamella.plugins.graph.script.hints as hints
import lamella.plugins.graph.script.markers as markers
from lamella.plugins.graph.script.emit import Block, Printer, Value, drop_unused
from lamella.plugins.graph.script.errors import ScriptError
from lamella.plugins.graph.script.exits import RETURN, lower
from lamella.plugins.graph.script.hints import AnnotationError
from lamella.plugins.graph.script.loops import Loops
from lamella.plugins.graph.script.scope import Binding, Scope, Undefined
from lamella.plugins.graph.script.source import Source, is_of_package
from lamella.plugins.graph.script.statics import Python, Sequence
from lamella.plugins.graph.script.types import ANY, BOOL, FLOAT, INT, NONE, TENSOR, Type, is_subtype


@dataclass
class Parameter:
    """A parameter of a scripted function."""

    name: str
    type: Type
    default: Any
    keyword_only: bool


@dataclass(eq=False)
class Function:
    """A function or a method in a program."""

    name: str
    """The name in the program: ``f``, ``Net.forward``."""
    python: Any
    source: Source
    parameters: list[Parameter] = field(default_factory=list)
    declared: Type | None = None
    """The annotation of the result."""
    self_type: Type | None = None
    """Of a method: the type of its object."""
    static: bool = False
    ignored: bool = False
    owner: type | None = None
    """Of a method: the class in which it is written."""
    block: Block | None = None
    """The graph, once it is compiled."""
    fixed: dict[str, Any] = field(default_factory=dict)
    """Of the package's functions: parameters without a type, which have their defaults."""
    before_fixed: int = 0
    """The number of parameters before the first of those."""
    running: bool = False
    returned: Type | None = None

    @property
    def title(self) -> str:
        return f"{self.name}()"

    def text(self) -> str:
        """Returns the text of the graph."""
        assert self.block is not None
        return Printer().graph(self.block)


def read_signature(program: Any, function: Function, skip_self: bool) -> None:
    """Finds the parameters and the declared result of a function."""
    source, tree = function.source, function.source.tree
    args = tree.args
    if args.vararg or args.kwarg:
        extra = args.vararg or args.kwarg
        sign = "*" if args.vararg else "**"
        raise source.fail(extra, f"the parameter '{sign}{extra.arg}' is not admitted; name each parameter")  # type: ignore[union-attr]
    plain = [*args.posonlyargs, *args.args]
    comment = source.signature_comment()
    signature = inspect.signature(inspect.unwrap(function.python))
    names = plain[1:] if skip_self else plain
    own = any(a.type_comment for a in names)
    if comment is not None and not (own and not comment[0]) and len(comment[0]) != len(names):
        raise source.fail(tree, f"the type comment has {len(comment[0])} types for {len(names)} parameters")
    for i, a in enumerate([*names, *args.kwonlyargs]):
        annotation = a.annotation
        if annotation is None and comment is not None and i < len(comment[0]):
            annotation = comment[0][i]
        if annotation is None and a.type_comment:
            annotation = source.type_comment(a)
        default = signature.parameters[a.arg].default if a.arg in signature.parameters else inspect.Parameter.empty
        t = TENSOR if annotation is None else read_type(program, function, annotation)
        if is_of_package(function.python) and (annotation is None or t is ANY):
            if default is None:
                if not function.fixed:
                    function.before_fixed = len(function.parameters)
                function.fixed[a.arg] = None
                continue
            t = {bool: BOOL, int: INT, float: FLOAT}.get(type(default), TENSOR)
        function.parameters.append(Parameter(a.arg, t, default, a in args.kwonlyargs))
    if tree.returns is not None:
        function.declared = read_type(program, function, tree.returns)
    elif comment is not None:
        function.declared = read_type(program, function, comment[1])
    if function.declared is ANY and is_of_package(function.python):
        function.declared = None


def read_type(program: Any, function: Function, node: ast.expr) -> Type:
    """Returns the type of an annotation in a function's source."""
    try:
        return hints.type_of(program, hints.evaluate(node, inspect.unwrap(function.python)))
    except AnnotationError as error:
        raise function.source.fail(node, str(error)) from None


class Compiler(Loops):
    """Compiles one function to a graph."""

    def __init__(self, program: Any, function: Function):
        super().__init__(program, function.source)
        self.function, self.owner, self.returns = function, function.owner, function.declared
        self.title = function.title
        self.caller: Compiler | None = None
        """Of a function of the package: the compiler of its caller."""
        self.depth = 0
        self.names = hints.names_of(inspect.unwrap(function.python))

    def run(self) -> None:
        """Compiles the function, and keeps the graph and the type of the result in it."""
        function, tree = self.function, self.function.source.tree
        args = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
        if function.self_type is not None and not function.static:
            self.parameter(args[0], function.self_type)
        for p in function.parameters:
            self.parameter(p.name, p.type, annotated=True)
        for name, value in function.fixed.items():
            self.scope.set(name, self.constant(value))
        body = tree.body
        self.at = tree
        with self.standing_at(tree):
            self.statements(lower(body))
            result = self.result()
        self.top.results.append(result)
        drop_unused(self.top)
        function.returned = function.declared or result.type
        function.block = self.top

    def parameter(self, name: str, t: Type, annotated: bool = False) -> None:
        value = Value(t, name)
        self.top.parameters.append(value)
        self.scope.set(name, value, t if annotated else None)

    def result(self) -> Value:
        bound = self.scope.find(RETURN)
        if isinstance(bound, Binding):
            return bound.value
        if bound is not None:
            raise self.error(f"{self.title}: not all paths return a value, or they return different types")
        t = self.function.declared or NONE
        if self.scope.dead:
            return self.block.add("prim::Uninitialized", [], t).outputs[0]
        if not is_subtype(NONE, t):
            raise self.error(f"{self.title} is declared to return a value, and returns None")
        return self.constant(None)

    # ---- functions of the package ----

    def inline(self, python: Any, args: list[Any], kwargs: dict[str, Any], owner: type | None = None) -> Any:
        """Compiles a function of the package in the place of its call, with the arguments that it gets.

        So its parameters need no types, and what is known about an argument chooses branches in it.
        """
        function = Function(python.__name__, python, self.program.source(python))
        function.owner = owner
        inner = Compiler(self.program, function)
        inner.block, inner.caller, inner.returns = self.block, self, None
        inner.scope = Scope()
        inner.depth = self.depth + 1
        if inner.depth > 40:
            raise self.error(f"{function.title} calls itself too deeply")
        try:
            bound = inspect.signature(python).bind(*args, **kwargs)
        except TypeError as error:
            raise self.error(f"{function.title}: {error}") from None
        given = set(bound.arguments)
        bound.apply_defaults()
        kinds = {n: p.kind for n, p in inspect.signature(python).parameters.items()}
        for name, thing in bound.arguments.items():
            if kinds[name] is inspect.Parameter.VAR_POSITIONAL:
                thing = Sequence(tuple(thing))
            elif kinds[name] is inspect.Parameter.VAR_KEYWORD:
                if thing:
                    raise self.error(f"{function.title} has no argument '{next(iter(thing))}'")
                thing = Python(thing)
            elif name not in given:
                thing = self.program.static(self, thing)
            inner.scope.set(name, thing)
        tree = function.source.tree
        inner.at = tree
        try:
            inner.statements(lower(tree.body))
        except ScriptError as error:
            own = self.reporter.place(self.at)
            if own is not None:
                error.args = (f"{error}\n  called from {self.reporter.name}\n{own.shown()}",)
            raise
        if inner.scope.dead:
            self.scope.dead = True
            return self.block.constant(None, NONE, self.place)
        found = inner.scope.find(RETURN)
        if isinstance(found, Undefined):
            raise self.error(f"{function.title}: {found.why}")
        return found.value if found is not None else self.constant(None)

    @property
    def place(self):
        return self.caller.place if self.caller is not None else self.reporter.place(self.at)

    # ---- names of Python ----

    def resolve(self, name: str) -> Any:  # type: ignore[override]
        """Returns what a name that the function does not assign stands for."""
        if name not in self.names:
            near = f"'{name}' is not defined"
            raise self.error(near)
        found = self.names[name]
        if found is getattr(builtins, name, None) and name in (
            "eval",
            "exec",
            "open",
            "input",
            "globals",
            "locals",
            "vars",
        ):
            raise self.unsupported(f"{name}() is not admitted in a scripted function")
        return self.program.static(self, found)

    def annotation(self, node: ast.expr) -> Type:  # type: ignore[override]
        return read_type(self.program, self.function, node)


__all__ = ["Compiler", "Function", "Parameter", "markers", "read_signature"]
