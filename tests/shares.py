"""The share of a sweep that a run takes: all of it, or a third that changes each day if LAMELLA_SWEEP is "turn"."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
PARTS = 3


def share(items: Sequence[T], day: datetime.date | None = None) -> list[T]:
    """Three days in a row take every item once."""
    if os.environ.get("LAMELLA_SWEEP") != "turn":
        return list(items)
    first = (day or datetime.date.today()).toordinal() % PARTS
    return list(items[first::PARTS])
