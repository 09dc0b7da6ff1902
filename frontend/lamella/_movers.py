"""What the name of a device gives to classes: ``Tensor.is_NAME``, and the method ``NAME()`` that moves there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamella import _C
from lamella._streams import resolve


class IsDevice:
    """``Tensor.is_NAME``: whether a tensor is on a device of that name."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, tensor: Any, owner: type | None = None) -> Any:
        return self if tensor is None else tensor.device.type == self.name


class NoDevice:
    """``Tensor.is_NAME`` for a device that torch knows, until there is a backend of that name: False."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, tensor: Any, owner: type | None = None) -> Any:
        return self if tensor is None else False


def mover(name: str) -> Callable[..., _C.Tensor]:
    """``Tensor.NAME()``: the tensor on a device of that name."""

    def move(self, device=None, non_blocking=False, memory_format=_C.preserve_format):
        return self.to(resolve(device, name), non_blocking=non_blocking, memory_format=memory_format)

    move.__name__ = name
    move.__qualname__ = f"Tensor.{name}"
    move.is_mover = True  # type: ignore[attr-defined]
    move.__doc__ = f"The tensor on device {name!r}: an index, a device of this kind, or the current one."
    return move


def give(kind: type, name: str, make: Callable[[str], Any]) -> None:
    """Gives a class the method of a device's name, unless the class has something else of that name."""
    there = getattr(kind, name, None)
    if there is None or getattr(there, "is_mover", False):
        setattr(kind, name, make(name))


MOVERS: list[tuple[type, Callable[[str], Any]]] = [(_C.Tensor, mover)]  # classes with a method NAME() for each device


def add_mover(kind: type, make: Callable[[str], Any]) -> None:
    """Gives a class a method NAME(), ``make(NAME)``, for each backend that there is or will be."""
    MOVERS.append((kind, make))
    for known in [known for known in vars(_C.Tensor).values() if isinstance(known, IsDevice) and known.name != "meta"]:
        give(kind, known.name, make)
