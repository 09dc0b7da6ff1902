"""All samples of the installed package, by operator, and the calls that run them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import lamella.operators.samples.lists as lists
from lamella.operators.samples.parse import Sample, read


@cache
def read_all() -> dict[str, list[Sample]]:
    """Returns the samples of each operator with overload, good and bad."""
    found: dict[str, list[Sample]] = {}
    for path in sorted(Path(__file__).parent.glob("*.txt")):
        for sample in read(path):
            found.setdefault(sample.operator, []).append(sample)
    return found


def operators() -> list[str]:
    """Returns the operators that have lines, and the operators of ``lists.singles()`` that have samples."""
    return sorted({*read_all(), *(name for name in lists.singles() if every(name))})


def of(operator: str) -> list[Sample]:
    """Returns the valid calls of an operator, "add.Tensor"; an in-place one without lines has its functional form's."""
    return [s for s in every(operator) if not s.raises]


def bad(operator: str) -> list[Sample]:
    """Returns the calls that raise."""
    return [s for s in every(operator) if s.raises]


@cache
def every(operator: str) -> list[Sample]:
    """Returns good and bad calls: those of an operator's own lines, else those derived from another operator's."""
    if operator in read_all():
        return read_all()[operator]
    name, dot, overload = operator.partition(".")
    if single := lists.singles().get(operator):
        of_lists = name.startswith("_foreach_")
        return lists.over_lists(operator, single, of(single)) if of_lists else copied(operator, single)
    if name.startswith("_fused_") and overload.startswith("tensor"):
        return list(lists.with_tensors(operator, every(name)))
    if name.endswith("_"):
        return [replace(s, operator=operator) for s in read_all().get(name[:-1] + dot + overload, ())]
    return []


def copied(operator: str, single: str) -> list[Sample]:
    """Returns the samples of the operator ``single`` for an operator that calls it with its own arguments."""
    return [replace(s, operator=operator, text=s.text.replace(single, operator, 1)) for s in every(single)]


def call(operator: str) -> Callable[..., Any]:
    """Returns the function that runs an operator: all overloads of its name, chosen by the arguments as for a user."""
    from lamella import _C

    return _C._packet("aten::" + operator.partition(".")[0])
