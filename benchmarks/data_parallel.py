"""A training step of DistributedDataParallel in two processes on one machine, beside torch over gloo. All processes
stay alive; the peers take turns. Rank 0 also steps alone, for what the other process costs."""

from __future__ import annotations

import importlib
import itertools
import multiprocessing
import sys
import tempfile
import time
from typing import Any

from autograd import namespaces
from common import Bound, Row, Sample, table

ROUNDS = 11
STEPS = 5
BACKENDS = {"lamella": "mpi", "torch": "gloo"}
SIZES = (1024, 2048, 2048, 10)  # 25 MB of parameters
BATCH = 64


def take_part(peer: str, rank: int, store: str, pipe: Any) -> None:
    """Runs in each process: makes steps with the other process or alone, and answers with nanoseconds a step; first
    with the sum of the first layer's weights after a few steps."""
    ns = importlib.import_module(peer)
    dist = importlib.import_module(f"{peer}.distributed")
    ns.set_num_threads(1)
    dist.init_process_group(BACKENDS[peer], init_method=f"file://{store}", rank=rank, world_size=2)

    def made() -> Any:
        layers: list[Any] = []
        for i, (wide, high) in enumerate(itertools.pairwise(SIZES)):
            layers += [ns.nn.ReLU()] * (i > 0) + [ns.nn.Linear(wide, high)]
            with ns.no_grad():  # equal numbers in both peers
                n = layers[-1].weight.numel()
                layers[-1].weight.copy_((ns.arange(n).view(high, wide) % 61 - 30).float() / 30 / wide**0.5)
                layers[-1].bias.zero_()
        return ns.nn.Sequential(*layers)

    alone, together = made(), ns.nn.parallel.DistributedDataParallel(made())
    x = (ns.arange(BATCH * SIZES[0]).view(BATCH, -1) % 17 - 8 + rank).float()
    y = ns.arange(BATCH) % SIZES[-1]
    kinds = {}
    for name, net in (("alone", alone), ("together", together)):
        optimizer = ns.optim.SGD(net.parameters(), lr=1e-3)

        def step(net: Any = net, optimizer: Any = optimizer) -> None:
            optimizer.zero_grad()
            ns.nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()

        kinds[name] = step
    for step in kinds.values():
        for _ in range(3):
            step()
    weights = together.module[0].weight
    pipe.send(float(weights.detach().double().abs().sum()))
    while kind := pipe.recv():
        start = time.perf_counter_ns()
        for _ in range(STEPS):
            kinds[kind]()
        pipe.send((time.perf_counter_ns() - start) / STEPS)
    dist.destroy_process_group()


def main() -> list[Row]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        peers: dict[str, list[Any]] = {}
        processes, sums = [], []
        for peer in namespaces():
            for rank in range(2):
                here, there = context.Pipe()
                args = (peer, rank, f"{folder}/{peer}", there)
                processes.append(context.Process(target=take_part, args=args, daemon=True))
                processes[-1].start()
                peers.setdefault(peer, []).append(here)
            sums += [pipe.recv() for pipe in peers[peer]]
        assert max(sums) - min(sums) < 1e-5 * max(sums), f"the peers' weights differ after three steps: {sums}"
        times: dict[str, dict[str, list[float]]] = {kind: {p: [] for p in peers} for kind in ("alone", "together")}
        order = list(peers)
        for n in range(ROUNDS + 1):
            for peer in order:
                for kind, samples in times.items():
                    ranks = peers[peer] if kind == "together" else peers[peer][:1]
                    for pipe in ranks:
                        pipe.send(kind)
                    took = max(pipe.recv() for pipe in ranks)
                    if n:
                        samples[peer].append(took)
            order.append(order.pop(0))
        for pipes in peers.values():
            for pipe in pipes:
                pipe.send(None)
        for process in processes:
            process.join(10)
    excess = {p: [a - b for a, b in zip(times["together"][p], times["alone"][p], strict=True)] for p in peers}
    rows = [
        Row("a step alone", {p: Sample(t) for p, t in times["alone"].items()}, []),
        Row("a step of two", {p: Sample(t) for p, t in times["together"].items()}, [Bound("torch", 0.65)]),
        Row("what the second adds", {p: Sample(t) for p, t in excess.items()}, [Bound("torch", 0.4)]),
    ]
    print(table("DistributedDataParallel, an MLP of 25 MB, batches of 64", rows))
    return rows


if __name__ == "__main__":
    sys.exit(not all(r.holds for r in main()))
