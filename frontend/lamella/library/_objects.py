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
    owner: str
    handle: list[int] = field(default_factory=list, repr=False)
    library: Holder | None = field(default=None, repr=False)

    def remove(self) -> None:
        """Withdraws it: objects of the kind come as ``Object`` again. A second call does nothing."""
        if self.library and self.library.holds(self.handle[0]):
            self.library.withdraw(self.handle[0])


def keep(made: ObjectKind) -> None:
    """Registers it, or raises a RuntimeError that names both owners."""
    there = _kinds.setdefault(made.name, made)
    if there is not made:
        raise RuntimeError(
            f"register_object: kind {made.name!r} is registered by {there.owner}; {made.owner} cannot register it too"
        )


def forget(made: ObjectKind) -> None:
    """The registration is withdrawn."""
    _kinds.pop(made.name, None)


def _wrapped(plain: _C.Object) -> Any:
    kind = _kinds.get(plain.kind)
    return kind.wrap(plain) if kind else plain


_C._set_object_wrapper(_wrapped)
