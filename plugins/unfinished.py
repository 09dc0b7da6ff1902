"""Calls functions at the end of an import that is under way.

A package with a plugin imports Lamella, and Lamella imports the package to load the plugin. If a program imports the
package first, the package is only partly initialized when Lamella imports it: the hook is not defined yet. Such a
plugin is loaded at the end of the package's import. Python has no callback for the end of an import, but the import
system then writes ``_initializing = False`` into the module's spec; a spec of class ``Watched`` intercepts that write.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

LOCK = threading.Lock()  # guards the lists `at_end`; no function in a list is called while LOCK is held


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
    """Calls each function of ``spec.at_end`` once. If one raises, the later ones are still called."""
    with LOCK:
        functions = vars(spec).pop("at_end", [])
        spec.__class__ = ModuleSpec
    call_each(functions, spec.name in sys.modules)  # a failed import has removed the module


def call_each(functions: list[Callable[[bool], None]], complete: bool) -> None:
    for n, function in enumerate(functions):
        try:
            function(complete)
        except BaseException:
            call_each(functions[n + 1 :], complete)
            raise


def is_unfinished(module: str) -> bool:
    """Returns whether a module's import has begun and is not done."""
    spec: Any = getattr(sys.modules.get(module), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def unfinished_around(module: str, error: BaseException) -> str | None:
    """Returns a module whose unfinished import may be the cause of ``error``, which the import of ``module`` raised: a
    package around ``module``, ``module`` itself, or the module that the error names. None if there is none."""
    parts = module.split(".")
    named = getattr(error, "name", None) if isinstance(error, (ImportError, AttributeError)) else None
    candidates = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
    candidates += [named] if isinstance(named, str) else []
    return next((m for m in candidates if is_unfinished(m)), None)


def at_end(module: str, function: Callable[[bool], None]) -> bool:
    """Calls ``function(complete)`` when the import of a module is done or has failed; at once if that was earlier.

    Returns False, and never calls the function, if the spec's class is not ModuleSpec and so cannot be replaced.
    """
    spec: Any = getattr(sys.modules.get(module), "__spec__", None)
    with LOCK:
        if type(spec) is ModuleSpec:
            vars(spec)["at_end"] = []
            spec.__class__ = Watched
        watched = type(spec) is Watched
        if watched:
            spec.at_end.append(function)
    if watched and not vars(spec).get("_initializing"):  # the import ended before the spec was watched
        finish(spec)
    elif spec is None:
        function(False)
    return watched or spec is None
