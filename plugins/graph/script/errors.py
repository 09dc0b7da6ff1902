"""Errors of scripting, which show the user's line with a caret line under the place."""

from __future__ import annotations

import ast
import os
from typing import Any, NamedTuple


class ScriptError(RuntimeError):
    """Raised for a program that cannot be scripted.

    The message says what is wrong and what is admitted, then shows the file, the line and the place in it.
    """


class NotSupportedError(ScriptError):
    """Raised for a form of Python that scripted functions do not have."""


class UnsupportedNodeError(NotSupportedError):
    """Raised for a statement or an expression of Python that scripted functions do not have."""


class Place(NamedTuple):
    """A range of a source line."""

    file: str
    line: int
    column: int
    end: int
    """The column after the last character, which may lie on a later line."""
    text: str
    """The whole line, without the line break."""

    def comment(self) -> str:
        """Returns the place as the text of graphs has it: ``file.py:12:4``."""
        return f"{self.file}:{self.line}:{self.column}"

    def shown(self) -> str:
        """Returns three lines: file and line, the text of the line, and a caret with a wave under the place."""
        blank = len(self.text) - len(self.text.lstrip())
        start = max(self.column - blank, 0)
        length = max(min(self.end, len(self.text.rstrip())) - self.column, 1)
        mark = " " * start + "^" + "~" * (length - 1)
        return f"  {self.file}:{self.line}\n    {self.text.strip()}\n    {mark}"


def relative(file: str) -> str:
    """Returns a path relative to the current folder if the file is below it, else the file's name."""
    inside = os.path.relpath(file) if os.path.isabs(file) else file
    return os.path.basename(file) if inside.startswith("..") else inside.replace(os.sep, "/")


class Reporter:
    """Raises errors for nodes of one function's syntax tree; knows its name, file and lines.

    Args:
        name: the function's name, with which each message begins
        file: the path that messages and graphs show
        lines: the source's lines
        first: the number of the first of them in the file
        shift: the number of blanks that were cut from the start of each line
    """

    def __init__(self, name: str, file: str, lines: list[str], first: int, shift: int = 0):
        self.name, self.file, self.lines, self.first, self.shift = name, file, lines, first, shift

    def place(self, node: Any) -> Place | None:
        """Returns the place of a syntax tree's node; None for one without a line."""
        line = getattr(node, "lineno", None)
        if line is None or not 1 <= line <= len(self.lines):
            return None
        text = self.lines[line - 1]
        column = _characters(text[self.shift :], node.col_offset) + self.shift
        if node.end_lineno != line:
            end = len(text)
        else:
            end = _characters(text[self.shift :], node.end_col_offset) + self.shift
        return Place(self.file, self.first + line - 1, column, end, text)

    def fail(self, node: ast.AST | None, text: str, kind: type[ScriptError] = ScriptError) -> ScriptError:
        """Returns the error to raise for a node; ``text`` says what is wrong and what is admitted."""
        place = self.place(node)
        return kind(f"{self.name}: {text}" + (f"\n{place.shown()}" if place else ""))


def _characters(text: str, units: int) -> int:
    """Returns the number of characters that ``units`` bytes of UTF-8 are, since syntax trees count bytes."""
    return units if text.isascii() else len(text.encode()[:units].decode(errors="ignore"))
