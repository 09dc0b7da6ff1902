"""Teaches the pickler of ``multiprocessing`` tensors in a process that has one before ``lamella.multiprocessing``."""

from __future__ import annotations

import sys
from typing import Any


def share_when_sent(*kinds: type) -> None:
    """Tensors of these kinds are sent in shared memory, as ``lamella.multiprocessing`` does it.

    A process that was started by ``spawn`` has the pickler and need not import ``lamella.multiprocessing``: what it
    sends back would be a copy. A process without the pickler has nothing to send, and learns it there.
    """
    reduction: Any = sys.modules.get("multiprocessing.reduction")
    if reduction is None:
        return
    from lamella._storage import UntypedStorage

    for kind in kinds:
        reduction.ForkingPickler.register(kind, _reduce_tensor)
    # Now, too: a pickler copies the table when it begins.
    reduction.ForkingPickler.register(UntypedStorage, _reduce_storage)


def _reduce_tensor(tensor: Any) -> Any:
    from lamella.multiprocessing import reductions  # it registers its own functions in the place of these

    return reductions.reduce_shared(tensor)


def _reduce_storage(storage: Any) -> Any:
    from lamella.multiprocessing import reductions

    return reductions.reduce_storage(storage)
