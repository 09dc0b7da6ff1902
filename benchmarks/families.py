"""Families of cases with common bounds: on the geometric mean of their ratios to torch, and on the largest ratio."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import common

Call = Callable[[], Any]


@dataclass
class Case:
    """One line: the same work by each peer, as functions without arguments that return a new result each time."""

    name: str
    lamella: Call
    torch: Call
    check: Callable[[Any, Any], None] | None = None  # compares the results; same_numbers if absent
    floor: Call | None = None  # a lower bound on the machine, such as a copy of as many bytes
    note: Callable[[], str] | None = None  # returns a text printed after the table, such as errors in ulp


@dataclass
class Family:
    """The results of a family of cases. `holds` is whether both bounds hold, and those of each row."""

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
    """Makes a function that times calls. Each result is freed before the next call."""
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
