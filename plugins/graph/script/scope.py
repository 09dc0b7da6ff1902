"""The variables of a function while it is compiled: one scope for each block of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lamella.plugins.graph.script.emit import Value
from lamella.plugins.graph.script.types import Type, is_subtype


@dataclass(frozen=True)
class Binding:
    """What a name stands for: a value of the graph, or a static (statics.py), which is known without running."""

    value: Any
    declared: Type | None = None
    """The type of the annotation with which the variable was made, which later assignments have to fit."""

    @property
    def type(self) -> Type | None:
        return self.value.type if isinstance(self.value, Value) else None


@dataclass(frozen=True)
class Undefined:
    """A name that some path to here does not define; ``why`` says which."""

    why: str


class Scope:
    """The names that one block assigns; others are found in the block around it.

    Args:
        parent: the scope of the block around; None for a function's own
    """

    def __init__(self, parent: Scope | None = None):
        self.parent = parent
        self.names: dict[str, Binding | Undefined] = {}
        self.dead = False
        """Whether the end of the block is never reached, since an error is raised before."""

    def find(self, name: str) -> Binding | Undefined | None:
        """Returns what a name stands for; None if no scope has it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def set(self, name: str, value: Any, declared: Type | None = None) -> None:
        """Gives a name a value in this block. The name keeps its declared type while its values are of it."""
        old = self.find(name)
        if declared is None and isinstance(old, Binding) and old.declared is not None:
            if isinstance(value, Value) and is_subtype(value.type, old.declared):
                declared = old.declared
        self.names[name] = Binding(value, declared)

    def refine(self, name: str, value: Value) -> None:
        """Gives a name the same value with a narrower type."""
        self.set(name, value)

    def visible(self) -> Iterator[str]:
        """Yields the names that have a value here, hidden ones excluded."""
        scope: Scope | None = self
        while scope is not None:
            yield from (n for n, b in scope.names.items() if isinstance(b, Binding) and not n.startswith("$"))
            scope = scope.parent
