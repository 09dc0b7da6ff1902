"""Programs that are compiled already, as traced and loaded ones are: their parts become a part of another."""

from __future__ import annotations

import re
from typing import Any

from lamella.plugins.graph.script.classes import ClassInfo
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.functions import Function
from lamella.plugins.graph.script.statics import Method, Sequence
from lamella.plugins.graph.script.types import SIMPLE, TENSOR, Dict, List, Object, Optional, Tuple, Type


def is_recorded(thing: Any) -> bool:
    """Returns whether a scripted function or module comes from a trace or a file, so that there is no source to compile
    again."""
    found = getattr(thing, "__dict__", {}).get("_description")
    return found is not None and any(f.source is None for f in found.functions.values())


class ForeignInfo(ClassInfo):
    """A class of a program that is compiled already."""

    is_module = True

    def __init__(self, program: Any, name: str, python: type):
        super().__init__(program, python, name)
        self.ready = True
        self.methods: dict[str, Function] = {}
        self.constants: dict[str, Any] = {}

    def attribute(self, f: Any, base: Value, name: str) -> Any:
        if name in self.attributes:
            return f.one("prim::GetAttr", [base], self.attributes[name], name=name)
        if name in self.methods:
            return Method(base, name, self.methods[name])
        return None

    def admits(self, given: Object) -> bool:
        return False

    def sequence(self, f: Any, value: Value) -> Sequence | None:
        return None

    def text(self) -> str:
        return ""


class Foreign:
    """The parts of one compiled program within another.

    Args:
        program: the program that grows
        thing: the function or the module of the one that becomes a part of it
    """

    def __init__(self, program: Any, thing: Any):
        self.program, self.description = program, thing._description
        text = self.whole = str(thing._program)
        names = re.findall(r"^class (\S+) \{", text, re.M)
        names += [n for n in re.findall(r"^with (\S+) = graph", text, re.M) if "." not in n]
        self.names = {n: program.unique(n) for n in names}
        self.numbers = [program.constant(t) for t in thing._program.constants]
        self.infos: dict[str, ForeignInfo] = {}
        self.text = "\n".join(map(self.renamed, text.splitlines())) + "\n"
        for name in self.description.classes:
            self.info(name)
        for function in self.description.functions.values():
            self.add(function)

    def renamed(self, line: str) -> str:
        """Returns a line of the text with the names and the numbers of constants in the other program."""
        parts = line.split('"')
        for i in range(0, len(parts), 2):  # those outside of quotes
            parts[i] = re.sub(r"<data/(\d+)>", lambda m: f"<data/{self.numbers[int(m[1])]}>", parts[i])
            parts[i] = re.sub(r"(?<![%\w.:])\w+(?![\w:(])", lambda m: self.names.get(m[0], m[0]), parts[i])
        for i in range(1, len(parts), 2):
            if parts[i - 1].endswith(("CallFunction[name=", "fork[name=")):
                first, dot, method = parts[i].partition(".")
                parts[i] = self.names.get(first, first) + dot + method
        return '"'.join(parts)

    def info(self, name: str) -> ForeignInfo:
        """Returns what the other program knows of a class."""
        if name not in self.infos:
            made = self.infos[name] = ForeignInfo(self.program, self.names[name], object)
            old = self.description.classes.get(name)
            if old is not None:
                made.constants = dict(old.constants)
                for attribute, t in old.attributes.items():
                    made.attributes[attribute] = self.info(t.name).type if isinstance(t, Object) else t
        return self.infos[name]

    def add(self, old: Function) -> None:
        """Adds the signature of a function or a method."""
        first, dot, method = old.name.partition(".")
        made = Function(self.names[first] + dot + method, old, None, old.parameters)  # type: ignore[arg-type]
        made.returned = self.result(old.name)
        if dot:
            info = self.info(first)
            made.self_type = info.type
            info.methods[method] = made
        self.program.foreign_functions[made.name] = made

    def result(self, name: str) -> Type:
        """Returns the type of a graph's result, which its text has."""
        graph = self.whole.partition(f"with {name} = graph(")[2].partition("\n}")[0]
        values = re.findall(r"^  return \(([^)]*)\)", graph, re.M)
        defined = re.search(rf"{re.escape(values[0])} : ([^=]*?)(?:, %| =|\))", graph)
        return read_type(defined[1].strip()) if defined else TENSOR


def read_type(text: str) -> Type:
    """Returns the type of a text; the sizes of tensors are left out.

    >>> str(read_type("(Float(2, 3), int[], Dict(str, Tensor))"))
    '(Tensor, int[], Dict(str, Tensor))'
    """
    if text.endswith("[]"):
        return List(read_type(text[:-2]))
    if text.endswith("?"):
        return Optional(read_type(text[:-1]))
    if text.startswith("("):
        return Tuple(tuple(map(read_type, _split(text[1:-1]))))
    if text.startswith("Dict("):
        key, value = _split(text[5:-1])
        return Dict(read_type(key), read_type(value))
    return SIMPLE.get(text, TENSOR)


def _split(text: str) -> list[str]:
    depth, parts = 0, [""]
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]
