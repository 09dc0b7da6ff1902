"""Families of cases with one bound: the geometric mean of the ratios to torch, and the worst of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import common

Call = Callable[[], Any]


@dataclass
class Case:
    """One line: the same work by each peer, called without arguments, with results that are new each time."""

    name: str
    lamella: Call
    torch: Call
    check: Callable[[Any, Any], None] | None = None  # of both results; equal numbers if absent
    floor: Call | None = None  # the least that the machine needs for this: a copy of as many bytes, …
    note: Callable[[], str] | None = None  # printed at the end of the line: errors in ulp, …


@dataclass
class Family:
    """What a family of cases came to; `holds` where both bounds do."""

    name: str
    mean_bound: float
    worst_bound: float
    rows: list[common.Row] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        return [r.ratios["torch"] for r in self.rows]

    @property
    def mean(self) -> float:
        return math.exp(sum(math.log(r) for r in self.ratios) / len(self.rows))

    @property
    def worst(self) -> common.Row:
        return max(self.rows, key=lambda r: r.ratios["torch"])

    @property
    def holds(self) -> bool:
        within = self.mean <= self.mean_bound and self.worst.ratios["torch"] <= self.worst_bound
        return within and all(r.holds for r in self.rows)  # a row may have a bound of its own

    def summary(self) -> str:
        worst = self.worst
        return (
            f"{self.name}: geometric mean {self.mean:.3f} × torch (at most {self.mean_bound:g}), "
            f"worst {worst.ratios['torch']:.3f} (at most {self.worst_bound:g}): {worst.name}; "
            f"{'ok' if self.holds else 'SHORT'}"
        )


def repeat(call: Call) -> common.Run:
    """Times a given number of calls; each result dies before the next is made."""
    return common.timer("call()", {"call": call})


def set_threads(n: int) -> None:
    import lamella
    import torch

    lamella.set_num_threads(n)
    torch.set_num_threads(n)


def run(
    name: str, cases: Iterable[Case], mean_bound: float, worst_bound: float, threads: tuple[int, ...] = (1, 2)
) -> Family:
    """Checks, measures and prints a family with one thread and with two."""
    import lamella
    import torch

    before = lamella.get_num_threads(), torch.get_num_threads()
    family = Family(name, mean_bound, worst_bound)
    cases = list(cases)
    try:
        for n in threads:
            set_threads(n)
            for case in cases:
                (case.check or same_numbers)(case.lamella(), case.torch())
                peers = {"lamella": repeat(case.lamella), "torch": repeat(case.torch)}
                if case.floor:
                    peers["floor"] = repeat(case.floor)
                bounds = [common.Bound("torch", worst_bound)]
                row = common.Row(f"{case.name}, {n} thread{'s' * (n > 1)}", common.measure(peers), bounds)
                family.rows.append(row)
    finally:
        lamella.set_num_threads(before[0])
        torch.set_num_threads(before[1])
    print(common.table(name, family.rows))
    for case in cases:
        if case.note:
            print(f"  {case.name}: {case.note()}")
    print(family.summary() + "\n", flush=True)
    return family


def same_numbers(ours: Any, theirs: Any) -> None:
    common.same({"lamella": ours, "torch": theirs})
