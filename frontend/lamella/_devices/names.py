"""Names that each backend NAME gets: the module ``lamella.NAME``, ``Tensor.is_NAME``, and the method ``NAME()``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from lamella import _C
from lamella._absent import absent_plugin, explain
from lamella._devices import backends, can_load, resolve
from lamella._devices.functions import FUNCTIONS, OneKind
from lamella.plugins import contributions


class DeviceModule(ModuleType):
    """The module ``lamella.NAME``: the functions that all devices have, and the names that its backend contributes.

    The backend is loaded when a program uses a name that is not one of the functions of all devices, or one that
    begins with ``get_device_``, since the backend may contribute its own.
    """

    def __init__(self, name: str):
        super().__init__(f"lamella.{name}", f"Device {name!r}: memory, streams, events, random numbers.")
        self._name = name
        self._common = OneKind(name)

    def __getattr__(self, name: str) -> Any:
        common = vars(self).get("_common")
        if common is not None and not name.startswith("_"):
            # A backend may contribute its own get_device_properties or get_device_capability.
            if name.startswith("get_device_") and can_load(self._name) and name in vars(self):
                return vars(self)[name]
            if hasattr(common, name):
                return getattr(common, name)
            if self._name not in backends() and can_load(self._name) and name in vars(self):
                return vars(self)[name]
        if not name.startswith("_") and absent_plugin(self.__name__, name):
            raise AttributeError(explain(self.__name__, name))
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *FUNCTIONS, "Stream", "Event"})


class IsDevice:
    """The attribute ``Tensor.is_NAME``: whether a tensor is on a device of that name."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, tensor: Any, owner: type | None = None) -> Any:
        return self if tensor is None else tensor.device.type == self.name


class NoDevice:
    """The attribute ``Tensor.is_NAME`` of a device of torch, which is False if no backend of that name is known."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, tensor: Any, owner: type | None = None) -> Any:
        return self if tensor is None else False


def mover(name: str) -> Callable[..., _C.Tensor]:
    """Makes the method ``Tensor.NAME()``, which moves a tensor to a device of that name."""

    def move(self, device=None, non_blocking=False, memory_format=_C.preserve_format):
        return self.to(resolve(device, name), non_blocking=non_blocking, memory_format=memory_format)

    move.__name__ = name
    move.__qualname__ = f"Tensor.{name}"
    move.is_mover = True  # type: ignore[attr-defined]
    move.__doc__ = f"Moves the tensor to a device {name!r}, given as an index or a device; None means the current one."
    return move


def give(kind: type, name: str, make: Callable[[str], Any]) -> None:
    """Sets the method ``name`` of a class, unless the class has another attribute of that name."""
    there = getattr(kind, name, None)
    if there is None or getattr(there, "is_mover", False):
        setattr(kind, name, make(name))


MOVERS: list[tuple[type, Callable[[str], Any]]] = [(_C.Tensor, mover)]  # classes with a method NAME() for each device


def add_mover(kind: type, make: Callable[[str], Any]) -> None:
    """Gives a class the method NAME(), made by ``make(NAME)``, for each backend that is loaded now or later."""
    MOVERS.append((kind, make))
    for known in [known for known in vars(_C.Tensor).values() if isinstance(known, IsDevice) and known.name != "meta"]:
        give(kind, known.name, make)


def announce(names: Iterable[str] = ()) -> None:
    """Contributes the names of loaded backends, and of the backends ``names``, to ``lamella`` and to Tensor.

    Names that are taken are skipped, so a second call does nothing.
    """
    gather, holder = contributions.gather, contributions.holder
    for name in (*backends(), *names):
        if not name.isidentifier():
            continue
        if isinstance(vars(_C.Tensor).get(f"is_{name}"), (NoDevice, type(None))):
            contributions.contribute(gather("Tensor", {f"is_{name}": IsDevice(name)}, placeholder=True))
        if name == "meta":
            continue
        if name not in vars(sys.modules["lamella"]) and not holder("lamella", name):
            contributions.contribute(gather("lamella", {name: DeviceModule(name)}, placeholder=True))
        if not holder("Tensor", name):
            for kind, make in MOVERS:
                give(kind, name, make)
