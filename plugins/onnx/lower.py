"""From the records of several runs to one graph: merges their integers, and calls the translation of each node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import lamella
from onnx import helper

from .errors import OnnxExporterError, UnsupportedOperatorError, module_at
from .graph import Graph, Name, Result, named
from .record import NOTE, Node, Record, Value, values
from .sizes import Fit, Size, Source
from .table import Translation, find

# Arguments of the catalogue's operators that say where and how a result lies in memory, which a graph does not know, or
# what its dtype is, which a translation finds in g.result.
IGNORED = {"device", "layout", "pin_memory", "memory_format", "non_blocking", "copy", "cudnn_enabled", "cudnn_enable",
           "dtype", "generator", "sparse", "scale_grad_by_freq", "sparse_grad", "implicit"}  # fmt: skip


def difference(first: Record, other: Record) -> str:
    """Returns how the operators of two runs differ, for an error; "" if they are the same."""
    for a, b in zip(first.nodes, other.nodes, strict=False):
        if (a.op, len(a.results)) != (b.op, len(b.results)):
            return f"{b.op} is called where {a.op} is called at the sizes of the example, in {module_at(a.path)}"
    if len(first.nodes) != len(other.nodes) or len(first.outputs) != len(other.outputs):
        return f"the module calls {len(other.nodes)} operators, and {len(first.nodes)} at the sizes of the example"
    return ""


def same_values(a: Any, b: Any) -> bool:
    return a.shape == b.shape and (a.is_meta or bool(lamella.equal(a, b)))


def numbers(given: list[Any]) -> Iterator[tuple[int, ...]]:
    """Yields the integers of an argument, each as a tuple of what it is in all runs."""
    if all(type(v) is int for v in given):
        yield tuple(given)
    elif all(isinstance(v, list) for v in given):
        for several in zip(*given, strict=False):
            yield from numbers(list(several))


class Lowering:
    """Writes the graph of the first of several records.

    Args:
        records: one for each run; all have the same nodes
        fit: finds the sizes that integers stand for
        opset: the version of ONNX's operators
        more: translations of this export, by the operator's full name
        keep: whether parameters and buffers are initializers with their values; otherwise they are inputs
    """

    def __init__(self, records: list[Record], fit: Fit, opset: int, more: Mapping[str, Translation], keep: bool):
        self.records, self.fit, self.more, self.keep = records, fit, more, keep
        self.first = records[0]
        self.graph = Graph(opset, fit)

    def run(self, outputs: list[str]) -> list[Name]:
        """Writes all nodes that the outputs need; returns the inputs. Outputs get the given names."""
        graph, first = self.graph, self.first
        for name in [v.name for v in first.values if v.name] + outputs:
            graph.free(name)
        for value in first.inputs:
            graph.values[value.number] = named(value.name, value.dtype, self._shape(value))
        made = {v.number: i for i, node in enumerate(first.nodes) for v in node.results}
        for i in sorted(self._needed(made)):
            self._write(i)
        for name, value in zip(outputs, first.outputs, strict=True):
            graph.nodes.append(_identity(self._operand(value), name))
        return [graph.values[v.number] for v in first.inputs]

    def shape_of_output(self, i: int) -> tuple[Any, ...]:
        return self._shape(self.first.outputs[i])

    def _constant(self, value: Value) -> bool:
        """Returns whether a value is the same constant in all runs."""
        if value.kind != "constant":
            return value.kind == "state"
        others = (r.values[value.number] for r in self.records[1:])
        return all(o.kind == "constant" and same_values(o.tensor, value.tensor) for o in others)

    def _needed(self, made: dict[int, int]) -> set[int]:
        """Returns the places of the nodes whose values the outputs are computed from, or whose sizes nodes read."""
        found: set[int] = set()
        waiting = list(self.first.outputs)
        while waiting:
            value = waiting.pop()
            i = made.get(value.number)
            if i is None or i in found or self._constant(value):
                continue
            found.add(i)
            waiting += values(self.first.nodes[i].given)
            givens = [r.nodes[i].given for r in self.records]
            for sizes in {v for name in givens[0] for v in numbers([given[name] for given in givens])}:
                if self.fit.find(sizes) is None:
                    waiting += self._of_size(sizes)
        return found

    def _of_size(self, sizes: tuple[int, ...]) -> list[Value]:
        """Returns the first value that has a dimension of some sizes in the runs; an empty list if there is none."""
        for several in zip(*(r.values for r in self.records), strict=False):
            if sizes in zip(*(v.shape for v in several), strict=False):
                return [several[0]]
        return []

    # ---- one node ----------------------------------------------------------------------------------------------------

    def _write(self, i: int) -> None:
        node, graph = self.first.nodes[i], self.graph
        translation = find(node.op, self.more)
        try:
            if translation is None:
                raise UnsupportedOperatorError(f"no translation to ONNX; {NOTE.format(name=node.op)}")
            others = [r.nodes[i].given for r in self.records[1:]]
            given = {n: self._merge([v, *(o[n] for o in others)], f"'{n}'") for n, v in node.given.items()}
            graph.path, graph.dtype = f"/{node.path.replace('.', '/')}" if node.path else "", node.results[0].dtype
            if node.dtype is not None:
                graph.dtype = node.dtype
                given = {n: self._converted(n, v) for n, v in given.items()}
            graph.results = [Result(v.dtype, self._shape(v)) for v in node.results]
            args, kwargs = _arguments(node, given)
            made = translation.function(graph, *args, **kwargs)
        except (TypeError, ValueError, OverflowError, OnnxExporterError) as error:
            kind = UnsupportedOperatorError if isinstance(error, UnsupportedOperatorError) else OnnxExporterError
            raise kind(f"export: {node.op}, which {module_at(node.path)} calls: {error}") from error
        for name, value in zip([made] if isinstance(made, str) else made, node.results, strict=True):
            if name is not None:
                shape = self._shape(value)
                known = getattr(name, "dtype", None)
                name = name if known in (None, value.dtype) else graph.cast(name, value.dtype)
                graph.values[value.number] = named(name, value.dtype, shape)

    def _converted(self, name: str, value: Any) -> Any:
        if not isinstance(value, Name) or name == "condition":
            return value
        return self.graph.cast(value, self.graph.dtype)

    def _shape(self, value: Value) -> tuple[Any, ...]:
        shapes = [r.values[value.number].shape for r in self.records]
        if len({len(s) for s in shapes}) > 1:
            raise OnnxExporterError(f"a tensor has {len(shapes[0])} dimensions, and another number at other sizes")
        sizes = zip(*shapes, strict=True)
        return tuple(self.fit.dimension(s, Source(value.number, d)) for d, s in enumerate(sizes))

    def _operand(self, value: Value) -> Name:
        graph = self.graph
        if value.number not in graph.values:
            if value.kind not in ("constant", "state") or not self._constant(value):
                raise OnnxExporterError("a constant tensor is another one at other sizes of the dynamic axes")
            if value.kind == "state" and not self.keep:
                graph.values[value.number] = named(value.name, value.dtype, value.shape)
            else:
                made = graph.initializer(value.name or "constant", value.tensor, bool(value.name))
                graph.values[value.number] = made
        return graph.values[value.number]

    def _merge(self, given: list[Any], what: str) -> Any:
        """Returns what an argument is in all runs: the same value, or a size that follows from the dynamic axes."""
        first = given[0]
        if isinstance(first, list):
            if len({len(v) for v in given}) > 1:
                raise OnnxExporterError(f"argument {what} has {len(first)} entries, and another number at other sizes")
            return [self._merge(list(vs), what) for vs in zip(*given, strict=True)]
        if isinstance(first, Value):
            return self._operand(first)
        if all(type(v) is type(first) and (v == first or v != v) for v in given):
            return first
        whole = all(type(v) is int or (type(v) is float and v.is_integer()) for v in given)
        found = self.fit.find([int(v) for v in given]) if whole else None
        if found is None:
            raise OnnxExporterError(
                f"argument {what} is {', '.join(map(str, given))} at sizes {', '.join(map(str, self.fit.runs))}, "
                "which is neither a constant, nor linear in the sizes, nor the size of a tensor"
            )
        return found


def _identity(source: str, name: str) -> Any:
    return helper.make_node("Identity", [source], [name], name=f"{name}/Identity")


def _arguments(node: Node, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Returns the arguments of a translation, without those that it need not know, and those at their default."""
    if node.about is None:
        return list(given.values()), {}
    ignored = IGNORED if node.op.startswith("aten::") else ()
    args: list[tuple[Any, bool]] = []
    kwargs = {}
    for a in node.about.arguments:
        if a.name in ignored or a.name not in given:
            continue
        value = given[a.name]
        default = a.has_default and not isinstance(value, Name | Size) and value == a.default
        if not a.keyword_only:
            args.append((value, default))
        elif not default:
            kwargs[a.name] = value
    while args and args[-1][1]:
        args.pop()
    return [value for value, _ in args], kwargs
