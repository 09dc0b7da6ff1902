"""Modules whose import is under way.

A package that brings a plugin imports Lamella, and Lamella imports the package to load the plugin. Where a program
imports the package first, Lamella meets it half made: the hook is not defined yet. Such a plugin is loaded at the end
of that import. Python has no call at an import's end, but the import system writes ``_initializing = False`` into the
module's spec there; a spec of class ``Watched`` notices it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any


class Watched(ModuleSpec):
    """The spec of a module whose import is under way, with functions to call at its end."""

    at_end: list[Callable[[bool], None]]

    @property
    def _initializing(self) -> bool:
        return self.__dict__["_initializing"]

    @_initializing.setter
    def _initializing(self, under_way: bool) -> None:
        self.__dict__["_initializing"] = under_way
        if not under_way:
            functions = self.__dict__.pop("at_end")
            self.__class__ = ModuleSpec  # type: ignore[assignment]
            for function in functions:
                function(self.name in sys.modules)  # a failed import has taken the module out


def is_unfinished(module: str) -> bool:
    """Whether a module's import has begun and is not done."""
    spec: Any = getattr(sys.modules.get(module), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def unfinished_package(module: str) -> str | None:
    """The outermost package around a module whose import is under way."""
    parts = module.split(".")
    return next((p for p in (".".join(parts[:n]) for n in range(1, len(parts))) if is_unfinished(p)), None)


def at_end(module: str, function: Callable[[bool], None]) -> bool:
    """Has ``function(complete)`` called when the import of a module, which is under way, is done or has failed.

    False if the module's spec is of a class of its own, so that the end cannot be noticed.
    """
    spec: Any = sys.modules[module].__spec__
    if type(spec) is ModuleSpec:
        vars(spec)["at_end"] = []
        spec.__class__ = Watched
    if type(spec) is not Watched:
        return False
    spec.at_end.append(function)
    return True
