"""Measures a case: checks that the peers agree on the result, times them in turns, and compares them round by round."""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ROUNDS = 9
ROUND_SECONDS = 0.02


@dataclass
class Sample:
    """The measurements of one peer, one for each round; nanoseconds a call, unless the row has another unit."""

    rounds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, divided by the median."""
        low, _, high = statistics.quantiles(self.rounds, n=4)
        return (high - low) / 2 / abs(self.median) if self.median else 0.0


@dataclass
class Bound:
    """A goal: the row's own time is at most ``most`` times that of ``peer``."""

    peer: str
    most: float


@dataclass
class Row:
    """One line of a table: the samples of several peers, and the bounds of the one called ``ours``."""

    name: str
    samples: dict[str, Sample]
    bounds: Sequence[Bound] = ()
    ours: str = "lamella"
    unit: str = "ns"
    ratios: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        mine = self.samples[self.ours].rounds
        self.ratios = {
            b.peer: statistics.median(x / y for x, y in zip(mine, self.samples[b.peer].rounds, strict=True))
            for b in self.bounds
        }

    @property
    def holds(self) -> bool:
        return all(self.ratios[b.peer] <= b.most for b in self.bounds)


@dataclass
class Limit:
    """One line of a table, with a number as its bound: of nanoseconds, seconds or instructions."""

    name: str
    sample: Sample
    most: float
    unit: str = "ns"

    @property
    def holds(self) -> bool:
        return self.sample.median <= self.most


def timer(statement: str, names: Mapping[str, Any]) -> Callable[[int], float]:
    """Makes a function that times runs of a statement. Its loop is timeit's, about 8 ns a turn for every peer."""
    return timeit.Timer(statement, globals=dict(names)).timeit


Run = Callable[[int], float]  # takes a number of runs, returns seconds


def measure(peers: Mapping[str, Run], rounds: int = ROUNDS, seconds: float = ROUND_SECONDS) -> dict[str, Sample]:
    """Times each peer once a round. The order rotates, so that slow moments of the machine affect all peers alike."""
    if rounds < 7:
        raise ValueError(f"measure: argument 'rounds' must be at least 7, got {rounds}")
    runs = {name: runs_in(seconds, run) for name, run in peers.items()}
    times: dict[str, list[float]] = {name: [] for name in peers}
    order = list(peers)
    for _ in range(rounds):
        for name in order:
            times[name].append(peers[name](runs[name]) / runs[name] * 1e9)
        order.append(order.pop(0))
    return {name: Sample(t) for name, t in times.items()}


def runs_in(seconds: float, run: Callable[[int], float]) -> int:
    """Returns how many runs take about ``seconds``; the trial runs also warm the caches."""
    n = 1
    while (took := run(n)) < seconds / 4:
        n *= 4
    return max(1, int(n * seconds / took))


def same(results: Mapping[str, Any]) -> None:
    """Raises AssertionError unless all peers computed the same numbers, which numpy compares."""
    import numpy as np

    arrays = {name: np.asarray(r) for name, r in results.items()}
    first_name, first = next(iter(arrays.items()))
    for name, array in arrays.items():
        np.testing.assert_allclose(array, first, rtol=1e-4, atol=1e-5, err_msg=f"{name} and {first_name} differ")


def shown(value: float, unit: str) -> str:
    if unit == "ns" and value >= 1e6:
        return f"{value / 1e6:.1f} ms"
    return f"{value:.0f} ns" if unit == "ns" and value >= 100 else f"{value:.3g} {unit}"


def measured(sample: Sample, unit: str) -> str:
    return f"{shown(sample.median, unit)} ±{sample.spread * 100:.0f} %"


def table(title: str, rows: Sequence[Row | Limit]) -> str:
    """Returns the rows as text; SHORT marks a row above its bound."""
    lines = []
    for r in rows:
        if isinstance(r, Limit):
            figures, ratio = measured(r.sample, r.unit), f"at most {shown(r.most, r.unit)}"
        else:
            figures = ", ".join(f"{name} {measured(s, r.unit)}" for name, s in r.samples.items())
            ratio = "; ".join(f"{r.ratios[b.peer]:.3f} × {b.peer} (at most {b.most:g})" for b in r.bounds)
        verdict = "" if not isinstance(r, Limit) and not r.bounds else "ok" if r.holds else "SHORT"
        lines.append((r.name, verdict, ratio, figures))
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    text = ["  ".join([*(c.ljust(w) for c, w in zip(line, widths, strict=False)), line[3]]).rstrip() for line in lines]
    return "\n".join([title, "-" * len(title), *text, ""])
