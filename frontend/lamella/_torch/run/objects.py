"""Finds the objects of Lamella for dotted names of torch."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import lamella._torch.run.names as names
from lamella._absent import Absent
from lamella._torch.run.scopes import UNKNOWN

DYNAMIC = ("torch.ops", "torch.classes")  # their attributes depend on the program


def look_up(path: str) -> tuple[Any, str | None]:
    """Returns the object of a dotted name of torch and None; or None and the shortest prefix that does not exist."""
    parts = path.split(".")
    found: Any = names.find_ours("lamella")
    for i in range(1, len(parts)):
        here = ".".join(parts[: i + 1])
        if here in DYNAMIC:
            return UNKNOWN, None
        if isinstance(found, ModuleType):
            try:
                if hasattr(found, parts[i]):
                    found = getattr(found, parts[i])
                    continue
                module = names.find_ours(names.ours(here))
            except ImportError:  # a package that the module needs is not installed; its import is reported
                return UNKNOWN, None
            if module is None and here not in names.recorded()["modules"]:
                return None, here
            if module is None:
                end = i + 1
                while ".".join(parts[:end]) in names.recorded()["modules"] and end < len(parts):
                    end += 1
                return None, ".".join(parts[:end])
            found = module
        elif isinstance(found, type):
            try:
                found = inspect.getattr_static(found, parts[i])
            except AttributeError:
                return None, here
            if isinstance(found, Absent):
                return None, here
        else:
            return UNKNOWN, None
    return found, None
