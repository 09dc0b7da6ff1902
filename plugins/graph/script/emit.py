"""The graph that a script becomes: values, nodes and blocks, and their text (Note [Grammar] of the parser)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from lamella.plugins.graph.script.errors import Place
from lamella.plugins.graph.script.types import BOOL, INT, NONE, Type

UNKNOWN = object()
"""The ``constant`` of a value that is known only when the graph runs."""


@dataclass(frozen=True)
class Word:
    """A literal of a dtype, a device, a layout, a memory format or an enum, such as ``Device("cpu")``."""

    type: str
    text: str


@dataclass(frozen=True)
class Data:
    """A tensor among the constants of a program."""

    number: int


class Value:
    """A value of a graph: the output of a node, or a parameter of a block."""

    def __init__(self, type: Type, name: str = "", constant: Any = UNKNOWN):
        self.type, self.name, self.constant = type, name, constant
        self.items: list[Value] | None = None
        """Of a tuple, or of a list that has no name yet: its elements."""


@dataclass(eq=False)
class Node:
    """An operator with its inputs, outputs, attributes and blocks."""

    operator: str
    inputs: list[Value]
    outputs: list[Value] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    place: Place | None = None


@dataclass(eq=False)
class Block:
    """Nodes in the order in which they run, with parameters before and results after them."""

    parameters: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)

    def add(self, operator: str, inputs: list[Value], *types: Type, place: Place | None = None, **attributes) -> Node:
        """Appends a node with an output of each type, and returns it."""
        node = Node(operator, inputs, [Value(t) for t in types], attributes, place=place)
        self.nodes.append(node)
        return node

    def constant(self, value: Any, t: Type, place: Place | None = None) -> Value:
        """Appends a constant. None has no attribute."""
        node = Node("prim::Constant", [], [Value(t, constant=value)], place=place)
        if value is not None:
            node.attributes["value"] = value
        self.nodes.append(node)
        return node.outputs[0]


def literal(value: Any) -> str:
    """Returns a constant as the text of graphs has it.

    >>> literal([1, 2.0, "a", None, 1e-7, True])
    '[1, 2., "a", None, 1e-07, True]'
    """
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, Word):
        return f"{value.type}({literal(value.text)})"
    if isinstance(value, Data):
        return f"<data/{value.number}>"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, complex):
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        text = repr(value)
        return text[:-1] if text.endswith(".0") else text
    return repr(value)


def _quoted(text: str) -> str:
    """Returns a text in quotes; bytes that are no printable ASCII are written by their numbers or as they are."""
    out = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    return '"' + "".join(f"\\x{ord(c):02x}" if ord(c) < 32 or ord(c) == 127 else c for c in out) + '"'


class Printer:
    """Writes one graph; gives each value a name that no other value of the graph has."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.used: set[str] = set()
        self.numbers: dict[str, int] = {}
        self.temporaries = 0

    def name(self, value: Value) -> str:
        """Returns the value's name, ``x.1``; a value without a wish has a number."""
        if value not in self.names:
            wish = re.sub(r"\W", "_", value.name, flags=re.ASCII).strip("_") if value.name else ""
            if not wish or wish[0].isdigit():
                self.temporaries += 1
                self.names[value] = str(self.temporaries)
            else:
                while True:
                    n = self.numbers.get(wish, 0)
                    self.numbers[wish] = n + 1
                    name = f"{wish}.{n}" if n else wish
                    if name not in self.used:
                        break
                self.used.add(name)
                self.names[value] = name
        return "%" + self.names[value]

    def typed(self, values: list[Value]) -> str:
        return ", ".join(f"{self.name(v)} : {v.type}" for v in values)

    def values(self, values: list[Value]) -> str:
        return ", ".join(map(self.name, values))

    def graph(self, block: Block) -> str:
        """Returns the text of a graph, from ``graph(`` to its closing brace."""
        self.lines.append(f"graph({self.typed(block.parameters)}) {{")
        self.nodes(block, 1)
        self.lines += [f"  return ({self.values(block.results)})", "}"]
        return "\n".join(self.lines)

    def nodes(self, block: Block, depth: int) -> None:
        for node in block.nodes:
            attributes = ", ".join(f"{k}={literal(v)}" for k, v in node.attributes.items())
            line = "  " * depth + (f"{self.typed(node.outputs)} = " if node.outputs and not node.blocks else "")
            if node.blocks and node.outputs:  # the names of what comes first are the lower ones
                inputs = self.values(node.inputs)
                line += f"{self.typed(node.outputs)} = {node.operator}"
            else:
                line += node.operator
                inputs = self.values(node.inputs)
            line += (f"[{attributes}]" if attributes else "") + f"({inputs})"
            self.lines.append(line + (f"  # {node.place.comment()}" if node.place else ""))
            for i, inner in enumerate(node.blocks):
                self.lines.append("  " * (depth + 1) + f"block{i}({self.typed(inner.parameters)}) {{")
                self.nodes(inner, depth + 2)
                self.lines.append("  " * (depth + 2) + f"-> ({self.values(inner.results)})")
                self.lines.append("  " * (depth + 1) + "}")


def drop_unused(block: Block) -> None:
    """Removes constants and results of branches that nothing uses: they come from names that are assigned in vain."""
    changed = True
    while changed:
        used: set[Value] = set(block.results)
        _collect(block, used)
        changed = _sweep(block, used)


PURE = {"prim::Constant", "prim::Uninitialized", "prim::unchecked_cast", "prim::GetAttr", "prim::TupleConstruct"}


def _collect(block: Block, used: set[Value]) -> None:
    for node in block.nodes:
        used.update(node.inputs)
        for inner in node.blocks:
            _collect(inner, used)
            used.update(inner.results)


def _sweep(block: Block, used: set[Value]) -> bool:
    changed = False
    nodes, block.nodes = block.nodes, []
    for node in nodes:
        if node.operator in PURE and not any(v in used for v in node.outputs):
            changed = True
            continue
        if node.operator == "prim::If" and not node.outputs and not any(b.nodes for b in node.blocks):
            changed = True
            continue
        block.nodes.append(node)
        if node.operator == "prim::If":
            for i in reversed(range(len(node.outputs))):
                if node.outputs[i] not in used:
                    del node.outputs[i]
                    for inner in node.blocks:
                        del inner.results[i]
                    changed = True
        elif node.operator == "prim::Loop":
            changed |= _sweep_loop(node, used)
        for inner in node.blocks:
            changed |= _sweep(inner, used)
    return changed


def _sweep_loop(node: Node, used: set[Value]) -> bool:
    """Removes values that a loop carries unchanged, or that neither it nor what follows uses."""
    body, changed = node.blocks[0], False
    inside: set[Value] = set()
    _collect(body, inside)
    for i in reversed(range(len(node.outputs))):
        parameter = body.parameters[i + 1]
        others = {v for k, v in enumerate(body.results) if k != i + 1}
        if node.outputs[i] in used or parameter in inside or parameter in others:
            continue
        del node.outputs[i], node.inputs[i + 2], body.parameters[i + 1], body.results[i + 1]
        changed = True
    return changed


def condition(block: Block, value: bool) -> Value:
    return block.constant(value, BOOL)


def integer(block: Block, value: int, place: Place | None = None) -> Value:
    return block.constant(value, INT, place)


def none(block: Block, place: Place | None = None) -> Value:
    return block.constant(None, NONE, place)
