"""A small service whose threads answer requests with two models, and whose operators are measured; see README.md.

python service.py --seconds 60 --port 9464
"""

import argparse
import random
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import lamella
from lamella import nn
from lamella.profiler import debug_info, exporters, record_function

MODELS = {
    "ranker": nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)),
    "tagger": nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 32), nn.Softmax(-1)),
}


def answer(request: int, model: str, rows: int) -> float:
    """Answers one request. Its debug information is also attached to work that other threads do for it."""
    with debug_info("model", model), debug_info("request", request), record_function("request"), lamella.no_grad():
        with record_function("read"):
            x = lamella.randn(rows, 64)
        return MODELS[model](x).sum().item()


def serve(seconds: float, threads: int) -> int:
    """Answers requests at random times, for some seconds or until one fails; returns their number."""
    end, requests = time.monotonic() + seconds, 0
    room = threading.Semaphore(4 * threads)  # the most requests that run or wait
    failed: list[Future] = []

    def ended(request: Future) -> None:
        if request.exception():
            failed.append(request)
        room.release()

    with ThreadPoolExecutor(threads, thread_name_prefix="serve") as pool:
        while time.monotonic() < end and not failed:
            room.acquire()
            model = random.choices(list(MODELS), weights=(3, 1))[0]
            done = pool.submit(answer, requests, model, random.choice((1, 8, 64)))
            done.add_done_callback(ended)
            requests += 1
            time.sleep(random.expovariate(500))
    for request in failed:
        request.result()  # raises the request's error
    return requests


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=float, default=3600)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--sampling", type=float, default=0.01, help="the part of operators that is measured")
    options.add_argument("--port", type=int, default=9464, help="of the page /metrics; 0 takes a free one")
    options.add_argument("--otlp", metavar="URL", help="of a collector of OpenTelemetry, which gets spans, too")
    given = options.parse_args()
    lamella.set_num_threads(1)  # since requests run in parallel already
    common = {"sampling": given.sampling, "attributes": ["model"]}
    with exporters.export("prometheus", port=given.port, **common) as page:
        print(f"metrics: http://127.0.0.1:{page.exporter.port}/metrics", flush=True)
        if given.otlp:  # this export stays open until the program ends
            resource = {"service.name": "fleet"}
            exporters.export("otlp", endpoint=given.otlp, resource=resource, span_attributes=["request"], **common)
        requests = serve(given.seconds, given.threads)
        counts = page.counts
    print(f"{requests} requests, {counts.recorded} samples, {sum(counts.dropped.values())} dropped")


if __name__ == "__main__":
    main()
