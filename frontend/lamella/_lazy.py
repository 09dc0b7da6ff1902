"""Lazy modules, such as ``lamella.nn`` and ``lamella.testing``, whose files run when they are first used.

The module ``lamella`` itself has no ``__getattr__`` for them, since CPython would then find ``lamella.add`` slower.
"""

from __future__ import annotations

import os
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

LOCK = threading.RLock()  # held while a module's file runs; reentrant, since that file may use another lazy module
RUNNING: set[str] = set()


def _renew_lock() -> None:
    """Frees the lock in a child of fork, if another thread of the parent held it."""
    global LOCK
    if not LOCK._is_owned():  # type: ignore[attr-defined]
        LOCK = threading.RLock()
        RUNNING.clear()


os.register_at_fork(after_in_child=_renew_lock)


class LazyModule(ModuleType):
    """A module whose file runs when a missing attribute is read; afterwards the module is a plain module.

    The modules in a lazy package can be imported alone, which does not run the package's file. So a module that is
    being imported is found here as `IMPORT_FROM` of CPython finds it in a plain package, before it is an attribute; and
    a module with a function of its own name, as ``spawn``, becomes an attribute only if the package's file shows no
    function under that name.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and callable(vars(value).get(name))):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        module = sys.modules.get(f"{self.__name__}.{name}")
        if module is not None and not callable(vars(module).get(name)):
            return module
        # The import system reads names such as __path__, which must not run the file; `import *` reads `__all__`, and
        # users of the array API standard read __array_namespace_info__ and __array_api_version__.
        if (not name.startswith("__") or name == "__all__" or name.startswith("__array_")) and run(self):
            return getattr(self, name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return dir(self) if run(self) else sorted(vars(self))  # now a plain module, with its own __dir__


def run(module: LazyModule) -> bool:
    """Runs the module's file if it has not run yet. Returns False if the file is running now, and uses its own module.

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
            for inner, found in [(n, m) for n, m in sys.modules.items() if n.rpartition(".")[0] == name]:
                vars(module).setdefault(inner.rpartition(".")[2], found)  # the file shows no function of that name
            if sys.modules.get(name) is module:  # else a plugin has replaced the module
                contributions.refresh(name)
        return True


def of_file(name: str, file: Path | None = None) -> ModuleType:
    """Makes a lazy module of a name, from ``file``, or from the file that the import system finds for the name."""
    if file is not None:
        spec = spec_from_file_location(name, file)
    else:
        spec = PathFinder.find_spec(name, import_module(name.rpartition(".")[0]).__path__)
    assert spec is not None, f"{name} is not installed"
    return _made(spec)


def contribute(package: str, names: Iterable[str]) -> None:
    """Contributes lazy modules of a package, except modules that are imported or being imported already."""
    missing = [name for name in names if f"{package}.{name}" not in sys.modules]
    modules = {name: of_file(f"{package}.{name}") for name in missing}
    contributions.contribute(contributions.gather(package, modules))


class Filler:
    """The loader of a lazy module without a file: ``fill(module)`` in the module ``where`` defines its names."""

    def __init__(self, where: str):
        self.where = where

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        import_module(self.where).fill(module)


def filled(name: str, where: str) -> ModuleType:
    """Makes a lazy module of a name, whose names ``fill`` of the module ``where`` defines.

    If the parent package has a folder of that name, for example a backend's, modules in it can still be imported.
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
