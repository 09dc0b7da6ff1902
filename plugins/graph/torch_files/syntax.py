"""The code of a ``.pt``: its files, whose form is that of Python, and the functions and classes in them.

torch writes few of Python's forms. `Code` refuses the others, so that the compiler sees none that torch does not have.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from lamella.plugins.graph.script.errors import Reporter
from lamella.plugins.graph.torch_files.zips import TorchZip

FORMS: tuple[type[ast.AST], ...] = (
    *(ast.Module, ast.ClassDef, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Pass, ast.Expr),
    *(ast.Assign, ast.AnnAssign, ast.If, ast.While, ast.For, ast.Name, ast.Attribute, ast.Subscript, ast.Constant),
    *(ast.Call, ast.keyword, ast.Tuple, ast.List, ast.Dict, ast.IfExp, ast.UnaryOp, ast.BinOp, ast.Compare, ast.BoolOp),
    *(ast.With, ast.withitem),
    *(ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop),
)
OPERATOR = re.compile(r"(?:torch|ops(?:\.\w+)+)\.\w+", re.ASCII)


class File(Reporter):
    """A file of code; makes errors that show its lines."""

    def type_comment(self, node: ast.AST) -> None:
        """Returns None: torch writes no comments."""


class FunctionSource(File):
    """A function of a file, as the compiler takes it."""

    def __init__(self, file: File, tree: ast.FunctionDef, name: str):
        super().__init__(f"{file.name}: {name}", file.file, file.lines, 1)
        self.of_file, self.tree = file, tree


@dataclass
class Definition:
    """A function or a class of the code."""

    name: str
    """The full name: ``__torch__.torch.nn.modules.linear.Linear``."""
    file: File
    tree: ast.FunctionDef | ast.ClassDef


@dataclass
class Code:
    """The definitions in the files of code."""

    functions: dict[str, Definition] = field(default_factory=dict)
    classes: dict[str, Definition] = field(default_factory=dict)
    operators: dict[str, str] = field(default_factory=dict)
    """The operators that the code calls, by full names, each with the place of its first call."""
    forms: int = 0
    """The number of nodes of the syntax trees, which bounds the work of the compiler."""

    def read(self, archive: TorchZip) -> Code:
        """Reads all files of code of an archive.

        Raises:
            CheckpointError: a file cannot be read
            ScriptError: a file has a form that torch does not write
        """
        for member in archive.names:
            if member.startswith("code/") and member.endswith(".py"):
                self._read_file(archive, member)
        return self

    def _read_file(self, archive: TorchZip, member: str) -> None:
        try:
            text = archive.text(member).decode()
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise archive.damage(f"the member {member!r} is no code: {error}") from None
        file = File(member, member, text.splitlines(), 1)
        before = self.forms
        for node in ast.walk(tree):
            self._check(file, node)
        archive.check_forms(member, self.forms - before)
        module = member[len("code/") : -len(".py")].replace("/", ".")
        for part in tree.body:
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                known = self.functions if isinstance(part, ast.FunctionDef) else self.classes
                name = f"{module}.{part.name}"
                if name in self.functions or name in self.classes:
                    raise file.fail(part, f"{name} is defined twice")
                known[name] = Definition(name, file, part)
            else:
                raise file.fail(part, "a file of code has functions and classes alone")

    def _check(self, file: File, node: ast.AST) -> None:
        self.forms += 1
        if not isinstance(node, FORMS):
            raise file.fail(node, f"a {type(node).__name__} is no form that torch writes")
        if isinstance(node, ast.For) and not (isinstance(node.iter, ast.Call) and dotted(node.iter.func) == "range"):
            raise file.fail(node, "a 'for' over anything but range() is no form that torch writes")
        if isinstance(node, ast.arguments) and (node.vararg or node.kwarg):
            raise file.fail(node.vararg or node.kwarg, "a parameter with '*' is no form that torch writes")
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.decorator_list:
            raise file.fail(node, "a decorator is no form that torch writes")
        if isinstance(node, ast.Call):
            name = operator_of(node.func)
            if name:
                self.operators.setdefault(name, f"{file.file}:{node.lineno}")


def dotted(node: ast.AST) -> str:
    """Returns the text of names with dots; empty for another expression.

    >>> dotted(ast.parse("torch.nn.relu", mode="eval").body), dotted(ast.parse("f().x", mode="eval").body)
    ('torch.nn.relu', '')
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def operator_of(node: ast.expr) -> str:
    """Returns the operator that a called expression names; empty if it names none.

    >>> operator_of(ast.parse("torch.add", mode="eval").body), operator_of(ast.parse("ops.prim.min", mode="eval").body)
    ('aten::add', 'prim::min')
    """
    name = dotted(node)
    if not OPERATOR.fullmatch(name):
        return ""
    *spaces, last = name.split(".")
    return f"aten::{last}" if spaces == ["torch"] else f"{'::'.join(spaces[1:])}::{last}"
