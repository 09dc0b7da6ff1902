"""Finds the meaning of names in a Python file, from its text alone: a name of torch, another file, or unknown."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class Unknown:
    """The value of an expression whose meaning the text does not show."""


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Torch:
    """A dotted name of torch."""

    path: str
    by_import: str = ""  # "from": bound by `from torch import name`, which itself fails for a missing name


@dataclass(frozen=True)
class Local:
    """A file of the program's folder."""

    path: str


@dataclass(frozen=True, eq=False)
class Function:
    """A function that the program defines, without decorators."""

    file: File
    node: ast.FunctionDef


class Foreign:
    """A module of another package, or an attribute of such a module."""


FOREIGN = Foreign()
Value = Any  # Unknown, Foreign, Torch, Local, Function, or None for the constant None
SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
FUNCTIONS = SCOPES[:3]


@dataclass
class Scope:
    """The names that a block of code binds, each with a list of values, or of expressions to evaluate."""

    file: File
    outer: Scope | None
    is_class: bool = False
    is_function: bool = False
    bound: dict[str, list[Any]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)  # names of `global` statements
    nonlocals: set[str] = field(default_factory=set)  # names of `nonlocal` statements
    asked: set[str] = field(default_factory=set)  # names whose lookup is under way; ends recursion

    def bind(self, name: str, what: Any) -> None:
        scope: Scope = self
        while name in scope.nonlocals and scope.outer is not None:
            scope = scope.outer
        scope = self.file.scope if name in scope.globals else scope
        scope.bound.setdefault(name, []).append(what)

    def owner(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.globals:
                return self.file.scope if name in self.file.scope.bound else None
            if name in scope.bound and (scope is self or not scope.is_class):
                return scope
            scope = scope.outer
        return None

    def name(self, name: str) -> Value:
        """Returns the value of a name: the only one that is bound to it, apart from None, which programs bind as a
        substitute for a missing import."""
        scope = self.owner(name)
        if scope is None or name in scope.asked:
            return UNKNOWN
        scope.asked.add(name)
        try:
            values = {scope.value(w) if isinstance(w, ast.AST) else w for w in scope.bound[name]}
        finally:
            scope.asked.discard(name)
        values.discard(None)
        return values.pop() if len(values) == 1 else UNKNOWN

    def value(self, node: ast.AST) -> Value:
        """Returns the value of an expression; None for the constant None."""
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.Attribute):
            inner = self.value(node.value)
            if isinstance(inner, Torch):
                return Torch(f"{inner.path}.{node.attr}")
            if isinstance(inner, Local):
                return self.file.of(inner, node.attr)
            return FOREIGN if inner is FOREIGN else UNKNOWN
        if isinstance(node, ast.NamedExpr):
            return self.value(node.value)
        if isinstance(node, ast.Constant) and node.value is None:
            return None
        return UNKNOWN


@dataclass
class File:
    """A Python file of the program."""

    path: str
    shown: str  # its name in the report
    folder: str  # the program's folder, in which absolute imports are resolved
    package: str
    files: dict[str, File]
    tree: Any = None
    error: SyntaxError | None = None
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)  # names of attributes and functions that the file defines
    stored: set[str] = field(default_factory=set)  # names of attributes that the file assigns to objects
    postponed: bool = False  # whether the file has `from __future__ import annotations`
    packages: dict[str, str] = field(default_factory=dict)  # the package of each file that this file imports

    def __post_init__(self) -> None:
        self.scope = Scope(self, None)

    def assigned(self) -> set[str]:
        """Returns the names of attributes that a file of the program, as far as they have been read, assigns."""
        return {name for file in self.files.values() for name in file.stored}

    def imported(self) -> list[File]:
        return [read(path, self.folder, package, self.files) for path, package in self.packages.items()]

    def of(self, local: Local, name: str) -> Value:
        """Returns the value of a name in another file, or of a module in that file's folder."""
        path, package = local.path, self.packages.get(local.path, "")
        other = read(path, self.folder, package, self.files)
        if name in other.scope.bound:
            return other.scope.name(name)
        if os.path.basename(path) == "__init__.py":
            inner = self.locate([name], os.path.dirname(path), package)
            if inner is not None:
                return inner
        return UNKNOWN

    def locate(self, parts: list[str], folder: str, package: str) -> Local | None:
        """Returns the file of a module below a folder, and adds it and the packages around it to `packages`."""
        for i, part in enumerate(parts):
            inner = os.path.join(folder, part)
            if os.path.isfile(os.path.join(inner, "__init__.py")):
                package = f"{package}.{part}" if package else part
                path, folder = os.path.join(inner, "__init__.py"), inner
            elif os.path.isfile(f"{inner}.py") and i + 1 == len(parts):
                path = f"{inner}.py"
            elif os.path.isdir(inner):
                package, folder, path = f"{package}.{part}" if package else part, inner, ""
                continue
            else:
                return None
            self.packages[path] = package
        return Local(path) if path else None


def read(path: str, folder: str, package: str, files: dict[str, File]) -> File:
    """Returns a file with its scopes; reads each file once."""
    real = os.path.realpath(path)
    if real not in files:
        shown = os.path.relpath(path) if os.path.isabs(path) and real.startswith(os.getcwd() + os.sep) else path
        file = files[real] = File(real, shown, folder, package, files)
        try:
            file.tree = ast.parse(Path(path).read_bytes(), path)
        except SyntaxError as error:
            file.error = error
        else:
            Binder(file).run()
    return files[real]


class Binder(ast.NodeVisitor):
    """Visits the syntax tree of a file and fills its scopes."""

    def __init__(self, file: File):
        self.file, self.scope = file, file.scope

    def run(self) -> None:
        self.visit(self.file.tree)

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, SCOPES):
            super().generic_visit(node)
            return
        is_class = isinstance(node, ast.ClassDef)
        outer = self.scope
        self.scope = self.file.scopes[node] = Scope(self.file, outer, is_class, isinstance(node, FUNCTIONS))
        super().generic_visit(node)
        self.scope = outer

    def _definition(self, node: Any) -> None:
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
        self.scope.bind(node.name, Function(self.file, node) if plain else UNKNOWN)
        self.file.attributes.add(node.name)
        self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _definition

    def visit_arg(self, node: ast.arg) -> None:
        self.scope.bind(node.arg, UNKNOWN)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.globals |= set(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.nonlocals |= set(node.names)

    def _pattern(self, node: Any) -> None:
        if name := getattr(node, "name", None) or getattr(node, "rest", None):
            self.scope.bind(name, UNKNOWN)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = _pattern

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.scope.bind(node.name, UNKNOWN)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Binds the target of a statement that has no value to evaluate, such as a loop, to UNKNOWN."""
        if isinstance(node.ctx, ast.Store):
            self.scope.bind(node.id, UNKNOWN)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store):
            self.file.attributes.add(node.attr)
            self.file.stored.add(node.attr)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._assign(target, node.value)
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, node.value)
            self.visit(node.value)
        elif isinstance(node.target, ast.Name) and self.scope.is_class:
            self.file.attributes.add(node.target.id)
        self.visit(node.annotation)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._assign(node.target, node.value)
        self.visit(node.value)

    def _assign(self, target: ast.AST, value: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self.scope.bind(target.id, value)
            if self.scope.is_class:
                self.file.attributes.add(target.id)
        elif (
            isinstance(target, (ast.Tuple, ast.List))
            and isinstance(value, (ast.Tuple, ast.List))
            and len(target.elts) == len(value.elts)
            and not any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
        ):
            for one, other in zip(target.elts, value.elts, strict=True):
                self._assign(one, other)
        else:
            self.visit(target)

    # ---- imports -----------------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            parts = alias.name.split(".")
            if parts[0] == "torch":
                self.scope.bind(alias.asname or "torch", Torch(alias.name if alias.asname else "torch"))
                continue
            found = self.file.locate(parts, self.file.folder, "")
            if alias.asname:
                self.scope.bind(alias.asname, found or FOREIGN)
            else:
                first = self.file.locate(parts[:1], self.file.folder, "") if found else None
                self.scope.bind(parts[0], first or FOREIGN)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if module == "__future__":
            self.file.postponed |= any(alias.name == "annotations" for alias in node.names)
        if not node.level and module.split(".")[0] == "torch":
            for alias in node.names:
                if alias.name != "*":
                    self.scope.bind(alias.asname or alias.name, Torch(f"{module}.{alias.name}", "from"))
            return
        for name, value in self._from(node, module):
            self.scope.bind(name, value)

    def _from(self, node: ast.ImportFrom, module: str) -> Iterator[tuple[str, Value]]:
        folder, package = self.file.folder, ""
        if node.level:
            folder, package = os.path.dirname(self.file.path), self.file.package
            for _ in range(node.level - 1):
                folder, package = os.path.dirname(folder), package.rpartition(".")[0]
        parts = module.split(".") if module else []
        found = self.file.locate(parts, folder, package) if parts else self._init(folder, package)
        below = os.path.join(folder, *parts)
        inner = ".".join(p for p in (package, module) if p)
        for alias in node.names:
            if alias.name == "*":
                if isinstance(found, Local):
                    other = read(found.path, self.file.folder, self.file.packages.get(found.path, ""), self.file.files)
                    yield from ((name, other.scope.name(name)) for name in list(other.scope.bound) if name[0] != "_")
                continue
            value: Value = self.file.of(found, alias.name) if isinstance(found, Local) else FOREIGN
            if value in (UNKNOWN, FOREIGN) and os.path.isdir(below):
                value = self.file.locate([alias.name], below, inner) or value
            yield alias.asname or alias.name, value

    def _init(self, folder: str, package: str) -> Local | None:
        path = os.path.join(folder, "__init__.py")
        if not os.path.isfile(path) or os.path.realpath(path) == self.file.path:
            return None
        self.file.packages[path] = package
        return Local(path)
