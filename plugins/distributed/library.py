"""The plugin's library of C++, which is loaded when a store or a group is first made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor

loader: Callable[[], None] | None = None  # loads the library; the plugin's hook sets it
lock = threading.Lock()
loaded: Any = None


def face() -> Any:
    """Returns the extension module, and loads the library first if it is not loaded yet."""
    global loaded
    if loaded is None:
        with lock:
            if loaded is None:
                assert loader is not None
                loader()
                from . import _python

                loaded = _python
    return loaded


def settle(tensor: Tensor, to: str) -> None:
    """Waits for the collectives that are under way in a tensor's memory before it, or a number of it, is given away."""
    if loaded is not None:
        loaded.settle(tensor, to == "memory")


def operators() -> Any:
    """Returns ``lamella.ops.c10d``."""
    face()
    return lamella.ops.c10d  # type: ignore[attr-defined]
