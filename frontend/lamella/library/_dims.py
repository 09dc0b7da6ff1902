"""Checks a call of an operator against the text that says how its dimensions map: Note [Dimensions] in c_api.h.

Read first :func:`fault`, which ``opcheck`` calls. It gives each dimension of each argument and result a label, by the
rules of the text. Dimensions with equal labels are one, so their sizes agree. Along a label that is not ``bound`` the
operator computes for each index alone: other indices of all arguments give the same indices of the results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import lamella
from lamella import _C
from lamella._C import Tensor

from ._values import difference, mapped

# A dimension's label: a word of a pattern with the position within "..." or 0, or "" with the position from the end.
Label = tuple[str, int]
REDUCED: Label = ("1", 0)  # what `keepdim` leaves of a dimension
TOKEN = re.compile(r"(\.\.\.|[A-Za-z_][A-Za-z0-9_]*)(~?)$")
CLOSE = {2: 3e-2, 4: 1e-4, 8: 1e-8}  # tolerance of sums in another order, by the bytes of a float


class Place(NamedTuple):
    """One tensor of a call: an argument, a result or an element of a list, with its position in the pattern."""

    name: str
    group: int
    tensor: Tensor


class Labels(NamedTuple):
    """The labels of all dimensions in a call, and those along which values depend on each other."""

    args: list[list[Label]]
    results: list[list[Label]]
    bound: set[Label]


def sides(text: str) -> list[tuple[list[list[tuple[str, str]]], list[list[tuple[str, str]]]]]:
    """Returns the patterns of a text: for each argument and each result its tokens, as words and marks.

    Raises:
        ValueError: the text is no pattern
    """
    found = []
    for pattern in text.split("|"):
        before, arrow, after = pattern.partition("->")
        if not arrow:
            raise ValueError(f"dims {text!r} is neither 'broadcast', 'keep' nor 'reduce', nor has it '->'")
        halves = []
        for half in (before, after):
            groups = [[TOKEN.match(t) for t in group.split()] for group in half.split(",")]
            if any(m is None for group in groups for m in group):
                raise ValueError(f"dims {text!r} has a word that is no name, no name with '~' and no '...'")
            halves.append([[(m[1], m[2]) for m in group if m] for group in groups])
        found.append((halves[0], halves[1]))
    return found


# ---- labels ---------------------------------------------------------------------------------------------------------


def _named_dims(about: Mapping[str, Any], given: Mapping[str, Any], ndim: int, first: Any) -> set[int] | None:
    """Returns the dimensions that the arguments name, counted from the end; None if they name none."""
    named: set[int] = set()
    for a in about["args"]:
        value = given.get(a["name"], a["value"]) if a["dim"] else None
        for d in value if isinstance(value, list | tuple) else [] if value is None else [value]:
            d = _C._resolve_dim("opcheck: an argument that names a dimension", first, d) if isinstance(d, str) else d
            named.add((d - ndim if d >= 0 else d) if ndim else -1)
    return named or None


def _by_word(kind: str, about: Mapping[str, Any], given: Mapping[str, Any], args: list[Place], count: int) -> Labels:
    counted = _counted(args)
    ndim = max((p.tensor.dim() for p in counted), default=0)
    every = [("", d) for d in range(-ndim, 0)]
    named = _named_dims(about, given, ndim, args[0].tensor) if kind != "broadcast" else set()
    bound = {label for label in every if named is None or label[1] in named}
    result = every
    if kind == "reduce":
        kept = [REDUCED] if given.get("keepdim", _default(about, "keepdim")) else []
        result = [x for label in every for x in (kept if label in bound else [label])]
    of = [every[ndim - p.tensor.dim() :] if any(p is c for c in counted) else [("empty", 0)] for p in args]
    return Labels(of, [result] * count, bound | {("empty", 0)})


def _counted(args: list[Place]) -> list[Place]:
    """Returns the arguments that count: in a list a tensor of shape (0,) does not, unless all are."""
    return [p for p in args if "[" not in p.name or tuple(p.tensor.shape) != (0,)] or args


def _default(about: Mapping[str, Any], name: str) -> Any:
    return next((a["value"] for a in about["args"] if a["name"] == name), None)


def _tokens(group: Sequence[tuple[str, str]], dims: int) -> list[Label]:
    """Returns the labels of a group whose "..." stands for a number of dimensions."""
    found: list[Label] = []
    for word, _ in group:
        found += [(word, d) for d in range(-dims, 0)] if word == "..." else [(word, 0)]
    return found


def _by_pattern(text: str, args: list[Place], groups: int, results: Sequence[int]) -> Labels | str:
    """Labels a call by the first pattern that fits the arguments' dimensions. ``results``: the group of each result."""
    for before, after in sides(text):
        if len(before) != groups:
            return f"has {len(before)} groups of arguments, and the schema has {groups} tensors"
        if results and max(results) >= len(after):
            return f"has {len(after)} groups of results, and the schema has {max(results) + 1} tensors"
        fixed = [sum(word != "..." for word, _ in group) for group in before]
        runs = [any(word == "..." for word, _ in group) for group in before]
        more = [p.tensor.dim() - fixed[p.group] for p in args]
        if any(m < 0 or (m > 0 and not runs[p.group]) for m, p in zip(more, args, strict=True)):
            continue
        run = max((m for m, p in zip(more, args, strict=True) if runs[p.group]), default=0)
        marked = {word for group in before + after for word, mark in group if mark}
        labels = [_tokens(before[p.group], m) for m, p in zip(more, args, strict=True)]
        out = [_tokens(after[group], run) for group in results]
        found = Labels(labels, out, {label for group in labels + out for label in group if label[0] in marked})
        if isinstance(_known(args, found), dict):
            return found
    return "has no pattern for " + ", ".join(f"{p.name} of shape {tuple(p.tensor.shape)}" for p in args)


# ---- the check ------------------------------------------------------------------------------------------------------


def fault(case: Any, text: str, seed: int = 0) -> str | None:
    """Returns how a call of an operator contradicts the text about its dimensions; None if it does not.

    Args:
        case: a ``Case`` of ``opcheck``
        text: the operator's own, or another one
        seed: chooses the indices
    """
    about = case.about
    kinds = [a for a in about["args"] if a["type"].startswith("Tensor") and not (a["written"] and a["keyword_only"])]
    groups = {a["name"]: i for i, a in enumerate(kinds)}
    returned = [kind.startswith("Tensor") for kind, _ in about["returns"]]
    call = _Call(case, groups, [sum(returned[:i]) for i in range(len(returned))])
    results = call.run(call.fresh())
    args = call.args(call.fresh())
    if text in ("broadcast", "keep", "reduce"):
        labels: Labels | str = _by_word(text, about, case.named(*call.fresh()), args, len(results))
    else:
        try:
            labels = _by_pattern(text, args, len(groups), [p.group for p in results])
        except ValueError as error:
            labels = str(error)
    if isinstance(labels, str):
        return labels
    return _sizes(args, results, labels) or _meaning(call, args, results, labels, seed)


class _Call:
    """Calls the operator, and finds the tensors among its arguments and results."""

    def __init__(self, case: Any, groups: Mapping[str, int], returned: Sequence[int]):
        self.case, self.groups, self.returned = case, groups, returned

    def fresh(self) -> Any:
        return self.case.fresh(lambda t: t.detach().clone())

    def args(self, given: Any) -> list[Place]:
        found = self.case.inputs(*given)
        places = [(name, self.groups.get(name.partition("[")[0]), t) for name, t in found]
        return [Place(f"argument '{name}'", group, t) for name, group, t in places if group is not None]

    def run(self, given: Any, seed: int = 0) -> list[Place]:
        lamella.manual_seed(seed)
        out = self.case.packet(*given[0], **given[1])
        values = [(place, r) for place, r in self.case.results(out) if isinstance(r, Tensor)]
        group = [self.returned[int(place.split()[1].partition("[")[0])] for place, _ in values]
        return [Place(place, g, r.detach().clone()) for g, (place, r) in zip(group, values, strict=True)]


def _known(args: list[Place], labels: Labels) -> dict[Label, tuple[int, str]] | str:
    """Returns the size of each label in the arguments, where 1 gives way to others, and an argument that has it."""
    sizes: dict[Label, tuple[int, str]] = {REDUCED: (1, "'keepdim'")}
    for p, of in zip(args, labels.args, strict=True):
        for label, size in zip(of, p.tensor.shape, strict=True):
            known = sizes.get(label, (1, ""))[0]
            if label not in labels.bound and known != 1 and size not in (1, known):
                return f"has one size for {_shown(label)}, which is {known} in {sizes[label][1]} and {size} in {p.name}"
            if known == 1:
                sizes[label] = (size, p.name)
    return sizes


def _sizes(args: list[Place], results: list[Place], labels: Labels) -> str | None:
    """Checks the results' sizes, which are those of the arguments."""
    sizes = _known(args, labels)
    if isinstance(sizes, str):
        return sizes
    for p, of in zip(results, labels.results, strict=True):
        shape = tuple(p.tensor.shape)
        if len(of) != len(shape):
            return f"gives {p.name} {len(of)} dimensions, and it has shape {shape}"
        for label, size in zip(of, shape, strict=True):
            wanted, whose = sizes.get(label, (size, ""))
            if label not in labels.bound and size != wanted:
                return f"gives {p.name} for {_shown(label)} the size {wanted} of {whose}, and its shape is {shape}"
    return None


def _shown(label: Label) -> str:
    word, d = label
    return f"dimension {d}" if not word else f"dimension {d} of '...'" if word == "..." else f"dimension '{word}'"


def _meaning(call: _Call, args: list[Place], results: list[Place], labels: Labels, seed: int) -> str | None:
    """Checks what other indices along each dimension that is not bound do to the results.

    Results that have the dimension get the same indices, even where one is taken twice. Those that lack it stay the
    same if the indices are permuted.
    """
    random = call.case.about["category"] == "random" or not _alike(call, results, call.run(call.fresh(), 1))
    if random or call.case.written or not results:
        return None
    draw = lamella.Generator().manual_seed(seed)
    for label in dict.fromkeys(label for of in labels.args for label in of if label not in labels.bound):
        size = max(
            s
            for p, of in zip(args, labels.args, strict=True)
            for x, s in zip(of, p.tensor.shape, strict=True)
            if x == label
        )
        if size < 2:
            continue
        has = [label in of for of in labels.results]
        moved = lamella.randperm(size, generator=draw)
        moved = moved if int(moved[0]) else moved.roll(1)  # another order than the first one
        chosen = moved.clone()
        chosen[-1] = chosen[0]  # one index twice, and one not at all
        tries = [(chosen, has, "other"), (moved, [not h for h in has], "permuted")]
        for index, which, what in tries:
            if not any(which):
                continue
            about = f"is contradicted along {_shown(label)}: with {what} indices there"
            try:
                got = call.run(_chosen(call, labels.args, label, index, size))
            except Exception as error:
                return f"{about} the call fails: {error}"
            if len(got) != len(results):
                return f"{about} the call returns {len(got)} tensors"
            wanted = [
                p._replace(tensor=_pick(p.tensor, of, label, index, size))
                for p, of in zip(results, labels.results, strict=True)
            ]
            compared = [(w, g) for w, g, compare in zip(wanted, got, which, strict=True) if compare]
            if place := _difference(call, compared):
                return f"{about}, {place} {'has not these indices' if what == 'other' else 'changes'}"
    return None


def _pick(t: Tensor, of: Sequence[Label], label: Label, index: Tensor, size: int) -> Tensor:
    for d, x in enumerate(of):
        if x == label and t.shape[d] == size:
            t = t.index_select(d, index.to(t.device))
    return t


def _chosen(call: _Call, labels: list[list[Label]], label: Label, index: Tensor, size: int) -> Any:
    """Returns fresh arguments with other indices along a dimension."""
    given = call.fresh()
    changed = {
        id(p.tensor): _pick(p.tensor, of, label, index, size) for p, of in zip(call.args(given), labels, strict=True)
    }
    swap = lambda t: changed.get(id(t), t)  # noqa: E731
    return mapped(swap, given[0]), {k: mapped(swap, v) for k, v in given[1].items()}


def _alike(call: _Call, a: list[Place], b: list[Place]) -> bool:
    return len(a) == len(b) and _difference(call, list(zip(a, b, strict=True))) is None


def _difference(call: _Call, pairs: list[tuple[Place, Place]]) -> str | None:
    """Returns the name of the first result that differs, except for the rounding of sums in another order."""
    for wanted, got in pairs:
        t = wanted.tensor
        close = dict(call.case.how_close)
        if not close and (t.dtype.is_floating_point or t.dtype.is_complex):
            close = dict.fromkeys(("rtol", "atol"), CLOSE[t.dtype.itemsize // (2 if t.dtype.is_complex else 1)])
            size = t.abs().to(lamella.float64)
            close["atol"] *= max(1.0, float(size[size.isfinite()].max()) if bool(size.isfinite().any()) else 0.0)
        if difference([(wanted.name, t)], [(wanted.name, got.tensor)], **close):
            return wanted.name
    return None
