"""The source of a function or a class: its syntax tree, places in its file, and type comments."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import weakref
from typing import Any

from lamella.plugins.graph.script.errors import Reporter, ScriptError, relative


class Source(Reporter):
    """The source of one function; makes errors that show its lines.

    Args:
        function: a function of Python
        name: its name in messages

    Raises:
        ScriptError: there is no source, or it is no function's
    """

    def __init__(self, function: Any, name: str):
        lines, first, file = _lines_of(function, name)
        text = "".join(lines)
        dedented = textwrap.dedent(text)
        shift = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        super().__init__(name, relative(file), [line.rstrip("\n") for line in lines], first, shift)
        self.function = function
        tree = _parsed(dedented)
        found = next((n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
        if found is None:
            raise self.fail(
                tree.body[0] if tree.body else None, "a lambda is not admitted; write a function with 'def'"
            )
        if isinstance(found, ast.AsyncFunctionDef):
            raise self.fail(found, "an 'async def' is not admitted; jit.fork runs calls beside each other")
        self.tree: ast.FunctionDef = found

    def type_comment(self, node: ast.AST) -> ast.expr | None:
        """Returns the type in the comment behind an assignment, ``# type: List[int]``; None if there is none."""
        text = getattr(node, "type_comment", None)
        if not text:
            return None
        return self._placed(text, node)

    def signature_comment(self) -> tuple[list[ast.expr], ast.expr] | None:
        """Returns the types of the comment below ``def``, ``# type: (Tensor) -> Tensor``; None if there is none."""
        text = self.tree.type_comment
        if not text or "->" not in text:
            return None
        inside, _, result = text.rpartition("->")
        args = self._placed(inside.strip(), self.tree)
        items = list(args.elts) if isinstance(args, ast.Tuple) else [args]
        if len(items) == 1 and isinstance(items[0], ast.Constant) and items[0].value is Ellipsis:
            items = []  # each parameter has a comment of its own
        return items, self._placed(result.strip(), self.tree)

    def _placed(self, text: str, node: ast.AST) -> ast.expr:
        try:
            found = ast.parse(text, mode="eval").body
        except SyntaxError:
            raise self.fail(node, f"the type comment '{text}' cannot be read") from None
        for part in ast.walk(found):
            ast.copy_location(part, node)
        return found


_LINES: weakref.WeakKeyDictionary[Any, tuple[list[str], int, str]] = weakref.WeakKeyDictionary()
"""The lines of functions that were read before."""


def _lines_of(function: Any, name: str) -> tuple[list[str], int, str]:
    target = inspect.unwrap(function)
    if not inspect.isfunction(target):
        return _read_lines(target, name)
    if target not in _LINES:
        _LINES[target] = _read_lines(target, name)
    return _LINES[target]


def _read_lines(target: Any, name: str) -> tuple[list[str], int, str]:
    try:
        lines, first = inspect.getsourcelines(target)
        file = inspect.getsourcefile(target) or "<unknown>"
    except (OSError, TypeError) as error:
        raise ScriptError(
            f"{name}: there is no source: {error}. Scripting reads '.py' files, which have to be there; loading an "
            "archive of a scripted program does not need them"
        ) from None
    return lines, first, file


@functools.lru_cache(maxsize=512)
def _text_tree(text: str) -> ast.Module | None:
    for comments in (True, False):
        try:
            return ast.parse(text, type_comments=comments)
        except SyntaxError:
            continue
    return None


def _parsed(text: str) -> ast.Module:
    tree = _text_tree(text)
    return tree if tree is not None else ast.Module([], [])


def attribute_annotations(cls: type) -> dict[str, tuple[ast.expr, Any]]:
    """Returns the annotations of ``self.name: T = value`` in a class's ``__init__``, with the function, by name."""
    function = vars(cls).get("__init__")
    if not inspect.isfunction(function):
        return {}
    try:
        source = Source(function, f"{cls.__name__}.__init__")
    except ScriptError:
        return {}
    found = {}
    for node in ast.walk(source.tree):
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            assert isinstance(node, ast.AnnAssign)
            found[target.attr] = (node.annotation, function)
    return found


def is_of_package(python: Any) -> bool:
    """Returns whether a function or a class is one of Lamella's, which are not written for scripts."""
    module = getattr(python, "__module__", None) or ""
    return module.startswith("lamella.") and not module.startswith("lamella.plugins.graph.script.library")
