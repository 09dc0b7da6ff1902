"""Maps torch's modules to Lamella's: ``import torch`` returns lamella, ``import torch.nn`` lamella.nn, and so on.

The use of a name that torch has and Lamella does not have raises an error with the reason.
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

from lamella import _absent, _checkpoints
from lamella._torch.run.outlook import NOT_COMING, PLANNED, expected
from lamella.torch_version import TorchVersion

TORCH = "2.13.0"  # the version of torch whose names Lamella follows


@functools.cache
def recorded() -> dict[str, frozenset[str]]:
    """Returns the names of torch's public modules ("modules") and of the attributes of its tensors ("tensor")."""
    text = Path(__file__).with_name("torch_names.json").read_text()
    return {kind: frozenset(names) for kind, names in json.loads(text).items()}


def ours(path: str) -> str:
    """Returns Lamella's name for a name of torch."""
    return "lamella" + path[len("torch") :] if path == "torch" or path.startswith("torch.") else path


ALIASES: dict[str, str] = {}  # maps a module's `__name__` to its path in torch, if the two differ


def theirs(path: str) -> str:
    """Returns torch's name for a name of Lamella."""
    parent, _, name = path.rpartition(".")
    if parent in ALIASES:
        return f"{ALIASES[parent]}.{name}"
    return "torch" + path[len("lamella") :] if path == "lamella" or path.startswith("lamella.") else path


def reason(path: str) -> str:
    """Returns a sentence that says why there is no ``torch.x.y``."""
    path = ours(path)
    parent, _, name = path.rpartition(".")
    top = path.split(".")[1]
    known = expected("torch" + parent.removeprefix("lamella"), name)
    if known.kind == NOT_COMING:
        return f"{path} is not planned: {known.words}"
    if known.kind == PLANNED:
        return f"{path} is not here yet; it is planned with {known.words}"
    if parent == "lamella":
        return _absent.explain(parent, name, dir(sys.modules["lamella"]))
    module = find_ours(parent)
    if module is not None:
        try:
            getattr(module, name)
        except AttributeError as error:
            if not str(error).startswith("module "):  # the module explains the reason itself
                return str(error)
        return f"{path} is not here{_absent.nearest(name, dir(module))}"
    if step := _absent.planned_with("lamella", top):
        return f"{path} is not here yet; lamella.{top} is planned with {step}"
    while find_ours(parent.rpartition(".")[0]) is None:
        parent = parent.rpartition(".")[0]
    return f"{path} is not here: Lamella has no {parent}"


class Absent(ModuleType):
    """A module of torch that Lamella does not have. It can be imported; the use of its names raises AttributeError."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        path = f"{self.__name__}.{name}"
        raise AttributeError(f"{path}: {reason(path)}")


class AbsentLoader:
    """A loader that makes an `Absent` module."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Absent(spec.name, f"Not here: {reason(spec.name)}.")

    def exec_module(self, module: ModuleType) -> None:
        pass


class OursLoader:
    """A loader that returns a module of Lamella for the module of torch with the same path."""

    def __init__(self, name: str, module: ModuleType):
        self.name, self.module, self.spec = name, module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has replaced it by the spec of torch's path
        vars(module).setdefault("__path__", [])  # so that `from module import name` calls Last for a missing name
        if module.__name__ != ours(self.name):
            ALIASES[module.__name__] = self.name


def find_ours(name: str) -> ModuleType | None:
    """Imports Lamella's module of a full name and returns it; None if there is no such module."""
    if name in sys.modules:
        found = sys.modules[name]
        return None if isinstance(found, Absent) else found
    parent = find_ours(name.rpartition(".")[0])
    path = getattr(parent, "__path__", None) if parent is not None else None
    if path is None or PathFinder.find_spec(name, path) is None:
        attribute = getattr(parent, name.rpartition(".")[2], None)  # a module without a file there
        return attribute if isinstance(attribute, ModuleType) and not isinstance(attribute, Absent) else None
    return importlib.import_module(name)


class First:
    """The first finder on ``sys.meta_path``, for the modules ``torch.x``."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("torch."):
            return None
        found = find_ours(ours(fullname))
        if found is not None:
            return ModuleSpec(fullname, OursLoader(fullname, found))  # type: ignore[arg-type]
        return absent(fullname)


class Last:
    """A finder near the end of ``sys.meta_path``, for names that ``from torch.x import name`` does not find."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("lamella.") or fullname.rpartition(".")[2].startswith("_"):
            return None
        return absent(theirs(fullname))


def absent(path: str) -> ModuleSpec:
    """Returns the spec of a module that torch has and Lamella does not have; raises if torch does not have it either.

    The error's ``name`` is the parent's: otherwise ``from torch import name`` would replace the error's text.
    """
    if path in recorded()["modules"]:
        return ModuleSpec(path, AbsentLoader())  # type: ignore[arg-type]
    parent = path.rpartition(".")[0]
    if parent in sys.modules or ours(parent) in sys.modules:
        raise ModuleNotFoundError(f"{path}: {reason(path)}", name=parent)
    raise ModuleNotFoundError(f"No module named {path!r}", name=path)


def stand_in() -> ModuleType:
    """Makes ``import torch`` return lamella in this process; returns lamella. A second call changes nothing."""
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
    _checkpoints.usual_format = "torch"
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
    """An object that calls `stand_in` in the process that unpickles it."""

    def __reduce__(self) -> Any:
        return stand_in, ()


def _in_children() -> None:
    """Makes ``multiprocessing`` call `stand_in` in each spawned process, before that imports the program."""
    from multiprocessing import spawn

    usual = spawn.get_preparation_data

    @functools.wraps(usual)
    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"lamella": StandIn(), **usual(name)}

    spawn.get_preparation_data = get_preparation_data
