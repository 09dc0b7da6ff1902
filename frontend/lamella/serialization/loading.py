"""``load``: looks at a file's content and gives it to the reader of its format."""

from __future__ import annotations

from typing import Any


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
         mmap: bool | None = None) -> Any:  # fmt: skip
    """Reads a checkpoint."""
    raise NotImplementedError("lamella.load")
