"""Interrupts: a block that defers SIGINT, which could otherwise lose a process or a descriptor; and the exception that
ends a wait."""

from __future__ import annotations

import threading
from _signal import SIGINT, getsignal, signal  # type: ignore[import-not-found]  # the module signal takes 6 µs a call
from typing import Any


class Stopped(Exception):  # noqa: N818 (it is no error)
    """Raised when another thread ends the wait."""


class Deferred:
    """Defers SIGINT until the end of the block, and then calls its handler. Python runs signal handlers in the main
    thread only, so the block has no effect in other threads. Nor has it any if SIGINT has no handler in Python.
    """

    handler: Any = None  # the program's handler, while the block runs
    came: tuple[Any, ...] | None = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread() and callable(getsignal(SIGINT)):
            self.handler = signal(SIGINT, self._note)

    def _note(self, *arguments: Any) -> None:
        self.came = arguments

    def __exit__(self, *_: Any) -> None:
        if self.handler is not None:
            signal(SIGINT, self.handler)
            if self.came is not None:
                self.handler(*self.came)


def restore() -> None:
    """Restores the program's handler, in a process that was forked within blocks of Deferred."""
    handler = getsignal(SIGINT)
    while isinstance(block := getattr(handler, "__self__", None), Deferred):
        handler = block.handler
    signal(SIGINT, handler)
