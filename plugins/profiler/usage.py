"""The log of used features: reports each feature of the framework once, when the program first uses it."""

from __future__ import annotations

from collections.abc import Callable

from . import _python

__all__ = ["log_api_usage_once", "remove_api_usage_handler", "set_api_usage_handler"]


def set_api_usage_handler(handler: Callable[[str], object]) -> int:
    """Adds a function that is called once for each key; returns a handle for ``remove_api_usage_handler``.

    The handler is called at once for up to 1024 keys that were logged before the first handler was added. If a handler
    raises, ``sys.unraisablehook`` reports that, and the handler stays. Keys that a handler logs itself are reported
    after it has returned.

    Raises:
        TypeError: the handler is not callable

    >>> keys = []
    >>> handle = lamella.profiler.set_api_usage_handler(keys.append)
    >>> lamella.profiler.log_api_usage_once("my.feature")
    >>> lamella.profiler.log_api_usage_once("my.feature")
    >>> keys.count("my.feature")
    1
    >>> lamella.profiler.remove_api_usage_handler(handle)
    """
    if not callable(handler):
        raise TypeError(f"set_api_usage_handler: argument 'handler' must be callable, got {type(handler).__name__}")
    return _python._add_usage_handler(handler)


def remove_api_usage_handler(handle: int) -> None:
    """Removes a handler.

    Raises:
        ValueError: there is no handler with this handle

    >>> lamella.profiler.remove_api_usage_handler(lamella.profiler.set_api_usage_handler(print))
    """
    _python._remove_usage_handler(handle)


def log_api_usage_once(key: str) -> None:
    """Calls all handlers with a key, the first time that it is logged in this process.

    Raises:
        TypeError: the key is not a str

    >>> lamella.profiler.log_api_usage_once("my.other.feature")
    """
    if not isinstance(key, str):
        raise TypeError(f"log_api_usage_once: argument 'key' must be str, got {type(key).__name__}")
    _python._log_usage(key)
