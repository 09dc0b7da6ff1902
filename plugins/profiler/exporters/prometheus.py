"""The exporter "prometheus": a page that a Prometheus server scrapes (`pip install lamella[prometheus]`)."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from .batch import Batch, Counts, Exporter, Source

try:
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
    from prometheus_client.registry import Collector
except ImportError as error:
    raise ImportError("the exporter 'prometheus' needs prometheus_client: pip install lamella[prometheus]") from error

LABELS = ("name", "scope", "backend", "dtype")
EMPTY = Batch(0.0, 0.0, 1.0, 1.0, (), (), (), [], [], Counts(0, 0, 0, 0, 0, 0))
TIME = "lamella_operator_duration_seconds"


def label_of(kind: str) -> str:
    """Returns the name of the label for a kind of debug information: letters, digits and underscores, and different
    from the exporter's own names."""
    label = re.sub(r"[^a-zA-Z0-9_]", "_", kind)
    return f"info_{label}" if label in (*LABELS, "le") or not label[:1].isalpha() else label


class Prometheus(Exporter):
    """Serves ``http://address:port/metrics``; port 0 takes a free one, which is then in the attribute ``port``.

    With ``registry``, the metrics are added to the page that the program has already, and no page is served.
    """

    def __init__(self, port: int = 9464, address: str = "127.0.0.1", registry: CollectorRegistry | None = None):
        self.port, self.address = port, address
        self.given = registry
        self.server: Any = None
        self.page: Page | None = None

    def start(self, source: Source) -> None:
        labels = list(map(label_of, source.kinds))
        if len(set(labels)) < len(labels):
            raise ValueError(f"export: the attributes {source.kinds} have the same labels {tuple(labels)}")
        self.source, self.labels = source, (*LABELS, *labels)
        page = Page(self)
        registry = CollectorRegistry() if self.given is None else self.given
        try:
            registry.register(page)
        except ValueError as error:
            raise ValueError("export: the registry has Lamella's metrics, of another export, already") from error
        self.page = page
        if self.given is None:
            self.server, self.thread = start_http_server(self.port, self.address, registry)
            self.port = self.server.server_port

    def close(self) -> None:
        if self.given is not None and self.page is not None:
            self.given.unregister(self.page)
        if self.server:
            self.server.shutdown()
            self.server.server_close()

    def forked(self) -> None:
        if self.given is not None and self.page is not None:
            with contextlib.suppress(KeyError):
                self.given.unregister(self.page)
        if self.server:
            self.server.socket.close()


class Page(Collector):
    """The content of the page, read when it is scraped."""

    def __init__(self, exporter: Prometheus):
        self.exporter = exporter

    def describe(self) -> list[Metric]:
        return list(shown(EMPTY, LABELS))  # a registry refuses a second collector of these names

    def collect(self) -> Iterator[Metric]:
        return shown(self.exporter.source.read(), self.exporter.labels)


def shown(batch: Batch, labels: tuple[str, ...]) -> Iterator[Metric]:
    yield times(batch, labels)
    counts = batch.counts
    recorded = CounterMetricFamily("lamella_samples_recorded", "Sampled calls and blocks.")
    recorded.add_metric([], counts.recorded)
    yield recorded
    dropped = CounterMetricFamily("lamella_samples_dropped", "Samples that are in no histogram.", labels=["reason"])
    for reason in ("queue", "series"):
        dropped.add_metric([reason], counts.dropped[reason])
    yield dropped
    sampling = GaugeMetricFamily("lamella_sampling_probability", "Which part is sampled.", labels=["scope"])
    for scope in ("function", "backward_function"):
        sampling.add_metric([scope], batch.sampling)
    sampling.add_metric(["user_scope"], batch.block_sampling)
    yield sampling


def times(batch: Batch, labels: tuple[str, ...]) -> Metric:
    """Returns the histograms. To Prometheus an empty label and a missing one are the same, so such histograms are
    merged."""
    bounds = [*map(repr, batch.bounds), "+Inf"]
    family = HistogramMetricFamily(TIME, "Time of sampled operators and named blocks.", labels=labels)
    merged: dict[tuple[str, ...], tuple[list[int], float]] = {}
    for s in batch.series:
        values = (s.name, s.scope, s.backend, s.dtype, *(v or "" for v in s.values))
        buckets, total = merged.get(values, ([0] * len(bounds), 0.0))
        merged[values] = [a + b for a, b in zip(buckets, s.buckets, strict=True)], total + s.sum
    for values, (buckets, total) in merged.items():
        family.add_metric(list(values), list(zip(bounds, accumulate(buckets), strict=True)), total)
    return family
