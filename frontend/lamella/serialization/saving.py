"""``save``: writes an object in one of the formats."""

from __future__ import annotations

from typing import Any


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: Any = None,
         _use_new_zipfile_serialization: bool = True, *, format: str = "lamella", durable: bool = True) -> None:  # fmt: skip
    """Writes a checkpoint."""
    raise NotImplementedError("lamella.save")
