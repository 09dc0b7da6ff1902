"""Arguments for one or several dimensions, under the name from which programs import them: torch.nn.modules.utils."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__: list[str] = []


def several(value: Any, n: int) -> tuple[Any, ...]:
    """Returns the values of an iterable as a tuple, without a check of their number, or one value ``n`` times."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """Returns a function that returns the values of an iterable as a tuple, or one value ``n`` times.

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
    """Returns the values in reverse order, each ``n`` times, as ``pad`` takes margins.

    >>> lamella.nn.modules.utils._reverse_repeat_tuple((1, 2), 2)
    (2, 2, 1, 1)
    """
    return tuple(value for value in reversed(values) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Takes a prefix off the names of a state dict, in place: ``module.`` of DistributedDataParallel.

    >>> state = {"module.weight": 1, "other": 2}
    >>> lamella.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'other': 2, 'weight': 1}
    """
    for name in [n for n in state_dict if n.startswith(prefix)]:
        state_dict[name.removeprefix(prefix)] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    for name in list(metadata):  # of modules: "" is the outermost, "module" its only one
        if name and f"{name}.".startswith(prefix):
            metadata[name[len(prefix) :]] = metadata.pop(name)
