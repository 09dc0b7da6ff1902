"""Classes of Python for objects of named kinds: converts an operator's result by the kind that the schema names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lamella import _C

from ._rules import Holder

_kinds: dict[str, ObjectKind] = {}


@dataclass(frozen=True, eq=False)
class ObjectKind:
    """One registration: the kind's name, and the function that is called with each ``Object`` of it that is returned to
    Python."""

    name: str
    wrap: Callable[[_C.Object], Any]
    owner: str
    handle: list[int] = field(default_factory=list, repr=False)
    library: Holder | None = field(default=None, repr=False)

    def remove(self) -> None:
        """Withdraws it: objects of the kind are returned as ``Object`` again. A second call does nothing."""
        if self.library and self.library.holds(self.handle[0]):
            self.library.withdraw(self.handle[0])


def keep(made: ObjectKind) -> None:
    """Adds the registration, or raises a RuntimeError that names both owners."""
    there = _kinds.setdefault(made.name, made)
    if there is not made:
        raise RuntimeError(
            f"register_object: kind {made.name!r} is registered by {there.owner}; {made.owner} cannot register it too"
        )


def forget(made: ObjectKind) -> None:
    """Removes the registration; called when it is withdrawn."""
    _kinds.pop(made.name, None)


def _wrapped(plain: _C.Object) -> Any:
    kind = _kinds.get(plain.kind)
    return kind.wrap(plain) if kind else plain


_C._set_object_wrapper(_wrapped)
