"""Writes the public names of torch 2.13 with their arguments, and its tensors' attributes, for `lamella run` and
docs/torch_names.md. Needs torch."""

import ast
import importlib
import inspect
import json
import pkgutil
import re
import warnings
from pathlib import Path

import torch

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
warnings.simplefilter("ignore")
FOLDER = Path(__file__).resolve().parents[2] / "frontend" / "lamella" / "_torch" / "run"
PRIVATE = ("torch.utils._pytree", "torch.utils._python_dispatch")  # programs import these in spite of the underscore
DYNAMIC = ("torch.classes", "torch.ops")  # their attributes depend on the program
STUBS = Path(torch.__path__[0]) / "_C"


def modules(folders, prefix, depth=1):
    """Yields public modules, down to three levels, without importing them."""
    for found in pkgutil.iter_modules(folders):
        if not found.name.startswith("_"):
            yield prefix + found.name
            if found.ispkg and depth < 3:
                yield from modules([f"{f}/{found.name}" for f in folders], f"{prefix}{found.name}.", depth + 1)


def arguments_of(overloads):
    """Returns one text for the arguments of all overloads: names, "*" before those that are only keywords, "*x", "**x".

    An argument that some overload takes by position stands before the "*". "/x" is one that is no keyword.
    """
    both, keywords, rest, others = {}, {}, {}, {}
    for positional, only, star, double in overloads:
        both |= dict.fromkeys(positional)
        keywords |= dict.fromkeys(only)
        rest |= dict.fromkeys([star] if star else [])
        others |= dict.fromkeys([double] if double else [])
    only = [name for name in keywords if name not in both]
    parts = [*both, *(f"*{name}" for name in rest)]
    parts += ["*"] if only and not rest else []
    return ",".join([*parts, *only, *(f"**{name}" for name in others)])


def of_tree(node, is_method=False):
    """Returns the arguments of a function's syntax tree: by position, by keyword alone, ``*``, ``**``."""
    a = node.args
    positional = [*(f"/{x.arg}" for x in a.posonlyargs), *(x.arg for x in a.args)]
    return (
        positional[1:] if is_method else positional,
        [x.arg for x in a.kwonlyargs],
        a.vararg and a.vararg.arg,
        a.kwarg and a.kwarg.arg,
    )


def stubs(file, inside=None):
    """Returns the overloads of each function in a stub of torch, or in one of its classes."""
    body = ast.parse((STUBS / file).read_text()).body
    if inside is not None:
        [body] = [n.body for n in body if isinstance(n, ast.ClassDef) and n.name == inside]
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(of_tree(node, inside is not None))
    return found


VARIABLE, NN = stubs("_VariableFunctions.pyi"), stubs("_nn.pyi")
TENSOR = stubs("__init__.pyi", "TensorBase")


def of_text(name, text):
    """Returns the overloads that the lines of a docstring show, as ``linalg.inv(A, *, out=None) -> Tensor``."""
    found = []
    for line in (text or "").splitlines():
        match = re.match(rf"\s*(?:torch\.)?(?:\w+\.)*{re.escape(name)}\((.*?)\)(\s*->.*)?\s*$", line)
        if match:
            try:
                [node] = ast.parse(f"def f({match[1]}): pass").body
            except SyntaxError:
                continue
            found.append(of_tree(node))
    return found


def of_signature(found):
    """Returns the overload that ``inspect`` shows, in a list; an empty list if it shows none."""
    try:
        parameters = list(inspect.signature(found).parameters.values())
    except (ValueError, TypeError):
        return []
    kinds = {kind: [p.name for p in parameters if p.kind == kind] for kind in inspect._ParameterKind}
    p = inspect.Parameter
    star, double = kinds[p.VAR_POSITIONAL], kinds[p.VAR_KEYWORD]
    positional = [f"/{name}" for name in kinds[p.POSITIONAL_ONLY]] + kinds[p.POSITIONAL_OR_KEYWORD]
    return [(positional, kinds[p.KEYWORD_ONLY], star[0] if star else None, double[0] if double else None)]


def arguments(name, found):
    """Returns the text for the arguments of an object; None if it has none, or torch does not say which."""
    if not callable(found):
        return None
    overloads = []
    if inspect.isbuiltin(found) or type(found).__name__ in ("builtin_function_or_method", "method_descriptor"):
        overloads = VARIABLE.get(name) if found is getattr(torch, name, None) else None
        overloads = overloads or (NN.get(name) if found is getattr(torch._C._nn, name, None) else None)
        overloads = overloads or of_text(name, found.__doc__)
    overloads = overloads or of_signature(found)
    if inspect.isroutine(found) and (not overloads or all(o[2] and o[3] for o in overloads)):  # a wrapper
        overloads = of_text(name, found.__doc__) or VARIABLE.get(name) or overloads
    return arguments_of(overloads) if overloads else None


def public(path, module):
    """Returns a module's ``__all__``; without one, the functions and classes that it defines.

    A package without ``__all__`` has those of the modules in it as well. Modules and Tensor itself are left out.
    """
    names = getattr(module, "__all__", None)
    if names is None:
        is_package = hasattr(module, "__path__")

        def own(found):
            home = getattr(found, "__module__", None) or ("torch" if inspect.isbuiltin(found) else "")
            return home == path or ((is_package or inspect.isbuiltin(found)) and f"{home}.".startswith("torch."))

        names = [name for name, found in vars(module).items() if callable(found) and own(found)]
    objects = {n: getattr(module, n) for n in sorted(names) if hasattr(module, n) and not n.startswith("_")}
    return {n: found for n, found in objects.items() if found is not torch.Tensor and not inspect.ismodule(found)}


def unimported(path):
    """Returns the names of a module that needs another package, from its text: torch.utils.tensorboard."""
    file = Path(torch.__path__[0]) / path.partition(".")[2].replace(".", "/")
    tree = ast.parse((file / "__init__.py" if file.is_dir() else file.with_suffix(".py")).read_text()).body
    imports = [n for n in tree if isinstance(n, ast.ImportFrom) and n.module.startswith((path, "writer"))]
    names = [a.name for n in imports for a in n.names] + [n.name for n in tree if isinstance(n, ast.ClassDef)]
    return dict.fromkeys(sorted(n for n in names if not n.startswith("_")))


def attributes():
    """Returns the arguments of the methods of tensors, and None for other attributes."""
    found = {}
    for name in sorted(n for n in dir(torch.Tensor) if not n.startswith("_")):
        held = inspect.getattr_static(torch.Tensor, name)
        overloads = TENSOR.get(name) if inspect.isroutine(held) else None
        if inspect.isfunction(held):
            [(positional, *others)] = of_signature(held)
            overloads = [(positional[1:], *others)]
        found[name] = arguments_of(overloads) if overloads else None
    return found


every = sorted({*modules(torch.__path__, "torch."), *DYNAMIC})
table = {"torch.Tensor": attributes()}
for path in ("torch", *every, *PRIVATE):
    if path in DYNAMIC:
        continue
    try:
        module = importlib.import_module(path)
    except ImportError:
        found = unimported(path)
    else:
        found = {name: arguments(name, o) for name, o in public(path, module).items()}
    if found:
        table[path] = found

names = {"modules": every, "tensor": sorted(table["torch.Tensor"])}
(FOLDER / "torch_names.json").write_text(json.dumps(names, indent=0) + "\n")
lines = [f"{json.dumps(p)}: {json.dumps(found, indent=0, separators=(',', ':'))}" for p, found in sorted(table.items())]
target = FOLDER / "torch_table.json"
target.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(len(table), "modules,", sum(map(len, table.values())), "names,", target.stat().st_size, "bytes")
