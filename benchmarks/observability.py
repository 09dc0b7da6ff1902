"""The cost of observing: the time that it adds to an addition of one element, beside torch's; reading a profile; a step
of training while a sample of its operators is exported. ``python observability.py WORD`` runs the rows with that word
in their names."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import models
import native
import numpy as np
from common import Bound, Limit, Row, Run, Sample, measure, table

ROUNDS = 21
SAMPLING = 0.01
LONG_ROUNDS = 3
INTERVAL = 1.0  # seconds between two exports: ten times as often as by default


def training_step() -> Callable[[], Any]:
    """Makes a training step of a perceptron with Adam, which has about 60 operators and steps of backward."""
    import lamella
    from lamella import nn

    lamella.manual_seed(0)
    module = models.mlp(lamella)
    optimizer = lamella.optim.Adam(module.parameters(), lr=1e-3)
    images = np.random.default_rng(0).standard_normal((64, 784)).astype(np.float32)
    x, y = lamella.from_numpy(images), lamella.arange(64) % 10

    def step() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(module(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


# A program that reads a page once an interval, and prints a line each time.
SCRAPER = """
import sys, time, urllib.request

while True:
    print(len(urllib.request.urlopen(sys.argv[1], timeout=30).read()), flush=True)
    time.sleep(float(sys.argv[2]))
"""

# A program that is a collector of OpenTelemetry. It prints its port, and then a line for each request with metrics.
RECEIVER = """
import sys, time
from concurrent import futures
import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as mpb, metrics_service_pb2_grpc as mg
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as tpb, trace_service_pb2_grpc as tg

class Metrics(mg.MetricsServiceServicer):
    def Export(self, request, context):
        print("metrics", flush=True)
        return mpb.ExportMetricsServiceResponse()

class Spans(tg.TraceServiceServicer):
    def Export(self, request, context):
        return tpb.ExportTraceServiceResponse()

server = grpc.server(futures.ThreadPoolExecutor(2))
mg.add_MetricsServiceServicer_to_server(Metrics(), server)
tg.add_TraceServiceServicer_to_server(Spans(), server)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
time.sleep(86400)
"""


@contextmanager
def child(program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Runs a program of Python in another process, which is not measured, and ends it with the block."""
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


def lines(running: subprocess.Popen[str]) -> int:
    """Ends a child; returns the number of lines that it has printed."""
    running.kill()
    assert running.stdout
    return len(running.stdout.read().splitlines())


@contextmanager
def exported(name: str, scraped: list[int] | None = None, **options: Any) -> Iterator[None]:
    """Runs an export within the block, with debug information. With ``scraped``, a process reads the export's page once
    an interval, and the number of reads is appended to the list."""
    from lamella.profiler import debug_info, exporters

    more = {"sampling": SAMPLING, "interval": INTERVAL, "attributes": ["model"]}
    with exporters.export(name, **more, **options) as handle, debug_info("model", "perceptron"):
        if scraped is None:
            yield
        else:
            with child(SCRAPER, f"http://127.0.0.1:{handle.exporter.port}/metrics", str(INTERVAL)) as scraper:
                yield
                scraped.append(lines(scraper))
    assert handle.counts.failures == 0, handle.error


def exporting(run: Run, to: Callable[[], AbstractContextManager[None]]) -> Run:
    """Makes ``run`` run within an export, whose start and end are not timed, but whose work in between is."""

    def timed(n: int) -> float:
        with to():
            return run(n)

    return timed


def export_rows(word: str) -> list[Row]:
    name = f"a step of training (MLP 784-256-10, batch 64, Adam), exported at {SAMPLING:.0%}"
    if word not in name:
        return []
    import lamella

    step = training_step()
    for _ in range(20):
        step()
    # The processor's time of all threads, which includes the export's thread, but no other programs.
    plain = timeit.Timer("step()", timer=time.process_time, globals={"step": step}).timeit
    peers = {"alone": plain}
    scraped: list[int] = []
    threads = lamella.get_num_threads()
    lamella.set_num_threads(1)  # so that the processor's time is about the clock's
    with ExitStack() as stack:
        path = Path(stack.enter_context(tempfile.TemporaryDirectory()), "times")
        peers["lines of JSON"] = exporting(plain, lambda: exported("jsonl", path=path))
        peers["a page for Prometheus"] = exporting(plain, lambda: exported("prometheus", port=0, scraped=scraped))
        receiver = None
        if find_spec("opentelemetry") and find_spec("opentelemetry.exporter.otlp.proto.grpc"):
            receiver = stack.enter_context(child(RECEIVER))
            assert receiver.stdout
            options = {"endpoint": f"http://127.0.0.1:{receiver.stdout.readline().strip()}", "timeout": 30}
            peers["a collector of OpenTelemetry"] = exporting(plain, lambda: exported("otlp", **options))
        else:
            print(
                "to a collector of OpenTelemetry: not measured, since lamella[otel] is not installed", file=sys.stderr
            )
        samples = measure(peers, rounds=ROUNDS, seconds=1.1 * INTERVAL)
        assert all(scraped[-ROUNDS:]), "the page was not read within the time"
        assert receiver is None or lines(receiver) >= 2 * ROUNDS, "the collector got no metrics within the time"
    lamella.set_num_threads(threads)
    alone = samples.pop("alone")
    return [
        Row(f"{name}: {to}", {to: sample, "alone": alone}, [Bound("alone", 1.01)], ours=to)
        for to, sample in samples.items()
    ]


# ---- the time added to a call ----------------------------------------------------------------------------------------

CALLS = 20000


def added(
    frameworks: dict[str, tuple[Any, Callable[[], AbstractContextManager]]], calls: int = CALLS
) -> dict[str, Sample]:
    """Returns the nanoseconds that a context adds to a call of ``add``, a difference for each round."""
    rounds: dict[str, list[float]] = {name: [] for name in frameworks}
    timers = {}
    for name, (framework, _) in frameworks.items():
        one = framework.ones(1)
        assert framework.add(one, one).item() == 2
        timers[name] = timeit.Timer("add(one, one)", globals={"add": framework.add, "one": one}).timeit
    order = list(frameworks)
    for _ in range(ROUNDS):
        for name in order:
            alone = timers[name](calls)
            with frameworks[name][1]():
                timers[name](calls // 10)
                within = timers[name](calls)
            rounds[name].append((within - alone) / calls * 1e9)
        order.append(order.pop(0))
    return {name: Sample(r) for name, r in rounds.items()}


@contextmanager
def observed(probability: float) -> Iterator[None]:
    """Adds a global observer in Python, which observes a call with a probability."""
    from lamella import profiler

    callback = profiler.RecordFunctionCallback(lambda record: None).sampling_prob(probability).scopes({"function"})
    handle = profiler.add_global_callback(callback)
    try:
        yield
    finally:
        profiler.remove_callback(handle)


@contextmanager
def observed_in_cpp() -> Iterator[None]:
    """Adds a global observer in C++, which observes every call without its inputs."""
    library = cpp_observer()
    library.begin()
    try:
        yield
    finally:
        heard = library.end()
    assert heard > CALLS  # it has also observed the calls that warm up


@cache
def cpp_observer() -> ctypes.CDLL:
    import lamella

    path = native.compile_cpp("observer.cpp", "libobserver.so", "-fPIC", "-shared")
    lamella._C._load_plugin(str(path))
    library = ctypes.CDLL(str(path))
    library.end.restype = ctypes.c_uint64
    return library


def call_rows(word: str) -> list[Row | Limit]:
    import lamella
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    made: list[Row | Limit] = []
    for options, most in (
        ({}, 0.12),
        ({"record_shapes": True}, 0.18),
        ({"record_shapes": True, "with_stack": True}, 0.3),
    ):
        name = "added by a profile" + "".join(f", {option}" for option in options)
        if word in name:
            peers = {
                "lamella": (lamella, lambda options=options: lamella.profiler.profile(**options)),
                "torch": (torch, lambda options=options: torch.profiler.profile(
                    activities=[torch.profiler.ProfilerActivity.CPU], **options)),
            }  # fmt: skip
            made.append(Row(name, added(peers), [Bound("torch", most)]))
    name = "added by an observer in Python, 1 % of the calls"
    if word in name:
        made.append(Limit(name, added({"lamella": (lamella, lambda: observed(0.01))}, 100000)["lamella"], 10))
    name = "added by an observer in C++, every call"
    if word in name:
        made.append(Limit(name, added({"lamella": (lamella, observed_in_cpp)}, 100000)["lamella"], 30))
    name = "added by a layer in Python"
    if word in name:
        library = lamella.library.Library("aten", "IMPL")
        layer = lamella.library.register_layer(
            "observability", lambda call, *args, **kwargs: call(*args, **kwargs), at="profiler"
        )
        peers = {"lamella": (lamella, layer.on), "torch": (torch, Mode)}
        made.append(Row(name, added(peers), [Bound("torch", 0.12)]))
        layer.remove()
        library.close()
    name = 'with record_function("x") without an observer'
    if word in name:
        blocks = {"lamella": lamella.profiler.record_function, "torch": torch.profiler.record_function}
        runs = {n: timeit.Timer("with block('x'): pass", globals={"block": b}).timeit for n, b in blocks.items()}
        made.append(Row(name, measure(runs), [Bound("torch", 0.03)]))
    name = "sums of a profile, an event"
    if word in name:
        made.append(Row(name, reading(), [Bound("torch", 0.1)]))
    return made


def reading() -> dict[str, Sample]:
    """Returns the nanoseconds that ``key_averages`` takes for each event of a new profile of 20,000 additions."""
    import lamella
    import torch

    rounds: dict[str, list[float]] = {"lamella": [], "torch": []}
    for _ in range(7):
        for name, framework in (("lamella", lamella), ("torch", torch)):
            one = framework.ones(1)
            with framework.profiler.profile(activities=[framework.profiler.ProfilerActivity.CPU]) as prof:
                for _ in range(20000):
                    framework.add(one, one)
            start = time.perf_counter()
            sums = prof.key_averages()
            rounds[name].append((time.perf_counter() - start) / 20000 * 1e9)
            assert next(row.count for row in sums if row.key == "aten::add") == 20000
    return {name: Sample(r) for name, r in rounds.items()}


LONG = """
import json, os, pathlib, sys, tempfile, time, timeit
import lamella

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

events = int(sys.argv[1])
one = lamella.ones(1)
lamella.add(one, one)
before = resident()
with lamella.profiler.profile(activities=["cpu"]) as prof:
    timeit.Timer("add(one, one)", globals={"add": lamella.add, "one": one}).timeit(events)
held = resident() - before
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "trace.json")
    start = time.perf_counter()
    prof.export_chrome_trace(path)
    took = time.perf_counter() - start
    with open(path, "rb") as file:
        written = sum(1 for line in file if line.startswith(b'{"ph": "X"'))
assert written == events and prof.dropped() == 0, (written, prof.dropped())
print(json.dumps([held / 1e9, took]))
"""


def long_trace_rows(word: str) -> list[Row | Limit]:
    """Measures a profile of ten million events, in a process of its own: its memory, and the time to write its file."""
    name = "a profile of 10 million events"
    if word not in name:
        return []
    sizes, times = [], []
    for _ in range(LONG_ROUNDS):
        out = subprocess.run([sys.executable, "-c", LONG, "10000000"], capture_output=True, text=True, check=True)
        size, seconds = json.loads(out.stdout)
        sizes.append(size)
        times.append(seconds)
    return [
        Limit(f"{name}: memory", Sample(sizes), 0.6, "GB"),
        Limit(f"{name}: export", Sample(times), 15, "s"),
    ]


def main(word: str = "") -> list[Row | Limit]:
    made = [*call_rows(word), *long_trace_rows(word), *export_rows(word)]
    print(table("Observability", made))
    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
