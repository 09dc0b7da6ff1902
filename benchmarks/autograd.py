"""Gradients beside torch's: recording a call, chains of small operators, networks forward and backward, the memory that
these take, and freeing a deep graph. ``python autograd.py WORD`` runs the rows with that word in their names."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import common
import numpy as np
from common import Bound, Row, Run, measure, same, table, timer
from micrograd import Value
from networks import NETWORKS, Training
from talk_loop import data, with_autograd

ROUNDS, LINKS, DEEP = 7, 50, 10**6
NET_BOUNDS = dict(zip(NETWORKS, (0.6, 0.38, 0.3, 0.8), strict=True))
MEMORY = list(NETWORKS)[1:]


def namespaces() -> dict[str, ModuleType]:
    import lamella
    import torch

    return {"lamella": lamella, "torch": torch}


def taken(samples: Run, calls: int) -> Run:
    """Divides a run's time by the number of calls in it."""
    return lambda n: samples(n) / calls


# ---- one call -----------------------------------------------------------------------------------------------------

# Each row has a name, a statement and a bound.
CALLS = [
    ("add(a, b)", "ns.add(a, b)", 0.10),
    ("a + b", "a + b", 0.10),
    ("with no_grad()", "with ns.no_grad(): pass", 0.1),
    ("a Python Function, forward and backward", "a.grad = None; exp(a).backward()", 0.2),
]


def function_of(ns: ModuleType) -> Callable[..., Any]:
    class Exp(ns.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * y

    return Exp.apply


def call_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    names = {}
    for peer, ns in namespaces().items():
        a, b = (ns.tensor([v], requires_grad=True) for v in (0.5, 3.0))
        names[peer] = {"ns": ns, "a": a, "b": b, "exp": function_of(ns)}
    for name, statement, most in CALLS:
        if wanted(name):
            for of in names.values():
                exec(statement, dict(of))
            if ".backward()" in statement:
                same({peer: of["a"].grad for peer, of in names.items()})
            elif not statement.startswith("with"):
                same({peer: eval(statement, dict(of)).detach() for peer, of in names.items()})
            runs = {peer: timer(statement, of) for peer, of in names.items()}
            yield Row(name, measure(runs), [Bound("torch", most)])


# ---- chains of scalars ----------------------------------------------------------------------------------------------


def products(y: Any, w: Any, b: Any, relu: Any) -> Any:
    for _ in range(LINKS):
        y = y * w + b
    return y


def mixed(y: Any, w: Any, b: Any, relu: Any) -> Any:
    for _ in range(LINKS):
        y = relu((y - b).tanh())
    return y


def chain_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    """Measures nanoseconds for each operator in chains of scalars: tensors without dimensions, or micrograd's Value."""
    from native import load_stranger

    peers = namespaces()
    start = (0.5, 0.9, -0.1)
    operands: dict[str, tuple[Any, ...]] = {
        peer: tuple(ns.tensor(v, requires_grad=True) for v in start) for peer, ns in peers.items()
    }
    operands["micrograd"] = tuple(map(Value, start))
    relus = {"lamella": load_stranger().relu, "torch": peers["torch"].relu, "micrograd": Value.relu}

    def differentiated(chain: Callable[..., Any], peer: str) -> Callable[[], Any]:
        leaves, relu, empty = operands[peer], relus[peer], 0.0 if peer == "micrograd" else None

        def call() -> None:
            for leaf in leaves:
                leaf.grad = empty
            chain(*leaves, relu).backward()

        return call

    def forward(peer: str, mode: str) -> Callable[[], Any]:
        leaves, relu, manager = operands[peer], relus[peer], getattr(peers[peer], mode)

        def call() -> Any:
            with manager():
                return products(*leaves, relu)

        return call

    def row(name: str, operators: int, calls: dict[str, Callable[[], Any]]) -> Row:
        runs = {peer: taken(timer("call()", {"call": call}), operators) for peer, call in calls.items()}
        return Row(name, measure(runs, seconds=common.ROUND_SECONDS / operators), [Bound("torch", 0.08)])

    both = "forward and backward, an operator"
    for name, chain, operators in [
        (f"chain of products and sums, {both}", products, 2 * LINKS),
        (f"chain of sub, tanh and a stranger's relu, {both}", mixed, 3 * LINKS),
    ]:
        if wanted(name):
            calls = {peer: differentiated(chain, peer) for peer in operands}
            for call in calls.values():
                call()
            same({peer: [float(leaf.grad or 0) for leaf in leaves] for peer, leaves in operands.items()})
            yield row(name, operators, calls)
    for mode in ("no_grad", "inference_mode"):
        if wanted(name := f"chain of products and sums under {mode}, an operator"):
            calls = {peer: forward(peer, mode) for peer in peers}
            same({peer: call().item() for peer, call in calls.items()})
            yield row(name, 2 * LINKS, calls)


# ---- pieces ---------------------------------------------------------------------------------------------------------

# Ways to cut a matrix of 2000×2000 into pieces, each of which gets a gradient.
PIECES: list[tuple[str, Callable[[Any], Any], float]] = [
    ("unbind(0) of 2000×2000, forward and backward", lambda x: x.unbind(0), 1.0),
    ("split into 100 of 2000×2000, forward and backward", lambda x: x.split(20), 1.0),
    ("one row of unbind(0) of 2000×2000, forward and backward", lambda x: x.unbind(0)[7:8], 1.0),
]


def pieces_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    values = np.random.default_rng(0).standard_normal((2000, 2000), dtype=np.float32)
    for name, cut, most in PIECES:
        if not wanted(name):
            continue

        def job(ns: ModuleType, cut: Callable[[Any], Any] = cut) -> Callable[[], Any]:
            x = ns.tensor(values, requires_grad=True)
            grads = [p.detach() for p in cut(ns.tensor(values[::-1].copy()))]

            def step() -> Any:
                x.grad = None
                ns.autograd.backward(list(cut(x)), grads)
                return x.grad

            return step

        calls = {peer: job(ns) for peer, ns in namespaces().items()}
        same({peer: call() for peer, call in calls.items()})
        runs = {peer: timer("call()", {"call": call}) for peer, call in calls.items()}
        yield Row(name, measure(runs, rounds=ROUNDS), [Bound("torch", most)])


# ---- networks -------------------------------------------------------------------------------------------------------


def loop_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    if not wanted(name := "the talk's loop with autograd, 500 iterations"):
        return
    arrays, peers = data(), namespaces()
    results = {peer: with_autograd(ns, arrays) for peer, ns in peers.items()}
    for i in range(2):
        same({peer: r[i].detach() for peer, r in results.items()})
    run = "with_autograd(ns, arrays)"
    runs = {p: timer(run, {"with_autograd": with_autograd, "ns": ns, "arrays": arrays}) for p, ns in peers.items()}
    yield Row(name, measure(runs, rounds=ROUNDS, seconds=0.1), [Bound("torch", 0.75)])


def network_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    for name, most in NET_BOUNDS.items():
        if wanted(name):
            jobs = {peer: Training(ns, NETWORKS[name]) for peer, ns in namespaces().items()}
            same({peer: job.step() for peer, job in jobs.items()})
            gradients = {peer: job.gradients() for peer, job in jobs.items()}
            for parameter, wanted_gradient in gradients["torch"].items():
                scale = max(1e-3, float(np.abs(wanted_gradient).max()))  # errors grow along a deep network
                same({peer: g[parameter] / scale for peer, g in gradients.items()})
            runs = {peer: timer("step()", {"step": job.step}) for peer, job in jobs.items()}
            yield Row(name, measure(runs, rounds=ROUNDS, seconds=0.1), [Bound("torch", most)])


# ---- memory ---------------------------------------------------------------------------------------------------------


def memory_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    """Measures the peak of resident memory in three steps, including the parameters' gradients, minus the memory after
    one step on a single image, whose memory was freed. Each number is of a process that imports only one peer."""
    for network in MEMORY:
        if wanted(name := f"memory of {network}"):
            peaks: dict[str, list[float]] = {"lamella": [], "torch": []}
            for _ in range(3):
                for peer, found in peaks.items():
                    command = [sys.executable, __file__, "--peak", network, peer]
                    found.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            samples = {peer: common.Sample(found) for peer, found in peaks.items()}
            yield Row(name, samples, [Bound("torch", 1.0)], unit="MiB")


def peak(network: str, peer: str) -> float:
    ns = __import__(peer)
    ns.set_num_threads(1)
    job = Training(ns, NETWORKS[network])
    job.step(1)
    for p in job.parameters.values():
        p.grad = None
    if peer == "lamella":
        ns._C._trim("cpu", 0)
    ctypes.CDLL(None).malloc_trim(0)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    for _ in range(3):
        job.step()
    return status("VmHWM") - before


def status(name: str) -> float:
    """Returns the number of MiB in a line of this process's status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


class HeapInfo(ctypes.Structure):
    _fields_ = tuple(
        (n, ctypes.c_size_t)
        for n in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    )


def live_bytes() -> int:
    """Returns the number of bytes that the C library's allocator has allocated."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = HeapInfo
    info = ask()
    return info.uordblks + info.hblkhd


def freeing_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    """Measures the release of a chain of 10⁶ products, until the allocator has its memory back."""
    if not wanted(name := "freeing a graph of 10⁶ nodes"):
        return

    def freeing(ns: ModuleType) -> Run:
        def once() -> float:
            w = ns.tensor(1.0, requires_grad=True)
            before, y = live_bytes(), w
            for _ in range(DEEP):
                y = y * w
            grown = live_bytes() - before
            start = time.perf_counter()
            del y
            took = time.perf_counter() - start
            while live_bytes() - before > grown / 100:  # a peer may free memory after `del` returns
                took = time.perf_counter() - start
            return took

        return lambda n: sum(once() for _ in range(n))

    gc.disable()
    runs = {peer: freeing(ns) for peer, ns in namespaces().items()}
    yield Row(name, measure(runs, rounds=ROUNDS, seconds=0.0), [Bound("torch", 0.3)])
    gc.enable()


def main(words: list[str] | None = None) -> list[Row]:
    for ns in namespaces().values():
        ns.set_num_threads(1)
    every: list[Row] = []
    for title, make in [
        ("One call, one element, float32, inputs that require gradients, one thread", call_rows),
        ("Chains of scalars: nanoseconds an operator", chain_rows),
        ("Lists of pieces", pieces_rows),
        ("The talk's two-layer network, 64×1000×100×10, gradients by backward", loop_rows),
        ("Networks, forward and backward, one thread", network_rows),
        ("Resident memory of three steps, at its highest", memory_rows),
        ("Freeing", freeing_rows),
    ]:
        rows = list(make(lambda name: all(word in name for word in words or [])))
        if rows:
            print(table(title, rows), flush=True)
        every += rows
    return every


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        print(peak(*sys.argv[2:]))
    else:
        sys.exit(not all(row.holds for row in main(sys.argv[1:])))
