"""Returns the share of a sweep for this run: all items, or if LAMELLA_SWEEP is "turn" a tenth that changes each day.

``make test`` sets "turn". A test function with the mark ``sweep`` is a sweep over its parameters, and all tests with
the mark ``long`` together are a sweep of which a run takes a quarter: see conftest.py.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
PARTS = int(os.environ.get("LAMELLA_SWEEP_PARTS", 10))  # the sanitized programs, which are slow, take smaller shares
LONG_PARTS = 4  # of the tests with the mark `long`, which take most of a run
DAY = "LAMELLA_SWEEP_DAY"  # the day for all processes of a run, since midnight may pass between their starts


def in_turn() -> bool:
    return os.environ.get("LAMELLA_SWEEP") == "turn"


def today() -> int:
    """Returns the number of the run's day."""
    return int(os.environ.get(DAY) or datetime.date.today().toordinal())


def share(items: Sequence[T], day: datetime.date | None = None, parts: int = PARTS) -> list[T]:
    """Returns all items, or one of the parts; as many days in a row take each item once."""
    if not in_turn():
        return list(items)
    first = (day.toordinal() if day else today()) % parts
    return list(items[first::parts])
