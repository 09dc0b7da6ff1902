"""The overloads of an operator: those of the registry, and the builtins of scripts."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass, replace
from typing import Any

from lamella.plugins.graph import _python
from lamella.plugins.graph.script.emit import Word
from lamella.plugins.graph.script.types import (
    ANY,
    MEMORY_FORMAT,
    SIMPLE,
    Dict,
    Future,
    List,
    Optional,
    Tuple,
    Type,
    Variable,
    walk,
)

NO_DEFAULT = object()


@dataclass(frozen=True)
class Argument:
    """A parameter of an operator."""

    name: str
    type: Type
    size: int
    """Of a list: the number of elements that one number stands for, as in ``int[2]``; 0 for none."""
    keyword_only: bool
    default: Any
    """The default; ``NO_DEFAULT`` if the argument has to be given."""

    @property
    def other_name(self) -> str:
        """A second name: torch's ``input`` for self, and numpy's names."""
        return {"self": "input", "dim": "axis", "keepdim": "keepdims", "correction": "ddof"}.get(self.name, "")


@dataclass(frozen=True)
class Schema:
    """One overload of an operator."""

    operator: str
    """The namespace and the name: ``aten::add``."""
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Type, ...]
    names: tuple[str, ...]
    """The names of the results; empty where they have none."""
    more: bool
    """Whether further arguments of any type follow, as in ``format(str self, ...)``."""
    text: str

    @property
    def full_name(self) -> str:
        """The operator and the overload: ``aten::add.Tensor``."""
        return f"{self.operator}.{self.overload}" if self.overload else self.operator

    @property
    def writes(self) -> bool:
        """Whether the overload writes its results to arguments after the others, as with ``out``."""
        return self.overload.endswith("out")

    @property
    def generic(self) -> bool:
        """Whether a letter stands for the type of an argument."""
        return any(isinstance(t, Variable) for a in self.arguments for t in walk(a.type))


@functools.cache
def overloads(operator: str) -> tuple[Schema, ...]:
    """Returns all overloads of ``namespace::name``; empty if there is no such operator.

    Those with letters come last, since they take what others do not.

    >>> [s.full_name for s in overloads("aten::__and__")]
    ['aten::__and__.int', 'aten::__and__.bool']
    """
    import lamella

    namespace, _, name = operator.partition("::")
    builtins = _builtins().get(operator, ())
    try:
        packet = getattr(getattr(lamella.ops, namespace), name)
    except AttributeError:
        packet = None
    found = [s for s in builtins if not s.generic]
    found += [read(text) for text in getattr(packet, "schemas", ())]
    return (*found, *(s for s in builtins if s.generic))


@functools.cache
def _builtins() -> dict[str, tuple[Schema, ...]]:
    """Returns the schemas of builtins by operator."""
    found: dict[str, tuple[Schema, ...]] = {}
    for text in _python.builtin_schemas():
        schema = read(text)
        if len(schema.returns) > 1:  # a builtin gives one value, which is a tuple
            schema = replace(schema, returns=(Tuple(schema.returns),), names=())
        found[schema.operator] = (*found.get(schema.operator, ()), schema)
    return found


def read(text: str) -> Schema:
    """Reads a schema such as ``aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``."""
    return Reader(text).schema()


class Reader:
    """Reads the text of schemas and of the types in them."""

    token = re.compile(r"\s*(->|::|\.\.\.|\"[^\"]*\"|'[^']*'|-?\d+(?:\.\d*)?(?:e[-+]?\d+)?|[A-Za-z_]\w*|\S)")

    def __init__(self, text: str):
        self.text, self.tokens, self.at = text, self.token.findall(text), 0

    def take(self, wanted: str = "") -> str:
        found = self.tokens[self.at]
        if wanted and found != wanted:
            raise ValueError(f"schema: expected '{wanted}', found '{found}' in {self.text}")
        self.at += 1
        return found

    def is_next(self, token: str) -> bool:
        if self.at < len(self.tokens) and self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def schema(self) -> Schema:
        operator = f"{self.take()}::{self.take('::') and self.take()}"
        overload = self.take() if self.is_next(".") else ""
        self.take("(")
        arguments, keyword_only, more = [], False, False
        while not self.is_next(")"):
            if self.is_next("*"):
                keyword_only = True
            elif self.is_next("..."):
                more = True
            else:
                arguments.append(self.argument(keyword_only))
            self.is_next(",")
        self.take("->")
        names: list[str] = []
        first = self.at
        if self.is_next("("):
            returns = []
            while not self.is_next(")"):
                returns.append(self.type()[0])
                if self.tokens[self.at] not in (",", ")"):
                    names.append(self.take())
                self.is_next(",")
            if self.at < len(self.tokens):  # a list of tuples, such as (t, u)[]
                self.at = first
                returns, names = [self.type()[0]], []
        else:
            returns = [self.type()[0]]
        return Schema(operator, overload, tuple(arguments), tuple(returns), tuple(names), more, self.text)

    def argument(self, keyword_only: bool) -> Argument:
        t, size = self.type()
        name = self.take()
        default = self.default(t) if self.is_next("=") else NO_DEFAULT
        return Argument(name, t, size, keyword_only, default)

    def default(self, t: Type) -> Any:
        token = self.take()
        if token == "[":
            while not self.is_next("]"):
                token += self.take()
            token += "]"
        if t == MEMORY_FORMAT or not (token[0] in "[\"'-" or token[0].isdigit() or token in ("None", "True", "False")):
            return Word(str(t), token)
        return ast.literal_eval(token)

    def word(self, word: str) -> Type:
        """Returns the type that one word stands for."""
        word = {"SymInt": "int"}.get(word, word)
        return Variable(word) if len(word) == 1 else SIMPLE.get(word, ANY)

    def type(self) -> tuple[Type, int]:
        word, size = self.take(), 0
        if word == "(":
            items = []
            while not self.is_next(")"):
                items.append(self.type()[0])
                self.is_next(",")
            t: Type = Tuple(tuple(items))
        elif word == "Dict":
            self.take("(")
            key = self.type()[0]
            self.take(",")
            t = Dict(key, self.type()[0])
            self.take(")")
        elif word == "Future":
            self.take("(")
            t = Future(self.type()[0])
            self.take(")")
        else:
            t = self.word(word)
        while True:
            if self.is_next("("):  # an alias, such as (a!)
                while not self.is_next(")"):
                    self.take()
            elif self.is_next("["):
                if not self.is_next("]"):
                    size = int(self.take())
                    self.take("]")
                t = List(t)
            elif self.is_next("?"):
                t = Optional(t)
            else:
                return t, size
