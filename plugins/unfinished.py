"""Modules whose import is under way.

A package that brings a plugin imports Lamella, and Lamella imports the package to load the plugin. Where a program
imports the package first, Lamella meets it half made: the hook is not defined yet. Such a plugin is loaded at the end
of that import. Python has no call at an import's end, but the import system writes ``_initializing = False`` into the
module's spec there; a spec of class ``Watched`` notices it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

LOCK = threading.Lock()  # of the lists of functions; nothing is called while it is held


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
            finish(self)


def finish(spec: Any) -> None:
    """Calls what waits for the end of a module's import: each function once, the later ones also where one raises."""
    with LOCK:
        functions = vars(spec).pop("at_end", [])
        spec.__class__ = ModuleSpec
    call_each(functions, spec.name in sys.modules)  # a failed import has taken the module out


def call_each(functions: list[Callable[[bool], None]], complete: bool) -> None:
    for n, function in enumerate(functions):
        try:
            function(complete)
        except BaseException:
            call_each(functions[n + 1 :], complete)
            raise


def is_unfinished(module: str) -> bool:
    """Whether a module's import has begun and is not done."""
    spec: Any = getattr(sys.modules.get(module), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def unfinished_around(module: str, error: BaseException) -> str | None:
    """The module whose unfinished import may have made another one fail: a package around it, itself, or the one that
    the error names."""
    parts = module.split(".")
    named = getattr(error, "name", None) if isinstance(error, (ImportError, AttributeError)) else None
    candidates = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
    candidates += [named] if isinstance(named, str) else []
    return next((m for m in candidates if is_unfinished(m)), None)


def at_end(module: str, function: Callable[[bool], None]) -> bool:
    """Has ``function(complete)`` called when the import of a module is done or has failed; at once if it is over.

    False if the module's spec is of a class of its own, so that the end cannot be noticed.
    """
    spec: Any = getattr(sys.modules.get(module), "__spec__", None)
    with LOCK:
        if type(spec) is ModuleSpec:
            vars(spec)["at_end"] = []
            spec.__class__ = Watched
        watched = type(spec) is Watched
        if watched:
            spec.at_end.append(function)
    if watched and not vars(spec).get("_initializing"):  # it has ended before the spec was watched
        finish(spec)
    elif spec is None:
        function(False)
    return watched or spec is None
