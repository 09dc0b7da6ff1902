"""Compare, which prints measurements as tables: rows are statements, columns are descriptions."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

from lamella.utils.benchmark._measurement import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

GOOD, BETTER, WORSE, BAD, BOLD, END = "\033[92m", "\033[92m", "\033[93m", "\033[31m", "\033[1m", "\033[0m"
# A time above this multiple of the best has this color.
COLORS = ((1.05, GOOD + BOLD), (1.5, ""), (2.0, WORSE), (float("inf"), BAD + BOLD))


class Colorize(enum.Enum):
    """The measurements that a time's color compares it with.

    >>> [c.name for c in lamella.utils.benchmark.Colorize]
    ['NONE', 'COLUMNWISE', 'ROWWISE']
    """

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """A set of measurements, printed as one table for each label.

    >>> from lamella.utils.benchmark import Compare, Measurement, TaskSpec
    >>> spec = [TaskSpec("f()", "", label="calls", sub_label=s, description="ours") for s in ("f", "g")]
    >>> Compare([Measurement(1, [2e-6], spec[0]), Measurement(1, [3e-3], spec[1])]).print()
    [---- calls -----]
                | ours
    1 threads: --------
          f     |    2
          g     | 3000
    <BLANKLINE>
    Times are in microseconds (us).
    <BLANKLINE>
    """

    def __init__(self, results: Iterable[Measurement]):
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim = self._warn = False
        self._colorize = Colorize.NONE

    def __str__(self) -> str:
        return "\n".join(self._tables())

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Adds measurements.

        Raises:
            ValueError: one of them is no Measurement
        """
        results = list(results)
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(
                    f"Compare: argument 'results': expected instances of Measurement, got {type(each).__name__}"
                )
        self._results += results

    def trim_significant_figures(self) -> None:
        """Makes the tables show only digits that the spread of the times supports."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Makes the tables color times by how near they are to the best of their column, or of their row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Makes the tables mark times with a large spread by ``(! spread%)``."""
        self._warn = True

    def print(self) -> None:
        """Prints the tables."""
        print(str(self))

    def _tables(self) -> list[str]:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(m.task_spec.label for m in merged)
        return [self._table([m for m in merged if m.task_spec.label == label]) for label in labels]

    def _table(self, results: list[Measurement]) -> str:
        environments = ordered_unique(m.task_spec.env for m in results)
        columns = ordered_unique(m.task_spec.description for m in results)
        names = ordered_unique(m.as_row_name for m in results)
        groups = ordered_unique((m.task_spec.num_threads, m.task_spec.env) for m in results)
        unit, scale = select_unit(min(m.median for m in results))
        at = {(m.task_spec.num_threads, m.task_spec.env, m.as_row_name, m.task_spec.description): m for m in results}
        digits = max((m.significant_figures for m in results), default=3)
        cells: dict[Any, str] = {key: self._cell(m, scale, digits) for key, m in at.items()}
        widths = [max([len(str(c or "")), *(len(text) for key, text in cells.items() if key[3] == c)]) for c in columns]
        first = max(len("xx threads:"), *(len(n) + 6 for n in names))
        head = f"{'':{first}}" + "".join(f" | {c or '':>{w}}" for c, w in zip(columns, widths, strict=True))
        label = results[0].task_spec.label or results[0].title.partition("\n")[0]
        lines = [f"[{f' {label} ':-^{len(head) - 2}}]", head.rstrip()]
        for threads, env in groups:
            titled = f"{threads} threads: "
            titled = f"{titled}({env}) " if len(environments) > 1 else titled
            lines.append(f"{titled}{'-' * (len(head) - len(titled) + 1)}")
            for name in names:
                row = [at.get((threads, env, name, c)) for c in columns]
                if not any(row):
                    continue
                parts = []
                for c, m, w in zip(columns, row, widths, strict=True):
                    text = f"{cells.get((threads, env, name, c), ''):>{w}}"
                    parts.append(self._colored(text, m, row if self._colorize is Colorize.ROWWISE else
                                               [x for key, x in at.items() if key[3] == c]))  # fmt: skip
                lines.append(f"{'':6}{name:{first - 6}}" + "".join(f" | {part}" for part in parts))
        lines.append(f"\nTimes are in {unit_to_english(unit)}s ({unit}).\n")
        if self._warn and any(m.has_warnings for m in results):
            lines.insert(len(lines) - 1, "\n(! XX%) The interquartile range is so much of the median.")
        return "\n".join(lines)

    def _cell(self, m: Measurement, scale: float, digits: int) -> str:
        number = m.median / scale
        if self._trim:
            number = trim_sigfig(number, m.significant_figures)
        else:
            number = trim_sigfig(number, max(digits, 3))
        text = f"{number:.0f}" if number >= 1000 or number == int(number) else f"{number:.4g}"
        warned = self._warn and m.has_warnings and m.median
        return f"(! {100 * m.iqr / m.median:.0f}%) {text}" if warned else text

    def _colored(self, text: str, m: Measurement | None, others: list[Any]) -> str:
        if m is None or self._colorize is Colorize.NONE:
            return text
        best = min(x.median for x in others if x is not None)
        color = next(color for most, color in COLORS if m.median <= most * best)
        return f"{color}{text}{END}" if color else text
