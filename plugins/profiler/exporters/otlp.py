"""The exporter "otlp": metrics and spans for a collector of OpenTelemetry, over gRPC (`pip install lamella[otel]`).

Note [Fork]  gRPC's fork handlers start its threads again in the child. If a request or a connection attempt is in
  progress, these threads sometimes crash the child. The child does not use them, so the handlers are switched off,
  unless the program has imported gRPC before or sets GRPC_ENABLE_FORK_SUPPORT=1.
"""

from __future__ import annotations

import logging
import os
import random
import threading
from typing import Any

from .batch import Batch, Exporter, Series, Source, Span

os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")  # read when gRPC is imported

try:
    from grpc import StatusCode  # type: ignore[import-untyped]
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import export as metrics
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExportResult
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
except ImportError as error:
    raise ImportError("the exporter 'otlp' needs packages of OpenTelemetry: pip install lamella[otel]") from error

log = logging.getLogger("lamella.profiler.exporters")
grpc_log = logging.getLogger("opentelemetry.exporter.otlp.proto.grpc.exporter")
OWN = ("name", "scope", "backend", "dtype", "thread.id")
SCOPE = InstrumentationScope("lamella.profiler")
CUMULATIVE = metrics.AggregationTemporality.CUMULATIVE


class Otlp(Exporter):
    """Sends to ``endpoint``; an option that is None is taken from the variables OTEL_EXPORTER_OTLP_….

    ``resource`` has attributes of the process, such as {"service.name": "search"}, which are added to those of
    OTEL_RESOURCE_ATTRIBUTES. An export sends two requests, each of which takes at most the ``timeout`` of ``export``:
    metrics, and then spans, even if the collector refused the metrics. If a collector has no service for spans, no more
    spans are sent to it.
    """

    wants_spans = True

    def __init__(
        self,
        endpoint: str | None = None,
        insecure: bool | None = None,
        headers: dict[str, str] | None = None,
        resource: dict[str, str] | None = None,
    ):
        self.resource = Resource.create(resource or {})
        self.options: dict[str, Any] = {"endpoint": endpoint, "insecure": insecure, "headers": headers}
        self.takes_spans = self.spans_go = True
        self.process = random.SystemRandom().getrandbits(64) or 1

    def start(self, source: Source) -> None:
        labels = list(map(label_of, source.kinds + source.span_kinds))
        if len(set(labels)) < len(labels):
            raise ValueError(f"export: two of the kinds of debug information have the same attribute, of {labels}")
        self.metrics = OTLPMetricExporter(**self.options, timeout=source.timeout)
        self.spans = OTLPSpanExporter(**self.options, timeout=source.timeout)

    def export(self, batch: Batch) -> int:
        sent = self.metrics.export(metrics_of(batch, self.resource))
        lost = 0 if self.send_spans(batch) else len(batch.spans)
        if sent is not metrics.MetricExportResult.SUCCESS:
            raise NotTaken("the collector of OpenTelemetry did not take the metrics", lost)
        return lost

    def send_spans(self, batch: Batch) -> bool:
        if not batch.spans or not self.takes_spans:
            return not batch.spans
        answer = Answer()
        grpc_log.addFilter(answer)
        try:
            sent = self.spans.export([self.span(batch, s) for s in batch.spans]) is SpanExportResult.SUCCESS
        finally:
            grpc_log.removeFilter(answer)
        if answer.has_no_service:
            self.takes_spans = False
            log.warning("the collector of OpenTelemetry has no service for spans: no more are sent; pass spans=False")
        elif not sent and self.spans_go:
            log.warning("the collector of OpenTelemetry did not take %s spans, which are lost", len(batch.spans))
        self.spans_go = sent
        return sent

    def close(self) -> None:
        self.metrics.shutdown()
        self.spans.shutdown()

    def context(self, root: int, own: int) -> SpanContext:
        """Returns ids that are unique among processes, since a part of each is random."""
        span = (self.process ^ own * 0x9E3779B97F4A7C15) % 2**64 or 1
        return SpanContext(self.process << 64 | root, span, False, TraceFlags(TraceFlags.SAMPLED))

    def span(self, batch: Batch, s: Span) -> ReadableSpan:
        return ReadableSpan(
            s.name,
            self.context(s.root, s.id),
            self.context(s.root, s.parent) if s.parent else None,
            self.resource,
            {**labels_of(batch, s), "thread.id": s.thread},
            kind=SpanKind.INTERNAL,
            instrumentation_scope=SCOPE,
            start_time=s.begin,
            end_time=s.begin + s.duration,
        )


class NotTaken(RuntimeError):
    """The collector refused the metrics, and did not get ``lost_spans`` of the batch's spans."""

    def __init__(self, message: str, lost_spans: int):
        super().__init__(message)
        self.lost_spans = lost_spans


class Answer(logging.Filter):
    """Notes whether a request of this thread was answered UNIMPLEMENTED, which the exporter of OpenTelemetry only
    logs."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.get_ident()
        self.has_no_service = False

    def filter(self, record: logging.LogRecord) -> bool:
        codes = record.args if isinstance(record.args, tuple) else ()
        if record.thread != self.thread or StatusCode.UNIMPLEMENTED not in codes:
            return True
        self.has_no_service = True
        return False  # the export logs the failure itself, once


def label_of(kind: str) -> str:
    """Returns the name of the attribute for a kind of debug information, different from the exporter's own names."""
    return f"info.{kind}" if kind in OWN else kind


def labels_of(batch: Batch, s: Series | Span) -> dict[str, Any]:
    own = {"name": s.name, "scope": s.scope, "backend": s.backend, "dtype": s.dtype}
    return {label_of(kind): value for kind, value in batch.attributes(s.values).items()} | own


def metrics_of(batch: Batch, resource: Resource) -> metrics.MetricsData:
    since, now = int(batch.since * 1e9), int(batch.time * 1e9)

    def point(s: Series) -> metrics.HistogramDataPoint:
        numbers = (s.count, s.sum, s.buckets, batch.bounds, s.min, s.max)
        return metrics.HistogramDataPoint(labels_of(batch, s), since, now, *numbers)

    def total(value: int, **labels: str) -> metrics.NumberDataPoint:
        return metrics.NumberDataPoint(labels, since, now, value)

    def counter(name: str, text: str, points: list[metrics.NumberDataPoint]) -> metrics.Metric:
        return metrics.Metric(name, text, "{sample}", metrics.Sum(points, CUMULATIVE, True))

    dropped = batch.counts.dropped
    found = [
        counter("lamella.samples.recorded", "Sampled calls and blocks.", [total(batch.counts.recorded)]),
        counter("lamella.samples.dropped", "Samples that were lost.", [total(dropped[r], reason=r) for r in dropped]),
    ]
    if batch.series:
        histogram = metrics.Histogram([point(s) for s in batch.series], CUMULATIVE)
        text = "Time of sampled operators, steps of backward and named blocks."
        found.append(metrics.Metric("lamella.operator.duration", text, "s", histogram))
    scope = metrics.ScopeMetrics(SCOPE, found, "")
    return metrics.MetricsData([metrics.ResourceMetrics(resource, [scope], "")])
