"""The table of translations: from the name of an operator to the function that writes it as nodes of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

FAMILIES = ("pointwise", "reductions", "views", "indexing", "creation", "networks", "recurrent")


@dataclass(frozen=True)
class Translation:
    """A function that writes an operator, and a condition on the arguments. A call that does not meet it is taken apart
    into the operators that the operator is composed of."""

    function: Callable[..., Any]
    condition: Callable[[dict[str, Any]], bool] | None = None


_ours: dict[str, Translation] = {}  # by the name without a namespace, with the overload or for all of them
_theirs: dict[str, Translation] = {}
_loaded: list[str] = []


def row(names: str, when: Callable[[dict[str, Any]], bool] | None = None) -> Callable[[Any], Any]:
    """Adds a function to the table, as the translation of some operators of the catalogue."""

    def add(function: Any) -> Any:
        rows(dict.fromkeys(names.split(), function), when)
        return function

    return add


def rows(functions: Mapping[str, Callable[..., Any]], when: Callable[[dict[str, Any]], bool] | None = None) -> None:
    """Adds translations of operators of the catalogue to the table."""
    for name, function in functions.items():
        assert name not in _ours, f"{name} is translated twice"
        _ours[name] = Translation(function, when)


def apart(names: str) -> None:
    """Excepts overloads from the translation of all overloads of a name: they are taken apart."""
    rows(dict.fromkeys(names.split(), lambda g, *_: None), when=lambda given: False)


def ours() -> dict[str, Translation]:
    """Returns the translations of the catalogue's operators."""
    for family in FAMILIES[len(_loaded) :]:
        import_module(f"{__package__}.translations.{family}")
        _loaded.append(family)
    return _ours


def find(operator: str, more: Mapping[str, Translation]) -> Translation | None:
    """Returns the translation of an operator, "aten::sum.dim_IntList"; that of all its overloads if it has no own one.

    Args:
        more: translations that come before those that were registered
    """
    every = operator.partition(".")[0]
    for table, prefix in ((more, ""), (_theirs, ""), (ours(), "aten::")):
        for name in (operator, every):
            if name.startswith(prefix) and (found := table.get(name.removeprefix(prefix))):
                return found
    return None


def qualified(name: str) -> str:
    return name if "::" in name else f"aten::{name}"


def checked(name: Any, function: Any) -> tuple[str, Translation]:
    """Returns the full name of an operator and a translation.

    Raises:
        TypeError: the name is no text, or the function cannot be called
    """
    if not isinstance(name, str) or not callable(function):
        raise TypeError(f"onnx: a translation is the name of an operator and a function, got {name!r} and {function!r}")
    return qualified(name), Translation(function)


def register(name: str, function: Callable[..., Any] | None) -> None:
    """Registers a translation of an operator for `export`.

    Args:
        name: the operator, as "mine::twice", or with an overload; without a namespace an operator of the catalogue,
            whose own translation the function replaces
        function: called as ``function(g, *args, **kwargs)`` with the arguments of the operator. Those that have their
            default at the end are left out. ``g.Mul(x, 2.0)`` writes a node of type Mul and returns the name of its
            result; ``g.result`` has the ``dtype`` and ``shape`` of the operator's result. None withdraws the
            translation.

    Raises:
        TypeError: the name is no text, or the function cannot be called

    >>> lamella.onnx.register("mine::twice", lambda g, x: g.Mul(x, 2.0))
    >>> lamella.onnx.register("mine::twice", None)
    """
    if function is None and isinstance(name, str):
        _theirs.pop(qualified(name), None)
        return
    full, made = checked(name, function)
    _theirs[full] = made
