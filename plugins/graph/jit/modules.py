"""Scripted modules: what ``jit.script`` makes of a module."""

from __future__ import annotations

import copy
import functools
import pickle
import re
from collections.abc import Callable, Collection
from typing import Any

import lamella.plugins.graph.jit.values as values
from lamella import nn
from lamella.plugins.graph import _python
from lamella.plugins.graph.jit.copying import copy_of_module
from lamella.plugins.graph.jit.description import Description, ModuleClass, describe, objects_of
from lamella.plugins.graph.jit.functions import callable_of
from lamella.plugins.graph.script import Compiled, compile_module
from lamella.plugins.graph.script.functions import Function


class _Members(dict):
    """The parameters or the buffers of a scripted module by name; the program's object gets what is put here."""

    def __init__(self, object: Any, names: Collection[str], found: dict[str, Any]):
        super().__init__(found)
        self.object, self.names = object, names

    def __setitem__(self, name: str, value: Any) -> None:
        if name in self.names:
            setattr(self.object, name, value)
        super().__setitem__(name, value)


class ScriptModule(nn.Module):
    """A module whose methods a program runs without Python; ``jit.script`` makes it.

    Its parameters and buffers are those of the module that it was made of, and its submodules are scripted, too.
    Attributes are read from the program's object and written to it. ``graph`` is the graph of ``forward``.

    >>> net = lamella.jit.script(lamella.nn.Linear(3, 2))
    >>> net(lamella.ones(1, 3)).shape
    lamella.Size([1, 2])
    """

    _object: Any = None
    _original = "ScriptModule"

    def __init__(
        self,
        description: Description | None = None,
        program: Any = None,
        object: Any = None,
        originals: dict[Any, nn.Module] | None = None,
        making: _Making | None = None,
    ):
        if description is None:  # a class of the user with methods under script_method, which its first call compiles
            super().__init__()
            return
        own = description.classes[object._class]
        making = making or _Making(description, program)
        making.made[object] = self
        values_ = object._values(own.attributes)
        parameters = _Members(object, own.attributes, {name: values_.get(name) for name in own.parameters})
        buffers = _Members(object, own.attributes, {name: values_.get(name) for name in own.buffers})
        modules: dict[str, Any] = {}
        for name in own.modules:
            inner = values_.get(name)
            found = None if inner is None else making.made.get(inner)
            modules[name] = found or (inner and ScriptModule(description, program, inner, originals, making))
        state = self.__dict__
        state.update(making.states.get(own.name) or making.state_of(own))
        state["training"] = values_.get("training", True)
        state["_parameters"], state["_buffers"], state["_modules"] = parameters, buffers, modules
        state["_object"] = object
        if methods := making.methods[own.name]:
            state["_methods"] = {name: callable_of(program, f, object) for name, f in methods.items()}
        if own.transient:
            state["_non_persistent_buffers_set"] = set(own.transient)
        if originals is not None:
            state["_python"], state["_originals"] = originals[object], originals

    # ---- calls ----

    def _own_script(self) -> ScriptModule:
        """Returns the script of a module whose class has methods under ``script_method``."""
        found = self.__dict__.get("_own")
        if found is None or any(found._parameters.get(n) is not p for n, p in self._parameters.items()):
            found = script_module(self)
            self.__dict__["_own"] = found
        if found.training != self.training:
            found.train(self.training)
        return found

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the graph of ``forward``."""
        return self._run("forward", *args, **kwargs)

    def _run(self, name: str, *args: Any, **kwargs: Any) -> Any:
        call = self._methods.get(name)
        if call is None:
            raise AttributeError(f"{self._original} has no scripted method '{name}'; put it under jit.export")
        found = call(*args, **kwargs)
        for module in self._with_written():
            for buffer in module._written:
                dict.__setitem__(module._buffers, buffer, getattr(module._object, buffer))
        return found

    def _parts_to_save(self) -> tuple[Any, Any, Any, str]:
        """Returns the description, the program, the object, and the name of its class."""
        own = self._own_script() if self._object is None else self
        return own._description, own._program, own._object, own._class.name

    def _with_written(self) -> list[ScriptModule]:
        found = self.__dict__.get("_writers")
        if found is None:
            all_modules = self.modules() if self._description.written else ()
            found = [m for m in all_modules if isinstance(m, ScriptModule) and m.__dict__.get("_written")]
            self.__dict__["_writers"] = found
        return found

    # ---- attributes ----

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if name in own.get("_methods", ()):
            return lambda *args, **kwargs: self._run(name, *args, **kwargs)
        for place in ("_parameters", "_buffers", "_modules"):
            if name in own.get(place, ()):
                return own[place][name]
        info = own.get("_class")
        if info is not None and name in info.attributes:
            change = values.to_python(info.attributes[name])
            found = getattr(own["_object"], name)
            return change(found) if change else found
        if info is not None and name in info.constants:
            return info.constants[name]
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        info = own.get("_class")
        if own.get("_object") is None or info is None or name.startswith("__"):
            super().__setattr__(name, value)
            return
        if name in info.attributes and name not in self._modules:
            change = values.to_program(info.attributes[name])
            setattr(own["_object"], name, change(value) if change else value)
            if name not in self._parameters and name not in self._buffers and name != "training":
                return
        super().__setattr__(name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptModule:
        if self._object is not None:
            return copy_of_module(self, memo)
        made = memo[id(self)] = type(self).__new__(type(self))
        made.__dict__.update({k: copy.deepcopy(v, memo) for k, v in vars(self).items() if k != "_own"})
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        text = f"{type(self).__name__} ({self._original}) cannot be pickled; jit.save or its method save() write it"
        raise pickle.PicklingError(text)

    # ---- what it is ----

    @property
    def graph(self) -> Any:
        """The graph of ``forward``; calls of submodules are nodes in it."""
        if self._object is None:
            return self._own_script().graph
        return self._program.graph(f"{self._class.name}.forward")

    @property
    def inlined_graph(self) -> Any:
        """The graph of ``forward`` with the graphs of what it calls in the place of the calls."""
        if self._object is None:
            return self._own_script().inlined_graph
        copy = self._program.copy()
        copy.run_pass("inline")
        return copy.graph(f"{self._class.name}.forward")

    @property
    def code(self) -> str:
        """The text of the program: classes, then the graphs of functions and methods."""
        if self._object is None:
            return self._own_script().code
        return str(self._program)

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None, **options: Any) -> None:
        """Saves the module; see :func:`lamella.jit.save`."""
        from lamella.plugins.graph.jit.saving import save

        save(self, f, _extra_files, **options)

    @property
    def original_name(self) -> str:
        """The name of the class of the module that it was made of."""
        return self._original

    def __len__(self) -> int:
        return len(self._modules)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Any:
        return iter(self._modules.values())

    def __getitem__(self, key: Any) -> Any:
        return self._modules[key] if isinstance(key, str) else list(self._modules.values())[key]

    def _get_name(self) -> str:
        return f"ScriptModule(original_name={self._original})"


class ScriptMethod:
    """A method under ``script_method``: the first call compiles the module's methods."""

    def __init__(self, function: Callable):
        self.__func__ = function
        self._lamella_script = "export"
        functools.update_wrapper(self, function)  # type: ignore[arg-type]

    def __get__(self, module: Any, owner: Any = None) -> Any:
        if module is None:
            return self
        if not isinstance(module, ScriptModule):
            raise TypeError(f"script_method: {type(module).__name__} has to be a class of lamella.jit.ScriptModule")
        return functools.partial(module._own_script()._run, self.__func__.__name__)


class _Making:
    """Scripted modules while they are made: those that are there, by their objects, and what those of a class share."""

    def __init__(self, description: Description, program: Any):
        if description.written is None:
            description.written = _written(program)
        self.description, self.program, self.written = description, program, description.written
        self.made: dict[Any, ScriptModule] = {}
        self.states: dict[str, dict[str, Any]] = {}
        self.methods: dict[str, dict[str, Function]] = {}

    def state_of(self, own: ModuleClass) -> dict[str, Any]:
        self.methods[own.name] = self.description.methods(own.name)
        made = self.states[own.name] = {
            "_description": self.description,
            "_class": own,
            "_program": self.program,
            "_original": own.original,
            "_methods": {},
            "_written": self.written.intersection(own.buffers),
        }
        return made


def _written(program: Any) -> set[str]:
    """Returns the names of the attributes that methods of a program assign."""
    return set(re.findall(r'prim::SetAttr\[name="([^"]*)"', str(program)))


def freeze(mod: ScriptModule, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> ScriptModule:
    """Returns a scripted module whose parameters, buffers and other attributes are constants of its program.

    Branches that depend on them are decided. Attributes that methods assign, and ``preserved_attrs``, stay.

    Raises:
        TypeError: ``mod`` is no scripted module
        RuntimeError: it is in training

    >>> net = lamella.jit.script(lamella.nn.Linear(3, 2).eval())
    >>> "GetAttr" in str(net.graph), "GetAttr" in str(lamella.jit.freeze(net).graph)
    (True, False)
    """
    if not isinstance(mod, ScriptModule):
        raise TypeError(f"freeze: argument 'mod' has to be a ScriptModule, got {type(mod).__name__}; script it first")
    if mod.training:
        raise RuntimeError("freeze: the module is in training; call eval() first, since its mode becomes a constant")
    if "_python" not in vars(mod):
        raise RuntimeError("freeze: the module was loaded from a file; freeze it before it is saved")
    frozen = {id(m._python): m for m in mod.modules() if isinstance(m, ScriptModule)}
    kept = _written(mod._program) | set(preserved_attrs or ())
    return script_module(mod._python, frozen, kept)


def script_module(module: nn.Module, frozen: dict[int, Any] | None = None, kept: Collection[str] = ()) -> ScriptModule:
    """Returns the scripted form of a module."""
    compiled = compile_module(module, frozen, kept)
    originals: dict[Any, nn.Module] = {}
    callables = {n: _with_modules(f, originals) for n, f in compiled.callables.items()}
    program = _python.Program(compiled.text, compiled.constants, callables)
    return module_of(compiled, module, program, originals)


def module_of(
    compiled: Compiled,
    module: nn.Module,
    program: Any,
    originals: dict[Any, nn.Module] | None = None,
    written: set[str] | None = None,
) -> ScriptModule:
    """Returns the scripted module of a compiled or recorded one.

    Args:
        originals: gets the modules by the program's objects
        written: the names of attributes that methods assign, if they are known
    """
    object, made = objects_of(program, compiled, module)
    originals = {} if originals is None else originals
    for m, _ in compiled.modules:
        if id(m) in made:
            originals[made[id(m)]] = m
    description = describe(compiled)
    description.written = written
    return ScriptModule(description, program, object, originals)


def _with_modules(function: Callable, originals: dict[Any, Any]) -> Callable:
    """Returns a function of Python that gets the modules of Python in the place of the program's objects."""

    def call(*args: Any) -> Any:
        return function(*[originals.get(a, a) if isinstance(a, _python.Object) else a for a in args])

    return call
