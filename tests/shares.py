"""Returns the share of a sweep for this run: all items, or if LAMELLA_SWEEP is "turn" a third that changes each day."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
PARTS = 3


def share(items: Sequence[T], day: datetime.date | None = None) -> list[T]:
    """Returns all items, or a third; three days in a row take each item once."""
    if os.environ.get("LAMELLA_SWEEP") != "turn":
        return list(items)
    first = (day or datetime.date.today()).toordinal() % PARTS
    return list(items[first::PARTS])
