"""Texts: f-strings, ``str.format``, and the text of a value."""

from __future__ import annotations

import ast
import string
from collections.abc import Callable
from typing import Any

from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.expressions import Expressions
from lamella.plugins.graph.script.types import STR, Enum, Object


class Texts(Expressions):
    """Compiles f-strings and ``format``."""

    as_int: Callable[[Value], Value]

    def on_JoinedStr(self, node: ast.JoinedStr) -> Any:
        template, values = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                template += str(part.value).replace("{", "{{").replace("}", "}}")
                continue
            assert isinstance(part, ast.FormattedValue)
            value = self.evaluated(part.value)
            if isinstance(value.type, (Object, Enum)):
                value = self.text_of(value)
            if part.conversion == ord("r"):
                value = self.op("aten::repr", value)
            elif part.conversion != -1:
                value = self.op("aten::str", value)
            if part.format_spec is not None:
                spec = self.on_JoinedStr(part.format_spec)  # type: ignore[arg-type]
                value = self.op("aten::__format__", value, spec)
            if type(value.constant) in (int, str):
                template += str(value.constant).replace("{", "{{").replace("}", "}}")
                continue
            template += "{}"
            values.append(value)
        if not values:
            return self.constant(template.replace("{{", "{").replace("}}", "}"))
        return self.op("aten::format", self.constant(template), *values)

    def text_of(self, value: Value) -> Value:
        """Returns ``str(value)``, which an object's class defines."""
        if isinstance(value.type, Object):
            for name in ("__str__", "__repr__"):
                if value.type.info.method(name) is not None:
                    return self.method(value, name, [], {})
        if isinstance(value.type, Enum):
            texts = self.constant([str(m) for m in value.type.members])
            return self.op("aten::__getitem__", texts, self.as_int(value))
        return value if value.type == STR else self.op("aten::str", value)

    def formatted(self, text: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Compiles ``text.format(...)``; the fields of a text that is known are resolved here."""
        if not isinstance(text.constant, str):
            if kwargs:
                raise self.error("format() of a text that is not known takes no keywords")
            return self.op("aten::format", text, *args)
        template, values, count = "", [], 0
        try:
            pieces = list(string.Formatter().parse(text.constant))
        except ValueError as error:
            raise self.error(f"format: {error}") from None
        for literal, name, spec, conversion in pieces:
            template += literal.replace("{", "{{").replace("}", "}}")
            if name is None:
                continue
            if name == "":
                name, count = str(count), count + 1
            value = kwargs.get(name) if not name.isdigit() else args[int(name)] if int(name) < len(args) else None
            if value is None:
                raise self.error(f"format: there is no argument for the field '{name}'")
            if conversion:
                value = self.op("aten::repr" if conversion == "r" else "aten::str", value)
            if spec:
                value = self.op("aten::__format__", value, self.constant(spec))
            template += "{}"
            values.append(value)
        return self.op("aten::format", self.constant(template), *values)
