"""Lists the names of torch that a program uses and Lamella does not have, and calls that raise. It reads the program,
and runs none of it."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import io
import os
import pathlib
import queue
from dataclasses import dataclass, field
from typing import Any

import lamella._torch.run.names as names
from lamella._absent import Absent, planned_with
from lamella._torch.run.calls import fault
from lamella._torch.run.conditions import leaves, truth
from lamella._torch.run.objects import look_up
from lamella._torch.run.program import Program
from lamella._torch.run.scopes import UNKNOWN, File, Scope, Torch, read

CATCHERS = {"suppress", "raises", "assertRaises", "assertRaisesRegex"}  # their blocks may raise what they name
IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError"}


@functools.cache
def perhaps() -> frozenset[str]:
    """Returns the attributes of torch's tensors that Lamella's do not have, and that hardly any other object has."""
    import lamella
    from lamella import nn

    here = {n for n in dir(lamella.Tensor) if not isinstance(inspect.getattr_static(lamella.Tensor, n), Absent)}
    others = [*(vars(builtins).values()), io.StringIO, io.BytesIO, pathlib.Path, os, nn.Module, type(lamella.float32)]
    others += [queue.Queue, lamella.Size]
    common = {n for other in others for n in dir(other)}
    common |= {"index", "map", "mode", "name", "names", "values", "indices", "rename", "cross", "lu", "save", "load"}
    common |= {"diff", "dist", "inverse", "layout", "new", "reinforce", "resize", "solve", "volatile", "where"}
    return names.recorded()["tensor"] - here - common


@dataclass
class Result:
    """The lines of the report, each once."""

    lines: dict[tuple[str, int, str], str] = field(default_factory=dict)

    def add(self, file: File, node: Any, path: str, words: str) -> None:
        self.lines.setdefault((file.shown, getattr(node, "lineno", 1), path), words)

    def sorted(self) -> list[str]:
        return [f"{file}:{line}: {words}" for (file, line, _), words in sorted(self.lines.items())]


def report(program: Program) -> list[str]:
    """Returns a line for each missing name that the program, or a module of its folder that it imports, uses."""
    names.stand_in()
    result = Result()
    package = program.spec.parent if program.spec is not None and program.spec.parent else ""
    path = program.path
    if program.spec is not None:
        path = program.spec.origin or path
    files: dict[str, File] = {}
    waiting = [read(path, program.folder, package, files)]
    seen = set()
    while waiting:
        file = waiting.pop()
        if file.path in seen:
            continue
        seen.add(file.path)
        if file.error is not None:
            result.add(file, file.error, "", f"cannot be read: {file.error.msg}")
            continue
        Checker(file, result).run()
        waiting += file.imported()
    return result.sorted()


class Checker(ast.NodeVisitor):
    """Visits the syntax tree of one file and adds missing names to ``result``."""

    def __init__(self, file: File, result: Result):
        self.file, self.result = file, result
        self.scope: Scope = file.scope
        # By block around: paths not to report; "*" stands for all, "imports" for all imports, "!NAME" for calls that
        # raise an exception of that name.
        self.quiet: list[set[str]] = []
        self.methods = perhaps() - file.attributes

    def run(self) -> None:
        self.visit(self.file.tree)

    # ---- scopes and guards -------------------------------------------------------------------------------------------

    def enter(self, node: ast.AST) -> None:
        outer, self.scope = self.scope, self.file.scopes[node]
        try:
            self.generic_visit(node)
        finally:
            self.scope = outer

    def visit_FunctionDef(self, node: Any) -> None:
        self.decorators(node)
        for outside in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(outside)
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg)
        if not self.file.postponed:  # annotations are evaluated
            for annotation in [a.annotation for a in arguments if a is not None] + [node.returns]:
                if annotation is not None:
                    self.visit(annotation)
        outer, self.scope = self.scope, self.file.scopes[node]
        self.block(node.body)
        self.scope = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        outer, self.scope = self.scope, self.file.scopes[node]
        self.visit(node.body)
        self.scope = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.decorators(node)
        for outside in (*node.bases, *node.keywords):
            self.visit(outside)
        outer, self.scope = self.scope, self.file.scopes[node]
        self.block(node.body)
        self.scope = outer

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = enter

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if not self.file.postponed and not self.scope.is_function:
            self.visit(node.annotation)
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def generic_visit(self, node: ast.AST) -> None:
        for _, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                self.visit(value)
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self.block(value)
            elif isinstance(value, list):
                for part in value:
                    if isinstance(part, ast.AST):
                        self.visit(part)

    def block(self, statements: list[ast.stmt], quiet: set[str] | frozenset[str] = frozenset()) -> None:
        """Visits statements one after the other; those after one that always leaves the block are not reported."""
        self.quiet.append(set(quiet))
        for statement in statements:
            self.visit(statement)
            if leaves(statement, self.scope):
                self.quiet[-1].add("*")
        self.quiet.pop()

    def visit_Try(self, node: Any) -> None:
        caught = {name for handler in node.handlers for name in _caught(handler.type)}
        everything = caught & {"AttributeError", "Exception", "BaseException", "*"}
        some = {"imports"} if caught & IMPORT_ERRORS else set()
        self.block(node.body, {"*"} if everything else some | {f"!{name}" for name in caught})
        for part in node.handlers:
            self.visit(part)
        self.block(node.orelse)
        self.block(node.finalbody)

    visit_TryStar = visit_Try

    def visit_With(self, node: Any) -> None:
        """Visits a block; one of ``suppress`` or ``raises`` may raise the exceptions that these name."""
        caught = set()
        for item in node.items:
            self.visit(item)
            call = item.context_expr
            if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in CATCHERS:
                caught |= {name for kind in call.args for name in _caught(kind)}
        everything = caught & {"AttributeError", "Exception", "BaseException"}
        self.block(node.body, {"*"} if everything else {f"!{name}" for name in caught})

    visit_AsyncWith = visit_With

    def visit_If(self, node: Any) -> None:
        held = truth(node.test, self.scope)
        self.visit(node.test)
        asked = {"*"} if held is False else self.asked_for(node.test)
        for part, quiet in ((node.body, asked), (node.orelse, {"*"} if held is True else set())):
            if isinstance(part, list):
                self.block(part, quiet)
            else:
                self.quiet.append(quiet)
                self.visit(part)
                self.quiet.pop()

    visit_IfExp = visit_If

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.quiet.append(self.asked_for(node) if isinstance(node.op, ast.And) else set())
        for part in node.values:
            self.visit(part)
            if truth(part, self.scope) is isinstance(node.op, ast.Or):  # the parts after it are not evaluated
                self.quiet[-1].add("*")
        self.quiet.pop()

    def asked_for(self, test: ast.AST) -> set[str]:
        """Returns the paths that calls of hasattr in a condition test; {"*"} for ``TYPE_CHECKING``."""
        asked = set()
        for node in ast.walk(test):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
                if len(node.args) == 2 and isinstance(node.args[1], ast.Constant):
                    value, name = self.scope.value(node.args[0]), str(node.args[1].value)
                    asked.add(f"{value.path}.{name}" if isinstance(value, Torch) else name)
            elif getattr(node, "id", getattr(node, "attr", "")) == "TYPE_CHECKING":
                asked.add("*")
        return asked

    def missing(self, node: ast.AST, path: str, is_import: bool = False, reason: str = "") -> None:
        guards = {guard for level in self.quiet for guard in level}
        if "*" in guards or (is_import and "imports" in guards):
            return
        if any(path == guard or path.startswith(f"{guard}.") for guard in guards):
            return
        self.result.add(self.file, node, path, f"{path}: {reason or names.reason(path)}")

    def look_for(self, node: ast.AST, module: str) -> bool:
        """Returns whether an imported module of torch is here or in the record; adds to the result why it is not."""
        try:
            found = names.find_ours(names.ours(module))
        except ImportError as error:  # a package that the module needs is not installed
            self.missing(node, module, is_import=True, reason=str(error))
            return False
        if found is None and module not in names.recorded()["modules"]:
            self.missing(node, module, is_import=True)
            return False
        return True

    # ---- uses --------------------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.split(".")[0] == "torch" and alias.name != "torch":
                self.look_for(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or not node.module or node.module.split(".")[0] != "torch":
            return
        if not self.look_for(node, node.module):
            return
        for alias in node.names:
            if alias.name == "*":
                if names.find_ours(names.ours(node.module)) is None:
                    self.missing(node, node.module, is_import=True)
                continue
            path = f"{node.module}.{alias.name}"
            if path not in names.recorded()["modules"] and look_up(path)[1] is not None:
                self.missing(node, path, is_import=True)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            value = self.scope.value(node)
            if isinstance(value, Torch) and value.by_import != "from":
                self.use(node, value.path)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        value = self.scope.value(node)
        if not isinstance(value, Torch):
            if isinstance(self.scope.value(node.value), Torch) and not isinstance(node.ctx, ast.Load):
                self.visit(node.value)
                return
            if value is UNKNOWN and isinstance(node.ctx, ast.Load):
                self.method(node)
            self.visit(node.value)
        elif isinstance(node.ctx, ast.Load):
            self.use(node, value.path)
        else:  # the attribute is set or deleted, so that only its object must exist
            self.visit(node.value)

    def use(self, node: ast.AST, path: str) -> None:
        lost = look_up(path)[1]
        if lost is not None and not (path in names.recorded()["modules"] and lost == path):
            self.missing(node, lost)

    def visit_Call(self, node: ast.Call) -> None:
        self.call(node, node.func, node)
        self.generic_visit(node)

    def decorators(self, node: Any) -> None:
        for decorator in node.decorator_list:
            self.call(decorator, decorator, None)
            self.visit(decorator)

    def call(self, node: ast.AST, function: ast.AST, call: ast.Call | None) -> None:
        """Reports a call that raises. A decorator without arguments, for which ``call`` is None, is one."""
        value = self.scope.value(function)
        if not isinstance(value, Torch) or value.path.rpartition(".")[2] in self.file.assigned():
            return
        found = fault(value.path, call)
        guards = {guard for level in self.quiet for guard in level}
        if found is None or "*" in guards:
            return
        if not any(f"!{kind.__name__}" in guards for kind in found.error.__mro__):
            self.result.add(self.file, node, f"{value.path} {found.words}", f"{value.path}: {found.words}")

    def method(self, node: ast.Attribute) -> None:
        """Reports an attribute of an unknown object, which may be a tensor."""
        if node.attr not in self.methods or getattr(node.value, "id", "") in ("self", "cls"):
            return
        guards = {guard for level in self.quiet for guard in level}
        if "*" not in guards and node.attr not in guards:
            step = planned_with("Tensor", node.attr)
            why = f"it is planned with {step}" if step else "Lamella's tensors do not have it"
            self.result.add(self.file, node, f".{node.attr}", f"perhaps Tensor.{node.attr}: {why}")


def _caught(kind: ast.AST | None) -> list[str]:
    """Returns the names of the exceptions that an expression lists; "*" for all, if there is no expression."""
    if kind is None:
        return ["*"]
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return [getattr(kind, "id", getattr(kind, "attr", "")) for kind in kinds]
