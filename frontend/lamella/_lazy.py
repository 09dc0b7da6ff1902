"""Lazy modules, as ``lamella.nn`` and ``lamella.testing``: each runs when it is first used.

The module of ``lamella`` itself has no ``__getattr__`` for them, since CPython then finds ``lamella.add`` more slowly.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from lamella.plugins import contributions

LOCK = threading.RLock()  # held while a module runs, which may use another one; other threads wait for it
RUNNING: set[str] = set()


class LazyModule(ModuleType):
    """A module whose file runs when an attribute is read that it does not have yet; then it is a plain module."""

    def __getattr__(self, name: str) -> Any:
        # The import system reads names with underscores; a program's `import *` reads `__all__`.
        if (not name.startswith("__") or name == "__all__") and run(self):
            return getattr(self, name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return dir(self) if run(self) else sorted(vars(self))  # a plain module has its own __dir__


def run(module: LazyModule) -> bool:
    """Runs the module's file unless that is done; False if the file is running and uses its own module.

    A failure leaves the module lazy, so that its next use tries again.
    """
    with LOCK:
        name = module.__name__
        if name in RUNNING:
            return False
        if type(module) is LazyModule:
            RUNNING.add(name)
            try:
                module.__spec__.loader.exec_module(module)  # type: ignore[union-attr]
                module.__class__ = ModuleType  # type: ignore[assignment]
            finally:
                RUNNING.discard(name)
            if sys.modules.get(name) is module:  # else a plugin has brought another one
                contributions.refresh(name)
        return True


def of_file(name: str, file: Path | None = None) -> ModuleType:
    """Makes the lazy module of a name, from a file or, without one, from that which the import system finds."""
    if file is not None:
        spec = spec_from_file_location(name, file)
    else:
        spec = PathFinder.find_spec(name, import_module(name.rpartition(".")[0]).__path__)
    assert spec is not None, f"{name} is not installed"
    return _made(spec)


def contribute(package: str, names: Iterable[str]) -> None:
    """Contributes modules of a package as lazy ones, but those whose import is under way and needs the package."""
    missing = [name for name in names if f"{package}.{name}" not in sys.modules]
    modules = {name: of_file(f"{package}.{name}") for name in missing}
    contributions.contribute(contributions.gather(package, modules))


class Filler:
    """The loader of a lazy module without a file: `fill` of another module gives it its names."""

    def __init__(self, where: str):
        self.where = where

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        import_module(self.where).fill(module)


def filled(name: str, where: str) -> ModuleType:
    """Makes the lazy module of a name that ``fill`` of the module ``where`` fills.

    If its package has a folder of that name, as a backend's, the modules in it can be imported as ever.
    """
    parent, _, own = name.rpartition(".")
    spec = ModuleSpec(name, Filler(where))  # type: ignore[arg-type]
    if folders := [str(f) for p in getattr(sys.modules[parent], "__path__", ()) if (f := Path(p, own)).is_dir()]:
        spec.submodule_search_locations = folders
    return _made(spec)


def _made(spec: ModuleSpec) -> ModuleType:
    module = module_from_spec(spec)
    module.__class__ = LazyModule
    return module
