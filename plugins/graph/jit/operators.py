"""The operators that a program uses: which are missing here, which versions it needs, which hand values to the host."""

from __future__ import annotations

import re
from collections.abc import Iterable

import lamella
from lamella.plugins.graph import _python

_BESIDE = re.compile(r'"(?:\\.|[^"\\])*"|#[^\n]*')  # texts and comments
_CALL = re.compile(r"([A-Za-z_]\w*(?:::\w+)+)(?:\.(\w+))?\s*[(\[]")
_CONTROL = "prim"


def operators_of(texts: Iterable[str]) -> set[tuple[str, str]]:
    """Returns the operators that texts of graphs name, without those of control flow: pairs of name and overload.

    >>> operators_of(['graph(%x : Tensor) { %y : Tensor = aten::mul.Tensor(%x, %x) return (%y) }'])
    {('aten::mul', 'Tensor')}
    """
    found: set[tuple[str, str]] = set()
    for text in texts:
        found.update(_CALL.findall(without_texts(text)))
    return {(name, overload) for name, overload in found if not name.startswith(f"{_CONTROL}::")}


def without_texts(text: str) -> str:
    """Returns a text of graphs without its texts and comments."""
    return _BESIDE.sub('""', text)


def full_name(name: str, overload: str) -> str:
    """Returns ``namespace::name.overload``."""
    return f"{name}.{overload}" if overload else name


def missing(operators: Iterable[tuple[str, str]]) -> list[str]:
    """Returns the full names of operators that neither a plugin nor the graphs' own builtins have here."""
    return sorted(full_name(*o) for o in operators if not _is_here(*o))


def _is_here(name: str, overload: str) -> bool:
    full = full_name(name, overload)
    texts = _python.signatures(name)
    if any(text.startswith(f"{full}(") for text in texts):
        return True
    return not overload and len(texts) > 0  # printed by torch without the overload


def needs(operators: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Returns the namespaces of operators, each with the version of it that has all of them."""
    found: dict[str, int] = {}
    for name, overload in operators:
        space = name.partition("::")[0]
        try:
            since = lamella.library.describe(full_name(name, overload)).since
        except RuntimeError:  # one of the graphs' builtins
            since = 1
        found[space] = max(since, found.get(space, 1))
    return dict(sorted(found.items()))


def of_the_host(operators: Iterable[tuple[str, str]]) -> list[str]:
    """Returns the operators of plugins that hand values to the host: those of the category ``host``."""
    found = []
    for name, overload in operators:
        full = full_name(name, overload)
        if name.startswith("aten::"):
            continue
        try:
            if lamella.library.describe(full).category == "host":
                found.append(full)
        except RuntimeError:
            continue
    return sorted(found)
