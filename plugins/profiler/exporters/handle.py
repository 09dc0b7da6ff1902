"""``export`` and its handle: a thread that gathers samples, and sends them at intervals.

Note [Threads]  Operators write samples into the native queue, and never wait for this thread. The thread moves the
  samples into the histograms four times a second. It calls the exporter once an interval, when ``flush`` requests it,
  and at the end.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.util import Finalize
from typing import Any

from .. import _python
from ..observers import enable_record_function
from .batch import BUCKETS, SCOPES, Batch, Counts, Exporter, Series, Span
from .find import find_exporter

DRAIN = 0.25  # seconds between two moves of samples from the queue to the histograms
MAX_SPANS = 4096  # the most spans that wait for an export
LONGEST = 365 * 86400.0  # the largest `interval` and `timeout`, in seconds
log = logging.getLogger("lamella.profiler.exporters")

_open: set[Export] = set()
_registered_in: int | None = None  # the process in which _close_all was registered


class Export:
    """The handle of a running export, which ``export`` returns. As a context manager it closes the export.

    >>> handle = lamella.profiler.exporters.export(lamella.profiler.exporters.Exporter)
    >>> handle.closed, handle.flush()
    (False, True)
    >>> handle.close()
    >>> handle.closed
    True
    """

    def __init__(self, exporter: Exporter, settings: dict[str, Any]):
        self.exporter = exporter
        self.kinds: tuple[str, ...] = settings["attributes"]
        self.span_kinds: tuple[str, ...] = settings["span_attributes"]
        self.timeout: float = settings["timeout"]
        self._settings = settings
        self._since = time.time()
        self._wake = threading.Event()
        self._done = threading.Condition()
        self._asked = self._answered = 0  # the numbers of exports that were requested and made
        self._went_well = True
        self._closing = False
        self._ended = False
        self._delivered = (0, 0, 0, 0)  # the collector's counts at the last export that was sent
        self._lost_spans = self._failures = 0
        self._collector: Any = None
        self._last: Counts | None = None
        self.error: BaseException | None = None

    def _start(self) -> None:
        s = self._settings
        kinds = self.kinds + self.span_kinds
        spans = MAX_SPANS if s["spans"] else 0
        self._thread = threading.Thread(target=self._work, name="lamella-export", daemon=True)
        head = (s["sampling"], s["block_sampling"], s["queue"], s["max_series"])
        try:
            self._collector = _python._Collector(*head, spans, len(self.kinds), kinds, s["buckets"])
            self.exporter.start(self)
            _open.add(self)
            self._thread.start()
        except BaseException:
            _open.discard(self)
            if self._collector is not None:
                self._collector.stop()
            with contextlib.suppress(Exception):
                self.exporter.close()
            raise

    # ---- what the handle is for ----

    def flush(self, timeout: float | None = None) -> bool:
        """Exports now, and waits at most ``timeout`` seconds for that; returns whether it was sent. Returns False at
        once if the export is closed, and within a call of the exporter.

        >>> with lamella.profiler.exporters.export(lamella.profiler.exporters.Exporter) as handle:
        ...     handle.flush(timeout=10)
        True
        """
        with self._done:
            if self._ended or self._closing or threading.current_thread() is self._thread:
                return False
            self._asked += 1
            wanted = self._asked
            self._wake.set()
            wait = self.timeout if timeout is None else min(timeout, LONGEST)
            return self._done.wait_for(lambda: self._answered >= wanted or self._ended, wait) and self._went_well

    def close(self, timeout: float | None = None) -> None:
        """Ends the sampling, exports the rest, and closes the exporter; it waits at most ``timeout`` seconds.

        A second call does nothing. All open exports are closed when the program ends, and when a process of
        ``multiprocessing`` ends; not in a process that ends by ``os._exit``.

        >>> handle = lamella.profiler.exporters.export(lamella.profiler.exporters.Exporter)
        >>> handle.close(timeout=10)
        """
        with self._done:
            if self._closing or self._ended:
                return
            self._closing = True
        _open.discard(self)
        self._collector.stop()
        self._wake.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(self.timeout if timeout is None else min(timeout, LONGEST))
            if self._thread.is_alive():
                log.warning("the last export takes longer than close waits: %s samples unsent", self.counts.unsent)

    @property
    def closed(self) -> bool:
        """Whether sampling has ended."""
        return self._closing or self._ended

    @property
    def counts(self) -> Counts:
        """The numbers of samples that were recorded, dropped and not sent yet, and of failed exports.

        >>> with lamella.profiler.exporters.export(lamella.profiler.exporters.Exporter) as handle:
        ...     handle.counts.dropped
        {'queue': 0, 'series': 0, 'spans': 0}
        """
        if self._ended and self._last is not None:
            return self._last
        recorded, queue, series, spans = self._collector.counts()
        unsent = recorded - self._delivered[0]
        return Counts(recorded, queue, series, spans + self._lost_spans, unsent, self._failures)

    def read(self) -> Batch:
        """Returns the current histograms, without spans."""
        self._collector.drain()
        return self._batch([])

    def __enter__(self) -> Export:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- the thread ----

    def _batch(self, spans: list[Span]) -> Batch:
        s = self._settings
        series = [Series(SCOPES[row[0]], *row[1:]) for row in self._collector.series()]
        head = (self._since, time.time(), s["sampling"], s["block_sampling"], self.kinds, self.span_kinds, s["buckets"])
        return Batch(*head, series, spans, self.counts)

    def _work(self) -> None:
        enable_record_function(False)  # an exporter's own operators are not measured
        interval = self._settings["interval"]
        due = time.monotonic() + interval
        while not self._closing:
            self._wake.wait(max(0.0, min(DRAIN, due - time.monotonic())))
            self._wake.clear()
            self._collector.drain()
            with self._done:
                asked = self._asked
            if not self._closing and (asked > self._answered or time.monotonic() >= due):
                self._export(asked)
                due = time.monotonic() + interval
        self._end()

    def _export(self, asked: int) -> None:
        spans: list[Span] = []
        counts = self._collector.counts()
        try:
            spans = [Span(SCOPES[row[0]], *row[1:]) for row in self._collector.take_spans()]
            lost = self.exporter.export(self._batch(spans))
        except BaseException as error:  # the thread continues, since the next export may succeed
            self._failed(error, getattr(error, "lost_spans", len(spans)))
        else:
            self._lost_spans += lost or 0
            if self.error is not None:
                log.warning("exports go well again, after %s that failed", self._failures)
            self._delivered, self.error = counts, None
        with self._done:
            self._answered, self._went_well = asked, self.error is None
            self._done.notify_all()

    def _failed(self, error: BaseException, spans: int) -> None:
        self._failures += 1
        self._lost_spans += spans
        if self.error is None:  # logged once, until an export succeeds
            log.warning("an export failed, and is tried again each %s s: %s", self._settings["interval"], error)
        self.error = error

    def _end(self) -> None:
        self._collector.drain()
        if self._answered < self._asked or self._delivered != self._collector.counts():
            self._export(self._asked)
        try:
            self.exporter.close()
        except Exception as error:
            log.warning("an exporter failed to close: %s", error)
        with self._done:
            self._last = self.counts
            self._ended = True
            self._done.notify_all()

    def _forked(self) -> None:
        """Called in a child of fork. There the export's thread does not exist, and any lock may be held forever."""
        self._done = threading.Condition()
        self._last = Counts(0, 0, 0, 0, 0, 0)
        self._closing = self._ended = True
        self._collector.abandon()
        with contextlib.suppress(Exception):
            self.exporter.forked()


def _close_all() -> None:
    for handle in list(_open):
        handle.close()


def _after_fork() -> None:
    handles = list(_open)
    _open.clear()
    for handle in handles:
        handle._forked()


def _close_at_the_end() -> None:
    global _registered_in
    if _registered_in is None:
        atexit.register(_close_all)
        os.register_at_fork(after_in_child=_after_fork)
    if _registered_in != os.getpid() and multiprocessing.parent_process() is not None:
        Finalize(None, _close_all, exitpriority=0)  # a process of multiprocessing ends without running atexit
    _registered_in = os.getpid()


def export(
    to: str | Callable[..., Exporter] = "jsonl",
    *,
    sampling: float = 0.01,
    block_sampling: float = 1.0,
    attributes: Sequence[str] = (),
    span_attributes: Sequence[str] = (),
    spans: bool | None = None,
    interval: float = 10.0,
    timeout: float = 5.0,
    queue: int = 8192,
    max_series: int = 5000,
    buckets: Sequence[float] = BUCKETS,
    **options: Any,
) -> Export:
    """Exports the times of a sample of operators, steps of backward and named blocks, of all threads, from now on.

    Operators never wait for an export: samples that do not fit into the queue are dropped and counted
    (``Export.counts``). A failed export is logged, and the next one is tried an interval later. A child of fork exports
    nothing. Times are the host's: for a device that works asynchronously, the time to launch the work.

    Args:
        to: "jsonl" (``path``), "prometheus" (``port``, ``address``, ``registry``), "otlp" (``endpoint``, ``insecure``,
            ``headers``, ``resource``), an exporter's name of another package, or a function that makes an ``Exporter``
        sampling: the fraction of operators and steps of backward that is measured
        block_sampling: the fraction of the blocks of ``record_function`` that is measured
        attributes: kinds of debug information whose values divide the histograms, such as "model"; each combination of
            values makes histograms of its own
        span_attributes: further kinds whose values are added to spans alone, such as "request"
        spans: whether spans are exported, too; None means the exporter's default
        interval: seconds between two exports
        timeout: seconds that ``flush`` and ``close`` wait at most, up to a year
        queue: the number of samples that can wait to be gathered, which happens four times a second
        max_series: the most histograms; samples that would make more are dropped and counted
        buckets: bounds of the histograms' buckets in seconds, ascending
        options: options of the exporter

    Raises:
        ValueError: no package has an exporter of that name, or a number is out of its range
        ImportError: a package that the exporter needs is not installed
        TypeError: an option that the exporter does not have

    >>> class Counter(lamella.profiler.exporters.Exporter):
    ...     def export(self, batch):
    ...         print({s.name: s.count for s in batch.series})
    >>> with lamella.profiler.exporters.export(Counter, sampling=1.0):
    ...     for _ in range(3):
    ...         _ = lamella.ones(2)
    {'aten::ones': 3}
    """
    settings: dict[str, Any] = {
        "sampling": probability("sampling", sampling),
        "block_sampling": probability("block_sampling", block_sampling),
        "attributes": texts("attributes", attributes),
        "span_attributes": texts("span_attributes", span_attributes),
        "interval": positive("interval", interval),
        "timeout": min(positive("timeout", timeout), LONGEST),
        "queue": whole("queue", queue, 1 << 20),
        "max_series": whole("max_series", max_series, 1 << 24),
        "buckets": ascending(buckets),
    }
    kinds = settings["attributes"] + settings["span_attributes"]
    if len(kinds) > 8 or len(set(kinds)) < len(kinds):
        raise ValueError(f"export: attributes and span_attributes are at most 8 kinds, each once, got {kinds}")
    exporter = (find_exporter(to) if isinstance(to, str) else to)(**options)
    settings["spans"] = bool(exporter.wants_spans if spans is None else spans)
    handle = Export(exporter, settings)
    handle._start()
    _close_at_the_end()
    return handle


def probability(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"export: argument '{name}' must be 0 to 1, got {value}")
    return float(value)


def positive(name: str, value: float) -> float:
    if not value > 0:
        raise ValueError(f"export: argument '{name}' must be above 0 seconds, got {value}")
    return float(value)


def whole(name: str, value: int, most: int) -> int:
    if not 1 <= value <= most:
        raise ValueError(f"export: argument '{name}' must be 1 to {most}, got {value}")
    return int(value)


def texts(name: str, kinds: Sequence[str]) -> tuple[str, ...]:
    if isinstance(kinds, str) or not all(isinstance(kind, str) for kind in kinds):
        raise TypeError(f"export: argument '{name}' must be a list of kinds of debug information, got {kinds!r}")
    return tuple(kinds)


def ascending(buckets: Sequence[float]) -> tuple[float, ...]:
    bounds = tuple(map(float, buckets))
    if any(not a < b for a, b in zip(bounds, bounds[1:], strict=False)) or not all(0 < b < 1e9 for b in bounds):
        raise ValueError(
            f"export: argument 'buckets' must be ascending seconds, each above 0 and below 1e9, got {bounds}"
        )
    return bounds
