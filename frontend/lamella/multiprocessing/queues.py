"""Queues whose ``put`` pickles in the calling thread: tensors are in shared memory when it returns, and errors of
pickling are raised by it."""

from __future__ import annotations

import multiprocessing
import multiprocessing.queues
from multiprocessing import context
from multiprocessing.reduction import ForkingPickler
from typing import Any

import lamella.multiprocessing.reductions as reductions


class Pickled:
    """Wraps the pickle of an object. The receiver unpickles it to the object itself."""

    def __init__(self, data: bytes):
        self.data = data

    def __reduce__(self) -> Any:
        return ForkingPickler.loads, (self.data,)


class AtOnce:
    """A base class of the queues below: ``put`` pickles at once, in the calling thread."""

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        """Puts an object into the queue. Raises queue.Full, and the errors of pickling."""
        data, registered = reductions.pickled(obj)
        try:
            super().put(Pickled(data), block, timeout)  # type: ignore[misc]
        except BaseException:
            for ident in registered:
                reductions.withdraw(ident)
            raise


class Queue(AtOnce, multiprocessing.queues.Queue):  # type: ignore[type-arg]
    """A queue of the standard library that pickles at once."""


class JoinableQueue(AtOnce, multiprocessing.queues.JoinableQueue):  # type: ignore[type-arg]
    """A JoinableQueue of the standard library that pickles at once."""


class Context:
    """A mixin for contexts of the standard library: they make the queues above."""

    def Queue(self, maxsize: int = 0) -> Queue:
        """Makes a queue for at most ``maxsize`` objects; 0 means any number."""
        return Queue(maxsize, ctx=self)

    def JoinableQueue(self, maxsize: int = 0) -> JoinableQueue:
        """Makes a queue with ``task_done`` and ``join``."""
        return JoinableQueue(maxsize, ctx=self)


class _Fork(Context, context.ForkContext):
    pass


class _Spawn(Context, context.SpawnContext):
    pass


class _ForkServer(Context, context.ForkServerContext):
    pass


CONTEXTS: dict[str, Any] = {"fork": _Fork(), "spawn": _Spawn(), "forkserver": _ForkServer()}


def get_context(method: str | None = None) -> Any:
    """Returns the context of a way to start processes: "fork", "spawn" or "forkserver"; None means the program's.

    Raises:
        ValueError: there is no such start method

    >>> lamella.multiprocessing.get_context("spawn").get_start_method()
    'spawn'
    """
    return CONTEXTS[str(multiprocessing.get_context(method).get_start_method())]
