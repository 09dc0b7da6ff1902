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
from lamella.plugins.graph.script.markers import Attribute
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
        return {n[len(prefix) :]: f for n, f in self.functions.items() if n.startswith(prefix) and not f.static}


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
    once = {id(t): t for t in every}  # most attributes share few types
    return [t for found in once.values() for t in walk(found) if isinstance(t, Enum)]


class _Objects:
    """Makes the program's objects of modules, each once."""

    def __init__(self, program: Any, compiled: Compiled):
        self.program = program
        self.infos = {id(module): info for module, info in compiled.modules}
        self.made: dict[int, Any] = {}
        self.plans: dict[int, tuple[list[str], list[str], dict[str, values.Change]]] = {}

    def plan(self, info: Any) -> tuple[list[str], list[str], dict[str, values.Change]]:
        """Returns a class's attributes that may be modules, the others, and the changes of their values."""
        found = self.plans.get(id(info))
        if found is None:
            objects = [n for n, t in info.attributes.items() if isinstance(t, Object)]
            others = [n for n in info.attributes if n not in objects]
            changes = {n: values.to_program(info.attributes[n]) for n in others}
            found = objects, others, {n: change for n, change in changes.items() if change is not None}
            self.plans[id(info)] = found
        return found

    def of(self, module: nn.Module) -> Any:
        found = self.made.get(id(module))
        if found is not None:
            return found
        info = self.infos[id(module)]
        objects, others, changes = self.plan(info)
        attributes = {name: getattr(module, name) for name in others}
        for name in objects:
            if name in module._modules:
                child = module._modules[name]
                attributes[name] = self.of(child if id(child) in self.infos else vars(child).get("_python", child))
            else:
                attributes[name] = getattr(module, name)
        if Attribute in map(type, attributes.values()):
            attributes = {n: v.value if type(v) is Attribute else v for n, v in attributes.items()}
        for name, change in changes.items():
            attributes[name] = change(attributes[name])
        found = self.made[id(module)] = self.program.new_object(info.type.name, attributes)
        return found


def objects_of(program: Any, compiled: Compiled, root: nn.Module) -> tuple[Any, dict[int, Any]]:
    """Makes the program's objects of a module and those in it.

    Returns:
        the object of ``root``, and every object by the id() of its module.
    """
    objects = _Objects(program, compiled)
    return objects.of(root), objects.made


__all__ = ["Description", "ModuleClass", "describe", "objects_of"]
