"""The standard library's ``multiprocessing``, whose queues, pipes and pools pass tensors in shared memory.

Sending a tensor moves it into shared memory. The receiver uses the same bytes, so that each process sees the writes of
the other. The memory has no name; it is freed when the last process that uses it ends, even if that is killed.

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
    """Makes a queue of ``multiprocessing`` for at most ``maxsize`` objects (0: any number), whose ``put`` pickles at
    once.

    When ``put`` returns, the object's tensors are in shared memory; if the object cannot be pickled, ``put`` raises.

    >>> queue = lamella.multiprocessing.Queue()
    >>> t = lamella.zeros(2)
    >>> queue.put(t)
    >>> t.is_shared(), queue.get()
    (True, tensor([0., 0.]))
    """
    return get_context().Queue(maxsize)


def JoinableQueue(maxsize: int = 0) -> Any:  # type: ignore[no-redef]  # noqa: N802
    """Makes a queue like ``Queue``, with ``task_done`` and ``join``.

    >>> queue = lamella.multiprocessing.JoinableQueue()
    >>> queue.put(1)
    >>> queue.get()
    1
    >>> queue.task_done()
    >>> queue.join()
    """
    return get_context().JoinableQueue(maxsize)


def get_all_sharing_strategies() -> set[str]:
    """Returns the names of the ways to share memory; there is only one, by file descriptors.

    >>> lamella.multiprocessing.get_all_sharing_strategies()
    {'file_descriptor'}
    """
    return {"file_descriptor"}


def get_sharing_strategy() -> str:
    """Returns the way in which memory is shared.

    >>> lamella.multiprocessing.get_sharing_strategy()
    'file_descriptor'
    """
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepts "file_descriptor", and with a warning "file_system", which programs set when descriptors run out.

    Raises:
        ValueError: ``new_strategy`` is another strategy

    >>> lamella.multiprocessing.set_sharing_strategy("file_descriptor")
    """
    if new_strategy == "file_system":
        warnings.warn(
            "set_sharing_strategy: the strategy stays 'file_descriptor', since files with names are not removed when "
            "processes are killed, and small tensors share one descriptor anyway",
            RuntimeWarning,
            stacklevel=2,
        )
    elif new_strategy != "file_descriptor":
        wanted = "expected 'file_descriptor' or 'file_system'"
        raise ValueError(f"set_sharing_strategy: argument 'new_strategy': {wanted}, got {new_strategy!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "reductions"})


def __getattr__(name: str) -> Any:  # other names of the standard module, such as `connection`
    if name.startswith("_") or not hasattr(_standard, name):
        raise AttributeError(f"module 'lamella.multiprocessing' has no attribute '{name}'")
    return getattr(_standard, name)
