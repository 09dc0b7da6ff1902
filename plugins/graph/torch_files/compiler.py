"""Compiles functions of a ``.pt``: the compiler of ``jit.script``, with the forms that torch alone writes."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import Any

import lamella.plugins.graph.script.constants as constants
import lamella.plugins.graph.script.markers as markers
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.functions import Compiler, Function, Parameter
from lamella.plugins.graph.script.loops import Loops
from lamella.plugins.graph.script.scope import Binding
from lamella.plugins.graph.script.statics import Python, Static
from lamella.plugins.graph.script.types import (
    DTYPE,
    INT,
    TENSOR,
    Enum,
    Future,
    Object,
    Tuple,
    Type,
    is_subtype,
    without_none,
)
from lamella.plugins.graph.torch_files.operators import FORMS, TorchOperators
from lamella.plugins.graph.torch_files.syntax import FunctionSource, dotted, operator_of

# The functions of Python that torch's code calls by their names.
BUILTINS: dict[str, Any] = {
    f.__name__: f
    for f in (*(int, float, bool, str, complex, list, dict, print, range, len, getattr, hasattr, isinstance, sorted),)
    + (abs, min, max, sum, all, any, round, divmod, ord, chr, hex, oct, bin, hash)
}
BUILTINS["annotate"] = markers.annotate
# Operators on tensors that computed something else before a version of torch's operators.
CHANGED = {"aten::div": 4, "aten::div_": 4, "aten::full": 5}
NUMBERS = {"inf": float("inf"), "nan": float("nan"), "infj": complex(0, float("inf")), "nanj": complex(0, float("nan"))}


@dataclass(frozen=True, eq=False)
class FunctionOfFile(Static):
    """A function of the program, which a variable may stand for."""

    function: Function
    what = "a function"


@dataclass(frozen=True, eq=False)
class ForkedFunction(Static):
    """A function within a function, which ``fork`` runs; the variables that it reads become its parameters."""

    tree: ast.FunctionDef
    what = "a forked function"


class TorchCompiler(TorchOperators, Compiler):
    """Compiles one function of the code to a graph."""

    def __init__(self, program: Any, function: Function):
        Loops.__init__(self, program, function.source)
        self.function, self.owner, self.returns = function, None, function.declared
        self.title, self.caller, self.depth = function.title, None, 0
        self.names = {}

    # ---- names ----

    def resolve(self, name: str) -> Any:  # type: ignore[override]
        if name in NUMBERS:
            return self.constant(NUMBERS[name])
        if name in BUILTINS:
            return Python(BUILTINS[name])
        raise self.error(f"'{name}' is not defined")

    def annotation(self, node: ast.expr) -> Type:  # type: ignore[override]
        return self.program.read_type(node, self.reporter)

    def of_python(self, base: Python, name: str) -> Any:
        """Returns None: a file names no attributes of Python's objects."""

    def expression(self, node: ast.expr, wished: Type | None = None) -> Any:  # type: ignore[override]
        self.program.step(self)
        return super().expression(node, wished)

    def tuple_of(self, items: list[Value], t: Tuple | None = None) -> Value:
        made = t or Tuple(tuple(v.type for v in items))
        self.program.step(self, made.size)
        return super().tuple_of(items, made)

    def unpacked(self, value: Value) -> list[Value]:
        self.program.step(self, value.type.size)
        return super().unpacked(value)

    def on_Attribute(self, node: ast.Attribute) -> Any:
        name = dotted(node)
        if name.startswith("CONSTANTS."):
            found = constants.value_of(self, self.program.value(name, self.reporter, node))
            if found is None:
                raise self.error(f"{name} is of a type that graphs have no constants of", node)
            return found
        if name.startswith("__torch__."):
            return self.named(name, node)
        return super().on_Attribute(node)

    def named(self, name: str, node: ast.AST) -> Any:
        """Returns a function or a member of an enum by its full name."""
        function = self.program.function_named(name)
        if function is not None:
            return FunctionOfFile(function)
        before, _, last = name.rpartition(".")
        t = self.program.named(before)
        if isinstance(t, Enum) and last in t.python.__members__:
            return self.constant(t.python[last])
        raise self.error(f"the file has no '{name}'", node)

    def on_Constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, str):  # torch writes bytes of UTF-8 by their numbers
            try:
                return self.constant(node.value.encode("latin-1").decode(), node)
            except UnicodeError:
                pass
        return super().on_Constant(node)

    def on_UnaryOp(self, node: ast.UnaryOp) -> Any:
        inner = node.operand
        if isinstance(node.op, ast.USub) and isinstance(inner, ast.Constant) and type(inner.value) is int:
            return self.constant(-inner.value, node)  # -2**63, whose digits alone do not fit 64 bits
        return super().on_UnaryOp(node)

    # ---- calls ----

    def call(self, node: ast.Call) -> Any:  # type: ignore[override]
        name = dotted(node.func)
        if operator := operator_of(node.func):
            return self.call_torch(operator, node)
        if name == "unchecked_cast" and len(node.args) == 2:
            t = self.annotation(node.args[0])
            return self.as_declared(self.evaluated(node.args[1], t), t)
        if name == "uninitialized" and len(node.args) == 1:
            return self.one("prim::Uninitialized", [], self.annotation(node.args[0]))
        if name == "annotate" and len(node.args) == 2:
            t = self.annotation(node.args[0])
            value = self.evaluated(node.args[1], t)
            return self.argument(value, t, "the value of annotate()") if value.type == TENSOR else super().call(node)
        if name == "fork" and len(node.args) == 1:
            return self.fork(self.expression(node.args[0]), node)
        if name.startswith("__torch__."):
            found = self.make(name, node)
            if found is not None:
                return found
        return super().call(node)

    def call_torch(self, operator: str, node: ast.Call) -> Any:
        args = [self.evaluated(e) for e in node.args]
        kwargs = {k.arg: self.evaluated(k.value) for k in node.keywords if k.arg}
        if not args and operator in FORMS:
            raise self.error(f"{operator} misses its argument")
        on_tensor = bool(args) and args[0].type == TENSOR
        if self.program.version < CHANGED.get(operator, 0) and (operator == "aten::full" or on_tensor):
            raise self.error(
                f"{operator} has another meaning since version {CHANGED[operator]} of torch's operators, and the file "
                f"has version {self.program.version}; load it by a newer torch, and save it again"
            )
        if operator == "prim::RaiseException":
            return self.raise_error(args)
        if operator == "aten::_unwrap_optional":
            return self.unwrapped(args[0])
        if operator == "prim::unchecked_unwrap_optional":
            return self.refined(args[0], without_none(args[0].type))
        return self.torch_operator(operator, args, kwargs)

    def types_of(self, node: ast.expr) -> list[Type]:
        """Reads the second argument of isinstance: a type, or a list of types."""
        parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
        return [self.annotation(part) for part in parts]

    def raise_error(self, args: list[Value]) -> Value:
        """Appends an error. Its class is the second argument; an assertion has none."""
        kind = args[1].constant if len(args) > 1 and isinstance(args[1].constant, str) else "AssertionError"
        self.add("prim::RaiseException", args[:1], kind=kind.rpartition(".")[2])
        return self.constant(None)

    def make(self, name: str, node: ast.Call) -> Any:
        """Makes an object of a class without a call of ``__init__``, or a named tuple; None for another call."""
        if name.endswith(".__new__"):
            t = self.program.named(name.removesuffix(".__new__"))
            if isinstance(t, Object):
                return self.one("prim::CreateObject", [], t)
        t = self.program.named(name)
        if isinstance(t, Tuple):
            args = [self.evaluated(e) for e in node.args]
            return self.make_named_tuple(t, args, {k.arg: self.evaluated(k.value) for k in node.keywords if k.arg})
        return None

    def wishes(self, called: Any) -> dict[Any, Type]:
        if isinstance(called, FunctionOfFile):
            return {key: p.type for i, p in enumerate(called.function.parameters) for key in (i, p.name)}
        return super().wishes(called)

    def call_thing(self, called: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not isinstance(called, FunctionOfFile):
            return super().call_thing(called, args, kwargs)
        function = called.function
        inputs = self.bound(function, self.values(args), self.named_values(kwargs))
        return self.one("prim::CallFunction", inputs, self.program.returns(self, function), name=function.name)

    # ---- types ----

    def converted(self, value: Value, wanted: Type, what: Any) -> Value:
        """Returns a value as one of a wider type; a dtype becomes torch's number where that is wanted."""
        if without_none(value.type) == DTYPE and without_none(wanted) == INT:
            return self.as_number_of_dtype(value)
        return super().converted(value, wanted, what)

    def as_declared(self, value: Value, t: Type) -> Value:
        if is_subtype(value.type, t) or value.type == DTYPE:
            return value
        return self.refined(value, t)

    # ---- forks ----

    def on_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.scope.set(node.name, ForkedFunction(node))

    def fork(self, called: Any, node: ast.Call) -> Value:
        """Appends a fork of a function that is defined in this one."""
        if not isinstance(called, ForkedFunction):
            raise self.error("fork() takes a function of the code", node)
        assert isinstance(self.reporter, FunctionSource)
        read = {n.id: None for n in ast.walk(called.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        bound = {name: self.scope.find(name) for name in read}
        given = {n: b.value for n, b in bound.items() if isinstance(b, Binding) and isinstance(b.value, Value)}
        parameters = [ast.arg(name) for name in given]
        arguments = ast.arguments(posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[])
        tree = ast.copy_location(ast.FunctionDef(called.tree.name, arguments, called.tree.body, []), called.tree)
        name = self.program.unique(f"{self.function.name.rpartition('.')[2]}_forked")
        made = Function(name, None, FunctionSource(self.reporter.of_file, tree, name))  # type: ignore[arg-type]
        made.parameters = [Parameter(n, v.type, inspect.Parameter.empty, False) for n, v in given.items()]
        self.program.compile(self, made)
        assert made.returned is not None
        return self.one("prim::fork", list(given.values()), Future(made.returned), name=name)
