"""The standard library's ``multiprocessing``, whose queues, pipes and pools hand tensors over in shared memory.

A tensor that is sent is moved into shared memory, and the receiver sees the same bytes: what one side writes, the other
reads. The memory has no name; it is gone when the last process that uses it is, however that ends.

>>> import lamella.multiprocessing as mp
>>> queue = mp.SimpleQueue()
>>> t = lamella.zeros(2)
>>> queue.put(t)
>>> received = queue.get()
>>> received += 1
>>> t
tensor([1., 1.])
"""

import multiprocessing as _standard
import warnings
from multiprocessing import *  # noqa: F403
from typing import Any

from lamella.multiprocessing.queues import get_context
from lamella.multiprocessing.reductions import init_reductions as init_reductions
from lamella.multiprocessing.spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *_standard.__all__,
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]


def Queue(maxsize: int = 0) -> Any:  # type: ignore[no-redef]  # noqa: N802
    """A queue for at most so many objects, 0 for any number: that of ``multiprocessing``, but ``put`` pickles at once.

    What is put is in shared memory when ``put`` returns, and what cannot be sent raises there.

    >>> queue = lamella.multiprocessing.Queue()
    >>> t = lamella.zeros(2)
    >>> queue.put(t)
    >>> t.is_shared(), queue.get()
    (True, tensor([0., 0.]))
    """
    return get_context().Queue(maxsize)


def JoinableQueue(maxsize: int = 0) -> Any:  # type: ignore[no-redef]  # noqa: N802
    """A queue as ``Queue``, with ``task_done`` and ``join``.

    >>> queue = lamella.multiprocessing.JoinableQueue()
    >>> queue.put(1)
    >>> queue.get()
    1
    >>> queue.task_done()
    >>> queue.join()
    """
    return get_context().JoinableQueue(maxsize)


def get_all_sharing_strategies() -> set[str]:
    """How memory can be shared: by file descriptors.

    >>> lamella.multiprocessing.get_all_sharing_strategies()
    {'file_descriptor'}
    """
    return {"file_descriptor"}


def get_sharing_strategy() -> str:
    """How memory is shared.

    >>> lamella.multiprocessing.get_sharing_strategy()
    'file_descriptor'
    """
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Takes "file_descriptor"; it stays so with "file_system", which programs ask for when they run out of descriptors.

    Raises:
        ValueError: another strategy

    >>> lamella.multiprocessing.set_sharing_strategy("file_descriptor")
    """
    if new_strategy == "file_system":
        warnings.warn(
            "set_sharing_strategy: it stays 'file_descriptor': files with names stay behind when processes are killed, "
            "and small tensors share one descriptor anyway",
            RuntimeWarning,
            stacklevel=2,
        )
    elif new_strategy != "file_descriptor":
        raise ValueError(f"set_sharing_strategy: {new_strategy!r} is none; expected 'file_descriptor' or 'file_system'")


def __dir__() -> list[str]:
    return sorted({*__all__, "reductions"})


def __getattr__(name: str) -> Any:  # what the standard module has beside __all__, such as `connection`
    if name.startswith("_") or not hasattr(_standard, name):
        raise AttributeError(f"module 'lamella.multiprocessing' has no attribute '{name}'")
    return getattr(_standard, name)
