"""The exporter "otlp": metrics and spans for a collector of OpenTelemetry, over gRPC (`pip install lamella[otel]`).

Note [Fork]  gRPC has handlers of fork that start its threads anew in the child. Where a request or a try to connect is
under way, these threads sometimes crash the child. The child has no use of them, so the handlers are switched off,
unless the program has imported gRPC before or says otherwise: GRPC_ENABLE_FORK_SUPPORT=1.
"""

from __future__ import annotations

import os
import random
from typing import Any

from .batch import Batch, Exporter, Series, Source, Span

os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")  # read when gRPC is imported

try:
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

SCOPE = InstrumentationScope("lamella.profiler")
CUMULATIVE = metrics.AggregationTemporality.CUMULATIVE


class Otlp(Exporter):
    """Sends to ``endpoint``; what is None is as the variables OTEL_EXPORTER_OTLP_… say.

    ``resource`` are attributes of the process, as {"service.name": "search"}, beside those of OTEL_RESOURCE_ATTRIBUTES.
    Each of the two requests of an export takes at most the ``timeout`` of ``export``.
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
        self.process = random.SystemRandom().getrandbits(64) or 1

    def start(self, source: Source) -> None:
        self.metrics = OTLPMetricExporter(**self.options, timeout=source.timeout)
        self.spans = OTLPSpanExporter(**self.options, timeout=source.timeout)

    def export(self, batch: Batch) -> None:
        sent = self.metrics.export(metrics_of(batch, self.resource))
        if sent is not metrics.MetricExportResult.SUCCESS:
            raise RuntimeError("the collector of OpenTelemetry did not take the metrics")
        if not batch.spans:
            return
        spans = [self.span(batch, s) for s in batch.spans]
        if self.spans.export(spans) is not SpanExportResult.SUCCESS:
            raise RuntimeError("the collector of OpenTelemetry did not take the spans")

    def close(self) -> None:
        self.metrics.shutdown()
        self.spans.shutdown()

    def context(self, root: int, own: int) -> SpanContext:
        """Ids that other processes do not have: a part of each is random."""
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


def labels_of(batch: Batch, s: Series | Span) -> dict[str, Any]:
    own = {"name": s.name, "scope": s.scope, "backend": s.backend, "dtype": s.dtype}
    return batch.attributes(s.values) | own


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
