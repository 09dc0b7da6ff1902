"""Files that a profile writes: each replaces an old file when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike, durable: bool = True) -> Iterator[IO[bytes]]:
    """Opens a buffered file to write into, as ``lamella.save`` does: it replaces the file of that path at the end of
    the block. ``durable`` waits until it is on the disk."""
    from lamella.serialization import atomic  # imported when the first file is written

    with atomic.replacing(path, durable) as part, open(os.dup(part.fileno()), "wb") as file:
        yield file
