"""What observing costs: what it adds to an addition of one element, beside torch's own; reading a profile; a step of
training while a sample of its operators is exported. ``python observability.py WORD`` runs the rows with that word in
their names."""

from __future__ import annotations

import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import models
import numpy as np
from common import Bound, Limit, Row, Run, Sample, measure, table

ROUNDS = 21
SAMPLING = 0.01
INTERVAL = 1.0  # seconds between two exports: ten times as often as by default


def training_step() -> Callable[[], Any]:
    """A step of a perceptron with Adam: some 60 operators and steps of backward in a fraction of a millisecond."""
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


def exporting(run: Run, to: Callable[[], tuple[str, dict[str, Any]]]) -> Run:
    """The same while an export runs. That begins before the clock and ends after it; its exports fall into the time."""
    from lamella.profiler import exporters

    def timed(n: int) -> float:
        name, options = to()
        with exporters.export(name, sampling=SAMPLING, interval=INTERVAL, attributes=["model"], **options):
            return run(n)

    return timed


def export_rows(word: str) -> list[Row]:
    name = f"a step of training (MLP 784-256-10, batch 64, Adam), exported at {SAMPLING:.0%}"
    if word not in name:
        return []
    step = training_step()
    for _ in range(20):
        step()
    # The processor's time of all threads: the export's own counts, and other programs do not.
    plain = timeit.Timer("step()", timer=time.process_time, globals={"step": step}).timeit
    with tempfile.TemporaryDirectory() as folder:
        lines = exporting(plain, lambda: ("jsonl", {"path": Path(folder, "times")}))
        page = exporting(plain, lambda: ("prometheus", {"port": 0}))
        samples = measure({"exporting": lines, "alone": plain, "page": page}, rounds=ROUNDS, seconds=1.1)
    made = []
    for ours, to in (("exporting", "lines of JSON"), ("page", "a page for Prometheus")):
        pair = {ours: samples[ours], "alone": samples["alone"]}
        made.append(Row(f"{name}: {to}", pair, [Bound("alone", 1.01)], ours=ours))
    return made


# ---- what a call costs more ------------------------------------------------------------------------------------------

CALLS = 20000


def added(
    frameworks: dict[str, tuple[Any, Callable[[], AbstractContextManager]]], calls: int = CALLS
) -> dict[str, Sample]:
    """Nanoseconds that a call of ``add`` takes longer within the context: a difference a round. Peers take turns."""
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
    """A global observer in Python, of a part of the calls."""
    from lamella import profiler

    callback = profiler.RecordFunctionCallback(lambda record: None).sampling_prob(probability).scopes({"function"})
    handle = profiler.add_global_callback(callback)
    try:
        yield
    finally:
        profiler.remove_callback(handle)


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
    """Nanoseconds an event of ``key_averages`` over a profile of 20,000 additions, read for the first time each."""
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


def long_trace_rows(word: str) -> list[Row | Limit]:
    """Ten million events: the memory that they take, and the time to write a file of them; measured on a tenth."""
    name = "a profile of 10 million events"
    if word not in name:
        return []
    import lamella

    one, sizes, times = lamella.ones(1), [], []
    for _ in range(7):
        before = resident()
        with lamella.profiler.profile() as prof, tempfile.TemporaryDirectory() as folder:
            timeit.Timer("add(one, one)", globals={"add": lamella.add, "one": one}).timeit(1_000_000)
            prof.stop()
            sizes.append((resident() - before) * 10 / 1e9)
            start = time.perf_counter()
            prof.export_chrome_trace(Path(folder, "trace.json"))
            times.append((time.perf_counter() - start) * 10)
        del prof
    return [
        Limit(f"{name}, from one million: memory", Sample(sizes), 0.6, "GB"),
        Limit(f"{name}, from one million: export", Sample(times), 15, "s"),
    ]


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def main(word: str = "") -> list[Row | Limit]:
    made = [*call_rows(word), *long_trace_rows(word), *export_rows(word)]
    print(table("Observability", made))
    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
