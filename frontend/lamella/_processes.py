"""Registers tensors with the pickler of the standard ``multiprocessing``, before or after that module is imported."""

from __future__ import annotations

import sys
from typing import Any

from lamella._imports import after_import

PICKLER = "multiprocessing.reduction"
_kinds: list[type] = []


def share_when_sent(*kinds: type) -> None:
    """Makes the standard ``multiprocessing`` send tensors of these types in shared memory.

    ``lamella.multiprocessing`` does the same, and is not imported before a tensor is sent. If the pickler is imported
    already, the types are registered now, else as soon as a program imports it.
    """
    first = not _kinds
    _kinds.extend(kinds)
    if first or PICKLER in sys.modules:
        after_import(PICKLER, register)


def register(reduction: Any) -> None:
    """Registers the types in ``_kinds``, and UntypedStorage, with the pickler."""
    from lamella._storage import UntypedStorage

    known = reduction.ForkingPickler._extra_reducers
    for kind in _kinds:
        known.setdefault(kind, _reduce_tensor)
    # UntypedStorage is not left to the import in `_reduce_tensor`: a pickler that is at work then has copied the table.
    known.setdefault(UntypedStorage, _reduce_storage)


def _reduce_tensor(tensor: Any) -> Any:
    from lamella.multiprocessing import reductions  # the import replaces the functions here by its own

    return reductions.reduce_shared(tensor)


def _reduce_storage(storage: Any) -> Any:
    from lamella.multiprocessing import reductions

    return reductions.reduce_storage(storage)
