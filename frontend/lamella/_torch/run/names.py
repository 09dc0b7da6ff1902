"""Torch's names as Lamella's: ``import torch`` gives lamella, ``import torch.nn`` lamella.nn, and so on.

What torch has and Lamella has not raises where it is used, with the reason.
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from lamella import _absent
from lamella.torch_version import TorchVersion

TORCH = "2.13.0"  # the version whose names and meaning Lamella's are


@functools.cache
def recorded() -> dict[str, frozenset[str]]:
    """The names of torch's public modules, and of the attributes of its tensors."""
    text = Path(__file__).with_name("torch_names.json").read_text()
    return {kind: frozenset(names) for kind, names in json.loads(text).items()}


def ours(path: str) -> str:
    """Lamella's name for one of torch's."""
    return "lamella" + path[len("torch") :] if path == "torch" or path.startswith("torch.") else path


ALIASES: dict[str, str] = {}  # of modules that have another name than their path, as lamella.autograd: torch's path


def theirs(path: str) -> str:
    """Torch's name for one of Lamella's."""
    parent, _, name = path.rpartition(".")
    if parent in ALIASES:
        return f"{ALIASES[parent]}.{name}"
    return "torch" + path[len("lamella") :] if path == "lamella" or path.startswith("lamella.") else path


def reason(path: str) -> str:
    """Why there is no ``torch.x.y``, in a sentence."""
    path = ours(path)
    parent, _, name = path.rpartition(".")
    top = path.split(".")[1]
    if parent == "lamella":
        return _absent.explain(parent, name, dir(sys.modules["lamella"]))
    module = find_ours(parent)
    if module is not None:
        try:
            getattr(module, name)
        except AttributeError as error:
            if not str(error).startswith("module "):  # words of its own
                return str(error)
        return f"{path} is not here{_absent.nearest(name, dir(module))}"
    if step := _absent.planned_with("lamella", top):
        return f"{path} is not here yet; lamella.{top} is planned with {step}"
    while find_ours(parent.rpartition(".")[0]) is None:
        parent = parent.rpartition(".")[0]
    return f"{path} is not here: Lamella has no {parent}"


class Absent(ModuleType):
    """A module of torch's that Lamella has not: it can be imported, and what is used of it raises AttributeError."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        path = f"{self.__name__}.{name}"
        raise AttributeError(f"{path}: {reason(path)}")


class AbsentLoader:
    """Makes an absent module."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Absent(spec.name, f"Not here: {reason(spec.name)}.")

    def exec_module(self, module: ModuleType) -> None:
        pass


class OursLoader:
    """Gives a module of Lamella's for the one of torch's of the same path."""

    def __init__(self, name: str, module: ModuleType):
        self.name, self.module, self.spec = name, module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has set torch's
        vars(module).setdefault("__path__", [])  # so that `from module import name` asks Last for what is not there
        if module.__name__ != ours(self.name):
            ALIASES[module.__name__] = self.name


def find_ours(name: str) -> ModuleType | None:
    """Lamella's module of a full name, imported; None if it has none."""
    if name in sys.modules:
        found = sys.modules[name]
        return None if isinstance(found, Absent) else found
    parent = find_ours(name.rpartition(".")[0])
    path = getattr(parent, "__path__", None) if parent is not None else None
    if path is None or PathFinder.find_spec(name, path) is None:
        attribute = getattr(parent, name.rpartition(".")[2], None)  # a module that a plugin or a package brings
        return attribute if isinstance(attribute, ModuleType) and not isinstance(attribute, Absent) else None
    return importlib.import_module(name)


class First:
    """First on ``sys.meta_path``: the modules ``torch.x``."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("torch."):
            return None
        found = find_ours(ours(fullname))
        if found is not None:
            return ModuleSpec(fullname, OursLoader(fullname, found))  # type: ignore[arg-type]
        return absent(fullname)


class Last:
    """Before the last on ``sys.meta_path``: what ``from torch.x import name`` looks for in a module of Lamella's."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("lamella.") or fullname.rpartition(".")[2].startswith("_"):
            return None
        return absent(theirs(fullname))


def absent(path: str) -> ModuleSpec:
    """The spec of a module that torch has and Lamella has not; an error for what torch has not either.

    The error's ``name`` is the parent's, for else ``from torch import name`` would put words of its own in its place.
    """
    if path in recorded()["modules"]:
        return ModuleSpec(path, AbsentLoader())  # type: ignore[arg-type]
    parent = path.rpartition(".")[0]
    if parent in sys.modules or ours(parent) in sys.modules:
        raise ModuleNotFoundError(f"{path}: {reason(path)}", name=parent)
    raise ModuleNotFoundError(f"No module named {path!r}", name=path)


def stand_in() -> ModuleType:
    """Makes ``import torch`` give lamella in this process; returns it. Again is nothing."""
    import lamella

    if sys.modules.get("torch") is lamella:
        return lamella
    if "torch" in sys.modules:
        raise RuntimeError("torch is imported already; lamella run must come first")
    sys.modules["torch"] = lamella
    sys.meta_path.insert(0, First())  # type: ignore[arg-type]
    last = next((i for i, f in enumerate(sys.meta_path) if isinstance(f, _absent.LastFinder)), len(sys.meta_path))
    sys.meta_path.insert(last, Last())  # type: ignore[arg-type]
    version = TorchVersion(f"{TORCH}+lamella")
    lamella.__version__ = version
    lamella.version.__version__ = version
    _in_children()
    before = vars(lamella).get("__getattr__")

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module 'torch' has no attribute {name!r}")
        if before is not None:
            try:
                return before(name)
            except AttributeError as error:
                if not str(error).startswith("module 'lamella'"):
                    raise
        raise AttributeError(f"torch.{name}: {reason(f'lamella.{name}')}")

    vars(lamella)["__getattr__"] = __getattr__
    return lamella


class StandIn:
    """An object that makes torch lamella in the process that unpickles it."""

    def __reduce__(self) -> Any:
        return stand_in, ()


def _in_children() -> None:
    """Processes that ``multiprocessing`` starts anew import the program, and need torch's names before."""
    from multiprocessing import spawn

    usual = spawn.get_preparation_data

    @functools.wraps(usual)
    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"lamella": StandIn(), **usual(name)}

    spawn.get_preparation_data = get_preparation_data
