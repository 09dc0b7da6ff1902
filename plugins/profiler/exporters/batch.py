"""The interface of exporters: ``Exporter``, and the ``Batch`` of histograms and spans that it gets."""

from __future__ import annotations

from typing import NamedTuple, Protocol

SCOPES = ("function", "backward_function", "user_scope", "kernel")

# Bounds of the histograms' buckets, in seconds: 1, 2.5 and 5 of each power of ten from a microsecond to ten seconds.
BUCKETS = tuple(float(f"{m}e{e}") for e in range(-6, 1) for m in (1, 2.5, 5)) + (10.0,)


class Series(NamedTuple):
    """One histogram of times, since the export began.

    ``scope`` is "function", "backward_function" or "user_scope"; ``backend`` and ``dtype`` are those of the first
    tensor, or ""; ``values`` has for each of ``Batch.kinds`` the value or None; ``sum``, ``min`` and ``max`` are
    seconds; ``buckets`` has one element more than ``Batch.bounds``, and its counts are not cumulative.

    >>> lamella.profiler.exporters.Series("function", "aten::add", "cpu", "int64", (), 1, 2e-6, 2e-6, 2e-6, (0, 1)).max
    2e-06
    """

    scope: str
    name: str
    backend: str
    dtype: str
    values: tuple[str | None, ...]
    count: int  # type: ignore[assignment]  # tuple.count is replaced
    sum: float
    min: float
    max: float
    buckets: tuple[int, ...]


class Span(NamedTuple):
    """One sampled call or block. ``begin`` is in nanoseconds since 1970, ``duration`` in nanoseconds.

    ``values`` has the values of ``Batch.kinds``, then those of ``Batch.span_kinds``. ``parent`` is the id of the
    innermost sampled span around this one, on its thread or in its task's context, or 0; ``root`` is the id of the
    outermost, which may be this span itself.

    >>> lamella.profiler.exporters.Span("user_scope", "step", "", "", (), 0, 1500, 7, 0, 7, 1).duration
    1500
    """

    scope: str
    name: str
    backend: str
    dtype: str
    values: tuple[str | None, ...]
    begin: int
    duration: int
    id: int
    parent: int
    root: int
    thread: int


class Counts(NamedTuple):
    """Numbers of samples. ``recorded`` counts those put into the queue. The next three count what was dropped:
    ``queue`` samples that found the queue full and so are not in ``recorded``, ``series`` samples beyond the greatest
    number of series, ``spans`` spans that could not wait or be sent. ``unsent`` counts the samples since the last
    successful export; ``failures`` counts the failed exports.

    >>> lamella.profiler.exporters.Counts(recorded=10, queue=2, series=1, spans=0, unsent=0, failures=0).dropped
    {'queue': 2, 'series': 1, 'spans': 0}
    """

    recorded: int
    queue: int
    series: int
    spans: int
    unsent: int
    failures: int

    @property
    def dropped(self) -> dict[str, int]:
        """The numbers of dropped samples by reason."""
        return {"queue": self.queue, "series": self.series, "spans": self.spans}


class Batch(NamedTuple):
    """The histograms and spans that an exporter gets at one time. The histograms count from ``since``, when ``export``
    was called, so no sample is lost with a batch that is not sent; each span is in one batch only. ``since``, and
    ``time``, when the batch was made, are in seconds since 1970.

    >>> with lamella.profiler.exporters.export(lamella.profiler.exporters.Exporter, attributes=["model"]) as it:
    ...     it.read().attributes(("resnet",))
    {'model': 'resnet'}
    """

    since: float
    time: float
    sampling: float
    block_sampling: float
    kinds: tuple[str, ...]
    span_kinds: tuple[str, ...]
    bounds: tuple[float, ...]
    series: list[Series]
    spans: list[Span]
    counts: Counts

    def attributes(self, values: tuple[str | None, ...]) -> dict[str, str]:
        """Returns the debug information of a series or a span by kind."""
        kinds = self.kinds + self.span_kinds
        return {kind: value for kind, value in zip(kinds, values, strict=False) if value is not None}


class Source(Protocol):
    """The interface by which an exporter reads the histograms on request, such as for a page that is scraped.

    >>> with lamella.profiler.exporters.export(lamella.profiler.exporters.Exporter) as handle:
    ...     handle.read().series
    []
    """

    kinds: tuple[str, ...]
    span_kinds: tuple[str, ...]
    timeout: float

    def read(self) -> Batch:
        """Returns the current histograms, without spans."""


class Exporter:
    """The base class of exporters. All methods but ``start`` and ``forked`` are called on a thread of the export; if
    the start fails, ``close`` is called on the thread of ``start``.

    An exporter of another package is found by the name of an entry point in the group ``lamella.exporters``. The entry
    point names a class or a function, which is called with those options of ``export`` that ``export`` does not define
    itself.

    >>> class Printer(lamella.profiler.exporters.Exporter):
    ...     def export(self, batch):
    ...         print(sorted(s.name for s in batch.series))
    >>> with lamella.profiler.exporters.export(Printer, sampling=1.0):
    ...     _ = lamella.ones(2).exp()
    ['aten::exp', 'aten::ones']
    """

    wants_spans = False

    def start(self, source: Source) -> None:
        """Called once, before anything is exported; on the thread that calls ``export``."""

    def export(self, batch: Batch) -> int | None:
        """Sends a batch. It may take long, since operators do not wait for it. It may return the number of spans that
        were not sent. If it raises, the histograms count as unsent; the spans count as lost, all of them or as many as
        the error's attribute ``lost_spans`` says."""

    def close(self) -> None:
        """Called after the last batch."""

    def forked(self) -> None:
        """Called in a child of fork, where nothing is exported. Releases what is shared with the parent, such as
        descriptors, without sending anything."""
