"""Descriptions of programs: what calls from Python and modules around objects need besides graphs.

Scripting, tracing and loading make them, and saving writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import lamella.plugins.graph.jit.values as values
from lamella import nn
from lamella.plugins.graph.script import Compiled
from lamella.plugins.graph.script.functions import Function
from lamella.plugins.graph.script.types import Enum, Object, Type, walk


@dataclass
class ModuleClass:
    """A class of modules of a program."""

    name: str
    original: str
    """The name of the class of Python."""
    attributes: dict[str, Type]
    """The types of the attributes that are in the program."""
    parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    """Parameters, buffers and submodules, in order; one that is no attribute is None."""
    transient: tuple[str, ...] = ()
    """The buffers that state_dict() does not have."""
    constants: dict[str, Any] = field(default_factory=dict)
    """Attributes that are in no graph, since their values are known."""


@dataclass
class Description:
    """What a program is, as Python sees it."""

    main: str
    """The name of the function, or of the module's class."""
    functions: dict[str, Function]
    """Functions and methods by their names in the program: parameters with types and defaults, and the result."""
    classes: dict[str, ModuleClass] = field(default_factory=dict)
    """The classes of modules by name."""
    enums: dict[str, Enum] = field(default_factory=dict)
    callables: dict[str, Callable] = field(default_factory=dict)
    """Functions of Python that the program calls."""
    written: set[str] | None = None
    """The names of attributes that methods assign, once they are known."""

    def methods(self, name: str) -> dict[str, Function]:
        """Returns the methods of a class by their names in it."""
        prefix = f"{name}."
        found = {n: f for n, f in self.functions.items() if n.startswith(prefix) and not f.static}
        return {n.removeprefix(prefix): f for n, f in found.items()}


def describe(compiled: Compiled) -> Description:
    """Returns the description of a compiled or recorded program."""
    classes: dict[str, ModuleClass] = {}
    for module, info in compiled.modules:
        if info.type.name not in classes:
            classes[info.type.name] = _class_of(module, info)
    enums = {t.name: t for t in _enums_of(compiled, classes)}
    return Description(compiled.main, compiled.functions, classes, enums, compiled.callables)


def _class_of(module: nn.Module, info: Any) -> ModuleClass:
    transient = tuple(n for n in module._buffers if n in module._non_persistent_buffers_set)
    parts = tuple(module._parameters), tuple(module._buffers), tuple(module._modules), transient
    original = vars(module).get("_original", type(module).__name__)
    return ModuleClass(info.type.name, original, info.attributes, *parts, info.constants)


def _enums_of(compiled: Compiled, classes: dict[str, ModuleClass]) -> list[Enum]:
    every: list[Type] = [t for c in classes.values() for t in c.attributes.values()]
    for f in compiled.functions.values():
        every += [t for t in (f.declared, f.returned, *(p.type for p in f.parameters)) if t is not None]
    return [t for found in every for t in walk(found) if isinstance(t, Enum)]


def objects_of(program: Any, compiled: Compiled, root: nn.Module) -> tuple[Any, dict[int, Any]]:
    """Makes the program's objects of a module and those in it.

    Returns:
        the object of ``root``, and every object by the id() of its module.
    """
    infos = {id(module): info for module, info in compiled.modules}
    made: dict[int, Any] = {}

    def object_of(module: nn.Module) -> Any:
        if id(module) not in made:
            info = infos[id(module)]
            attributes = {}
            for name, t in info.attributes.items():
                if isinstance(t, Object) and name in module._modules:
                    child = module._modules[name]
                    attributes[name] = object_of(child if id(child) in infos else vars(child).get("_python", child))
                else:
                    change = values.to_program(t)
                    value = getattr(module, name)
                    value = getattr(value, "value", value) if type(value).__name__ == "Attribute" else value
                    attributes[name] = change(value) if change else value
            made[id(module)] = program.new_object(info.type.name, attributes)
        return made[id(module)]

    return object_of(root), made


__all__ = ["Description", "ModuleClass", "describe", "objects_of"]
