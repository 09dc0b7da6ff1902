"""Contributions: the objects that plugins and the frontend add to the namespace, with their owners and their removal.

Note [Places]  A contribution has a place, a name, an object and an owner. Its place, `where`, is one of

* the path of a module, as ``lamella``, ``lamella.optim`` or ``lamella.bank``, the module of device bank: the object
  becomes an attribute of that module, and can be imported if it is a module. A module that does not exist is made for
  its first name and removed with its last one;
* ``Tensor``: the object becomes a method or a property of tensors;
* one of `POINTS`: the framework uses the objects of a point as `POINTS` describes.

At most one contribution of each name is in use, except at points whose objects are functions that the framework calls:
there every contribution is in use. A placeholder gives way to any later contribution and is in use again when that
contribution is withdrawn. Any other conflict is an error that names both owners.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any, NamedTuple

from lamella import _C
from lamella.plugins.aliases import aliases

LAMELLA = "lamella"  # the owner of the frontend's contributions
TENSOR = "Tensor"
# Maps each point to a description of the objects that it takes.
POINTS = {
    "repr": "function(tensor): a note for the printed form, or None; notes stand in the order of their contribution",
    "parts": "function(tensor): what the printed form of an opaque tensor shows, or None: tensors by name, notes, and "
    "whether notes begin a line",
    "slot": "function(): loads the library that has the slot of tensors of this name, for files and pickles",
    "copied": "True: copies and pickles take this attribute of Tensor along, unless it is None or False",
    "keyword": "Keyword: every function that makes tensors takes it",
    "export": "check(tensor, to), called before memory or a number of a tensor that a layer follows is given away",
    "import": "check(tensor), called after DLPack gave memory of another library",
    "reader": "read(object), called by as_tensor: a tensor over the memory of another library's array, or None",
    "determinism": "follow(mode), called now and by use_deterministic_algorithms",
    "settings": "function(): a block, which may be entered several times; code in it runs with the settings that this "
    "thread had when the function was called; lamella.plugins.settings collects these blocks",
    "function": "serve(cls, args), called by autograd's Function.apply if an argument is opaque: the results, or "
    "NotImplemented if it does not serve the call",
    "within": "function(): the result is called with an opaque tensor, and says whether it belongs to a call of a "
    "transform that began after the function was called",
    "new": "function(tensor, made), called by new_zeros and its kin of an opaque tensor: the new tensor, or another in "
    "its place",
    "operator": "function(name): what `lamella ops show` says of an operator such as 'aten::exp', or None",
    "waiting": "function(): rows of lamella.plugins.waiting()",
}
NAMED = (
    "copied",
    "keyword",
    "slot",
)  # points whose names users write; at others, a name only separates an owner's functions
ABSENT = object()


class Contribution(NamedTuple):
    """An object under a name at a place, and its owner; see Note [Places]."""

    where: str
    name: str
    object: Any
    owner: str
    placeholder: bool = False

    def __str__(self) -> str:
        return f"{self.where} '{self.name}'" if self.where in POINTS else f"{self.where}.{self.name}"


class Keyword(NamedTuple):
    """A keyword of factories: ``apply(tensor, value)`` changes a new tensor, or returns one that takes its place.

    ``layer`` and ``claims`` are those of :meth:`lamella.library.Library.register_keyword`.
    """

    apply: Callable[[Any, Any], Any]
    layer: str = ""
    claims: bool = False


def spoken(owner: str) -> str:
    """Returns an owner's name for error messages."""
    return owner if owner == LAMELLA else f"plugin '{owner}'"


class Place:
    """One place: the contributions in use by their names, and the placeholders that gave way to them.

    Subclasses override ``show`` and ``hide``, which make an object visible to users and remove it. ``begin`` and
    ``end``, if given, are called with a contribution when it comes into use and goes out of use.
    """

    def __init__(
        self,
        where: str,
        begin: Callable[[Contribution], Any] | None = None,
        end: Callable[[Contribution], Any] | None = None,
    ):
        self.where = where
        self.used: dict[str, Contribution] = {}
        self.objects: list[Any] = []  # at a point: the objects of `used`, oldest first; C++ reads those of "export"
        self.hidden: dict[str, list[Contribution]] = {}
        self.begin, self.end = begin, end

    def key(self, c: Contribution) -> str:
        """Returns the key of a contribution in `used`."""
        return c.name

    def holder(self, name: str) -> str:
        """Returns the owner of a name, worded for error messages; '' if the name is free or a placeholder's."""
        held = self.used.get(name)
        return spoken(held.owner) if held and not held.placeholder else ""

    def put(self, c: Contribution) -> None:
        """Brings a contribution into use. The caller has checked with `holder` that the name is free."""
        key = self.key(c)
        before = self.used.get(key)
        if before:
            self.hide(before)
        try:
            self.show(c)
        except BaseException:
            with suppress(Exception):
                self.hide(c)
            if before:
                self.show(before)
            raise
        self.used[key] = c
        if before:
            self.hidden.setdefault(key, []).append(before)

    def take(self, c: Contribution) -> None:
        """Withdraws a contribution; a placeholder that gave way to it is in use again."""
        key = self.key(c)
        below = self.hidden.get(key, [])
        if self.used.get(key) is not c:
            below[:] = [other for other in below if other is not c]
            return
        self.hide(c)
        del self.used[key]
        if below:
            self.used[key] = below.pop()
            self.show(self.used[key])

    def show(self, c: Contribution) -> None:
        if self.begin:
            self.begin(c)
        self.objects.append(c.object)

    def hide(self, c: Contribution) -> None:
        self.objects.remove(c.object)
        if self.end:
            self.end(c)


class Listeners(Place):
    """A point whose objects are functions that the framework calls. Several owners may use the same name."""

    def key(self, c: Contribution) -> str:
        return f"{c.owner}.{c.name}"

    def holder(self, name: str) -> str:
        """Returns the owner of ``name``, which must be a key of the form ``owner.name``; '' for every other name."""
        return super().holder(name)


class TensorPlace(Place):
    """The class Tensor. Native plugins also set attributes of Tensor directly; those are not contributions."""

    def holder(self, name: str) -> str:
        there = vars(_C.Tensor).get(name, ABSENT)
        if there is ABSENT:
            return ""
        held = self.used.get(name)
        if held and held.object is there:
            return "" if held.placeholder else spoken(held.owner)
        return _C._attribute_owner(name) or LAMELLA

    def show(self, c: Contribution) -> None:
        setattr(_C.Tensor, c.name, c.object)

    def hide(self, c: Contribution) -> None:
        if vars(_C.Tensor).get(c.name) is c.object:
            delattr(_C.Tensor, c.name)


class ModulePlace(Place):
    """A module of the namespace."""

    def __init__(self, where: str):
        super().__init__(where)
        self.made: Contribution | None = None  # the module as a contribution, if `target` made it

    def module(self) -> ModuleType | None:
        """Imports the module and returns it; None if there is none.

        Raises:
            RuntimeError: the path names an object that is not a module
        """
        if self.where in sys.modules:
            return sys.modules[self.where]
        parent, _, name = self.where.rpartition(".")
        there = vars(sys.modules[parent]).get(name) if parent in sys.modules else None
        if there is not None and not isinstance(there, ModuleType):
            raise RuntimeError(f"{self.where} is no module, but {type(there).__name__}: it takes no contributions")
        try:
            return importlib.import_module(self.where)
        except ModuleNotFoundError as error:
            if not f"{self.where}.".startswith(f"{error.name}."):  # another import inside the module failed
                raise
            return None

    def holder(self, name: str) -> str:
        module = self.module()
        listed = getattr(module, "__all__", ())  # runs the file of a lazy module, which contributes its names
        if name in self.used or module is None:
            return super().holder(name)
        full, path = f"{self.where}.{name}", getattr(module, "__path__", None)
        named = name in vars(module) or name in listed  # a listed name may be loaded at its first use
        there = named or full in sys.modules or (path and PathFinder.find_spec(full, path))
        return LAMELLA if there else ""

    def target(self, c: Contribution) -> ModuleType:
        """Returns the module; makes an empty one if there is none."""
        module = self.module()
        if module is None:
            parent, _, name = self.where.rpartition(".")
            module = ModuleType(self.where, f"Names of {spoken(c.owner)}.")
            module.__path__ = []
            self.made = Contribution(parent, name, module, c.owner, placeholder=True)
            place(parent).put(self.made)
        return module

    def show(self, c: Contribution) -> None:
        module = self.target(c)
        fresh = c.name not in vars(module)
        setattr(module, c.name, c.object)
        listed = vars(module).get("__all__")
        known = isinstance(c.object, ModuleType) and listed is not None and c.name in listed  # listed as a submodule
        if fresh and listed is not None and not known and not c.name.startswith("_"):
            if isinstance(listed, list):
                listed.append(c.name)
            else:
                module.__all__ = [*listed, c.name]  # type: ignore[attr-defined]
        if isinstance(c.object, ModuleType):
            full = f"{self.where}.{c.name}"
            sys.modules[full] = c.object
            if c.object.__name__ != full:
                aliases.add(full, c.object.__name__)
            refresh(full)

    def hide(self, c: Contribution) -> None:
        module = self.module()
        if module is None:
            return
        if vars(module).get(c.name) is c.object:
            delattr(module, c.name)
        listed = vars(module).get("__all__", ())
        if c.name in listed:
            if not isinstance(listed, list):
                module.__all__ = listed = list(listed)  # type: ignore[attr-defined]
            listed.remove(c.name)
        if isinstance(c.object, ModuleType):
            full = f"{self.where}.{c.name}"
            for name in [name for name in sys.modules if f"{name}.".startswith(f"{full}.")]:
                del sys.modules[name]
            aliases.remove(full)

    def take(self, c: Contribution) -> None:
        super().take(c)
        if self.made and not self.used:
            made, self.made = self.made, None
            place(made.where).take(made)


_places: dict[str, Place] = {point: Place(point) if point in NAMED else Listeners(point) for point in POINTS}
_places[TENSOR] = TensorPlace(TENSOR)
_lock = threading.RLock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)  # another thread of the parent may have held the lock
copied = _places["copied"].used  # the attributes of Tensor that copies, pickles and files take along
_C._set_export_checks(_places["export"].objects)


def place(where: str) -> Place:
    """Returns the place called ``where``; see Note [Places].

    Raises:
        ValueError: there is no such place
    """
    found = _places.get(where)
    if found is None:
        if not isinstance(where, str) or f"{where}.".partition(".")[0] != LAMELLA or "" in where.split("."):
            known = ", ".join(map(repr, POINTS))
            raise ValueError(
                f"contribute: there is no place {where!r}; it is 'lamella', the path of a module in it, 'Tensor', or "
                f"one of {known}"
            )
        found = _places[where] = ModulePlace(where)
    return found


def define(point: str, begin: Callable[[Contribution], Any], end: Callable[[Contribution], Any] | None = None) -> None:
    """Sets the functions that are called when a contribution to a point comes into use and goes out of use."""
    place(point).begin, place(point).end = begin, end


def holder(where: str, name: str) -> str:
    """Returns the owner of a name at a place, worded for error messages; '' if the name is free or a placeholder's."""
    return place(where).holder(name)


def refresh(path: str) -> None:
    """Sets the contributions to a module anew, after its file has run and may have overwritten them."""
    with _lock:
        for c in _places[path].used.values() if path in _places else ():
            vars(sys.modules[path]).pop(c.name, None)
            _places[path].show(c)


def check(c: Contribution) -> None:
    """Raises if the name is not an identifier, if the place does not exist or does not take the object, or if the name
    has an owner."""
    if not isinstance(c.name, str) or not c.name.isidentifier():
        raise ValueError(f"{spoken(c.owner)}: {c} is no identifier")
    there = place(c.where)
    if isinstance(there, Listeners) and not callable(c.object):
        raise ValueError(f"{spoken(c.owner)}: {c} must be a function, got {type(c.object).__name__}")
    if c.where == "keyword" and not isinstance(c.object, Keyword):
        raise ValueError(f"{spoken(c.owner)}: {c} must be a Keyword, got {type(c.object).__name__}")
    if c.where == "copied" and c.object is not True:
        raise ValueError(f"{spoken(c.owner)}: {c} must be True, got {c.object!r}")
    # The frontend may contribute a name that a file of its own defines, but not a name that a plugin contributed.
    held = Place.holder(there, there.key(c)) if c.owner == LAMELLA else there.holder(there.key(c))
    if held:
        other, advice = there.used.get(there.key(c)), ""
        # LAMELLA_PLUGINS selects plugins by name: neither the frontend, nor one of two plugins with one name.
        if other and held == spoken(other.owner) and other.owner not in (LAMELLA, c.owner):
            advice = f"; switch one of them off, as by LAMELLA_PLUGINS=-{other.owner}"
        raise RuntimeError(f"{c} is taken by {held}; {spoken(c.owner)} cannot bring it too{advice}")


def contribute(contributions: Iterable[Contribution]) -> Callable[[], None]:
    """Adds all contributions or, if one of them raises, none. Returns a function that withdraws them.

    Raises:
        ValueError: a place does not exist, a name is no identifier, or a place does not take an object
        RuntimeError: a name is taken; the message names both owners
    """
    contributions = list(contributions)

    def withdraw(some: list[Contribution] = contributions) -> None:
        with _lock:
            for c in reversed(some):
                place(c.where).take(c)

    for c in contributions:  # without the lock, since check() imports modules, which may contribute names themselves
        check(c)
    with _lock:
        for c in contributions:
            check(c)
        done = 0
        try:
            for done, c in enumerate(contributions):  # noqa: B007
                place(c.where).put(c)
        except BaseException:
            withdraw(contributions[:done])
            raise
    return withdraw


def gather(
    where: str, objects: Mapping[str, Any], owner: str = LAMELLA, placeholder: bool = False
) -> list[Contribution]:
    """Makes one contribution to the place ``where`` for each object, under the object's key as its name."""
    return [Contribution(where, name, o, owner, placeholder) for name, o in objects.items()]


def of(owners: Iterable[str], where: str) -> dict[str, Any]:
    """Returns the objects in use at a place that one of ``owners`` contributed, by their names."""
    return {name: c.object for name, c in place(where).used.items() if c.owner in owners}
