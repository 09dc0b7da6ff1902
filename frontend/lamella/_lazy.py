"""Lazy modules, ``lamella.nn``, ``lamella.testing`` and ``lamella.utils``: each runs when it is first used.

The module of ``lamella`` itself has no ``__getattr__`` for them, since CPython then finds ``lamella.add`` more slowly.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

LOCK = threading.RLock()  # held while a module runs, which may use another one; other threads wait for it
RUNNING: set[str] = set()


class LazyModule(ModuleType):
    """A module whose file runs when an attribute is asked for that it does not have yet; then it is a plain module."""

    def __getattr__(self, name: str) -> Any:
        # The import system asks for names with underscores; of these a program's `import *` asks for one.
        if (not name.startswith("__") or name == "__all__") and run(self):
            return getattr(self, name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return dir(self) if run(self) else sorted(vars(self))  # a plain module asks its own __dir__


def run(module: LazyModule) -> bool:
    """Runs the module's file unless that is done; False if it is running, and itself asks.

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
        return True


def add(package: ModuleType, name: str) -> None:
    """Makes ``package.name`` a lazy module, which ``import package.name`` finds, too."""
    full = f"{package.__name__}.{name}"
    spec = PathFinder.find_spec(full, package.__path__)
    assert spec is not None, f"{full} is not installed"
    _place(package, name, spec)


class Filler:
    """The loader of a lazy module without a file: a function of another module gives it its names."""

    def __init__(self, where: str):
        self.where = where

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        import_module(self.where).fill(module)


def add_filled(package: ModuleType, name: str, where: str) -> None:
    """Makes ``package.name`` a lazy module that ``fill`` of the module ``where`` fills.

    Where the package has a folder of that name, as a backend's, the modules in it can be imported as ever.
    """
    spec = ModuleSpec(f"{package.__name__}.{name}", Filler(where))  # type: ignore[arg-type]
    if folders := [str(f) for p in getattr(package, "__path__", ()) if (f := Path(p, name)).is_dir()]:
        spec.submodule_search_locations = folders
    _place(package, name, spec)


def _place(package: ModuleType, name: str, spec: ModuleSpec) -> None:
    module = module_from_spec(spec)
    module.__class__ = LazyModule
    sys.modules[spec.name] = module
    setattr(package, name, module)
