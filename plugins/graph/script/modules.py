"""Modules: their parameters, buffers, submodules and constants as attributes of a class of the program."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import lamella.plugins.graph.script.constants as constants
import lamella.plugins.graph.script.hints as hints
import lamella.plugins.graph.script.source as source
from lamella.nn.utils.parametrize import is_parametrized
from lamella.plugins.graph.script.classes import ClassInfo
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.errors import NotSupportedError, ScriptError
from lamella.plugins.graph.script.hints import AnnotationError
from lamella.plugins.graph.script.markers import Attribute, mark_of
from lamella.plugins.graph.script.source import is_of_package
from lamella.plugins.graph.script.statics import Method, Python, Sequence
from lamella.plugins.graph.script.types import ANY, NONE, TENSOR, Dict, List, Object, Type

# Attributes that every module has for Python's sake.
HIDDEN = frozenset({"_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_is_full_backward_hook"})


class ModuleInfo(ClassInfo):
    """What a module has in a script. Modules of one class with attributes of the same types share it.

    Args:
        module: the first module with these attributes
    """

    is_module = True

    def __init__(self, program: Any, module: Any, name: str):
        super().__init__(program, type(module), name)
        self.module = module
        self.ready = True
        self.constants: dict[str, Any] = {}
        """Attributes whose values are known: those under ``Final`` or in ``__constants__``, and those that are None."""
        self.statics: dict[str, Any] = {}
        """Attributes that are no values: functions."""
        self.refused: dict[str, str] = {}
        self.read()

    def read(self) -> None:
        """Finds the attributes of the module."""
        module, hints, final = self.module, *self.hints()
        for kind in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"):
            if vars(module).get(kind):
                text = f"{self.python.__name__}: the module has hooks, which a script would not call; remove them first"
                raise NotSupportedError(text)
        if is_parametrized(module):
            name = type(module).__bases__[0].__name__
            text = f"{name}: a parametrized module cannot be scripted; trace it, or call remove_parametrizations first"
            raise NotSupportedError(text)
        for name, value in module._parameters.items():
            self.put(name, value, TENSOR)
        for name, value in module._buffers.items():
            hint = hints.get(name, TENSOR)
            self.put(name, value, TENSOR if hint is ANY else hint)
        for name, value in module._modules.items():
            if value is None:
                self.constants[name] = None
            else:
                self.attributes[name] = (
                    hints[name] if self.is_interface_hint(hints, name) else self.program.module_type(value)
                )
        for name, value in vars(module).items():
            if name in HIDDEN or (name.startswith("_") and (name.endswith("_hooks") or "hook" in name)):
                continue
            self.read_value(name, value, hints, final)

    def is_interface_hint(self, hints: dict[str, Type], name: str) -> bool:
        t = hints.get(name)
        return isinstance(t, Object) and t.info.is_interface

    def put(self, name: str, value: Any, t: Type) -> None:
        if value is None and (t == TENSOR or is_of_package(self.python)):
            self.constants[name] = None
        else:
            self.attributes[name] = t

    def read_value(self, name: str, value: Any, hints: dict[str, Type], final: set[str]) -> None:
        if isinstance(value, Attribute):
            self.attributes[name] = self.program.annotation(value.type)
            return
        if is_of_package(self.python) and isinstance(value, list) and value and isinstance(value[0], str):
            self.statics[name] = value  # the names of a recurrent layer's weights
            return
        if name in hints and hints[name] is not ANY:
            self.attributes[name] = hints[name]
            if (
                name in final
                or is_of_package(self.python)
                and name != "training"
                and isinstance(value, (bool, int, float, str))
            ):
                self.constants[name] = value
            return
        t = constants.type_of(self.program, value)
        known = is_of_package(self.python) and name != "training" and not isinstance(value, (list, dict))
        if t == NONE:
            self.constants[name] = None
        elif t is not None:
            if name in final or known and t != TENSOR:
                self.constants[name] = value
            self.attributes[name] = t
        elif isinstance(value, list) and not value:
            self.attributes[name] = List(TENSOR)
        elif isinstance(value, dict) and not value:
            from lamella.plugins.graph.script.types import STR

            self.attributes[name] = Dict(STR, TENSOR)
        elif callable(value):
            self.statics[name] = value
        elif isinstance(value, (list, tuple)) and all(callable(v) for v in value):
            self.refused[name] = "a list of modules is admitted as a ModuleList only"
        else:
            self.refused[name] = (
                f"its value, of type {type(value).__name__}, has no type in scripts; numbers, texts, tensors, and "
                "lists, tuples and dicts of them have"
            )

    def hints(self) -> tuple[dict[str, Type], set[str]]:
        """Returns the types of annotated attributes, and the names of those that are constants."""
        if self.python not in self.program.hints:
            self.program.hints[self.python] = self.read_hints()
        return self.program.hints[self.python]

    def read_hints(self) -> tuple[dict[str, Type], set[str]]:
        types: dict[str, Type] = {}
        final: set[str] = set()
        for c in reversed(inspect.getmro(self.python)):
            if c.__module__.startswith("lamella.nn.modules.module") or c is object:
                continue
            final |= set(vars(c).get("__constants__", ()))
            for name, found in inspect.get_annotations(c).items():
                text = found if isinstance(found, str) else ""
                if typing.get_origin(found) is typing.Final or found is typing.Final or "Final" in text:
                    final.add(name)
                t = self.annotated(c, found)
                if t is not None:
                    types[name] = t
            for name, (node, function) in source.attribute_annotations(c).items():
                try:
                    found = hints.evaluate(node, function)
                    if found is typing.Final or typing.get_origin(found) is typing.Final:
                        final.add(name)
                    types[name] = hints.type_of(self.program, found)
                except AnnotationError:
                    continue
        return types, final

    def key(self) -> tuple:
        """Returns what modules that share this class have in common."""
        return (
            self.python,
            id(self.module) if id(self.module) in self.program.frozen else None,
            tuple(self.module._parameters),
            tuple((n, n in self.module._non_persistent_buffers_set) for n in self.module._buffers),
            tuple(self.module._modules),
            tuple((n, t if isinstance(t, Object) else str(t)) for n, t in self.attributes.items()),
            tuple((n, repr(v)) for n, v in self.constants.items()),
            tuple((n, tuple(v) if isinstance(v, list) else id(v)) for n, v in self.statics.items()),
        )

    # ---- lookup ----

    def attribute(self, f: Any, base: Value, name: str) -> Any:
        if name == "_modules":
            names = [n for n, m in self.module._modules.items() if m is not None]
            return Sequence(tuple(self.child(f, base, n) for n in names), tuple(names))
        if name == "_parameters":
            names = list(self.module._parameters)
            return Sequence(tuple(self.attribute(f, base, n) for n in names), tuple(names))
        if name in self.constants:
            return self.program.static(f, self.constants[name])
        frozen = self.program.frozen.get(id(self.module))
        if frozen is not None and name in self.attributes and name not in self.program.kept:
            if not isinstance(self.attributes[name], Object):
                return self.program.static(f, getattr(frozen, name))
        if name in self.attributes:
            made = f.one("prim::GetAttr", [base], self.attributes[name], name=name)
            if isinstance(made.type, Object):
                return made.type.info.sequence(f, made) or made
            return made
        if name in self.statics:
            return Python(self.statics[name])
        return self.of_class(f, base, name)

    def attribute_to_set(self, f: Any, name: str, value: Any, declared: Any, node: Any) -> Type:
        if name in self.constants and self.constants[name] is not None:
            raise f.error(
                f"the attribute '{name}' is a constant, by Final or __constants__, and cannot be assigned", node
            )
        if name not in self.attributes:
            why = ""
            if name in self.constants:
                why = "; it is None: annotate it with Optional in the class"
            raise f.error(f"{self.type.name} has no attribute '{name}' to assign; __init__ has to make it{why}", node)
        return self.attributes[name]

    def why_not(self, name: str) -> str:
        return self.refused.get(name, "")

    def admits(self, given: Object) -> bool:
        return False

    def sequence(self, f: Any, value: Value) -> Sequence | None:
        from lamella import nn

        if not isinstance(self.module, (nn.ModuleList, nn.Sequential, nn.ModuleDict, nn.ParameterList)):
            return None
        if type(self.module).forward is not nn.Module.forward and not isinstance(self.module, nn.Sequential):
            return None
        if isinstance(self.module, nn.ParameterList):
            names = [str(i) for i in range(len(self.module))]
            return Sequence(tuple(self.child(f, value, n) for n in names), None, value)
        names = list(self.module._modules)
        items = tuple(self.child(f, value, n) for n in names)
        keys = tuple(names) if isinstance(self.module, nn.ModuleDict) else None
        return Sequence(items, keys, value)

    def child(self, f: Any, value: Value, name: str) -> Any:
        made = f.one("prim::GetAttr", [value], self.attributes[name], name=name)
        return (made.type.info.sequence(f, made) or made) if isinstance(made.type, Object) else made

    def entries(self) -> list[str]:
        """Returns the names of the methods to compile: ``forward``, and those under ``jit.export``."""
        from lamella import nn

        found = []
        if type(self.module).forward is not nn.Module.forward:
            found.append("forward")
        named: dict[str, Any] = {}
        for c in reversed(inspect.getmro(self.python)):
            named.update(vars(c))
        return found + sorted(n for n, f in named.items() if mark_of(f) == "export" and n not in found)


__all__ = ["Method", "ModuleInfo", "ScriptError"]
