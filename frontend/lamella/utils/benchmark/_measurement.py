"""Measurement, the times of one statement, with the statement's description; and units and digits of numbers."""

from __future__ import annotations

import dataclasses
import math
import statistics
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import lamella

UNITS = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
ENGLISH = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}
MOST_DIGITS, LEAST_DIGITS = 5, 1
SPREAD = 0.1  # an interquartile range above this part of the median is reported
SHORTEST = 1e-4  # seconds: a run below that may be dominated by the timer


def select_unit(t: float) -> tuple[str, float]:
    """Returns the unit for a time in seconds, and the number of seconds of the unit.

    >>> lamella.utils.benchmark.select_unit(3e-7)
    ('ns', 1e-09)
    """
    fitting = [(name, scale) for name, scale in UNITS if t >= scale * 0.9995]
    return fitting[-1] if fitting else UNITS[0]


def unit_to_english(u: str) -> str:
    """Returns a unit's name.

    >>> lamella.utils.benchmark.unit_to_english("us")
    'microsecond'
    """
    return ENGLISH[u]


def trim_sigfig(x: float, n: int) -> float:
    """Returns a number rounded to ``n`` significant digits.

    >>> lamella.utils.benchmark.trim_sigfig(123456, 3)
    123000.0
    """
    if x == 0 or not math.isfinite(x):
        return float(x)
    return float(f"{x:.{n - 1}e}")


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Returns the elements without repetitions, in their order.

    >>> lamella.utils.benchmark.ordered_unique([2, 1, 2])
    [2, 1]
    """
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Sets the number of threads within the block.

    >>> with lamella.utils.benchmark.set_torch_threads(1):
    ...     lamella.get_num_threads()
    1
    """
    before = lamella.get_num_threads()
    lamella.set_num_threads(n)
    try:
        yield
    finally:
        lamella.set_num_threads(before)


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """The description of a statement: measurements of equal ones can be merged.

    >>> lamella.utils.benchmark.TaskSpec("x + 1", "x = 1", label="sum").title
    'sum'
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label and the sub-label; without a label, the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """Returns the setup as a line or a block of a text; "" if there is none."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Returns title, description, environment and setup, a line for each."""
        parts = [self.title, self.description or "", f"env: {self.env}" if self.env else "", self.setup_str()]
        return "\n".join(part for part in parts if part)


class Measurement:
    """The times of one statement: ``times`` are seconds of one execution, one for each run of the loop.

    Args:
        number_per_run: how often the statement ran in each run of the loop
        raw_times: seconds of each run
        task_spec: the description of the statement
        metadata: is kept

    >>> m = lamella.utils.benchmark.Measurement(2, [1.0, 2.0, 3.0], lamella.utils.benchmark.TaskSpec("f()", ""))
    >>> m.median, m.iqr
    (1.0, 0.5)
    """

    def __init__(
        self,
        number_per_run: int,
        raw_times: list[float],
        task_spec: TaskSpec,
        metadata: dict[Any, Any] | None = None,
    ):
        self.number_per_run, self.raw_times, self.task_spec = number_per_run, list(raw_times), task_spec
        self.metadata = metadata

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(TaskSpec, name):  # stmt, label, num_threads and so on
            return getattr(self.task_spec, name)
        if name in ("stmt", "setup"):
            return getattr(self.task_spec, name)
        raise AttributeError(f"Measurement has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """Seconds of one execution of the statement, by run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of the times, in seconds."""
        return statistics.median(self._some())

    @property
    def mean(self) -> float:
        """The mean of the times, in seconds."""
        return statistics.fmean(self._some())

    @property
    def iqr(self) -> float:
        """The distance between the quartiles of the times, in seconds, by linear interpolation; 0 for one time."""
        times = self._some()
        if len(times) == 1:
            return 0.0
        low, _, high = statistics.quantiles(times, n=4, method="inclusive")
        return high - low

    def _some(self) -> list[float]:
        if not self.raw_times:
            raise RuntimeError("Measurement: there are no times")
        return self.times

    @property
    def significant_figures(self) -> int:
        """The number of digits of the median that the spread of the times supports.

        The standard error of a median is about 1.2533 s / sqrt(n) for a normal distribution, whose s is the
        interquartile range divided by 1.349. Digits below twice that error are not significant.
        """
        n = len(self._some())
        error = 2 * 1.2533 * self.iqr / 1.349 / math.sqrt(n)
        if n == 1 or error == 0 or self.median == 0:
            return MOST_DIGITS - 2 if n == 1 else MOST_DIGITS
        digits = math.floor(math.log10(self.median / error)) + 1 if error < self.median else 1
        return max(LEAST_DIGITS, min(MOST_DIGITS, digits))

    @property
    def has_warnings(self) -> bool:
        """True if the times spread widely, or the runs are too short for the timer."""
        return bool(self._warnings())

    def _warnings(self) -> list[str]:
        found = []
        if self.median and self.iqr / self.median > SPREAD:
            found.append(f"WARNING: the interquartile range is {100 * self.iqr / self.median:.0f}% of the median.")
        if statistics.median(self.raw_times) < SHORTEST:
            found.append("WARNING: a run takes less than 100 us, of which the timer's own time may be a part.")
        return found

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Returns whether the interquartile range is below a part of the median."""
        return len(self.times) > 2 and self.iqr / (self.median or 1) < threshold

    @property
    def title(self) -> str:
        """The title of the statement's description."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """The environment of the description, or "Unspecified env"."""
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """The name of the measurement's row in a table: the sub-label, or the statement."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        n, threads = len(self.times), self.task_spec.num_threads
        lines = [f"{type(self).__module__.rpartition('.')[0]}.{type(self).__name__}", self.task_spec.summarize()]
        if n > 1:
            lines.append(f"  Median: {self.median / scale:.2f} {unit}")
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit}")
        else:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        runs = f"{self.number_per_run} run{'s' if self.number_per_run > 1 else ''} per measurement"
        kinds = f"{threads} thread{'s' if threads > 1 else ''}"
        lines.append(f"  {n} measurement{'s' if n > 1 else ''}, {runs}, {kinds}")
        return "\n".join([*lines, *(f"  {words}" for words in self._warnings())])

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Returns one measurement for each description, with the times of all.

        >>> spec = lamella.utils.benchmark.TaskSpec("f()", "")
        >>> one, two = (lamella.utils.benchmark.Measurement(n, [n * 1e-6], spec) for n in (10, 20))
        >>> lamella.utils.benchmark.Measurement.merge([one, two])[0].times
        [1e-06, 1e-06]
        """
        groups: dict[TaskSpec, list[Measurement]] = {}
        for each in measurements:
            groups.setdefault(each.task_spec, []).append(each)
        merged = []
        for spec, group in groups.items():
            number = group[0].number_per_run
            if any(m.number_per_run != number for m in group):
                number = 1
            raw = [t * number for m in group for t in m.times]
            metadata = group[0].metadata if all(m.metadata == group[0].metadata for m in group) else None
            merged.append(Measurement(number, raw, spec, metadata))
        return merged
