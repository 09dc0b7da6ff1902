"""The frontend's side of the log of used features, which the plugin ``profiler`` keeps and passes to its handlers.

Keys that are logged before the plugin is loaded wait in this module. ``docs/observability.md`` lists the keys.
"""

from __future__ import annotations

from lamella import _C

MOST = 1024  # the largest number of keys that wait

seen: set[str] = set()
waiting: list[str] = []


def log_once(key: str) -> None:
    """Logs a key at its first use in this process. Each later use costs one look into a set."""
    if key not in seen:
        seen.add(key)
        if not _C._log_usage(key) and len(waiting) < MOST:
            waiting.append(key)


def hand_over() -> None:
    """Passes the waiting keys to the plugin, if it is loaded."""
    while waiting and _C._log_usage(waiting[0]):
        del waiting[0]
