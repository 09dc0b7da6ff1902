"""The program that grows while functions, methods and modules are compiled, and its text."""

from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import lamella.plugins.graph.script.constants as constants
import lamella.plugins.graph.script.foreign as foreign
import lamella.plugins.graph.script.hints as hints
import lamella.plugins.graph.script.markers as markers
from lamella.plugins.graph.script.classes import ClassInfo, InterfaceInfo
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.errors import ScriptError
from lamella.plugins.graph.script.functions import Compiler, Function, read_signature
from lamella.plugins.graph.script.hints import AnnotationError
from lamella.plugins.graph.script.modules import ModuleInfo
from lamella.plugins.graph.script.source import Source, is_of_package
from lamella.plugins.graph.script.statics import Method, Python
from lamella.plugins.graph.script.types import RESERVED, Enum, Object, Tuple, Type, unify


@dataclass
class Compiled:
    """A compiled program: what the binding's ``Program`` takes, and what calls from Python need."""

    text: str
    constants: list[Any]
    callables: dict[str, Any]
    main: str
    """The name of the function, or of the module's class."""
    functions: dict[str, Function]
    """Functions and methods by their names in the program."""
    modules: list[tuple[Any, ModuleInfo]] = field(default_factory=list)
    """Each module once, with its class; a module stands behind those that it has."""
    enums: dict[str, type] = field(default_factory=dict)
    classes: dict[str, Any] = field(default_factory=dict)
    """Python's classes by the names of the program: of objects and of named tuples."""


class Builder:
    """Collects the functions and classes of a program."""

    def __init__(self, frozen: dict[int, Any] | None = None, kept: Collection[str] = ()) -> None:
        self.frozen, self.kept = frozen or {}, kept
        """Modules whose attributes are constants, by the ids of the modules; names of attributes that stay."""
        self.names: set[str] = set(RESERVED)
        self.functions: dict[Any, Function] = {}
        self.methods: dict[tuple[Object, str, Any], Function] = {}
        self.order: list[Function] = []
        self.classes: dict[type, ClassInfo] = {}
        self.enums: dict[type, Enum] = {}
        self.modules: dict[int, ModuleInfo] = {}
        self.listed: list[tuple[Any, ModuleInfo]] = []
        self.shared: dict[tuple, ModuleInfo] = {}
        self.tensors: list[Any] = []
        self.callables: dict[str, Any] = {}
        self.foreign: dict[int, foreign.Foreign] = {}
        self.foreign_functions: dict[str, Function] = {}
        """The functions and methods of programs that became a part of this one."""
        self.sources: dict[Any, Source] = {}
        self.hints: dict[type, tuple[dict[str, Type], set[str]]] = {}
        """The annotated attributes of classes of modules, and the names of those that are constants."""

    # ---- names, constants ----

    def unique(self, wish: str) -> str:
        """Returns a name that no function or class of the program has."""
        wish = re.sub(r"\W", "_", wish, flags=re.ASCII) or "f"
        name, n = wish, 0
        while name in self.names:
            n += 1
            name = f"{wish}_{n}"
        self.names.add(name)
        return name

    def constant(self, tensor: Any) -> int:
        """Returns the number of a tensor among the program's constants."""
        for i, t in enumerate(self.tensors):
            if t is tensor:
                return i
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def static(self, f: Any, found: Any) -> Any:
        """Returns what a Python object is in an expression: a constant, or a static."""
        if isinstance(found, (list, tuple, dict)) or isinstance(found, type):
            return Python(found)
        made = constants.value_of(f, found)
        return Python(found) if made is None else made

    # ---- types ----

    def annotation(self, python: Any, f: Any = None) -> Type:
        """Returns the type that a Python object stands for.

        Raises:
            ScriptError: it stands for none; with the place where ``f`` stands
        """
        try:
            return hints.type_of(self, python)
        except AnnotationError as error:
            raise (f.error(str(error)) if f is not None else ScriptError(str(error))) from None

    def python_annotation(self, node: ast.expr, f: Any) -> Any:
        """Returns the Python object of an expression such as ``List[int]``."""
        try:
            return hints.evaluate(node, inspect.unwrap(f.function.python))
        except AnnotationError as error:
            raise f.error(str(error), node) from None

    def enum_of(self, python: type) -> Enum:
        """Returns the type of an enumeration."""
        if python not in self.enums:
            found: Type | None = None
            for member in python:  # type: ignore[attr-defined]
                t = constants.type_of(self, member.value)
                found = t if found is None else unify(found, t) if t else None
                if found is None:
                    raise AnnotationError(f"the enum '{python.__name__}' has values of several types; they need one")
            assert found is not None
            self.enums[python] = Enum(self.unique(python.__name__), python, found)
        return self.enums[python]

    def class_of(self, python: type) -> Object:
        """Returns the type of a class's objects."""
        if python not in self.classes:
            if not inspect.getmodule(python) and "__main__" not in python.__module__ and not vars(python):
                raise AnnotationError(f"the class '{python.__name__}' is not admitted")
            kind = InterfaceInfo if vars(python).get("_lamella_interface") else ClassInfo
            self.classes[python] = kind(self, python, self.unique(python.__name__))
        return self.classes[python].type

    def module_type(self, module: Any) -> Object:
        """Returns the class of a module; that of a scripted one is compiled from its source again."""
        if foreign.is_recorded(module):
            return self.recorded_module(module)
        module = vars(module).get("_python", module)
        if id(module) not in self.modules:
            made = ModuleInfo(self, module, "?")
            key = made.key()
            if key not in self.shared:
                made.type.name = self.unique(type(module).__name__)
                self.shared[key] = made
            self.modules[id(module)] = self.shared[key]
            self.listed.append((module, self.shared[key]))
        return self.modules[id(module)].type

    def recorded(self, thing: Any) -> foreign.Foreign:
        """Returns the part of the program that a traced or loaded function or module is."""
        key = id(thing._description)
        if key not in self.foreign:
            self.foreign[key] = foreign.Foreign(self, thing)
        return self.foreign[key]

    def recorded_module(self, module: Any) -> Object:
        part = self.recorded(module)
        known = {id(m) for m, _ in self.listed}
        for m in module.modules():
            if id(m) not in known:
                self.listed.append((m, part.infos[m._class.name]))  # type: ignore[arg-type]
        return part.infos[module._class.name].type

    def recorded_function(self, target: Any) -> Function | None:
        """Returns the signature of a traced function; None for another object."""
        if not foreign.is_recorded(target):
            return None
        part = self.recorded(target)
        return self.foreign_functions[part.names[target._description.main]]

    # ---- functions ----

    def scripted(self, target: Any) -> Any:
        """Returns the Python function that is compiled for a call of an object; None if it is none."""
        import lamella.plugins.graph.script.library as library

        try:
            replaced = library.replacement(target)
        except TypeError:
            return None
        if replaced is not None:
            return replaced
        if foreign.is_recorded(target):
            return None
        target = getattr(target, "__script_source__", target)
        if isinstance(target, types.FunctionType):
            return target
        return None

    def is_library(self, python: Any) -> bool:
        """Returns whether a function is one of library.py, which takes an int for a float as operators do."""
        return getattr(python, "__module__", "").startswith("lamella.plugins.graph.script.library")

    def library_function(self, name: str) -> Any:
        import lamella.plugins.graph.script.library as library

        return getattr(library, name)

    def library(self, f: Any, name: str, args: list[Value]) -> Value:
        """Calls a function of library.py."""
        return f.call_function(self.library_function(name), args, {})

    def source(self, python: Any) -> Source:
        """Returns the source of a function, which is read once."""
        if python not in self.sources:
            self.sources[python] = Source(python, python.__name__)
        return self.sources[python]

    def is_template(self, target: Any) -> bool:
        """Returns whether calls of a function are compiled in their place: it is one of the package."""
        return isinstance(target, types.FunctionType) and is_of_package(target) and self.scripted(target) is target

    def function(self, f: Any, python: Any) -> Function:
        """Returns the signature of a function; its graph is compiled once a call needs it."""
        if python not in self.functions:
            made = Function(self.unique(python.__name__), python, Source(python, python.__name__))
            self.mark(made)
            read_signature(self, made, skip_self=False)
            self.functions[python] = made
        return self.functions[python]

    def mark(self, function: Function) -> None:
        mark = markers.mark_of(function.python)
        if mark in ("ignore", "unused"):
            function.ignored = True
            self.callables[function.name] = function.python if mark == "ignore" else _not_called(function.name)

    def method_signature(self, f: Any, method: Method) -> Function:
        return self.method_function(f, method.self.type, method.name, method.function)

    def method_function(self, f: Any, t: Any, name: str, python: Any) -> Function:
        """Returns the signature of a method of a class."""
        import lamella.plugins.graph.script.library as library

        if isinstance(python, Function):
            return python
        python = library.method(t.info.python, python)
        key = (t, name, python)
        if key not in self.methods:
            order = inspect.getmro(t.info.python)
            owner = next((c for c in order if _has(c, name, python)), None) or t.info.owner_of(name)
            own = library.method(t.info.python, t.info.method(name)) is python or name not in {
                k[1] for k in self.methods if k[0] is t
            }
            title = name if own or owner is None else f"{owner.__name__}_{name}"
            made = Function(f"{t.name}.{title}", python, Source(python, f"{t.info.python.__name__}.{name}"))
            made.self_type, made.owner = t, owner
            found = inspect.getattr_static(owner, name, None) if owner else None
            made.static = isinstance(found, staticmethod)
            if isinstance(found, property):
                found = found.fget
            self.mark(made)
            read_signature(self, made, skip_self=not made.static)
            self.methods[key] = made
        return self.methods[key]

    def returns(self, f: Any, function: Function) -> Type:
        """Returns the type of a function's result, and compiles the function."""
        if function.ignored:
            from lamella.plugins.graph.script.types import TENSOR

            return function.declared or TENSOR
        if function.self_type is not None and function.self_type.info.is_interface:  # type: ignore[attr-defined]
            if function.declared is None:
                raise f.error(f"{function.title} of an interface needs an annotation of its result")
            return function.declared
        if function.running:
            if function.declared is None:
                raise f.error(
                    f"{function.title} is called while its result is not known yet, since it calls itself; annotate "
                    f"the result: 'def {function.python.__name__}(...) -> ...:'"
                )
            return function.declared
        self.compile(f, function)
        assert function.returned is not None
        return function.declared or function.returned

    def compile(self, f: Any, function: Function) -> None:
        """Compiles a function, unless that is done or under way."""
        if function.block is not None or function.running or function.ignored or function.source is None:
            return
        function.running = True
        try:
            self.compiler(function).run()
        except ScriptError as error:
            own = None if f is None else f.reporter.place(f.at)
            if own is not None:
                error.args = (f"{error}\n  called from {f.reporter.name}\n{own.shown()}",)
            raise
        except RecursionError:
            raise ScriptError(f"{function.name}: the program is nested too deeply") from None
        finally:
            function.running = False
        self.order.append(function)

    def compiler(self, function: Function) -> Compiler:
        """Returns what compiles a function."""
        return Compiler(self, function)

    # ---- text ----

    def text(self, first: Function | None = None) -> str:
        """Returns the program's text: classes, then graphs, the main one first."""
        infos = [*self.classes.values(), *self.shared.values()]
        parts = [info.text() for info in infos if info.text()]
        others = "".join(part.text for part in self.foreign.values())
        parts += re.findall(r"^class .*?^}\n", others, re.M | re.S)
        order = [f for f in self.order if f is not first]
        if first is not None:
            order.insert(0, first)
        parts += [f"with {f.name} = {f.text()}\n" for f in order]
        parts += re.findall(r"^with .*?^}\n", others, re.M | re.S)
        return "".join(parts)

    def compiled(self, main: str, first: Function | None = None) -> Compiled:
        functions = {f.name: f for f in self.order} | self.foreign_functions
        python = {i.type.name: i.python for i in self.classes.values()}
        python |= {t.name: t.python for f in self.order for t in _named(f)}
        return Compiled(
            self.text(first),
            self.tensors,
            self.callables,
            main,
            functions,
            self.listed,
            {t.name: p for p, t in self.enums.items()},
            python,
        )


def _named(function: Function) -> list[Tuple]:
    from lamella.plugins.graph.script.types import walk

    types_ = [function.returned, function.declared, *[p.type for p in function.parameters]]
    return [t for found in types_ if found for t in walk(found) if isinstance(t, Tuple) and t.name]


def _has(c: type, name: str, python: Any) -> bool:
    for found in vars(c).values():
        inner = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
        if inner is python:
            return True
    return False


def _not_called(name: str) -> Any:
    def unused(*args: Any) -> Any:
        raise RuntimeError(f"{name} is under jit.unused, so that a script cannot call it")

    unused._lamella_unused = True  # type: ignore[attr-defined]
    return unused


def compile_function(python: Any) -> Compiled:
    """Compiles a function, and what it calls.

    Raises:
        ScriptError: the program is none of the scripted subset; the message shows the line
    """
    program = Builder()
    target = program.scripted(python)
    if target is None:
        raise ScriptError(f"{python!r:.60} cannot be scripted; a function, a class and a module can")
    function = program.function(None, target)
    if function.ignored:
        raise ScriptError(f"{function.name}: a function under jit.ignore or jit.unused cannot be scripted itself")
    program.compile(None, function)
    return program.compiled(function.name, function)


def compile_module(module: Any, frozen: dict[int, Any] | None = None, kept: Collection[str] = ()) -> Compiled:
    """Compiles a module: its ``forward``, the methods under ``jit.export``, and what they call.

    With ``frozen``, which has for the id of each module an object with its attributes, these are constants of the
    program, but for those whose names are in ``kept``.

    Raises:
        ScriptError: the program is none of the scripted subset; the message shows the line
    """
    program = Builder(frozen, kept)
    t = program.module_type(module)
    for _, info in list(program.listed):
        if isinstance(info, foreign.ForeignInfo):
            continue
        names = info.entries() if info is t.info else [n for n in info.entries() if n != "forward"]
        for name in names:
            program.compile(None, program.method_function(None, info.type, name, info.method(name)))
    return program.compiled(t.name)


def compile_class(python: type) -> Compiled:
    """Compiles a class: its ``__init__`` and its other methods.

    Raises:
        ScriptError: the program is none of the scripted subset; the message shows the line
    """
    program = Builder()
    try:
        t = program.class_of(python)
    except AnnotationError as error:
        raise ScriptError(str(error)) from None
    info = t.info
    if not info.is_interface:
        info.compile_init(None)
        for name in dir(python):
            function = info.method(name)
            if function is not None and name != "__init__":
                program.compile(None, program.method_function(None, t, name, function))
    return program.compiled(t.name)
