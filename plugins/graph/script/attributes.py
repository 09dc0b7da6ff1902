"""Attributes: of Python's modules and classes, of tensors, of objects, of containers."""

from __future__ import annotations

import ast
import enum
import inspect
from typing import Any

import lamella.plugins.graph.script.members as members
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.indexing import Indexing
from lamella.plugins.graph.script.statics import BuiltinMethod, Known, Method, Python, Sequence, SuperOf
from lamella.plugins.graph.script.types import (
    COMPLEX,
    DEVICE,
    DTYPE,
    INT,
    TENSOR,
    Dict,
    Enum,
    List,
    Object,
    Optional,
    Tuple,
    Type,
    Union,
    named,
    shown,
)


class Attributes(Indexing):
    """Compiles ``base.name``."""

    def attribute(self, base: Any, name: str, node: ast.AST | None = None) -> Any:  # type: ignore[override]
        """Returns the attribute of a compiled expression."""
        found = self.find_attribute(base, name)
        if found is not None:
            return found
        if isinstance(base, Python):
            raise self.error(f"{base.what} has no attribute '{name}'", node)
        if isinstance(base, Value):
            t = base.type
            if isinstance(t, (Optional, Union)):
                raise self.error(
                    f"{named(t)} has no attribute '{name}' before its type is known; check it by 'is not None' or "
                    "isinstance first",
                    node,
                )
            if isinstance(t, Object):
                why = t.info.why_not(name)
                raise self.error(f"{t.name} has no attribute '{name}'" + (f": {why}" if why else ""), node)
            raise self.error(f"{named(t)} has no attribute '{name}' in a script", node)
        raise self.error(f"{base.what} has no attribute '{name}'", node)

    def find_attribute(self, base: Any, name: str) -> Any:
        """Returns an attribute; None if there is none."""
        if isinstance(base, Python):
            return self.of_python(base, name)
        if isinstance(base, SuperOf):
            function = self.super_method(base, name)
            return None if function is None else Method(base.self, name, function)
        if isinstance(base, Sequence):
            return self.of_container(base, name)
        if not isinstance(base, Value):
            return None
        t = base.type
        if t == TENSOR:
            return self.of_tensor(base, name)
        if isinstance(t, Object):
            return t.info.attribute(self, base, name)
        if isinstance(t, Tuple) and name in t.fields:
            index = t.fields.index(name)
            if base.items is not None:
                return base.items[index]
            return self.one("prim::TupleIndex", [base], t.items[index], index=index)
        if isinstance(t, Enum) and name in ("name", "value"):
            if isinstance(base.constant, enum.Enum):
                return self.constant(getattr(base.constant, name))
            texts = self.constant([getattr(m, name) for m in t.members])
            return self.op("aten::__getitem__", texts, self.as_int(base))
        if name in members.PROPERTIES.get(t, ()):
            return self.op(members.PROPERTIES[t][name], base)
        if name in members.methods_of(t):
            return BuiltinMethod(base, name)
        return None

    def as_int(self, member: Value) -> Value:
        """Returns the number of an enum's member."""
        return self.one("prim::unchecked_cast", [member], INT)

    def of_python(self, base: Python, name: str) -> Any:
        try:
            found = getattr(base.object, name)
        except AttributeError:
            return None
        return self.program.static(self, found)

    def of_tensor(self, base: Value, name: str) -> Any:
        if name in members.TENSOR_PROPERTIES:
            found = members.TENSOR_PROPERTIES[name]
            return found(self, base) if callable(found) else self.op(found, base)
        return BuiltinMethod(base, name) if members.is_tensor_method(name) else None

    def of_container(self, base: Sequence, name: str) -> Any:
        if base.owner is not None and (base.keys is None or name not in ("keys", "values", "items")):
            return base.owner.type.info.attribute(self, base.owner, name)  # type: ignore[attr-defined]
        if base.keys is None:
            return None
        keys = [self.constant(k) for k in base.keys]
        if name == "items":
            return Known(Sequence(tuple(Sequence(pair) for pair in zip(keys, base.items, strict=True))))
        return Known(Sequence(tuple(keys) if name == "keys" else base.items))

    def super_method(self, base: SuperOf, name: str) -> Any:
        """Returns the function that ``super().name`` is; the classes behind the one of the method are searched."""
        python = base.self.type.info.python  # type: ignore[attr-defined]
        order = inspect.getmro(python)
        for c in order[order.index(base.after) + 1 :]:
            if name in vars(c):
                found = vars(c)[name]
                return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
        return None

    # ---- assignment ----

    def assign_attribute(self, node: ast.Attribute, value: Any, declared: Type | None = None) -> None:
        """Compiles ``base.name = value``."""
        base = self.expression(node.value)
        if not isinstance(base, Value) or not isinstance(base.type, Object):
            what = shown(base.type) if isinstance(base, Value) else base.what
            raise self.error(f"attributes of {what} cannot be assigned; those of modules and objects can", node)
        wanted = base.type.info.attribute_to_set(self, node.attr, value, declared, node)
        made = self.converted(self.value(value, node), wanted, lambda: f"the attribute '{node.attr}'")
        self.add("prim::SetAttr", [base, made], name=node.attr)


__all__ = ["COMPLEX", "DEVICE", "DTYPE", "Attributes", "Dict", "List"]
