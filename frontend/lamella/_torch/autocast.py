"""torch's older names for the state of autocast, which have the device in the name: they call those that take it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def _of(device: str, name: str, verb: str) -> Callable[..., Any]:
    """Makes the function of a name for one type of device."""

    def function(*args: Any) -> Any:
        # import_module, since lamella itself imports this module
        return getattr(import_module("lamella"), verb)(device, *args)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Calls ``lamella.{verb}`` for device ``{device}``.\n\n>>> callable(lamella.{name})\nTrue\n"
    return function


functions = {
    name: _of(device, name, verb)
    for device, name, verb in (
        ("cpu", "is_autocast_cpu_enabled", "is_autocast_enabled"),
        ("cpu", "set_autocast_cpu_enabled", "set_autocast_enabled"),
        ("cpu", "get_autocast_cpu_dtype", "get_autocast_dtype"),
        ("cpu", "set_autocast_cpu_dtype", "set_autocast_dtype"),
        ("cuda", "get_autocast_gpu_dtype", "get_autocast_dtype"),
        ("cuda", "set_autocast_gpu_dtype", "set_autocast_dtype"),
    )
}
