"""The types of a script's values: their text, which of them contain others, and the common type of two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


class Type:
    """The type of a value. Types are compared by ``==``; ``str`` of one is its text in a graph."""

    size = 1
    """The number of types that this one is made of, with itself, as often as they occur in its text."""

    def __post_init__(self) -> None:
        if parts := self.parts():
            object.__setattr__(self, "size", 1 + sum(part.size for part in parts))

    def parts(self) -> tuple[Type, ...]:
        """Returns the types that this one is made of."""
        return ()


@dataclass(frozen=True)
class Simple(Type):
    """A type without parts, by its name in the text of graphs."""

    name: str

    def __str__(self) -> str:
        return self.name


TENSOR, INT, FLOAT, COMPLEX = Simple("Tensor"), Simple("int"), Simple("float"), Simple("complex")
BOOL, STR, NONE, SCALAR = Simple("bool"), Simple("str"), Simple("NoneType"), Simple("Scalar")
DEVICE, DTYPE, LAYOUT = Simple("Device"), Simple("ScalarType"), Simple("Layout")
MEMORY_FORMAT, GENERATOR, ANY = Simple("MemoryFormat"), Simple("Generator"), Simple("Any")
SIMPLE = {
    t.name: t
    for t in (
        TENSOR,
        INT,
        FLOAT,
        COMPLEX,
        BOOL,
        STR,
        NONE,
        SCALAR,
        DEVICE,
        DTYPE,
        LAYOUT,
        MEMORY_FORMAT,
        GENERATOR,
        ANY,
    )
}
NUMBERS = (BOOL, INT, FLOAT, COMPLEX, SCALAR)
RESERVED = frozenset(SIMPLE) | frozenset(
    "None number Dynamic Function Dict List Tuple Optional Union Future NamedTuple Float Double Half BFloat16 Long Int "
    "Short Char Byte Bool ComplexFloat ComplexDouble ComplexHalf UInt16 UInt32 UInt64 Float8_e4m3fn Float8_e5m2".split()
)
"""The words of types in the text of graphs, which are no names of classes."""


@dataclass(frozen=True)
class List(Type):
    """A list, whose elements have one type."""

    element: Type

    def __str__(self) -> str:
        return f"{self.element}[]"

    def parts(self) -> tuple[Type, ...]:
        return (self.element,)


@dataclass(frozen=True)
class Optional(Type):
    """A value of the type inside, or None."""

    inside: Type

    def __str__(self) -> str:
        return f"{self.inside}?"

    def parts(self) -> tuple[Type, ...]:
        return (self.inside,)


@dataclass(frozen=True)
class Dict(Type):
    """A dictionary, whose keys have one type, and values one."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"Dict({self.key}, {self.value})"

    def parts(self) -> tuple[Type, ...]:
        return (self.key, self.value)


@dataclass(frozen=True)
class Future(Type):
    """The result of a forked call."""

    inside: Type

    def __str__(self) -> str:
        return f"Future({self.inside})"

    def parts(self) -> tuple[Type, ...]:
        return (self.inside,)


@dataclass(frozen=True)
class Tuple(Type):
    """A tuple, or a named tuple, which has a name and fields."""

    items: tuple[Type, ...]
    name: str = ""
    fields: tuple[str, ...] = ()
    python: Any = field(default=None, compare=False)
    """The class of a named tuple."""

    def __str__(self) -> str:
        if not self.name:
            return f"({', '.join(map(str, self.items))})"
        inside = ", ".join(f"{f} : {t}" for f, t in zip(self.fields, self.items, strict=True))
        return f"NamedTuple[{self.name}]({inside})"

    def parts(self) -> tuple[Type, ...]:
        return self.items


@dataclass(frozen=True)
class Union(Type):
    """A value of one of several types; in the text of graphs it is ``Any``."""

    options: tuple[Type, ...]

    def __str__(self) -> str:
        return "Any"

    def parts(self) -> tuple[Type, ...]:
        return self.options


@dataclass(frozen=True)
class Variable(Type):
    """A letter in the schema of an operator, which stands for any type."""

    name: str

    def __str__(self) -> str:
        return self.name


class Object(Type):
    """An object of a class, of a module, or of an interface; two are equal if they are the same.

    ``info`` says what the class has: see classes.py.
    """

    def __init__(self, name: str, info: Any):
        self.name, self.info = name, info

    def __str__(self) -> str:
        return self.name


class Enum(Type):
    """A member of an enumeration, whose values have one type. In a graph it is the member's number, an int."""

    def __init__(self, name: str, python: Any, value: Type):
        self.name, self.python, self.value = name, python, value
        self.members = list(python)

    def __str__(self) -> str:
        return "int"


def shown(t: Type) -> str:
    """Returns a type as a user writes it: ``List[int]``, ``Optional[Tensor]``.

    >>> shown(Dict(STR, List(Optional(INT))))
    'Dict[str, List[Optional[int]]]'
    """
    if isinstance(t, List):
        return f"List[{shown(t.element)}]"
    if isinstance(t, Optional):
        return f"Optional[{shown(t.inside)}]"
    if isinstance(t, Dict):
        return f"Dict[{shown(t.key)}, {shown(t.value)}]"
    if isinstance(t, Future):
        return f"Future[{shown(t.inside)}]"
    if isinstance(t, Union):
        return f"Union[{', '.join(map(shown, t.options))}]"
    if isinstance(t, Tuple):
        return t.name or f"Tuple[{', '.join(map(shown, t.items)) or '()'}]"
    if isinstance(t, Enum):
        return t.name
    names: dict[Type, str] = {NONE: "None", DTYPE: "dtype", DEVICE: "device", SCALAR: "number"}
    return names.get(t) or str(t)


def named(t: Type) -> str:
    """Returns a type with its article, as messages have it.

    >>> named(INT), named(List(INT))
    ('an int', 'a List[int]')
    """
    text = shown(t)
    return text if t == NONE else f"{'an' if text[0] in 'aeiouAEIO' else 'a'} {text}"


def is_subtype(given: Type, wanted: Type) -> bool:
    """Returns whether every value of one type is one of another. Lists and dictionaries have to have equal parts."""
    if given == wanted or wanted is ANY:
        return True
    if isinstance(wanted, Optional):
        return given == NONE or is_subtype(given.inside if isinstance(given, Optional) else given, wanted.inside)
    if isinstance(given, Union):
        return all(is_subtype(t, wanted) for t in given.options)
    if isinstance(wanted, Union):
        if isinstance(given, Optional):
            return is_subtype(NONE, wanted) and is_subtype(given.inside, wanted)
        return any(is_subtype(given, t) for t in wanted.options)
    if wanted == SCALAR:
        return given in (INT, FLOAT, COMPLEX)
    if isinstance(wanted, Tuple) and isinstance(given, Tuple):
        fits = len(given.items) == len(wanted.items) and (not wanted.name or wanted.name == given.name)
        return fits and all(map(is_subtype, given.items, wanted.items))
    if isinstance(wanted, Future) and isinstance(given, Future):
        return is_subtype(given.inside, wanted.inside)
    if isinstance(wanted, Object) and isinstance(given, Object):
        return wanted.info.admits(given)
    return False


def unify(a: Type, b: Type) -> Type | None:
    """Returns the least type that has the values of both: one of the two, or one with None; None if there is none.

    >>> str(unify(INT, NONE)), unify(INT, FLOAT)
    ('int?', None)
    """
    if is_subtype(a, b):
        return b
    if is_subtype(b, a):
        return a
    if NONE in (a, b):
        other = b if a == NONE else a
        if isinstance(other, Union):
            return Union((*other.options, NONE))
        return other if isinstance(other, Optional) else Optional(other)
    if isinstance(a, Optional) or isinstance(b, Optional):
        inside = unify(without_none(a), without_none(b))
        return Optional(inside) if inside else None
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items) and a.name == b.name:
        items = [unify(x, y) for x, y in zip(a.items, b.items, strict=True)]
        return Tuple(tuple(t for t in items if t), a.name, a.fields, a.python) if all(items) else None
    return None


def without_none(t: Type) -> Type:
    """Returns a type without the value None."""
    if isinstance(t, Optional):
        return t.inside
    if isinstance(t, Union):
        rest = tuple(o for o in t.options if o != NONE)
        return rest[0] if len(rest) == 1 else Union(rest)
    return t


def may_be_none(t: Type) -> bool:
    """Returns whether None is a value of the type."""
    return t == NONE or t is ANY or isinstance(t, Optional) or (isinstance(t, Union) and NONE in t.options)


def union_of(options: list[Type]) -> Type:
    """Returns the type of a value that has one of some types: of one, the type itself; with None, an Optional."""
    flat: list[Type] = []
    for t in options:
        for o in t.options if isinstance(t, Union) else (t.inside, NONE) if isinstance(t, Optional) else (t,):
            if o not in flat:
                flat.append(o)
    rest = [o for o in flat if o != NONE]
    if len(rest) == len(flat):
        return rest[0] if len(rest) == 1 else Union(tuple(flat))
    if not rest:
        return NONE
    return Optional(rest[0]) if len(rest) == 1 else Union(tuple(flat))


def walk(t: Type) -> Iterator[Type]:
    """Yields a type and all its parts."""
    yield t
    for part in t.parts():
        yield from walk(part)


def bind(pattern: Type, given: Type, found: dict[str, Type]) -> bool:
    """Matches a schema's type with a value's; ``found`` gets the types that letters stand for."""
    if isinstance(pattern, Variable):
        if pattern.name not in found:
            found[pattern.name] = given
            return True
        known = found[pattern.name]
        if is_subtype(given, known):
            return True
        wider = unify(given, known)
        if wider and not isinstance(known, (List, Dict)):
            found[pattern.name] = wider
        return wider is not None
    if isinstance(pattern, List) and isinstance(given, List):
        return _bind_part(pattern.element, given.element, found)
    if isinstance(pattern, Dict) and isinstance(given, Dict):
        return _bind_part(pattern.key, given.key, found) and _bind_part(pattern.value, given.value, found)
    if isinstance(pattern, Tuple) and isinstance(given, Tuple):
        return len(pattern.items) == len(given.items) and all(
            bind(p, g, found) for p, g in zip(pattern.items, given.items, strict=True)
        )
    if isinstance(pattern, Future) and isinstance(given, Future):
        return bind(pattern.inside, given.inside, found)
    if isinstance(pattern, Optional) and any(isinstance(t, Variable) for t in walk(pattern)):
        return given == NONE or bind(pattern.inside, without_none(given), found)
    return is_subtype(given, pattern)


def _bind_part(pattern: Type, given: Type, found: dict[str, Type]) -> bool:
    """Matches the type of a container's elements, which may be written, so that a letter's type has to be equal."""
    if isinstance(pattern, Variable):
        return found.setdefault(pattern.name, given) == given
    if not any(isinstance(t, Variable) for t in walk(pattern)):
        return pattern == given
    return bind(pattern, given, found)


def filled(t: Type, found: dict[str, Type]) -> Type:
    """Returns a schema's type with its letters replaced by the types that they stand for."""
    if isinstance(t, Variable):
        return found.get(t.name, ANY)
    if isinstance(t, List):
        return List(filled(t.element, found))
    if isinstance(t, Dict):
        return Dict(filled(t.key, found), filled(t.value, found))
    if isinstance(t, Optional):
        inside = filled(t.inside, found)
        return inside if isinstance(inside, Optional) else Optional(inside)
    if isinstance(t, Tuple):
        return Tuple(tuple(filled(i, found) for i in t.items), t.name, t.fields, t.python)
    if isinstance(t, Future):
        return Future(filled(t.inside, found))
    return t
