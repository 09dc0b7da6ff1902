"""The log of used features, as the frontend writes it; the plugin ``profiler`` keeps it and tells its handlers.

Keys that are logged while there is no such plugin wait here. ``docs/observability.md`` has the list.
"""

from __future__ import annotations

from lamella import _C

MOST = 1024  # keys that wait

seen: set[str] = set()
waiting: list[str] = []


def log_once(key: str) -> None:
    """Logs a key the first time in this process; after that it is one look into a set."""
    if key not in seen:
        seen.add(key)
        if not _C._log_usage(key) and len(waiting) < MOST:
            waiting.append(key)


def hand_over() -> None:
    """Gives the keys that wait to the plugin, if it is there."""
    while waiting and _C._log_usage(waiting[0]):
        del waiting[0]
