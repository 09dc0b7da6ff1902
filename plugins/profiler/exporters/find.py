"""Exporters by name: entry points of the group ``lamella.exporters``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

GROUP = "lamella.exporters"


def exporter_names() -> list[str]:
    """Returns the names of the installed exporters, Lamella's own and those of other packages.

    >>> {"jsonl", "otlp", "prometheus"} <= set(lamella.profiler.exporters.exporter_names())
    True
    """
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?"


def find_exporter(name: str) -> Callable[..., Any]:
    """Returns the class or function that makes an exporter. A name of Lamella's own cannot be replaced by another
    package.

    Raises:
        ValueError: there is no exporter of this name, or several packages have one
        ImportError: the exporter needs a package that is not installed
    """
    found = {entry.value: entry for entry in entry_points(group=GROUP) if entry.name == name}
    own = [entry for entry in found.values() if entry.dist and entry.dist.name == "lamella"]
    choice = own or list(found.values())
    if not choice:
        known = ", ".join(exporter_names()) or "none"
        raise ValueError(f"export: there is no exporter {name!r}; installed are {known}")
    if len(choice) > 1:
        who = " and ".join(map(distribution, choice))
        raise ValueError(f"export: {who} each have an exporter {name!r}; pass the class itself, or uninstall one")
    return choice[0].load()
