"""Which numbers of a recorded graph depend on the sizes of its inputs.

A function is recorded by shape alone, with other sizes, and the graphs are compared. A number that is a multiple of one
size plus a constant becomes an expression of the graph; other differences are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lamella import Tensor

from ._python import Graph, Node, Value


@dataclass(frozen=True)
class Size:
    """A size of an input: the tensor by its number among the inputs' tensors, and the dimension."""

    tensor: int
    dim: int


@dataclass
class Operand:
    """An input of a node: a constant's value, or the number of a node and of its output."""

    constant: Any = None
    source: tuple[int, int] | None = None


def operators(graph: Graph) -> tuple[list[Node], list[list[Operand]]]:
    """Returns the nodes of a graph but for constants, and their operands."""
    nodes: list[Node] = []
    operands: list[list[Operand]] = []
    known: dict[str, Operand] = {v.name: Operand(source=(-1, i)) for i, v in enumerate(graph.inputs())}
    for n in graph.nodes():
        if n.op == "prim::Constant":
            (made,) = n.outputs()
            # A device is no number, and is another one in recordings by shape.
            known[made.name] = Operand(constant=None if made.type == "Device" else n.attributes.get("value"))
            continue
        operands.append([known[v.name] for v in n.inputs()])
        for i, v in enumerate(n.outputs()):
            known[v.name] = Operand(source=(len(nodes), i))
        nodes.append(n)
    return nodes, operands


def place(n: Node) -> str:
    """Returns the place of a node as `` at FILE:LINE``, or nothing."""
    return f" at {n.source[0]}:{n.source[1]}" if n.source else ""


class Sizes:
    """Compares the recording of a function with recordings for other sizes.

    Args:
        graph: the graph that was recorded
        tensors: the tensors of its inputs, and `values` their values in the graph
        names: the names of the inputs, for reports
        again: records the function by shape for tensors of other sizes; returns the graph
    """

    def __init__(self, graph: Graph, tensors: list[Tensor], values: list[Value], names: list[str],
                 again: Callable[[list[tuple[int, ...]]], Graph]):  # fmt: skip
        self.graph, self.tensors, self.values, self.names, self.again = graph, tensors, values, names, again
        self.nodes, self.operands = operators(graph)
        self.reports: list[str] = []
        # By node and input, and by the element of a list: the sizes that the number depends on, with the factor and
        # the rest, or None where it is no such expression.
        self.found: dict[tuple[int, int, int], dict[Size, tuple[int, int] | None]] = {}

    def run(self) -> list[str]:
        """Makes expressions of the numbers that depend on one size; returns the reports of the others."""
        by_size: dict[int, list[Size]] = {}
        for t, x in enumerate(self.tensors):
            for d, n in enumerate(x.shape):
                if n > 0:
                    by_size.setdefault(n, []).append(Size(t, d))
        for n, group in by_size.items():
            if not self.vary(group, n) and len(group) > 1:
                for size in group:
                    self.vary([size], n)
        self.replace()
        return list(dict.fromkeys(self.reports))

    def name(self, size: Size) -> str:
        return f"size {size.dim} of input '{self.names[size.tensor]}'"

    def vary(self, group: list[Size], n: int) -> bool:
        """Records with other sizes; returns whether the function admits them."""
        graphs = []
        for factor in (2, 3):
            shapes = [list(x.shape) for x in self.tensors]
            for s in group:
                shapes[s.tensor][s.dim] = factor * n
            try:
                graphs.append(self.again([tuple(s) for s in shapes]))
            except Exception:  # the function says no: this size is fixed
                return False
        others = [operators(g) for g in graphs]
        for nodes, operands in others:
            for k, (a, b) in enumerate(zip(self.nodes, nodes, strict=False)):
                same = a.op == b.op and a.overload == b.overload and len(self.operands[k]) == len(operands[k])
                if not same:
                    self.reports.append(f"trace: the operators depend on {self.name(group[0])}: they differ from "
                                        f"operator {k} on ({a.op}{place(a)}; {b.op} for another size)")  # fmt: skip
                    return True
            if len(nodes) != len(self.nodes):
                self.reports.append(f"trace: the number of operators depends on {self.name(group[0])}")
                return True
        for k in range(len(self.nodes)):
            for i, mine in enumerate(self.operands[k]):
                self.compare(k, i, [mine.constant, *(o[k][i].constant for _, o in others)], group[0], n)
        return True

    def compare(self, k: int, i: int, constants: list[Any], size: Size, n: int) -> None:
        """Notes which numbers of an operand change with a size."""
        if constants[0] == constants[1] == constants[2]:
            return
        lists = [c if isinstance(c, list) else [c] for c in constants]
        if len({len(c) for c in lists}) > 1:
            lists = [[None]] * 3
        for e, (a, b, c) in enumerate(zip(*lists, strict=True)):
            if a == b == c and a is not None:
                continue
            whole = all(type(x) is int for x in (a, b, c))
            linear = whole and c - b == b - a and (b - a) % n == 0
            factor = (b - a) // n if linear else 0
            entry = e if isinstance(constants[0], list) else -1
            self.found.setdefault((k, i, entry), {})[size] = (factor, a - factor * n) if linear else None

    def replace(self) -> None:
        """Puts expressions in the place of numbers that are a multiple of one size plus a constant."""
        lists: dict[tuple[int, int], dict[int, Value]] = {}
        for (k, i, entry), sizes in self.found.items():
            node = self.nodes[k]
            if len(sizes) > 1 or None in sizes.values():
                names = " and ".join(map(self.name, sizes))
                text = f"trace: a number of {node.op}{place(node)} depends on {names}, and is kept as it is"
                self.reports.append(text)
                continue
            ((size, line),) = sizes.items()
            assert line is not None
            made = self.expression(node, size, *line)
            if entry < 0:
                node.replace_input(i, made)
            else:
                lists.setdefault((k, i), {})[entry] = made
        for (k, i), entries in lists.items():
            node = self.nodes[k]
            numbers = self.operands[k][i].constant
            values = [entries.get(e) or self.constant(node, x) for e, x in enumerate(numbers)]
            made = self.graph.insert("prim::ListConstruct", values, ["int[]"], before=node).outputs()[0]
            node.replace_input(i, made)

    def constant(self, before: Node, x: int) -> Value:
        made = self.graph.insert("prim::Constant", [], ["int"], before=before)
        made.set_attribute("value", x)
        return made.outputs()[0]

    def expression(self, before: Node, size: Size, factor: int, rest: int) -> Value:
        dim = self.constant(before, size.dim)
        v = self.graph.insert("aten::size.int", [self.values[size.tensor], dim], ["int"], before=before).outputs()[0]
        if factor != 1:
            v = self._int("aten::mul.int", v, factor, before)
        return self._int("aten::add.int", v, rest, before) if rest else v

    def _int(self, op: str, v: Value, x: int, before: Node) -> Value:
        return self.graph.insert(op, [v, self.constant(before, x)], ["int"], before=before).outputs()[0]
