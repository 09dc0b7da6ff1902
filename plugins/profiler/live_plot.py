"""``LivePlot``: the curves of a training as one page of HTML, which is renewed while the training runs."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import time
import warnings
import weakref
from collections.abc import Mapping
from html import escape
from typing import Any

from .drawing import curves, number_text, page
from .files import replacing

__all__ = ["LivePlot"]

MOST_BUCKETS = 512  # a curve keeps the least and the greatest value of each bucket

Point = tuple[float, float]
plots: weakref.WeakSet[LivePlot] = weakref.WeakSet()


@atexit.register
def close_plots() -> None:
    """Closes the plots of this process when it ends, since programs seldom call ``close()``."""
    for plot in list(plots):
        if plot._process == os.getpid():  # a forked child has copies of its parent's
            with contextlib.suppress(OSError):
                plot.close()


class Curve:
    """Values by step in a bounded number of equal buckets: of each the least and the greatest, so that peaks stay."""

    def __init__(self):
        self._buckets: list[tuple[int, Point | None, Point | None]] = []  # (values, least, greatest)
        self._room = 1  # values in a full bucket
        self.step, self.last = -1.0, math.nan

    def add(self, step: float, value: float) -> None:
        """Adds a value; one that is not finite makes a gap, unless the bucket has others."""
        self.step, self.last = step, value
        point = (step, value) if math.isfinite(value) else None
        new = (1, point, point)
        if self._buckets and self._buckets[-1][0] < self._room:
            new = self._joined(self._buckets.pop(), new)
        elif len(self._buckets) == MOST_BUCKETS:
            old = self._buckets
            self._buckets = [self._joined(old[i], old[i + 1]) for i in range(0, MOST_BUCKETS, 2)]
            self._room *= 2
        self._buckets.append(new)

    @staticmethod
    def _joined(a: tuple, b: tuple) -> tuple:
        least = [bucket[1] for bucket in (a, b) if bucket[1]]
        most = [bucket[2] for bucket in (a, b) if bucket[2]]
        by_value = lambda point: point[1]  # noqa: E731
        return a[0] + b[0], min(least, key=by_value, default=None), max(most, key=by_value, default=None)

    def parts(self, log: bool) -> list[list[Point]]:
        """Returns the points between gaps; with ``log`` those above 0 alone."""
        parts: list[list[Point]] = [[]]
        for _, least, most in self._buckets:
            if least is None:
                parts.append([])
            parts[-1] += sorted(p for p in {least, most} if p and (p[1] > 0 or not log))
        return [part for part in parts if part]


class LivePlot:
    """Draws scalars into a page of HTML that needs no server, no network and no other file.

    Open the page in a browser: it loads itself again until ``close``. It is written at most once in ``interval``
    seconds, as a whole: a reader never sees half a page. Each tag has a chart; ``add_scalars`` draws several curves
    into one. A curve of any length is drawn by a thousand points, which keep its peaks.

    Args:
        path: the page; an old one is replaced
        title: its title
        interval: the least seconds between two writings
        log: draw values by their logarithm; those that are not above 0 are left out

    Raises:
        OSError: the page cannot be written; where that fails later, a warning says so once, and the training goes on
        ValueError: interval is negative

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with lamella.profiler.LivePlot(os.path.join(folder, "losses.html")) as plot:
    ...         for step in range(100):
    ...             plot.add_scalar("loss", lamella.tensor(1 / (step + 1)), step)
    ...         plot.add_scalars("accuracy", {"train": 0.9, "test": 0.8}, step)
    ...     with open(os.path.join(folder, "losses.html")) as file:
    ...         print(file.read().count("<svg"))
    2
    """

    def __init__(
        self,
        path: str | os.PathLike = "losses.html",
        *,
        title: str = "Training",
        interval: float = 1.0,
        log: bool = False,
    ):
        if not interval >= 0:
            raise ValueError(f"LivePlot: argument 'interval' must not be negative, got {interval}")
        self.path, self.title, self.interval, self.log = os.fspath(path), title, interval, log
        self._charts: dict[str, dict[str, Curve]] = {}
        self._closed = self._warned = False
        self._process = os.getpid()
        self._written = 0.0  # by the monotonic clock
        self.flush()
        plots.add(self)

    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any = None, walltime: Any = None) -> None:
        """Adds a number to the chart of its tag, at the step after the last one by default.

        Raises:
            TypeError, ValueError: the value is no real number, or has not one element
            RuntimeError: the plot is closed
        """
        self._add("add_scalar", tag, tag, scalar_value, global_step)
        self._renew()

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: Any = None
    ) -> None:
        """Adds numbers to several curves of one chart; as ``add_scalar``."""
        for tag, value in tag_scalar_dict.items():
            self._add("add_scalars", main_tag, tag, value, global_step)
        self._renew()

    def _add(self, who: str, chart: str, name: str, value: Any, step: Any) -> None:
        if self._closed:
            raise RuntimeError(f"LivePlot.{who}: the plot is closed; make another one")
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"LivePlot.{who}: the value of {name!r} must be one real number: {error}") from None
        curve = self._charts.setdefault(chart, {}).setdefault(name, Curve())
        curve.add(curve.step + 1 if step is None else float(step), number)

    def _renew(self) -> None:
        if time.monotonic() - self._written < self.interval:
            return
        try:
            self.flush()
        except OSError as error:
            self._written = time.monotonic()
            if not self._warned:
                self._warned = True
                warnings.warn(f"LivePlot: the page {self.path!r} is not renewed: {error}", stacklevel=3)

    def flush(self) -> None:
        """Writes the page now.

        Raises:
            OSError: it cannot be written
        """
        content = self._page().encode()
        with replacing(self.path, durable=False) as file:
            file.write(content)
        self._written = time.monotonic()

    def close(self) -> None:
        """Writes the page for the last time; it no longer loads itself again."""
        if not self._closed:
            self._closed = True
            self.flush()

    def __enter__(self) -> LivePlot:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _page(self) -> str:
        renewal = "" if self._closed else f'<meta http-equiv="refresh" content="{max(1, math.ceil(self.interval))}">'
        parts = []
        for chart, lines in self._charts.items():
            drawn = []
            for name, curve in lines.items():
                text = f"{name}: {number_text(curve.last)} at step {number_text(curve.step)}"
                drawn.append((text, curve.parts(self.log)))
            parts.append(f"<h2>{escape(chart)}</h2>\n{curves(chart, drawn, log=self.log)}\n")
        state = "finished" if self._closed else "running"
        heading = f"<h1>{escape(self.title)}</h1>\n<p>{state}, as of {time.strftime('%Y-%m-%d %H:%M:%S')}</p>\n"
        return page(self.title, heading + "".join(parts), renewal)
