"""Aliases of modules: ``import lamella.x.y`` finds y in the module that a plugin contributed as ``lamella.x``."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the import system needs only the methods, and importing the class takes 6 ms
    from importlib.abc import Loader
else:
    Loader = object


class Aliases(Loader):
    """A finder on ``sys.meta_path``. Without it, y would be imported twice, once under each name."""

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}  # maps each alias to the module's real name

    def add(self, alias: str, real: str) -> None:
        """Makes imports of ``alias.y`` return the module ``real.y``, for every submodule y.

        Submodules that are loaded have their aliases at once. An import of one would set the package's attribute y,
        which may be a function that has the name of its module.
        """
        self.modules[alias] = real
        for name, module in [(n, m) for n, m in sys.modules.items() if n.startswith(f"{real}.")]:
            sys.modules.setdefault(alias + name.removeprefix(real), module)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def remove(self, alias: str) -> None:
        """Undoes ``add(alias, ...)``."""
        self.modules.pop(alias, None)

    def find_spec(self, fullname: str, path=None, target=None) -> ModuleSpec | None:
        alias, _, inner = fullname.rpartition(".")
        while alias and alias not in self.modules:
            alias, _, part = alias.rpartition(".")
            inner = f"{part}.{inner}"
        if not alias:
            return None
        spec = ModuleSpec(fullname, self, origin=f"{self.modules[alias]}.{inner}")
        real = find_spec(spec.origin or "")
        if real is not None:  # so that `python -m` finds the __main__ of a package
            spec.submodule_search_locations = real.submodule_search_locations
        return spec

    def get_code(self, fullname: str) -> CodeType | None:
        """Returns the code of a module, which `python -m` runs."""
        spec = self.find_spec(fullname)
        real = find_spec(spec.origin or "") if spec else None
        found: CodeType | None = real.loader.get_code(real.name) if real else None  # type: ignore[union-attr]
        return found

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(spec.origin or "")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__:  # the import system has replaced the module's own spec by the alias's
            module.__spec__ = module.__spec__.loader_state


aliases = Aliases()
