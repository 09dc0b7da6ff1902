"""Export to OpenTelemetry collectors: a real gRPC server of its services, and servers that are dead or silent."""

import socket
import threading
import time
from concurrent import futures

import grpc
import lamella
import pytest
from lamella.profiler import exporters
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_pb
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as metrics_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_pb
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as trace_grpc
from prometheus_server import free_port

WAIT = 30


class Receiver(metrics_grpc.MetricsServiceServicer, trace_grpc.TraceServiceServicer):
    """Keeps the requests of both services: the resources of metrics and of spans."""

    def __init__(self):
        self.metrics, self.traces = [], []

    def Export(self, request, context):
        if isinstance(request, metrics_pb.ExportMetricsServiceRequest):
            self.metrics += request.resource_metrics
            return metrics_pb.ExportMetricsServiceResponse()
        self.traces += request.resource_spans
        return trace_pb.ExportTraceServiceResponse()

    def last_metrics(self):
        [scope] = self.metrics[-1].scope_metrics
        assert scope.scope.name == "lamella.profiler"
        return {m.name: m for m in scope.metrics}

    def spans(self):
        return [s for resource in self.traces for scope in resource.scope_spans for s in scope.spans]


def serve(port=0, services="metrics spans"):
    receiver = Receiver()
    server = grpc.server(futures.ThreadPoolExecutor(2), options=[("grpc.so_reuseport", 0)])
    if "metrics" in services:
        metrics_grpc.add_MetricsServiceServicer_to_server(receiver, server)
    if "spans" in services:
        trace_grpc.add_TraceServiceServicer_to_server(receiver, server)
    port = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, receiver, port


@pytest.fixture
def collector():
    server, receiver, port = serve()
    receiver.endpoint = f"http://127.0.0.1:{port}"
    yield receiver
    server.stop(0).wait(WAIT)


def plain(attributes):
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in attributes}


def test_metrics_and_spans(collector):
    options = {"attributes": ["model"], "span_attributes": ["request"], "sampling": 1.0}
    resource = {"service.name": "search"}
    before = time.time_ns()
    with exporters.export("otlp", endpoint=collector.endpoint, resource=resource, timeout=WAIT, **options) as handle:
        with lamella.profiler.debug_info("model", "m"), lamella.profiler.debug_info("request", 17):
            with lamella.profiler.record_function("answer"):
                lamella.ones(2) + 1
        assert handle.flush(), handle.error
        lamella.ones(2)
    assert handle.counts.unsent == handle.counts.failures == 0

    metrics = collector.last_metrics()
    assert plain(collector.metrics[-1].resource.attributes)["service.name"] == "search"
    times = metrics["lamella.operator.duration"]
    assert times.unit == "s" and times.histogram.aggregation_temporality == 2, "cumulative"
    named = [(plain(point.attributes), point) for point in times.histogram.data_points]
    points = {(labels["name"], labels.get("model")): point for labels, point in named}
    assert set(points) == {("answer", "m"), ("aten::ones", "m"), ("aten::add", "m"), ("aten::ones", None)}
    add = points["aten::add", "m"]
    assert plain(add.attributes) == {
        "name": "aten::add",
        "scope": "function",
        "backend": "cpu",
        "dtype": "float32",
        "model": "m",
    }
    assert add.count == sum(add.bucket_counts) == 1 and add.min == add.max == add.sum > 0
    assert len(add.bucket_counts) == len(add.explicit_bounds) + 1 == 23
    assert before - 10**9 < add.start_time_unix_nano < add.time_unix_nano
    [recorded] = metrics["lamella.samples.recorded"].sum.data_points
    assert recorded.as_int == 4
    dropped = metrics["lamella.samples.dropped"].sum.data_points
    assert {plain(p.attributes)["reason"]: p.as_int for p in dropped} == {"queue": 0, "series": 0, "spans": 0}

    spans = collector.spans()
    assert sorted(s.name for s in spans) == ["answer", "aten::add", "aten::ones", "aten::ones"]
    answer, add = ([s for s in spans if s.name == name][0] for name in ("answer", "aten::add"))
    assert add.parent_span_id == answer.span_id and add.trace_id == answer.trace_id and not answer.parent_span_id
    assert answer.start_time_unix_nano <= add.start_time_unix_nano < add.end_time_unix_nano <= answer.end_time_unix_nano
    assert plain(add.attributes)["request"] == "17" and len({s.trace_id for s in spans}) == 2
    assert len({s.span_id for s in spans}) == 4


def test_without_spans(collector):
    with exporters.export("otlp", endpoint=collector.endpoint, spans=False, sampling=1.0, timeout=WAIT):
        lamella.ones(2)
    assert collector.metrics and not collector.traces


def test_a_collector_of_metrics_alone(caplog):
    server, receiver, port = serve(services="metrics")
    try:
        with exporters.export("otlp", endpoint=f"http://127.0.0.1:{port}", sampling=1.0, timeout=WAIT) as handle:
            for n in range(1, 4):
                lamella.ones(2)
                assert handle.flush(), handle.error
                assert handle.counts == (n, 0, 0, n, 0, 0), "the spans are counted as lost, the samples as sent"
                [point] = receiver.last_metrics()["lamella.operator.duration"].histogram.data_points
                assert point.count == n
    finally:
        server.stop(0).wait(WAIT)
    assert [r.getMessage() for r in caplog.records if "no service for spans" in r.getMessage()] == [
        "the collector of OpenTelemetry has no service for spans: no more are sent; pass spans=False"
    ]
    assert not [r for r in caplog.records if "UNIMPLEMENTED" in r.getMessage()]


def test_a_collector_of_spans_alone():
    server, receiver, port = serve(services="spans")
    try:
        with exporters.export("otlp", endpoint=f"http://127.0.0.1:{port}", sampling=1.0, timeout=WAIT) as handle:
            lamella.ones(2)
            assert not handle.flush() and "did not take the metrics" in str(handle.error)
            assert handle.counts == (1, 0, 0, 0, 1, 1) and [s.name for s in receiver.spans()] == ["aten::ones"]
    finally:
        server.stop(0).wait(WAIT)


def test_kinds_named_as_attributes_of_the_exporters(collector):
    kinds = {"attributes": ["name", "model"], "span_attributes": ["thread.id"]}
    with exporters.export("otlp", endpoint=collector.endpoint, sampling=1.0, timeout=WAIT, **kinds):
        for name in "ab":
            with lamella.profiler.debug_info("name", name), lamella.profiler.debug_info("thread.id", "t"):
                lamella.ones(2)
    points = collector.last_metrics()["lamella.operator.duration"].histogram.data_points
    labels = [plain(point.attributes) for point in points]
    assert {(x["name"], x["info.name"]) for x in labels} == {("aten::ones", "a"), ("aten::ones", "b")}
    assert all(plain(s.attributes)["info.thread.id"] == "t" for s in collector.spans())
    assert all(plain(s.attributes)["thread.id"] == threading.get_native_id() for s in collector.spans())
    with pytest.raises(ValueError, match="the same attribute"):
        exporters.export("otlp", endpoint=collector.endpoint, attributes=["name", "info.name"])


def test_a_collector_that_refuses(caplog):
    endpoint = f"http://127.0.0.1:{free_port()}"
    handle = exporters.export("otlp", endpoint=endpoint, sampling=1.0, timeout=1.0)
    lamella.ones(2)
    assert not handle.flush(timeout=WAIT) and "did not take the metrics" in str(handle.error)
    for _ in range(10):
        lamella.ones(2)
    handle.close(timeout=WAIT)
    counts = handle.counts
    assert counts.recorded == counts.unsent == counts.spans == 11 and counts.failures == 2


def test_a_collector_that_comes_back():
    port = free_port()
    with exporters.export("otlp", endpoint=f"http://127.0.0.1:{port}", sampling=1.0, timeout=1.0) as handle:
        lamella.ones(2)
        assert not handle.flush(timeout=WAIT)
        server, receiver, _ = serve(port)
        try:
            lamella.ones(2)
            end = time.monotonic() + WAIT
            while not handle.flush(timeout=WAIT) and time.monotonic() < end:
                pass
            [point] = receiver.last_metrics()["lamella.operator.duration"].histogram.data_points
            assert point.count == 2 and handle.counts.unsent == 0 and handle.counts.dropped["spans"] >= 1
        finally:
            server.stop(0).wait(WAIT)


def test_a_collector_that_is_silent():
    """The collector accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        handle = exporters.export("otlp", endpoint=endpoint, sampling=1.0, queue=256, timeout=1.0)
        lamella.ones(2)
        flushed = []
        waiting = threading.Thread(target=lambda: flushed.append(handle.flush(timeout=0.2)))
        waiting.start()
        waiting.join(WAIT)
        assert flushed == [False]
        for _ in range(2000):
            lamella.ones(2)
        handle.close(timeout=0.2)
        counts = handle.counts
        assert counts.recorded + counts.queue == 2001 and counts.queue > 0 and counts.unsent == counts.recorded
        handle._thread.join(WAIT)
    assert not handle._thread.is_alive() and handle.counts.spans > 0


def test_the_end_of_the_interpreter_with_a_dead_collector(host):
    host.run(
        """
        import lamella
        from lamella.profiler import exporters

        exporters.export("otlp", endpoint="http://127.0.0.1:9", sampling=1.0, timeout=0.5)
        lamella.ones(2)
        """
    )
