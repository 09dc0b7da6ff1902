"""The program that grows of the code of a ``.pt``: its classes, functions and constants."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

from lamella.plugins.graph import _python
from lamella.plugins.graph.jit.type_texts import TypeTexts
from lamella.plugins.graph.script.classes import ClassInfo
from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.functions import Compiler, Function, Parameter
from lamella.plugins.graph.script.program import Builder
from lamella.plugins.graph.script.statics import Method, Sequence
from lamella.plugins.graph.script.types import NONE, Enum, Object, Type, is_subtype
from lamella.plugins.graph.torch_files.annotations import read_type
from lamella.plugins.graph.torch_files.syntax import Code, Definition, FunctionSource, dotted
from lamella.plugins.graph.torch_files.zips import OPERATORS, TorchZip

# The names that the body of a class assigns for its own sake.
LISTS = ("__parameters__", "__buffers__")
HOOKS = ("__forward_hooks__", "__forward_pre_hooks__")
HIDDEN = "_is_full_backward_hook"


class TorchClass(ClassInfo):
    """A class of the code: of modules, of objects, or an interface."""

    def __init__(self, program: Any, definition: Definition, base: str):
        super().__init__(program, object, program.unique(definition.name.rpartition(".")[2]))
        self.definition, self.ready = definition, True
        self.is_module, self.is_interface = base == "Module", base in ("Interface", "ModuleInterface")
        self.constants: dict[str, Any] = {}
        """Attributes whose values are known: those that are None, and those under Final."""
        self.lists: dict[str, list[str]] = {name: [] for name in LISTS}
        self.methods: dict[str, Function] = {}
        self.chosen: dict[str, Type] = {}
        """The classes of attributes whose type in the file is an interface."""

    @property
    def original(self) -> str:
        """The name of the class of Python."""
        return self.definition.name.rpartition(".")[2]

    def read(self) -> None:
        """Reads the body: attributes with types, constants, names of parameters and buffers, and methods."""
        file = self.definition.file
        for part in self.definition.tree.body:
            if isinstance(part, ast.FunctionDef):
                self.add_method(part)
            elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                self.add_attribute(part.target.id, part.annotation, part.value)
            elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Subscript):
                self.add_attribute(_text(part.targets[0].slice), part.value, None)
            elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                name, value = part.targets[0].id, part.value
                if name in HOOKS and isinstance(value, ast.List) and value.elts:
                    raise file.fail(part, f"{self.original} has hooks, which are not read; remove them before saving")
                if name in LISTS and isinstance(value, ast.List):
                    self.lists[name] = [_text(e) for e in value.elts]
            elif not isinstance(part, ast.Pass):
                raise file.fail(part, "a class has attributes and methods alone")

    def add_attribute(self, name: str, annotation: ast.expr, value: ast.expr | None) -> None:
        if name == HIDDEN:
            return
        if not re.fullmatch(r"\w+", name, re.ASCII):
            raise self.definition.file.fail(annotation, f"{name[:80]!r} is no name of an attribute")
        t = self.program.read_type(annotation, self.definition.file)
        if value is not None:
            try:
                self.constants[name] = _literal(value, self.definition.file)
            except ValueError:
                return  # inf and nan are constants of the graphs that use them
        elif t == NONE:
            self.constants[name] = None
        else:
            self.attributes[name] = t

    def add_method(self, tree: ast.FunctionDef) -> None:
        made = self.program.signature(f"{self.type.name}.{tree.name}", self.definition, tree)
        if not tree.args.args:
            raise self.definition.file.fail(tree, "a method has 'self' as its first parameter")
        made.self_type = self.type
        made.parameters.pop(0)
        self.methods[tree.name] = made

    # ---- lookup ----

    def attribute(self, f: Any, base: Value, name: str) -> Any:
        if name in self.attributes:
            return f.one("prim::GetAttr", [base], self.attributes[name], name=name)
        if name in self.methods:
            return Method(base, name, self.methods[name])
        return self.program.static(f, self.constants[name]) if name in self.constants else None

    def attribute_to_set(self, f: Any, name: str, value: Any, declared: Type | None, node: ast.AST) -> Type:
        if name not in self.attributes:
            raise f.error(f"{self.type.name} has no attribute '{name}' to assign", node)
        return self.attributes[name]

    def method(self, name: str) -> Any:
        return self.methods.get(name)

    def owner_of(self, name: str) -> type | None:
        return None

    def compile_init(self, f: Any) -> None:
        pass

    def admits(self, given: Object) -> bool:
        """Returns whether an object of another class has the methods of this interface."""
        if not self.is_interface or not isinstance(given.info, TorchClass):
            return False
        return all(self.fits(m, given.info.methods.get(name)) for name, m in self.methods.items())

    def fits(self, wanted: Function, given: Function | None) -> bool:
        if given is None or wanted.declared is None or given.declared is None:
            return False
        same = [p.type for p in wanted.parameters] == [p.type for p in given.parameters]
        return same and is_subtype(given.declared, wanted.declared)

    def sequence(self, f: Any, value: Value) -> Sequence | None:
        return None

    def text(self) -> str:
        return "" if self.is_interface else super().text()


class TorchProgram(Builder):
    """The functions and classes of a program of torch, which are read when something names them.

    Args:
        code: the definitions
        constants: the values that the code names as ``CONSTANTS.c0``, ``CONSTANTS.c1`` and so on
        version: the version of torch's operators
    """

    def __init__(self, code: Code, constants: tuple[Any, ...], version: int = OPERATORS):
        super().__init__()
        self.code, self.values, self.version = code, constants, version
        self.types: dict[str, Type] = {}
        self.of_code: dict[str, Function] = {}
        self.texts = TypeTexts([], {})
        self.left = code.forms + 100_000
        """The number of expressions and of parts of types that may still be compiled. Loops are compiled again for
        wider types, and a short name stands for a type of many parts."""

    # ---- types ----

    def read_type(self, node: ast.expr, file: Any) -> Type:
        found = read_type(node, file, self.named)
        self.left -= found.size
        return found

    def named(self, name: str) -> Type | None:
        """Returns the type of a class by its full name; None if the code has none of this name."""
        if name not in self.types:
            definition = self.code.classes.get(name)
            if definition is None:
                return None
            self.types[name] = self.class_type(definition)
        return self.types[name]

    def class_type(self, definition: Definition) -> Type:
        tree, file = definition.tree, definition.file
        assert isinstance(tree, ast.ClassDef)
        base = dotted(tree.bases[0]) if tree.bases else ""
        original = definition.name.rpartition(".")[2]
        try:
            if base == "NamedTuple":
                fields = [p for p in tree.body if isinstance(p, ast.AnnAssign) and isinstance(p.target, ast.Name)]
                types = [self.read_type(p.annotation, file) for p in fields]
                return self.texts.tuple_of(original, [p.target.id for p in fields], types)  # type: ignore[union-attr]
            if base == "Enum":
                return self.enum_type(original, definition)
        except ValueError as error:
            raise file.fail(tree, str(error)) from None
        if base not in ("Module", "Interface", "ModuleInterface", ""):
            raise file.fail(tree, f"a class under {base} is none that torch writes")
        info = TorchClass(self, definition, base)
        self.types[definition.name] = info.type
        self.classes[info] = info  # type: ignore[index]
        info.read()
        return info.type

    def modules_of_code(self) -> list[TorchClass]:
        """Returns the classes of modules that something has named."""
        infos = [info for info in self.classes.values() if isinstance(info, TorchClass)]
        return [info for info in infos if info.is_module and not info.is_interface]

    def enum_type(self, original: str, definition: Definition) -> Enum:
        members = []
        for part in definition.tree.body:
            if not isinstance(part, ast.Assign) or not isinstance(part.targets[0], ast.Name):
                raise definition.file.fail(part, "an enum has members alone")
            members.append((part.targets[0].id, _literal(part.value, definition.file)))
        name = self.unique(original)
        made = TypeTexts([], {name: (original, members)}).enums[name]
        self.enums[made.python] = made
        return made

    # ---- functions ----

    def function_named(self, name: str) -> Function | None:
        """Returns the signature of a function by its full name; None if the code has none of this name."""
        if name not in self.of_code:
            definition = self.code.functions.get(name)
            if definition is None:
                return None
            assert isinstance(definition.tree, ast.FunctionDef)
            short = self.unique(name.rpartition(".")[2])
            self.of_code[name] = self.signature(short, definition, definition.tree)
        return self.of_code[name]

    def signature(self, name: str, definition: Definition, tree: ast.FunctionDef) -> Function:
        """Returns a function with its parameters and the type of its result, which torch always writes."""
        source = FunctionSource(definition.file, tree, name)
        made = Function(name, None, source)  # type: ignore[arg-type]
        if tree.returns is None:
            raise source.fail(tree, "the function has no type of its result")
        made.declared = self.read_type(tree.returns, source)
        args, defaults = tree.args.args, tree.args.defaults
        if tree.args.kwonlyargs or tree.args.posonlyargs:
            raise source.fail(tree, "a parameter without a place or a name is no form that torch writes")
        for i, a in enumerate(args):
            is_self = i == 0 and "." in name  # the class is being read, so that its type is not complete
            if a.annotation is None and not is_self:
                raise source.fail(a, f"the parameter '{a.arg}' has no type")
            t = NONE if is_self or a.annotation is None else self.read_type(a.annotation, source)
            default = inspect.Parameter.empty
            if i >= len(args) - len(defaults):
                default = self.default(defaults[i - len(args) + len(defaults)], source)
            made.parameters.append(Parameter(a.arg, t, default, False))
        return made

    def default(self, node: ast.expr, source: Any) -> Any:
        text = ast.unparse(node)
        if text in ("inf", "-inf", "nan"):
            return float(text)
        if text.startswith("CONSTANTS."):
            return self.value(text, source, node)
        try:
            return _literal(node, source)
        except ValueError:
            raise source.fail(node, f"the default {text} is not read here") from None

    def compiler(self, function: Function) -> Compiler:
        from lamella.plugins.graph.torch_files.compiler import TorchCompiler

        return TorchCompiler(self, function) if function.python is None else super().compiler(function)

    def python_annotation(self, node: ast.expr, f: Any) -> Any:
        """Refuses to evaluate an expression of a file, which is never needed: types are read by `read_type`."""
        raise f.error("this cannot be indexed", node)

    # ---- constants ----

    def value(self, name: str, source: Any, node: ast.AST) -> Any:
        """Returns a value by its name, ``CONSTANTS.c0``."""
        number = name.removeprefix("CONSTANTS.c")
        if not number.isdecimal() or len(number) > 9 or int(number) >= len(self.values):
            raise source.fail(node, f"the file has no constant '{name}'; it has {len(self.values)}")
        return self.values[int(number)]

    def step(self, f: Any, count: int = 1) -> None:
        """Counts an expression that is compiled, or the parts of a type that it makes."""
        self.left -= count
        if self.left < 0:
            raise f.error("the code takes more time to read than code of its length may")


def program_of(archive: TorchZip, text: str, tensors: list[Any]) -> Any:
    """Returns the program of a text, which is verified."""
    try:
        program = _python.Program(text, tensors, {})
        program.verify()
    except ValueError as error:
        raise archive.damage(f"its program is not well formed: {error}") from None
    return program


def plain(function: Function) -> Function:
    """Returns a signature without the source, as loaded programs have it."""
    made = Function(function.name, None, None, function.parameters, returned=function.returned)  # type: ignore[arg-type]
    made.declared = function.declared
    return made


def _literal(node: ast.expr, file: Any) -> Any:
    """Returns the value that an expression writes. Raises ValueError for inf, nan and what is no literal."""
    try:
        return ast.literal_eval(node)
    except (TypeError, MemoryError, RecursionError) as error:
        raise file.fail(node, f"this is no value of a literal: {error or 'it is nested too deeply'}") from None


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
