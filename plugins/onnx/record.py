"""The recorder: a layer inside autograd that records the operators a module calls, as nodes with numbered values.

A graph has no writes. A write gives the tensor a new value instead, and so it does for every tensor over the same
memory: the value of the tensor that a view was made of follows by the inverse of the view (``writes.py``), and other
views are taken of it again when they are next read.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import lamella
from lamella import library
from lamella.library import Library

from .errors import OnnxExporterError, TracerWarning, UnsupportedOperatorError, module_at
from .writes import inverse

RANDOM = "random"
UNSET = "aten::empty"  # begins the names of the operators whose results have no values
NOTE = "lamella.onnx.register({name!r}, function) adds one"


@dataclass(eq=False)
class Value:
    """A tensor of the graph.

    ``kind`` is "input", "state" (a parameter or a buffer), "constant", "result", or "unset": the result of an ``empty``
    to which no recorded operator has written yet.
    """

    number: int
    kind: str
    shape: tuple[int, ...]
    dtype: lamella.dtype
    name: str = ""
    tensor: Any = None  # the values, if they do not depend on inputs


@dataclass(eq=False)
class Node:
    """One call of an operator in its functional form. ``given`` has Values in the place of tensors."""

    op: str
    given: dict[str, Any]
    results: list[Value]
    path: str
    about: Any = None  # its Description; None for a node that stands for a write
    dtype: Any = None  # the dtype in which a pointwise operator computes


@dataclass(eq=False)
class Known:
    """What is known of a tensor: its value, how many writes to the memory it includes, and the view that made it."""

    tensor: Any
    value: Value
    writes: int
    parent: Known | None = None
    node: Node | None = None
    source: Value | None = None  # the value of the parent in the node
    place: int = 0  # among the node's results


@dataclass
class Record:
    """What one run of a module has recorded."""

    nodes: list[Node] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)


def over(f: Callable[[Any], Any], value: Any) -> Any:
    """Applies ``f`` to each value of an argument; lists and tuples become lists."""
    return [over(f, v) for v in value] if isinstance(value, list | tuple) else f(value)


def tensors(*values: Any) -> Iterator[Any]:
    """Yields the tensors among values, also those in lists and tuples."""
    for value in values:
        if isinstance(value, lamella.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors(*value)


def share_memory(a: Any, b: Any) -> bool:
    """Returns whether the memory of two tensors overlaps, also where another library has given it away."""
    if a._storage_id() == b._storage_id():
        return True
    if a.is_opaque or b.is_opaque or a.device != b.device or a.is_meta:
        return False
    (p, n), (q, m) = ((s.data_ptr(), s.nbytes()) for s in (a.untyped_storage(), b.untyped_storage()))
    return p < q + m and q < p + n


def values(given: dict[str, Any]) -> Iterator[Value]:
    """Yields the values among the arguments of a node."""
    for v in given.values():
        yield from (x for x in (v if isinstance(v, list) else [v]) if isinstance(x, Value))


class Recorder:
    """Records the calls inside ``with recorder.on():``.

    Args:
        state: parameters and buffers by name
        translated: returns whether a call has a translation, given the operator's name and its arguments by name
        fold: whether operators on constants are computed now
    """

    def __init__(self, state: dict[str, Any], translated: Callable[[str, dict[str, Any]], bool], fold: bool = True):
        self.record = Record()
        self.translated, self.fold = translated, fold
        self.path = [""]
        self._within: list[str] = []  # the composites that are being taken apart
        self._known: dict[int, Known] = {}
        self._by_memory: dict[int, list[Known]] = {}
        self._writes: dict[int, int] = {}
        for name, tensor in state.items():
            if id(tensor) not in self._known:
                self._know(tensor, self._value(tensor, "state", name, tensor))

    def input(self, tensor: Any, name: str) -> None:
        value = self._value(tensor, "input", name)
        self.record.inputs.append(value)
        self._know(tensor, value)

    def output(self, tensor: Any) -> None:
        self.record.outputs.append(self.read(tensor))

    @contextmanager
    def on(self):
        owner = Library("onnx_recorder", "FRAGMENT")
        try:
            layer = owner.register_layer("onnx_recorder", self._see, at="backend", never_on_tensors=True)
            with layer.on():
                yield self
        finally:
            owner.close()

    # ---- values of tensors -------------------------------------------------------------------------------------------

    def _value(self, tensor: Any, kind: str, name: str = "", held: Any = None) -> Value:
        value = Value(len(self.record.values), kind, tuple(tensor.shape), tensor.dtype, name, held)
        self.record.values.append(value)
        return value

    def _know(self, tensor: Any, value: Value, **view: Any) -> Known:
        memory = tensor._storage_id()
        known = Known(tensor, value, self._writes.setdefault(memory, 0), **view)
        self._known[id(tensor)] = known
        self._by_memory.setdefault(memory, []).append(known)
        return known

    def _find(self, tensor: Any) -> Known | None:
        """Returns what is known of a tensor, or of another one with the same elements, as ``tensor.data`` is."""
        if known := self._known.get(id(tensor)):
            return known
        there = self._by_memory.get(tensor._storage_id(), ())
        return next((k for k in there if k.tensor.dtype is tensor.dtype and k.tensor.is_set_to(tensor)), None)

    def read(self, tensor: Any) -> Value:
        """Returns the value that a tensor has now.

        An ``empty`` that nothing recorded has written is a constant: composites make tensors of numbers by it.
        """
        known = root = self._known_of(tensor)
        while root.parent:
            root = root.parent
        if root.value.kind == "unset":
            known.value = self._value(tensor, "constant", held=tensor.detach().clone())
            return known.value
        return self._current(known)

    def _known_of(self, tensor: Any) -> Known:
        """Returns what is known of a tensor; one that nothing recorded has made is a constant."""
        known = self._find(tensor)
        if known is None:
            computed = (k for k in self._known.values() if k.value.kind in ("input", "result"))
            if any(share_memory(k.tensor, tensor) for k in computed):
                raise OnnxExporterError(
                    f"export: {self._where()} uses a tensor of shape {tuple(tensor.shape)} over the memory of another "
                    "one, and no recorded operator made it; use a view or a clone of the other tensor"
                )
            known = self._know(tensor, self._value(tensor, "constant", held=tensor.detach().clone()))
        return known

    def _current(self, known: Known) -> Value:
        writes = self._writes[known.tensor._storage_id()]
        if known.writes != writes and known.parent is not None:
            node, old, current = known.node, known.source, self._current(known.parent)
            assert node is not None
            again = {n: over(lambda v: current if v is old else v, value) for n, value in node.given.items()}
            results = [self._copy_of(v) for v in node.results]
            known.node, known.source = Node(node.op, again, results, node.path, node.about, node.dtype), current
            self.record.nodes.append(known.node)
            known.value = results[known.place]
        known.writes = writes
        if tuple(known.tensor.shape) != known.value.shape:
            raise OnnxExporterError(
                f"export: a tensor of shape {known.value.shape}, which {self._where()} uses, has changed its shape to "
                f"{tuple(known.tensor.shape)} in place; make a new tensor instead"
            )
        return known.value

    def _copy_of(self, value: Value) -> Value:
        made = Value(len(self.record.values), "result", value.shape, value.dtype)
        self.record.values.append(made)
        return made

    # ---- calls -------------------------------------------------------------------------------------------------------

    def _where(self) -> str:
        return module_at(self.path[-1])

    def _see(self, call: Any, *args: Any, **kwargs: Any) -> Any:
        about = library.describe(call)
        bound = about.bind(args, kwargs)
        op, written = functional(about), [t for a in about.arguments if a.written for t in tensors(bound[a.name])]
        outs = [a.name for a in about.arguments if a.written and a.keyword_only]
        bound = {name: value for name, value in bound.items() if name not in outs}
        read = list(tensors(*bound.values()))
        moved = about.category == "view"

        def value(v: Any) -> Any:
            if not isinstance(v, lamella.Tensor):
                return v
            return self._current(self._known_of(v)) if moved or any(v is w for w in written) else self.read(v)

        given = {name: over(value, v) for name, v in bound.items()}
        constant = self.fold and about.category != RANDOM and not op.startswith(UNSET)
        constant = constant and all(v.kind == "constant" for v in values(given))
        if not any(kind.startswith("Tensor") for kind in about.returns) and not written:
            return self._number(call, op, constant, args, kwargs)
        self._check_writes(op, written)
        turned = bool(written) and moved
        if not self.translated(op, bound):
            if turned:
                raise self._unsupported(op)
            try:
                return self._apart(call, op, args, kwargs)
            except UnsupportedOperatorError:
                if written or not constant:
                    raise  # else it is computed now, unless it turns out to follow dynamic axes
        node = Node(op, given, [], self.path[-1], about)
        before = written[0].detach() if turned else None
        made = call(*args, **kwargs)
        if about.category == "pointwise":
            node.dtype = computed_in(bound, next(tensors(made)).dtype)
        if before is not None:
            self._turned(written[0], before, node)
        elif written:
            self._written(written, node, constant)
        else:
            self._made(node, [t for t in tensors(made) if id(t) not in map(id, read)], read, constant)
        return made

    def _number(self, call: Any, op: str, constant: bool, args: Any, kwargs: Any) -> Any:
        if not constant:
            words = f"{self._where()} makes a Python number of a tensor by {op}; it is a constant in the exported graph"
            warnings.warn(f"export: {words}, which does not follow other inputs", TracerWarning, stacklevel=3)
        return call(*args, **kwargs)

    def _apart(self, call: Any, op: str, args: Any, kwargs: Any) -> Any:
        """Calls the operators that an operator is composed of, which come to the layer in their turn."""
        self._within.append(op)
        try:
            return call.decompose(*args, **kwargs)
        except NotImplementedError as error:
            raise self._unsupported(op) from error
        finally:
            self._within.pop()

    def _unsupported(self, op: str) -> UnsupportedOperatorError:
        outer = self._within[0] if self._within else op
        part = f" (a part of {outer})" if outer != op else ""
        return UnsupportedOperatorError(
            f"export: {op}{part}, which {self._where()} calls, has no translation to ONNX for these arguments; "
            f"{NOTE.format(name=outer)}"
        )

    def _check_writes(self, op: str, written: list[Any]) -> None:
        for t in written:
            there = self._by_memory.get(t._storage_id(), [])
            state = next((k.value for k in there if k.value.kind == "state"), None)
            if state:
                raise OnnxExporterError(
                    f"export: {self._where()} writes to {state.name!r} by {op}, and a graph of ONNX keeps nothing from "
                    "one run to the next; return the new value as an output, or export the module in eval mode"
                )

    # ---- results -----------------------------------------------------------------------------------------------------

    def _result(self, tensor: Any, constant: bool) -> Value:
        if constant:
            return self._value(tensor, "constant", held=tensor.detach().clone())
        return self._value(tensor, "result")

    def _made(self, node: Node, made: list[Any], read: list[Any], constant: bool) -> None:
        if not made:
            return
        viewed = {t._storage_id(): self._find(t) for t in read}
        node.results = [self._result(t, constant) for t in made]
        if node.op.startswith(UNSET):
            node.results[0].kind = "unset"
        self.record.nodes.append(node)
        for i, (t, value) in enumerate(zip(made, node.results, strict=True)):
            parent = viewed.get(t._storage_id())
            view = {"parent": parent, "node": node, "source": parent.value, "place": i} if parent else {}
            self._know(t, value, **view)

    def _turned(self, tensor: Any, before: Any, node: Node) -> None:
        """Records a view in place: the tensor becomes a view of what it was, which ``before`` is from now on."""
        known = self._find(tensor)
        assert known is not None
        known.tensor = before
        node.results = [self._result(tensor, known.value.kind == "constant")]
        self.record.nodes.append(node)
        self._know(tensor, node.results[0], parent=known, node=node, source=known.value)

    def _written(self, written: list[Any], node: Node, constant: bool) -> None:
        node.results = [self._result(t, constant) for t in written]
        self.record.nodes.append(node)
        for t, value in zip(written, node.results, strict=True):
            known = self._find(t)
            if known is None:  # a target that no operator has made, whose old values do not count
                self._know(t, value)
                continue
            chain = [known]
            while chain[-1].parent:
                chain.append(chain[-1].parent)
            old = [self._current(k) for k in chain]
            writes = self._writes[t._storage_id()] = self._writes[t._storage_id()] + 1
            known.value, known.writes = value, writes
            for view, parent, before in zip(chain, chain[1:], old[1:], strict=False):
                value = self._result(parent.tensor, True) if constant else self._back(view, before, value)
                parent.value, parent.writes = value, writes

    def _back(self, view: Known, parent: Value, new: Value) -> Value:
        """Records the inverse of a view, and returns the value of its parent after a write to the view."""
        found = inverse(view, parent, new)
        assert view.node is not None
        if found is None:
            raise UnsupportedOperatorError(
                f"export: {self._where()} writes through a view that {view.node.op} made, and there is no translation "
                "for such a write; write to a clone, or compute the new tensor and assign it"
            )
        op, given = found
        if not op:
            return new
        result = self._copy_of(parent)
        self.record.nodes.append(Node(op, given, [result], self.path[-1]))
        return result


def functional(about: Any) -> str:
    """Returns the full name of the operator without a write, "aten::fill.Scalar" for ``fill_``."""
    if about.form != "functional":
        return about.functional
    name = about.name
    if any(a.written for a in about.arguments):
        name = name.removesuffix("_")
    return f"{name}.{about.overload}" if about.overload else name


def computed_in(given: dict[str, Any], result: lamella.dtype) -> lamella.dtype:
    """Returns the dtype to which a pointwise operator promotes its operands, which is not a comparison's result's."""
    operands = [v for v in given.values() if isinstance(v, lamella.Tensor | int | float)]
    if result is not lamella.bool or not operands:
        return result
    return lamella.result_type(operands[0], operands[min(1, len(operands) - 1)])
