"""Samples that follow from others: those of operators over lists, and of updates whose options are tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lamella.operators.samples.parse import Sample
from lamella.operators.samples.spec import Spec

PLACES = 3  # of the lists of one sample


def arguments(operator: str) -> list[dict[str, Any]]:
    """Returns the arguments of an operator with their names, types and defaults."""
    from lamella import _C

    name, _, overload = operator.partition(".")
    return _C._describe(getattr(_C._packet(f"aten::{name}"), overload or "default"))["args"]


def singles() -> dict[str, str]:
    """Maps each operator over lists, "_foreach_add.List", to the one that it calls for every place, "add.Tensor", and
    each copy of a view to the view."""
    from lamella import _C

    return _C._single_operators()


def over_lists(operator: str, single: str, of_single: list[Sample]) -> list[Sample]:
    """Returns samples of an operator over lists: each has some samples of the single operator as the places of its
    lists, and the other arguments are the same in all of these. One sample is bad: its lists are empty."""
    own, theirs = arguments(operator), arguments(single)
    groups: dict[str, list[tuple[Sample, list[Any]]]] = {}
    for s in of_single:
        names = {a["name"]: i for i, a in enumerate(theirs)}
        given = dict(enumerate(s.args)) | {names[k]: v for k, v in s.kwargs.items() if k in names}
        values = [given.get(k, a["value"]) for k, a in enumerate(theirs)]
        if max(given) < len(own) and (not own[0]["written"] or written_in_place(s)):
            same = [
                type(v) if is_row(a) else v for a, v in zip(own, values, strict=False) if not a["type"].endswith("[]")
            ]
            groups.setdefault(repr(same), []).append((s, values))
    made = []
    for places in groups.values():
        for i in range(0, len(places), PLACES):
            made.append(joined(operator, own, places[i : i + PLACES]))
    empty = [[] if a["type"].endswith("[]") else v for a, v in zip(own, made[0].args, strict=False)]
    bad = Sample(operator, tuple(empty), {}, f"{operator} of no tensors", made[0].where, "", "RuntimeError", ("self",))
    return [*made, bad]


def each(argument: dict[str, Any]) -> bool:
    """Returns whether an argument has a value for every place."""
    return argument["type"].endswith("[]") or is_row(argument)


def is_row(argument: dict[str, Any]) -> bool:
    """Returns whether an argument is a tensor with a number for every place."""
    return argument["type"] == "Tensor" and argument["name"] == "scalars"


def written_in_place(s: Sample) -> bool:
    """Returns whether a sample can be computed in place: its result fits into its first tensor, which is floating."""
    first, *others = s.specs()
    fits = all(x.dtype == first.dtype and broadcasts(x.shape, first.shape) for x in others)
    real = not any(isinstance(x, complex) for x in (*s.args, *s.kwargs.values()))
    return fits and real and first.kind == "float" and not first.repeated


def broadcasts(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    return len(shape) <= len(into) and all(n in (1, m) for n, m in zip(shape[::-1], into[::-1], strict=False))


def joined(operator: str, own: list[dict[str, Any]], places: list[tuple[Sample, list[Any]]]) -> Sample:
    args: list[Any] = []
    for k, a in enumerate(own):
        column = [values[k] for _, values in places]
        if is_row(a):
            dtype = "int64" if isinstance(column[0], int) else "float64"
            args.append(Spec(dtype, (len(column),), values=("of", *column)))
        else:
            args.append(column if each(a) else column[0])
    positional = [a for a, v in zip(own, args, strict=True) if not a["keyword_only"]]
    named = {a["name"]: v for a, v in zip(own, args, strict=True) if a["keyword_only"]}
    samples = tuple(s for s, _ in places)
    text = f"{operator} of " + ", ".join(s.text for s in samples)
    return Sample(operator, tuple(args[: len(positional)]), named, text, samples[0].where, places=samples)


def with_tensors(operator: str, of_numbers: list[Sample]) -> Iterator[Sample]:
    """Yields the samples of an overload whose options are tensors, from those of the one whose options are numbers."""
    numbers = {a["name"]: a["value"] for a in arguments(of_numbers[0].operator) if a["type"] == "float"}
    tensors = [a["name"] for a in arguments(operator) if a["type"] == "Tensor" and a["name"] in numbers]
    for s in of_numbers:
        given = {k: Spec("float64", (), values=("of", s.kwargs.get(k, numbers[k]))) for k in tensors}
        text = f"{s.text} with {', '.join(tensors)} as tensors"
        yield replace(s, operator=operator, kwargs=s.kwargs | given, text=text)
