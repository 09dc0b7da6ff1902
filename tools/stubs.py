"""Writes the type stubs and the C++ operators from the live registry: ``python tools/stubs.py FOLDER HEADERS``.

``make stubs`` runs this program; ``cpp_stubs.py`` makes the headers for C++. Only the stubs of operators are generated:
``stub_types.txt`` has those of other types, and ``stub_tensor.txt`` has Tensor's methods that are written by hand.
"""

from __future__ import annotations

import inspect
import keyword
import math
import re
import sys
from importlib import import_module
from pathlib import Path

import cpp_stubs
from lamella._namespace import PROPERTIES

HEAD = """# Made by `make stubs` from the live registry; a test compares. Do not edit.
"""

# The parts of the stub that are written by hand.
TYPES, TENSOR = (
    Path(__file__).with_name(f"stub_{part}.txt").read_text().partition("\n")[2] for part in ("types", "tensor")
)


BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
REFLECTED = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
INPLACE = "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()
COMPARISONS = "lt le gt ge".split()

KINDS = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "_int",
    "SymInt": "_int",
    "float": "_float",
    "bool": "_bool",
    "str": "str",
    "ScalarType": "_Dtype",
    "Layout": "layout",
    "Device": "_Device",
    "MemoryFormat": "memory_format",
    "Generator": "Generator",
}


def annotation(schema_type: str) -> str:
    """Returns a schema's type as an annotation: "Sequence[_int] | _int | None" for "int[2]?"."""
    optional = schema_type.endswith("?")
    base = schema_type.rstrip("?")
    if "[" in base:
        inner, _, size = base.partition("[")
        element = annotation(inner)
        text = f"Sequence[{element}]"
        if size.rstrip("]") and inner in ("int", "SymInt"):
            text += " | _int"
    else:
        text = KINDS.get(base, "Any")
    return text + " | None" if optional else text


def parameter(arg: dict, method_self: bool) -> str:
    if method_self:
        return "self"
    name = arg["name"] + ("_" if keyword.iskeyword(arg["name"]) else "")
    text = f"{name}: {annotation(arg['type'])}"
    return text + " = ..." if arg["has_default"] else text


def returned(op: dict) -> str:
    kinds = [annotation(t) for t, _ in op["returns"]]
    if len(kinds) == 1:
        return kinds[0]
    if has_fields(op):
        return result_class(op)
    return f"tuple[{', '.join(kinds)}]" if kinds else "None"


def has_fields(op: dict) -> bool:
    """Returns whether an operator returns several results that all have names."""
    return len(op["returns"]) > 1 and all(name for _, name in op["returns"])


def result_class(op: dict) -> str:
    """Returns the name that the stubs give to the class of such results, as "_values_indices"."""
    return "".join(f"_{name}" + "_list" * ("[" in kind) for kind, name in op["returns"])


def result_classes(ops: list[dict], text: str) -> list[str]:
    """Returns the named tuples that a stub's text has as results."""
    made = {}
    for op in filter(has_fields, ops):
        fields = [f"    {name}: {annotation(kind)}" for kind, name in op["returns"]]
        made[result_class(op)] = "\n".join([f"class {result_class(op)}(NamedTuple):", *fields, ""])
    return [made[name] for name in sorted(used(made, text))]


def used(names, text: str) -> list[str]:
    """Returns those names that occur in a text as words."""
    words = set(re.findall(r"\w+", text))
    return [n for n in names if n in words]


class Contributed:
    """The names of a distribution's loaded plugins. Their manifests have the types of attributes and keywords."""

    def __init__(self, distribution: str):
        from lamella import plugins
        from lamella.plugins import contributions

        loaded = [p for p in plugins.status() if p.distribution == distribution and p.state == "loaded"]
        owners = [p.name for p in loaded]
        self.names = contributions.of(owners, "lamella")
        self.methods = contributions.of(owners, "Tensor")
        self.attributes = self.promised(loaded, "attributes")
        self.keywords = self.promised(loaded, "keywords")

    @staticmethod
    def promised(plugins, kind: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for manifest in (p.manifest.get(kind, {}) for p in plugins):
            found |= {n: in_stub(manifest[n]) if isinstance(manifest, dict) else "Any" for n in manifest}
        return found

    def modules(self) -> dict[str, str]:
        """Returns the contributed modules: for each name the module's path."""
        return {n: o.__name__ for n, o in self.names.items() if inspect.ismodule(o)}

    def package_lines(self) -> list[str]:
        """Returns lines that import each name from the module that defines it."""
        lines = []
        for name, o in sorted(self.names.items()):
            if inspect.ismodule(o):
                lines.append(f"from lamella import {name} as {name}")
            elif inspect.isfunction(o) or inspect.isclass(o):
                lines.append(f"from {o.__module__} import {o.__qualname__} as {name}")
            else:
                lines.append(f"{name}: Any")
        return lines

    def imports(self) -> list[str]:
        """Returns imports of the classes in the methods' annotations."""
        lines = set()
        for o in filter(inspect.isfunction, self.methods.values()):
            for word in re.findall(r"\w+", " ".join(map(str, inspect.get_annotations(o).values()))):
                known = o.__globals__.get(word)
                if inspect.isclass(known) and known.__module__.startswith("lamella.") and known.__name__ != "Tensor":
                    lines.add(f"from {known.__module__} import {word}")
        return sorted(lines)

    def tensor_lines(self) -> list[str]:
        lines = [f"    {name}: {text}" for name, text in sorted(self.attributes.items())]
        for name, o in sorted(self.methods.items()):
            if by_hand(name):
                continue
            if isinstance(o, property) and o.fget:
                lines.append(f"    {name}: {in_stub(inspect.get_annotations(o.fget).get('return', 'Any'))}")
            elif inspect.isfunction(o):
                lines.append(f"    def {name}{python_signature(o)}: ...")
            else:
                lines.append(f"    {name}: Any")
        return lines


def by_hand(name: str) -> bool:
    """Returns whether the text of Tensor's stub has a method or an attribute."""
    return f"    def {name}(" in TENSOR or f"    {name}: " in TENSOR


def in_stub(text) -> str:
    """Returns an annotation for use inside class Tensor, where names such as float are methods."""
    text = text if isinstance(text, str) else inspect.formatannotation(text)
    return re.sub(r"\b(bool|int|float)\b", r"_\1", text.replace("lamella.", ""))


class Default:
    def __repr__(self) -> str:
        return "..."


class Annotation:
    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def python_signature(function) -> str:
    """Returns the signature of a Python function, with ... for defaults."""
    empty = inspect.Parameter.empty
    s = inspect.signature(function)
    parameters = []
    for i, p in enumerate(s.parameters.values()):
        p = p.replace(annotation=empty if p.annotation is empty or i == 0 else Annotation(in_stub(p.annotation)))
        parameters.append(p if p.default is empty else p.replace(default=Default()))
    returned = "Any" if s.return_annotation is empty else in_stub(s.return_annotation)
    text = str(s.replace(parameters=parameters, return_annotation=empty))
    return f"{text.replace(' = ...', '=...').replace('=...', ' = ...')} -> {returned}"


def signature(op: dict, method: bool, out: bool, name: str, keywords: dict[str, str]) -> str:
    parts, starred = [], False
    for i, arg in enumerate(op["args"]):
        if arg["keyword_only"] and not starred:
            parts.append("*")
            starred = True
        parts.append(parameter(arg, method and i == 0))
    spread = next((i for i, a in enumerate(op["args"]) if a["type"] == "SymInt[]" and i == int(method)), None)
    if spread is not None and name in (
        "empty",
        "zeros",
        "ones",
        "rand",
        "randn",
        "view",
        "reshape",
        "permute",
        "expand",
        "resize_",
    ):
        parts[spread] = f"*{op['args'][spread]['name']}: _int | Sequence[_int]"
        parts = [p for p in parts if p != "*"]
        starred = True
    if op["category"] in ("creation", "random") and any(a["name"] == "dtype" and a["keyword_only"] for a in op["args"]):
        parts += [f"{k}: {text} = ..." for k, text in sorted(keywords.items())]
    if out:
        if not starred:
            parts.append("*")
        count = len(op["returns"])
        parts.append(
            "out: Tensor | None = None" if count == 1 else f"out: tuple[{', '.join(['Tensor'] * count)}] | None = None"
        )
    return f"def {name}({', '.join(parts)}) -> {returned(op)}: ..."


def definitions(ops: list[dict], method: bool, outs: set[str], indent: str, keywords: dict[str, str]) -> list[str]:
    by_name: dict[str, list[str]] = {}
    for op in ops:
        name = op["name"].partition("::")[2]
        wanted = op["method"] if method else op["function"]
        if method and name in PROPERTIES:
            by_name[name] = [f"{name}: Tensor"]
            continue
        if not op["name"].startswith("aten::") or op["form"] == "out" or op["private"] or not wanted:
            continue
        if method and by_hand(name):  # a method of Python over the operator, with types of its own
            continue
        out = op["form"] == "functional" and f"{name}.{op['overload']}" in outs and not method
        text = signature(op, method, out, name, keywords)
        if text not in by_name.setdefault(name, []):
            by_name[name].append(text)
    lines = []
    for _name, texts in sorted(by_name.items()):
        for text in texts:
            if len(texts) > 1:
                lines.append(f"{indent}@overload")
            lines.append(f"{indent}{text}")
    return lines


def native_stub(distribution: str = "lamella") -> str:
    """Returns the text of ``_C.pyi``, including names of a distribution's plugins."""
    from lamella import _C

    contributed = Contributed(distribution)
    ops = cpp_stubs.operators()
    outs = with_out(ops)
    lines = [HEAD.rstrip(), *contributed.imports(), TYPES.strip("\n"), TENSOR.rstrip()]
    for word, names in (("", BINARY), ("r", REFLECTED), ("i", INPLACE), ("", COMPARISONS)):
        lines += [f"    def __{word}{n}__(self, other: Any) -> Tensor: ..." for n in names]
    lines += definitions(ops, True, outs, "    ", contributed.keywords)
    lines += contributed.tensor_lines()
    for name in sorted(vars(_C)):
        value = getattr(_C, name)
        kind = type(value).__name__
        if kind in ("dtype", "layout", "memory_format"):
            lines.append(f"{name}: {kind}")
        elif (
            name.startswith("_")
            and callable(value)
            and not name.startswith("__")
            or name in ("get_num_threads", "get_default_dtype", "from_numpy")
        ):
            lines.append(f"{name}: Any" if isinstance(value, type) else f"{name}: Callable[..., Any]")
    lines += ["_api: Any", "_compiler: str", "__version__: str", ""]
    shown = "\n".join([*lines, package_stub(distribution), *map(module_stub, operator_modules())])
    return "\n".join([*lines, *result_classes(ops, shown)])


def with_out(ops: list[dict]) -> set[str]:
    """Returns "name.overload" of each functional form that takes out=."""
    return {
        f"{o['name'].partition('::')[2]}.{o['overload']}" for o in ops if o["form"] == "functional" and has_out(o, ops)
    }


def has_out(op: dict, ops: list[dict]) -> bool:
    wanted = "out" if op["overload"] in ("", "Tensor") else op["overload"] + "_out"
    return any(o["form"] == "out" and o["name"] == op["name"] and o["overload"] == wanted for o in ops)


def package_stub(distribution: str = "lamella") -> str:
    """Returns the text of ``__init__.pyi``, including names of a distribution's plugins."""
    import lamella
    from lamella import _C, _checkpoints, _creation, _dtypes, _lowrank, _settings, _storage, random
    from lamella._devices import streams
    from lamella._tensor import elements, memory, predicates, shapes, spectra
    from lamella._torch import names, typed_storage

    contributed = Contributed(distribution)
    ops = cpp_stubs.operators()
    outs = with_out(ops)
    native = [n for n in lamella.__all__ if n in vars(_C)]
    homes = [math, random, _checkpoints, _dtypes, _creation, _settings, elements, memory, predicates, shapes, names]
    homes += [streams, _lowrank, _storage, spectra, typed_storage]  # whose names other files import, too
    own = {n: getattr(lamella, n) for n in lamella.__all__ if n not in vars(_C)}
    python = {n: h.__name__ for n, o in own.items() for h in homes if vars(h).get(n, homes) is o}
    lines = [HEAD.rstrip(), "from collections.abc import Sequence", "from typing import Any, overload", ""]
    lines.append("__all__: list[str]")
    for module in (
        *("amp", "array_api", "backends", "compiler", "distributed", "distributions", "fft", "func", "functional"),
        *("hub", "jit", "library", "linalg", "masked", "multiprocessing", "nn", "optim", "overrides", "plugins"),
        *("random", "serialization", "signal", "special", "storage", "testing", "types", "utils", "version"),
    ):
        lines.append(f"from lamella import {module} as {module}")
    lines += ["cuda: Any", "mps: Any", "xpu: Any", "newaxis: None"]
    hidden = ["Number", "_bool", "_Device", "_Dtype", "_float", "_int", "__version__"]
    lines += [f"from lamella._C import {n} as {n}" for n in sorted(native) + hidden]
    lines += [f"from {python[n]} import {n} as {n}" for n in sorted(python)]
    lines += ["from lamella._namespace import ops as ops", *contributed.package_lines()]
    ops = [o for o in ops if o["name"].partition("::")[2] not in python]
    shown = definitions(ops, False, outs, "", contributed.keywords)
    lines += [f"from lamella._C import {name}" for name in result_names(ops, shown)]
    return "\n".join([*lines, "", *shown]) + "\n"


def result_names(ops: list[dict], shown: list[str]) -> list[str]:
    """Returns the names of the classes of named results in some definitions."""
    return used(sorted({result_class(op) for op in ops if has_fields(op)}), "\n".join(shown))


def lazy_stub(package: str) -> str:
    """Returns the text of ``__init__.pyi`` of a package that imports its names when they are first used."""
    where = f"lamella.{package}"
    found = import_module(where)
    lines = [HEAD.rstrip(), "__all__: list[str]"]
    lines += [f"from {where} import {name} as {name}" for name in found._MODULES]
    lines += [f"from {where}.{home} import {name} as {name}" for name, home in sorted(found._HOMES.items())]
    return "\n".join(lines) + "\n"


def operator_modules() -> list[str]:
    """Returns the modules of ``lamella`` that show operators of the catalogue and have a file, such as "linalg"."""
    from lamella import _C

    shown = {path for name, path in _C._operator_modules() if name.startswith("aten::")}
    return sorted(path for path in shown if Path(lamella_file()).with_name(f"{path}.py").exists())


def lamella_file() -> str:
    import lamella

    return lamella.__file__


def module_stub(path: str) -> str:
    """Returns the text of the stub of a module that shows operators: those, and the names in its ``__all__``."""
    from lamella import _C

    prefix = f"{path}_"
    names = {name for name, shown in _C._operator_modules() if shown == path}
    ops = [
        {**op, "name": "aten::" + op["name"].removeprefix("aten::").removeprefix(prefix)}
        for op in cpp_stubs.operators()
        if op["name"] in names
    ]
    module = import_module(f"lamella.{path}")
    own = [n for n in getattr(module, "__all__", ()) if f"aten::{prefix}{n}" not in names]
    shown = definitions(ops, False, with_out(ops), "", {})
    lines = []
    for name in own:
        found = getattr(module, name)
        if isinstance(found, type):  # a class of errors
            lines.append(f"class {name}({found.__base__.__name__}): ...")
        elif found.__name__ == name:
            lines.append(f"from lamella import {name} as {name}")
        else:
            lines += [f"from lamella import {found.__name__} as _{found.__name__}", f"{name} = _{found.__name__}"]
    text = "\n".join([*lines, "", *shown]) + "\n"
    native = (
        "Generator",
        "Number",
        "Tensor",
        "_Device",
        "_Dtype",
        "_bool",
        "_float",
        "_int",
        "layout",
        "memory_format",
    )
    head = [HEAD.rstrip()]
    for place, names in (("collections.abc", ["Sequence"]), ("typing", ["Any", "overload"])):
        if found := used(names, text):
            head.append(f"from {place} import {', '.join(found)}")
    head += [f"from lamella._C import {n}" for n in [*used(native, text), *result_names(ops, shown)]]
    return "\n".join([*head, text])


def files(distribution: str = "lamella") -> dict[str, str]:
    """Returns the text of every stub by its file's name: those above, and one for each module of another folder."""
    from lamella._torch import names

    found = {"_C.pyi": native_stub(distribution), "__init__.pyi": package_stub(distribution)}
    if distribution == "lamella":
        found |= {f"{package}/__init__.pyi": lazy_stub(package) for package in ("distributions", "optim")}
        found |= {f"{path}.pyi": module_stub(path) for path in operator_modules()}
    places = {name: f"lamella._torch.{name}" for name in names.MODULES if distribution == "lamella"}
    for name, place in {**places, **Contributed(distribution).modules()}.items():
        found[f"{name}.pyi"] = f"{HEAD}from {place} import *\n"
    return found


def main(folder: str, headers: str) -> None:
    for place, made in ((folder, files()), (headers, cpp_stubs.files())):
        for name, text in made.items():
            path = Path(place, name)
            if not path.exists() or path.read_text() != text:  # an unchanged header compiles nothing anew
                path.write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(inspect.cleandoc(__doc__ or ""))
    main(sys.argv[1], sys.argv[2])
