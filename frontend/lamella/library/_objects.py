"""Classes of Python for objects of named kinds: what a result becomes, by the kind that its operator's schema names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lamella import _C

from ._rules import Holder

_kinds: dict[str, ObjectKind] = {}


@dataclass(frozen=True, eq=False)
class ObjectKind:
    """One registration: the kind's name, and what is called with each ``Object`` of it that goes to Python."""

    name: str
    wrap: Callable[[_C.Object], Any]
    library: Holder = field(repr=False)

    def remove(self) -> None:
        """Withdraws it: objects of the kind come as ``Object`` again. A second call does nothing."""
        if _kinds.get(self.name) is self:
            del _kinds[self.name]
            self.library.forget(self)


def keep(made: ObjectKind) -> ObjectKind:
    """Registers it, or raises a RuntimeError that names both owners."""
    there = _kinds.setdefault(made.name, made)
    if there is not made:
        raise RuntimeError(
            f"register_object: kind {made.name!r} is registered by {there.library.owner}; "
            f"{made.library.owner} cannot register it too"
        )
    return made


def _wrapped(plain: _C.Object) -> Any:
    kind = _kinds.get(plain.kind)
    return kind.wrap(plain) if kind else plain


_C._set_object_wrapper(_wrapped)
