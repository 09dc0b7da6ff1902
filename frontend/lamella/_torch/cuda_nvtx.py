"""Marks and ranges for NVIDIA's profilers, by NVTX 1 (libnvToolsExt), which is opened at the first use.

Without the library on this machine the functions do nothing, and return the numbers that NVTX returns then; torch
raises an error there. So programs that mark their steps run everywhere. ``is_available`` says whether there is a
library. ``LAMELLA_NVTX`` gives its path if the linker does not find it.

>>> with lamella.cuda.nvtx.range("step {}", 3):
...     lamella.cuda.nvtx.mark("here")
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["is_available", "mark", "range", "range_end", "range_pop", "range_push", "range_start"]

NAMES = ("libnvToolsExt.so.1", "libnvToolsExt.so", "libnvtx3interop.so")
NONE = -1  # the depth that NVTX returns without a profiler


@functools.cache
def _library() -> Any:
    """Opens the library; returns None if there is none."""
    given = os.environ.get("LAMELLA_NVTX")
    for name in (given,) if given else NAMES:
        try:
            found = ctypes.CDLL(name)
            found.nvtxRangePushA.argtypes = found.nvtxMarkA.argtypes = found.nvtxRangeStartA.argtypes = [
                ctypes.c_char_p
            ]
            found.nvtxRangeStartA.restype, found.nvtxRangeEnd.argtypes = ctypes.c_uint64, [ctypes.c_uint64]
            found.nvtxMarkA.restype = found.nvtxRangeEnd.restype = None
            return found
        except (OSError, AttributeError):
            continue
    return None


def is_available() -> bool:
    """Returns whether this machine has the library, so that marks reach a profiler.

    >>> lamella.cuda.nvtx.is_available() in (True, False)
    True
    """
    return _library() is not None


def range_push(msg: str) -> int:
    """Begins a range of this thread, inside of the last one; returns the depth of it, or a negative number.

    >>> _ = lamella.cuda.nvtx.range_push("forward")
    >>> _ = lamella.cuda.nvtx.range_pop()
    """
    library = _library()
    return NONE if library is None else library.nvtxRangePushA(msg.encode())


def range_pop() -> int:
    """Ends the last range that ``range_push`` began on this thread; returns its depth, or a negative number."""
    library = _library()
    return NONE if library is None else library.nvtxRangePop()


def range_start(msg: str) -> int:
    """Begins a range that any thread may end; returns the number that ``range_end`` takes.

    >>> lamella.cuda.nvtx.range_end(lamella.cuda.nvtx.range_start("upload"))
    """
    library = _library()
    return 0 if library is None else library.nvtxRangeStartA(msg.encode())


def range_end(range_id: int) -> None:
    """Ends a range that ``range_start`` began."""
    library = _library()
    if library is not None:
        library.nvtxRangeEnd(range_id)


def mark(msg: str) -> None:
    """Marks a moment.

    >>> lamella.cuda.nvtx.mark("epoch 1")
    """
    library = _library()
    if library is not None:
        library.nvtxMarkA(msg.encode())


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Makes the block a range of this thread. The message is formatted with the further arguments.

    >>> with lamella.cuda.nvtx.range("batch {}", 7):
    ...     pass
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
