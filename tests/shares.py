"""Returns the share of a sweep for this run: all items, or if LAMELLA_SWEEP is "turn" a tenth that changes each day.

``make test`` sets "turn". A test function with the mark ``sweep`` is a sweep over its parameters: see conftest.py.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
PARTS = 10
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
