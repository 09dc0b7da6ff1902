"""Subscripts: of tensors as views and index operators, of lists, texts, tuples, dictionaries and containers.

Note [Indices of tensors]  Integers, slices, None and ... become views, one after another: select, slice, unsqueeze.
  Then index.Tensor or index_put_ take the index tensors together. The binding's indexing.cpp does the same for Python.
  A dimension behind index tensors is counted when the graph runs, since a mask stands for as many as it has. Behind
  an ellipsis dimensions are counted from the end.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.expressions import BINARY, TENSOR_BINARY
from lamella.plugins.graph.script.statics import Python, Sequence
from lamella.plugins.graph.script.texts import Texts
from lamella.plugins.graph.script.types import (
    BOOL,
    INT,
    NONE,
    NUMBERS,
    SCALAR,
    STR,
    TENSOR,
    Dict,
    List,
    Object,
    Optional,
    Tuple,
    is_subtype,
    named,
)


class Indexing(Texts):
    """Compiles subscripts, read and written."""

    def subscript(self, node: ast.Subscript) -> Any:  # type: ignore[override]
        base = self.expression(node.value)
        if isinstance(base, Python) and isinstance(base.object, (list, tuple, dict)):
            found = self.known_item(base.object, node)
            if found is not None:
                return found
        if isinstance(base, Python) and not isinstance(base.object, (list, tuple, dict, str)):
            return Python(self.program.python_annotation(node, self))
        if isinstance(base, Sequence):
            return self.of_sequence(base, node)
        value = self.value(base, node.value)
        t = value.type
        if t == TENSOR:
            view, indices = self.tensor_view(value, node.slice)
            return view if indices is None else self.op("aten::index", view, indices)
        if isinstance(t, Tuple):
            return self.of_tuple(value, t, node.slice)
        if isinstance(t, Dict):
            return self.op("aten::__getitem__", value, self.key(t, node.slice))
        if isinstance(t, List) or t == STR:
            if isinstance(node.slice, ast.Slice):
                return self.op("aten::slice", value, *self.bounds(node.slice))
            return self.op("aten::__getitem__", value, self.position(node.slice))
        if isinstance(t, Object):
            return self.method(value, "__getitem__", [self.evaluated(node.slice)], {})
        if isinstance(t, Optional):
            raise self.error(f"{named(t)} has no elements before it is known not to be None", node)
        raise self.error(f"{named(t)} has no elements", node)

    def known_item(self, container: Any, node: ast.Subscript) -> Any:
        """Returns an element of a container of Python whose index is known; None if it is not."""
        if isinstance(node.slice, ast.Slice):
            return None
        index = self.expression(node.slice)
        key = index.constant if isinstance(index, Value) else getattr(index, "object", None)
        if not isinstance(key, (bool, int, str)):
            return None
        try:
            return self.program.static(self, container[key])
        except (KeyError, IndexError):
            raise self.error(f"there is no element {key!r}", node) from None

    def key(self, t: Dict, node: ast.expr) -> Value:
        key = self.evaluated(node, t.key)
        return self.converted(key, t.key, lambda: "the key of the dictionary")

    def position(self, node: ast.expr) -> Value:
        index = self.evaluated(node)
        if index.type not in (INT, TENSOR):
            raise self.error(f"an index of a list or a text is an int, got {named(index.type)}", node)
        return index

    def bounds(self, node: ast.Slice) -> list[Value]:
        """Returns start, stop and step of a slice."""
        found = [self.evaluated(e) if e else self.constant(None) for e in (node.lower, node.upper)]
        found.append(self.evaluated(node.step) if node.step else self.constant(1))
        if found[2].type == NONE:
            found[2] = self.constant(1)
        return found

    def constant_index(self, node: ast.expr, what: str) -> Any:
        index = self.evaluated(node)
        if not isinstance(index.constant, (int, str)):
            raise self.error(f"an index of {what} has to be known without running: a number, not a variable", node)
        return index.constant

    def of_tuple(self, value: Value, t: Tuple, node: ast.expr) -> Value:
        if isinstance(node, ast.Slice):
            given = [node.lower, node.upper, node.step]
            bounds = [self.constant_index(e, "a tuple") if e else None for e in given]
            return self.tuple_of(self.unpacked(value)[slice(*bounds)])
        index = self.constant_index(node, "a tuple")
        if not isinstance(index, int) or not -len(t.items) <= index < len(t.items):
            raise self.error(f"index {index} is outside of a tuple with {len(t.items)} items", node)
        index %= len(t.items)
        if value.items is not None:
            return value.items[index]
        return self.one("prim::TupleIndex", [value], t.items[index], index=index)

    def of_sequence(self, base: Sequence, node: ast.Subscript) -> Any:
        if isinstance(node.slice, ast.Slice):
            given = [node.slice.lower, node.slice.upper, node.slice.step]
            bounds = [self.constant_index(e, base.what) if e else None for e in given]
            return Sequence(base.items[slice(*bounds)], base.keys and base.keys[slice(*bounds)])
        index = self.constant_index(node.slice, base.what)
        if isinstance(index, str):
            if base.keys is None or index not in base.keys:
                raise self.error(f"the container has no module '{index}'", node)
            return base.items[base.keys.index(index)]
        if not -len(base.items) <= index < len(base.items):
            raise self.error(f"index {index} is outside of a container with {len(base.items)} items", node)
        return base.items[index]

    # ---- tensors ----

    def tensor_view(self, value: Value, node: ast.expr) -> tuple[Value, Value | None]:
        """Applies integers, slices, None and ...; returns the view, and the list of index tensors if there are some."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        ellipses = [i for i, p in enumerate(parts) if isinstance(p, ast.Constant) and p.value is Ellipsis]
        behind = parts[ellipses[0] + 1 :] if ellipses else []
        behind = [p for p in behind if not (isinstance(p, ast.Constant) and p.value is Ellipsis)]
        view = _View(self, value)
        prepared = [self.index_of(p) for p in parts[: ellipses[0] if ellipses else len(parts)]]
        last = [self.index_of(p) for p in behind]
        for index in prepared:
            view.apply(index)
        if ellipses:
            view.apply_from_end(last)
        return view.value, view.indices()

    def index_of(self, node: ast.expr) -> Any:
        """Returns an index: a slice's three bounds, an int or a tensor, or None for a new dimension."""
        if isinstance(node, ast.Slice):
            return self.bounds(node)
        thing = self.expression(node)
        if isinstance(thing, Python) and isinstance(thing.object, slice):
            raise self.error("slice() is not admitted as an index; write it with ':'", node)
        value = self.value(thing, node)
        if value.type == NONE:
            return None
        if value.type == SCALAR:
            return self.op("aten::Int", value)
        if value.type == BOOL or isinstance(value.type, List):
            made = self.op("aten::tensor", value)
            return made
        if value.type in (INT, TENSOR):
            return value
        raise self.error(
            f"{named(value.type)} is no index of a tensor; an int, a slice, None, '...', a list of ints, and a "
            "tensor of integers or bools are",
            node,
        )

    # ---- assignment ----

    def assign_item(self, node: ast.Subscript, value: Value) -> None:
        """Compiles ``base[index] = value``."""
        base = self.evaluated(node.value)
        t = base.type
        if t == TENSOR:
            self.assign_elements(*self.tensor_view(base, node.slice), value, node)
        elif isinstance(t, Dict):
            key = self.key(t, node.slice)
            self.op("aten::_set_item", base, key, self.converted(value, t.value, lambda: "the dictionary's value"))
        elif isinstance(t, List) and isinstance(node.slice, ast.Slice):
            value = self.converted(value, t, lambda: "the slice of the list")
            self.op("aten::_set_slice", base, *self.bounds(node.slice), value)
        elif isinstance(t, List):
            value = self.converted(value, t.element, lambda: "the element of the list")
            self.op("aten::_set_item", base, self.position(node.slice), value)
        elif isinstance(t, Object):
            self.method(base, "__setitem__", [self.evaluated(node.slice), value], {})
        else:
            raise self.error(f"elements of {named(t)} cannot be assigned", node)

    def assign_elements(self, view: Value, indices: Value | None, value: Value, node: ast.AST) -> None:
        """Writes to a view of a tensor, or to those of its elements that index tensors choose."""
        if value.type in NUMBERS:
            if indices is None:
                self.op("aten::fill_", view, value)
                return
            device, dtype = self.op("prim::device", view), self.op("prim::dtype", view)
            value = self.op("aten::full", self.list_of([], INT), value, dtype=dtype, device=device)
        elif value.type != TENSOR:
            raise self.error(f"elements of a tensor become a number or a tensor, not {named(value.type)}", node)
        elif indices is None:
            self.op("aten::copy_", view, value)
            return
        else:
            value = self.op("aten::to", value, self.op("prim::dtype", view))
        self.op("aten::index_put_", view, indices, value)

    def augment_item(self, node: ast.Subscript, operation: ast.operator, right: Callable[[], Value]) -> None:
        """Compiles ``base[index] += value``; elements of a tensor are changed in place."""
        base = self.evaluated(node.value)
        t = base.type
        if t == TENSOR:
            view, indices = self.tensor_view(base, node.slice)
            taken = view if indices is None else self.op("aten::index", view, indices)
            changed = self.in_place(operation, taken, right())
            if indices is not None:
                self.op("aten::index_put_", view, indices, changed)
            return
        if isinstance(t, Dict):
            index: Value = self.key(t, node.slice)
            wanted, what = t.value, "the dictionary's value"
        elif isinstance(t, List) and not isinstance(node.slice, ast.Slice):
            index, wanted, what = self.position(node.slice), t.element, "the element of the list"
        else:
            raise self.error(f"elements of {named(t)} cannot be changed so", node)
        old = self.op("aten::__getitem__", base, index)
        new = self.augmented(operation, old, right())
        self.op("aten::_set_item", base, index, self.converted(new, wanted, lambda: what))

    def augmented(self, operation: ast.operator, old: Value, right: Value) -> Value:
        """Returns ``old += right``: tensors and lists are changed in place."""
        if old.type == TENSOR:
            return self.in_place(operation, old, right)
        if isinstance(old.type, List) and isinstance(operation, (ast.Add, ast.Mult)):
            right = self.converted(right, old.type, lambda: "the list") if isinstance(operation, ast.Add) else right
            return self.op("aten::add_" if isinstance(operation, ast.Add) else "aten::mul_", old, right)
        return self.binary(operation, old, right)

    def in_place(self, operation: ast.operator, tensor: Value, right: Value) -> Value:
        name, sign = BINARY[type(operation)]
        if name == "matmul":
            return self.binary(operation, tensor, right)
        return self.operate(f"aten::{TENSOR_BINARY.get(name, name)}_", f"{sign}=", tensor, right)

    def delete_item(self, node: ast.Subscript) -> None:
        """Compiles ``del base[index]``."""
        base = self.evaluated(node.value)
        if isinstance(base.type, Dict):
            self.op("aten::Delete", base, self.key(base.type, node.slice))
        elif isinstance(base.type, List) and isinstance(node.slice, ast.Slice):
            self.op("aten::Delete", base, *self.bounds(node.slice))
        elif isinstance(base.type, List):
            self.op("aten::Delete", base, self.position(node.slice))
        else:
            raise self.error(f"elements of {named(base.type)} cannot be deleted; those of lists and dicts can", node)


class _View:
    """A tensor while indices are applied to it."""

    def __init__(self, f: Indexing, value: Value):
        self.f, self.value = f, value
        self.dim: int = 0
        """The next dimension, without those that `masks` stand for."""
        self.masks: list[Value] = []
        """The index tensors so far; each may be a mask of several dimensions."""
        self.entries: list[Value | None] = []
        self.tail: list[Value | None] = []
        self.open = False
        """Whether dimensions lie between the entries and the tail."""

    def at(self) -> Value:
        """Returns the next dimension: a constant, or a sum that is computed if index tensors stand before it."""
        at = self.f.constant(self.dim)
        for mask in self.masks:
            at = self.f.op("aten::add", at, self.f.program.library(self.f, "dims_of_index", [mask]))
        return at

    def apply(self, index: Any) -> None:
        if isinstance(index, Value) and index.type == TENSOR:
            self.entries.append(index)
            self.masks.append(index)
            return
        if self.change(index, self.at()):
            self.dim += 1
            self.entries.append(None)

    def change(self, index: Any, at: Value) -> bool:
        """Applies an index that makes a view at a dimension; returns whether the dimension stays."""
        if index is None:
            self.value = self.f.op("aten::unsqueeze", self.value, at)
            return True
        if isinstance(index, list):
            constants = [v.constant for v in index]
            if constants != [None, None, 1]:
                self.value = self.f.op("aten::slice", self.value, at, *index)
            return True
        self.value = self.f.op("aten::select", self.value, at, index)
        return False

    def apply_from_end(self, indices: list[Any]) -> None:
        """Applies the indices behind an ellipsis, the last one first."""
        self.open = True
        dim = -1
        for index in reversed(indices):
            if isinstance(index, Value) and index.type == TENSOR:
                self.tail.insert(0, index)
                dim -= 1
                continue
            if any(e is not None for e in self.tail) and index is not None:
                raise self.f.error("behind '...', ints and slices before an index tensor are not admitted")
            if self.change(index, self.f.constant(dim)):
                self.tail.insert(0, None)
                dim -= 1

    def indices(self) -> Value | None:
        """Returns the list of index tensors, with None for the dimensions between them; None if there are none."""
        f, t = self.f, Optional(TENSOR)
        while not self.open and self.entries and self.entries[-1] is None:
            self.entries.pop()
        if not any(self.entries) and not any(self.tail):
            return None
        front = f.list_of([e or f.constant(None) for e in self.entries], t)
        if not self.tail:
            return front
        known = f.op("aten::add", self.at(), f.constant(len([e for e in self.tail if e is None])))
        for e in self.tail:
            known = f.op("aten::add", known, f.program.library(f, "dims_of_index", [e])) if e else known
        between = f.op("aten::sub", f.op("aten::dim", self.value), known)
        empty = f.op("aten::mul", f.list_of([f.constant(None)], t), between)
        tail = f.list_of([e or f.constant(None) for e in self.tail], t)
        return f.op("aten::add", f.op("aten::add", front, empty), tail)


__all__ = ["Indexing", "is_subtype"]
