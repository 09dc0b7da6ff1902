"""Pinning: a thread copies batches, ahead of the loop, to memory from which an accelerator copies fast."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import lamella
import lamella.utils.data._utils.interrupts as interrupts
from lamella.utils.data._utils.collate import _same_mapping, _same_sequence


def pin_memory(data: Any, device: Any = None) -> Any:
    """Returns the data with each tensor in pinned memory; objects with a method ``pin_memory`` are replaced by its
    result.

    >>> from lamella.utils.data._utils.pin_memory import pin_memory
    >>> pin_memory(["text", 1])
    ['text', 1]
    """
    if isinstance(data, lamella.Tensor):
        return data.pin_memory()
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return _same_mapping(data, {key: pin_memory(part, device) for key, part in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(pin_memory(part, device) for part in data))
    if isinstance(data, tuple):
        return [pin_memory(part, device) for part in data]
    if isinstance(data, Sequence):
        return _same_sequence(data, [pin_memory(part, device) for part in data])
    return data


def can_pin() -> bool:
    """Returns whether there is an accelerator that pins host memory."""
    if not lamella.accelerator.is_available():
        return False
    try:
        lamella.empty(1).pin_memory()
    except RuntimeError:
        return False
    return True


class PinThread:
    """Calls a function for items in a thread, and pins them; at most ``ahead`` of them wait.

    The function raises Stopped when the descriptor ``wake`` is readable.
    """

    def __init__(self, source: Callable[[], tuple[Any, Any]], ahead: int, pin: Callable[[Any], Any] = pin_memory):
        self.source = source
        self.pin = pin
        self.items: queue.Queue[Any] = queue.Queue(ahead)
        self.stopping = False
        self.ended: str | None = None
        self.wake, self._end = os.pipe()
        self.thread = threading.Thread(target=self._run, name="lamella pin_memory", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self.thread.start()

    def _run(self) -> None:
        while not self.stopping:
            try:
                data, handed = self.source()
                item: Any = (self.pin(data), handed, None)
                del data
            except interrupts.Stopped:
                return
            except BaseException as error:
                item = (None, getattr(error, "_handed", None), error)
            self.items.put(item)
            if isinstance(item[2], StopIteration) or (item[2] is not None and item[1] is None):
                return
            del item

    def take(self) -> tuple[Any, Any]:
        """Returns the next item. Raises the function's exception, and RuntimeError from then on if that ended the
        thread."""
        if self.ended is not None:
            raise RuntimeError(self.ended)
        data, handed, error = self.items.get()
        if error is None:
            return data, handed
        if handed is None:
            self.ended = f"DataLoader: the pinning thread has ended with an error: {error}"
        try:
            raise error
        finally:
            del error  # the traceback references this frame

    def stop(self) -> None:
        """Ends the thread, even while it waits."""
        with interrupts.Deferred():
            self.stopping = True
            os.write(self._end, b"x")
        while self.thread.is_alive():
            with contextlib.suppress(queue.Empty):
                self.items.get_nowait()  # the thread may wait for room
            self.thread.join(0.01)

    def close(self) -> None:
        """Closes the descriptors after the thread has ended."""
        with interrupts.Deferred():
            for fd in (self.wake, self._end):
                if fd >= 0:
                    os.close(fd)
            self.wake = self._end = -1

    def __del__(self) -> None:
        self.close()  # needed if an interrupt came between stop() and close()
