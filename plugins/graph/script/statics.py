"""What an expression can stand for besides a value of the graph: things that are known without running it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lamella.plugins.graph.script.emit import Value


class Static:
    """Something that a graph has no value for; it can be called, iterated, indexed or have attributes."""

    what = "an object of Python"
    """The name in messages."""


@dataclass(frozen=True, eq=False)
class Python(Static):
    """A Python object: a function, a class, a module of Python."""

    object: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Python) and other.object is self.object

    def __hash__(self) -> int:
        return id(self.object)

    @property
    def what(self) -> str:  # type: ignore[override]
        name = getattr(self.object, "__name__", None) or type(self.object).__name__
        kind = (
            "class" if isinstance(self.object, type) else "module" if hasattr(self.object, "__path__") else "function"
        )
        return f"the {kind} '{name}'" if callable(self.object) or kind == "module" else f"a Python {name}"


@dataclass(frozen=True)
class Method(Static):
    """A method of an object of a class, with the object; ``owner`` is the class where it was found."""

    self: Value
    name: str
    function: Any
    what = "a method"


@dataclass(frozen=True)
class BuiltinMethod(Static):
    """A method of a tensor, a list, a dictionary, a text or a tuple, with the value."""

    self: Value
    name: str
    what = "a method"


@dataclass(frozen=True)
class SuperOf(Static):
    """``super()`` in a method: methods of the classes behind ``after``, called with ``self``."""

    self: Value
    after: type
    what = "super()"


@dataclass(frozen=True)
class Sequence(Static):
    """Several things, one after another, whose number is known: the modules of a container, a list of functions.

    ``keys`` are the names of a ModuleDict.
    """

    items: tuple[Any, ...]
    keys: tuple[str, ...] | None = None
    owner: Value | None = None
    what = "a container of modules"


@dataclass(frozen=True)
class Known(Static):
    """A function without arguments whose result is known, such as ``items`` of a ModuleDict."""

    result: Any
    what = "a method"


@dataclass(frozen=True)
class Range(Static):
    """``range(start, stop, step)``."""

    start: Value | None
    stop: Value
    step: Value | None
    what = "a range"


@dataclass(frozen=True)
class Enumerate(Static):
    """``enumerate(inside, start)``."""

    inside: Any
    start: Value | None
    what = "an enumerate"


@dataclass(frozen=True)
class Zip(Static):
    """``zip(*inside)``."""

    inside: tuple[Any, ...]
    what = "a zip"


@dataclass(frozen=True)
class Reversed(Static):
    """``reversed(inside)``, of a range."""

    inside: Any
    what = "a reversed range"
