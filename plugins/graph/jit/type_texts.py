"""Types as the index of a saved program has them: text that names classes, named tuples and enums."""

from __future__ import annotations

import enum
from collections import namedtuple
from typing import Any

from lamella.plugins.graph.script.signatures import Reader
from lamella.plugins.graph.script.types import SIMPLE, Dict, Enum, Future, List, Object, Optional, Tuple, Type

MOST = 1000  # enums and named tuples of a file, each of which becomes a class of Python


def text_of(t: Type) -> str:
    """Returns the text of a type, in which an enum has its name; in a graph it is ``int``.

    >>> from lamella.plugins.graph.script.types import INT, List, Optional
    >>> text_of(Optional(List(INT)))
    'int[]?'
    """
    if isinstance(t, Enum):
        return t.name
    if isinstance(t, List):
        return f"{text_of(t.element)}[]"
    if isinstance(t, Optional):
        return f"{text_of(t.inside)}?"
    if isinstance(t, Dict):
        return f"Dict({text_of(t.key)}, {text_of(t.value)})"
    if isinstance(t, Future):
        return f"Future({text_of(t.inside)})"
    if isinstance(t, Tuple):
        if t.name:
            fields = ", ".join(f"{f} : {text_of(i)}" for f, i in zip(t.fields, t.items, strict=True))
            return f"NamedTuple[{t.name}]({fields})"
        return f"({', '.join(map(text_of, t.items))})"
    return str(t)


class TypeTexts:
    """Reads types, and keeps what their names stand for.

    Args:
        classes: the names of the program's classes.
        enums: for each enum the name of the class of Python, and the members: pairs of name and value.

    Raises:
        ValueError: an enum has a member whose name is no plain name.
    """

    def __init__(self, classes: list[str], enums: dict[str, tuple[str, list[tuple[str, Any]]]]):
        self.named: dict[str, Type] = {name: Object(name, None) for name in classes}
        self.enums: dict[str, Enum] = {}
        self._tuples: dict[tuple[str, tuple[str, ...]], type] = {}
        if len(enums) > MOST:
            raise ValueError(f"it has {len(enums)} enums; {MOST} are the most")
        for name, (original, members) in enums.items():
            for member, _ in members:
                if type(member) is not str or not member.isidentifier() or member.startswith("_") or member == "mro":
                    raise ValueError(f"the enum {name} has a member {member!r}, which is no plain name")
            made = enum.Enum(original, members)  # type: ignore[misc]
            self.enums[name] = self.named[name] = Enum(name, made, SIMPLE["Any"])

    def read(self, text: Any) -> Type:
        """Returns the type of a text. Raises ValueError if it is none."""
        if type(text) is not str:
            raise ValueError(f"a type has to be text, got {text!r}")
        reader = _Reader(text, self)
        try:
            found = reader.type()[0]
        except IndexError:
            raise ValueError(f"the type {text[:80]!r} ends early") from None
        if reader.at != len(reader.tokens):
            raise ValueError(f"the type {text[:80]!r} goes on behind its end")
        return found

    def tuple_of(self, name: str, fields: list[str], items: list[Type]) -> Tuple:
        """Returns a named tuple, whose values in Python are of one class for each name and fields."""
        key = name, tuple(fields)
        if key not in self._tuples:
            if len(self._tuples) == MOST:
                raise ValueError(f"it has more than {MOST} named tuples")
            self._tuples[key] = namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024 - names of a file
        return Tuple(tuple(items), name, tuple(fields), self._tuples[key])


class _Reader(Reader):
    def __init__(self, text: str, names: TypeTexts):
        super().__init__(text)
        self.names = names

    def word(self, word: str) -> Type:
        if word == "NamedTuple":
            return self.named_tuple()
        while self.is_next("."):
            word += f".{self.take()}"
        found = SIMPLE.get(word) or self.names.named.get(word)
        if found is None:
            raise ValueError(f"there is no type {word[:80]!r}, and no class of this name in the program")
        return found

    def named_tuple(self) -> Tuple:
        self.take("[")
        name, fields, items = self.take(), [], []
        self.take("]")
        self.take("(")
        while not self.is_next(")"):
            fields.append(self.take())
            self.take(":")
            items.append(self.type()[0])
            self.is_next(",")
        return self.names.tuple_of(name, fields, items)
