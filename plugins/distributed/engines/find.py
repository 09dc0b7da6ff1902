"""Finds engines by their entry points, and loads them when they are first named."""

from __future__ import annotations

import threading
from importlib.metadata import entry_points

from .. import library

GROUP = "lamella.process_groups"
lock = threading.RLock()  # an engine may load another one
loaded: set[str] = set()


def names() -> list[str]:
    """Returns the names of the engines that are installed, in order."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def load(name: str) -> None:
    """Loads an engine: imports the module of its entry point, and calls the module's ``load()``.

    Raises:
        ValueError: there is no engine of that name
        RuntimeError: two packages have an engine of that name
    """
    with lock:
        if name in loaded:
            return
        found = {entry.value: entry for entry in entry_points(group=GROUP) if entry.name == name}
        if not found:
            have = ", ".join(names()) or "none"
            raise ValueError(
                f"there is no engine '{name}' for groups of processes; installed are: {have}. A package brings one by "
                f"an entry point of the group '{GROUP}'"
            )
        if len(found) > 1:
            raise RuntimeError(f"several packages have an engine '{name}': {', '.join(found)}; uninstall all but one")
        library.face()  # an engine's library is loaded after the plugin's
        next(iter(found.values())).load().load()
        loaded.add(name)
