"""Arguments for one or several dimensions, where programs import them from: torch.nn.modules.utils."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__: list[str] = []


def several(value: Any, n: int) -> tuple[Any, ...]:
    """n values: one for all dimensions, or what was given for each."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives n values: one repeated, or those of what it is given.

    >>> lamella.nn.modules.utils._ntuple(2)(3)
    (3, 3)
    """

    def parse(value: Any) -> tuple[Any, ...]:
        return several(value, n)

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(values: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """The values from the last to the first, each n times, as ``pad`` takes margins.

    >>> lamella.nn.modules.utils._reverse_repeat_tuple((1, 2), 2)
    (2, 2, 1, 1)
    """
    return tuple(value for value in reversed(values) for _ in range(n))
