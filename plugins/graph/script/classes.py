"""Classes whose objects scripts make: attributes, methods with inheritance, and interfaces."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import lamella.plugins.graph.script.hints as hints
import lamella.plugins.graph.script.source as source
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.errors import ScriptError
from lamella.plugins.graph.script.functions import read_type
from lamella.plugins.graph.script.hints import AnnotationError
from lamella.plugins.graph.script.statics import Method, Sequence
from lamella.plugins.graph.script.types import Object, Type, shown


class ClassInfo:
    """What the objects of a Python class have in a script.

    Args:
        program: the program that the class is a part of
        python: the class
        name: its name in the program
    """

    is_module = False
    is_interface = False

    def __init__(self, program: Any, python: type, name: str):
        self.program, self.python = program, python
        self.type = Object(name, self)
        self.attributes: dict[str, Type] = {}
        self.ready = False
        """Whether ``__init__`` is compiled, so that all attributes are known."""
        self.making = False

    def read_annotations(self) -> None:
        """Takes the attributes that the class and its bases annotate."""
        for c in reversed(inspect.getmro(self.python)[:-1]):
            for name, found in inspect.get_annotations(c).items():
                t = self.annotated(c, found)
                if t is not None:
                    self.attributes[name] = t

    def annotated(self, c: type, found: Any) -> Type | None:
        try:
            if isinstance(found, str):
                function = next((f for f in vars(c).values() if inspect.isfunction(f)), None)
                node = ast.parse(found, mode="eval").body
                module = inspect.getmodule(c)
                found = hints.evaluate(node, function) if function else eval(found, vars(module) if module else {})
            return hints.type_of(self.program, found)
        except (AnnotationError, NameError, SyntaxError, TypeError):
            return None

    def compile_init(self, f: Any) -> None:
        """Compiles ``__init__``, whose assignments to ``self`` make the attributes."""
        if self.ready or self.making:
            return
        self.making = True
        self.read_annotations()
        if self.method("__init__") is not None:
            for name, (node, function) in source.attribute_annotations(self.python).items():
                info = self.program.method_function(f, self.type, "__init__", function)
                self.attributes[name] = read_type(self.program, info, node)
            init = self.method("__init__")
            made = self.program.method_function(f, self.type, "__init__", init)
            self.program.compile(f, made)
        self.ready, self.making = True, False

    # ---- lookup ----

    def method(self, name: str) -> Any:
        """Returns the function of a method; None if there is none. ``object``'s own methods are none."""
        for c in inspect.getmro(self.python):
            if c is not object and name in vars(c):
                found = vars(c)[name]
                found = getattr(found, "__func__", found)
                return found if inspect.isfunction(found) else None
        return None

    def owner_of(self, name: str) -> type | None:
        """Returns the class in which an attribute of the class is written."""
        return next((c for c in inspect.getmro(self.python) if name in vars(c)), None)

    def attribute(self, f: Any, base: Value, name: str) -> Any:
        """Returns an attribute of an object; None if it has none of this name."""
        if not self.ready:
            self.compile_init(f)
        if name in self.attributes:
            return f.one("prim::GetAttr", [base], self.attributes[name], name=name)
        return self.of_class(f, base, name)

    def of_class(self, f: Any, base: Value, name: str) -> Any:
        """Returns a method, a property's value or a constant of the class."""
        found = inspect.getattr_static(self.python, name, None)
        if found is None or (self.owner_of(name) is object):
            return None
        if isinstance(found, property):
            return f.call_thing(Method(base, name, found.fget), [], {})
        function = self.method(name)
        if function is not None:
            return Method(base, name, function)
        return self.program.static(f, getattr(self.python, name))

    def attribute_to_set(self, f: Any, name: str, value: Any, declared: Type | None, node: ast.AST) -> Type:
        """Returns the type of an attribute that is assigned; ``__init__`` makes new ones."""
        if name in self.attributes:
            return self.attributes[name]
        inside = f.function.owner is not None and f.function.name.endswith(".__init__") and self.making
        if not inside:
            raise f.error(f"{self.type.name} has no attribute '{name}'; its __init__ has to make it", node)
        made = f.value(value, node)
        self.attributes[name] = declared or made.type
        return self.attributes[name]

    def why_not(self, name: str) -> str:
        """Returns why an attribute of the Python object is none in a script; empty if there is no such attribute."""
        return ""

    def admits(self, given: Object) -> bool:
        """Returns whether an object of another class is one of this."""
        python = getattr(given.info, "python", None)
        return isinstance(python, type) and issubclass(python, self.python) and not given.info.is_module

    def is_a(self, wanted: Type) -> bool:
        """Returns whether objects of this class are of a type."""
        return isinstance(wanted, Object) and (wanted is self.type or wanted.info.admits(self.type))

    def sequence(self, f: Any, value: Value) -> Sequence | None:
        """Returns the modules of a container; None for another class."""
        return None

    def text(self) -> str:
        """Returns the class as the text of programs has it."""
        lines = "".join(f"  {name} : {t}\n" for name, t in self.attributes.items())
        return f"class {self.type.name} {{\n{lines}}}\n"


class InterfaceInfo(ClassInfo):
    """A class under ``jit.interface``: an object of it is one of any class that has its methods."""

    is_interface = True

    def __init__(self, program: Any, python: type, name: str):
        super().__init__(program, python, name)
        self.ready = True
        self.checking: set[str] = set()

    def admits(self, given: Object) -> bool:
        """Returns whether a class has the methods, with the same types; they become a part of the program."""
        if given.info.is_interface:
            return given is self.type
        if given.name in self.checking:
            return True
        self.checking.add(given.name)
        try:
            return all(self.fits(given, name, f) for name, f in vars(self.python).items() if inspect.isfunction(f))
        finally:
            self.checking.discard(given.name)

    def fits(self, given: Object, name: str, wanted: Any) -> bool:
        function = given.info.method(name)
        if function is None:
            return False
        own = self.program.method_function(None, self.type, name, wanted)
        other = self.program.method_function(None, given, name, function)
        if [str(p.type) for p in own.parameters] != [str(p.type) for p in other.parameters]:
            return False
        try:
            self.program.compile(None, other)
        except ScriptError:
            return False
        result = other.declared or other.returned
        return own.declared is None or (result is not None and str(result) == str(own.declared))

    def text(self) -> str:
        return ""


__all__ = ["ClassInfo", "InterfaceInfo", "shown"]
