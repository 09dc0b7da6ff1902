"""Debug information: values by kind, which observers see, and which are passed on to the threads that do the work."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from . import _python

__all__ = ["DebugInfoGuard", "all_debug_info", "debug_info", "get_debug_info"]

_innermost: ContextVar[Any] = ContextVar("lamella.profiler.debug_info")
_python._set_info_variable(_innermost)


class debug_info:
    """Sets the value of a kind of debug information within the block: a model's name, a request's number.

    Observers see the value on this thread and on others that do its work: threads of backward, tasks of asyncio (each
    has its own), workers of a ``DataLoader``, and functions that run with ``lamella.capture_state()``:
    ``pool.submit(state.run, f)`` or ``Process(target=state.run, args=(f,))``. A kind is any text; the innermost value
    of a kind counts. Values that can be pickled are sent to other processes.

    Args:
        kind: a text
        value: any object; observers in C++ can read numbers and texts

    Raises:
        TypeError: the kind is no str

    >>> with lamella.profiler.debug_info("model", "resnet-18"):
    ...     lamella.profiler.get_debug_info("model")
    'resnet-18'
    """

    def __init__(self, kind: str, value: Any):
        if not isinstance(kind, str):
            raise TypeError(f"debug_info: argument 'kind' must be str, got {type(kind).__name__}")
        self.kind, self.value = kind, value
        self._tokens: list = []

    def __enter__(self) -> debug_info:
        self._tokens.append(_innermost.set(_python._info_entry(self.kind, self.value, _innermost.get(None))))
        return self

    def __exit__(self, *_: object) -> None:
        _innermost.reset(self._tokens.pop())


DebugInfoGuard = debug_info


def get_debug_info(kind: str) -> Any:
    """Returns the value of a kind here, or None.

    >>> lamella.profiler.get_debug_info("model") is None
    True
    """
    if not isinstance(kind, str):
        raise TypeError(f"get_debug_info: argument 'kind' must be str, got {type(kind).__name__}")
    return _python._get_info(kind)


def all_debug_info() -> dict[str, Any]:
    """Returns the innermost value of each kind.

    >>> with lamella.profiler.debug_info("model", "gpt"), lamella.profiler.debug_info("request", 7):
    ...     lamella.profiler.all_debug_info()
    {'model': 'gpt', 'request': 7}
    """
    return _python._all_info()
