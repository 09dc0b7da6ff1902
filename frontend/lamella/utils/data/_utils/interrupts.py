"""SIGINT at a moment when a process or a descriptor would be lost: blocks that wait with it."""

from __future__ import annotations

import threading
from _signal import SIGINT, getsignal, signal  # type: ignore[import-not-found]  # the module signal takes 6 µs a call
from typing import Any


class Held:
    """A block in which SIGINT waits until it has ended; then its handler is called. Only the main thread is
    interrupted by handlers, so that it alone has to wait.
    """

    handler: Any = None  # the program's, while the block runs
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


def let_go() -> None:
    """In a process that was forked within such blocks: from now on the program's handler answers."""
    handler = getsignal(SIGINT)
    while isinstance(block := getattr(handler, "__self__", None), Held):
        handler = block.handler
    signal(SIGINT, handler)
