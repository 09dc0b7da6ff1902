"""Functions that read and set this thread's state of autocast, for code that cannot use a block."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import ops

from . import _python
from .devices import check


def is_low(dtype: Any) -> bool:
    """Returns whether a dtype is one of floats below float32, as blocks cast to."""
    return dtype.is_floating_point and dtype.itemsize < 4


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Returns whether autocast is on for a type of device on this thread; without one, whether it is on for any.

    >>> with lamella.autocast("cpu"):
    ...     lamella.is_autocast_enabled("cpu")
    True
    """
    if device_type is None:
        return _python._is_enabled(-1)
    return not check("is_autocast_enabled", device_type) and _python._is_enabled(ops.autocast.number(device_type))


def _present(who: str, device_type: str) -> None:
    if why := check(who, device_type):
        raise RuntimeError(f"{who}: argument 'device_type': {why}")


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Switches autocast on or off for a type of device on this thread. A block does the same, and undoes it.

    Raises:
        RuntimeError: this machine has no such device

    >>> lamella.set_autocast_enabled("cpu", False)
    """
    _present("set_autocast_enabled", device_type)
    _python._set_enabled(ops.autocast.number(device_type), bool(enabled))


def get_autocast_dtype(device_type: str) -> Any:
    """Returns the dtype of blocks that are given none: bfloat16 for the CPU and float16 for others, if none was set.

    >>> lamella.get_autocast_dtype("cpu")
    lamella.bfloat16
    """
    if check("get_autocast_dtype", device_type):
        return lamella.float16
    return ops.autocast.get_dtype(device_type)


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Sets that dtype for a type of device, on this thread.

    Raises:
        RuntimeError: this machine has no such device
        TypeError: ``dtype`` is none
        ValueError: it is not one of floats below float32

    >>> lamella.set_autocast_dtype("cpu", lamella.bfloat16)
    """
    _present("set_autocast_dtype", device_type)
    if not isinstance(dtype, lamella.dtype):
        raise TypeError(f"set_autocast_dtype: argument 'dtype' must be a dtype, got {type(dtype).__name__}")
    if not is_low(dtype):
        raise ValueError(f"set_autocast_dtype: argument 'dtype' must be one of floats below float32, got {dtype}")
    ops.autocast.set_dtype(device_type, dtype)


def is_autocast_cache_enabled() -> bool:
    """Returns whether casts of weights are kept until the outermost block ends.

    >>> lamella.is_autocast_cache_enabled()
    True
    """
    return ops.autocast.is_cache_enabled()


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Sets whether casts of weights are kept, on this thread.

    >>> lamella.set_autocast_cache_enabled(True)
    """
    ops.autocast.set_cache_enabled(bool(enabled))


def clear_autocast_cache() -> None:
    """Drops the casts that are kept on this thread, as the end of the outermost block does.

    >>> lamella.clear_autocast_cache()
    """
    ops.autocast.clear_cache()


def autocast_increment_nesting() -> int:
    """Counts one more open block on this thread, for code that opens none; returns how many there are.

    >>> lamella.autocast_increment_nesting(), lamella.autocast_decrement_nesting()
    (1, 0)
    """
    return ops.autocast.nest(1)


def autocast_decrement_nesting() -> int:
    """Counts one open block less; see :func:`autocast_increment_nesting`. At 0 the caller clears the cache.

    >>> lamella.autocast_increment_nesting(), lamella.autocast_decrement_nesting()
    (1, 0)
    """
    return ops.autocast.nest(-1)


class Again:
    """A block with the settings of the thread that makes it, for a checkpoint, which runs its function again."""

    def __init__(self) -> None:
        self.settings = _python._settings()

    def __enter__(self) -> Again:
        _python._enter(self, self.settings)
        return self

    def __exit__(self, *error: object) -> None:
        _python._leave(self)


NAMES = (
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "get_autocast_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
)
