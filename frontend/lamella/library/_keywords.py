"""The point "keyword": a contributed keyword is registered with every function that makes tensors."""

from __future__ import annotations

from lamella.plugins import contributions
from lamella.plugins.contributions import Contribution

from ._library import Library

_libraries: dict[str, Library] = {}  # by keyword; each holds its registration


def _begin(c: Contribution) -> None:
    library = Library("aten", "IMPL", owner=c.owner)
    try:
        library.register_keyword(c.name, c.object.apply, layer=c.object.layer, claims=c.object.claims)
    except BaseException:
        library.close()
        raise
    _libraries[c.name] = library


def _end(c: Contribution) -> None:
    _libraries.pop(c.name).close()


contributions.define("keyword", _begin, _end)
