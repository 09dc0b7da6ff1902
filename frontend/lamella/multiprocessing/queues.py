"""Queues whose ``put`` pickles at once, not in a thread: memory is shared when it returns, and failures raise there."""

from __future__ import annotations

import multiprocessing
import multiprocessing.queues
from multiprocessing import context
from multiprocessing.reduction import ForkingPickler
from typing import Any

from lamella.multiprocessing import reductions


class Pickled:
    """An object as its pickle. It arrives as the object."""

    def __init__(self, data: bytes):
        self.data = data

    def __reduce__(self) -> Any:
        return ForkingPickler.loads, (self.data,)


class AtOnce:
    """The ``put`` of these queues."""

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        """Puts an object in. Raises queue.Full, and whatever pickling it raises."""
        data, registered = reductions.pickled(obj)
        try:
            super().put(Pickled(data), block, timeout)  # type: ignore[misc]
        except BaseException:
            for ident in registered:
                reductions.withdraw(ident)
            raise


class Queue(AtOnce, multiprocessing.queues.Queue):  # type: ignore[type-arg]
    """A queue of the standard library's that puts at once."""


class JoinableQueue(AtOnce, multiprocessing.queues.JoinableQueue):  # type: ignore[type-arg]
    """The same with ``task_done`` and ``join``."""


class Context:
    """What a context has of these queues."""

    def Queue(self, maxsize: int = 0) -> Queue:
        """A queue for at most so many objects; 0: for any number."""
        return Queue(maxsize, ctx=self)

    def JoinableQueue(self, maxsize: int = 0) -> JoinableQueue:
        """A queue that can be waited for."""
        return JoinableQueue(maxsize, ctx=self)


class _Fork(Context, context.ForkContext):
    pass


class _Spawn(Context, context.SpawnContext):
    pass


class _ForkServer(Context, context.ForkServerContext):
    pass


CONTEXTS: dict[str, Any] = {"fork": _Fork(), "spawn": _Spawn(), "forkserver": _ForkServer()}


def get_context(method: str | None = None) -> Any:
    """The context of a way to start processes: "fork", "spawn" or "forkserver"; None is the program's.

    Raises:
        ValueError: there is no such way

    >>> lamella.multiprocessing.get_context("spawn").get_start_method()
    'spawn'
    """
    return CONTEXTS[str(multiprocessing.get_context(method).get_start_method())]
