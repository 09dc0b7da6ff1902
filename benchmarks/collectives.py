"""Collectives of two processes on one machine, beside torch over gloo. All processes stay alive; the peers take turns.
``python collectives.py WORD`` runs the rows with that word in their names."""

from __future__ import annotations

import importlib
import multiprocessing
import sys
import tempfile
import time
from typing import Any

from autograd import namespaces
from common import Bound, Row, Sample, table

ROUNDS = 11
BACKENDS = {"lamella": "mpi", "torch": "gloo"}
CASES = {  # the number of float32 elements, how often a round repeats it, the bound
    "all_reduce 8 B": (2, 300, 0.05),
    "all_reduce 1 KB": (256, 300, 0.05),
    "all_reduce 64 KB": (1 << 14, 100, 0.2),
    "all_reduce 4 MB": (1 << 20, 30, 0.2),
    "all_reduce 64 MB": (1 << 24, 2, 0.8),
    "all_reduce 8 B, by MPI": (2, 300, 0.05),
    "all_reduce 4 MB, by MPI": (1 << 20, 30, 0.2),
    "all_reduce 64 MB, by MPI": (1 << 24, 2, 0.8),
    "all_reduce 4 MB, in a window": (1 << 20, 30, 0.06),
    "all_reduce 64 MB, in a window": (1 << 24, 2, 0.25),
    "all_gather_into_tensor 64 KB": (1 << 14, 100, 0.2),
    "broadcast 4 MB": (1 << 20, 30, 0.5),
    "barrier": (0, 300, 0.05),
}


def take_part(peer: str, rank: int, store: str, pipe: Any) -> None:
    """Runs in each process: carries out the cases that come, and answers with nanoseconds a call and a sum."""
    ns = importlib.import_module(peer)
    dist = importlib.import_module(f"{peer}.distributed")
    ns.set_num_threads(1)
    dist.init_process_group(BACKENDS[peer], init_method=f"file://{store}", rank=rank, world_size=2)
    # Another group of the peer's, whose data does not move by shared memory.
    by_mpi = dist.new_group(shared_memory=False) if peer == "lamella" else dist.group.WORLD
    while case := pipe.recv():
        name, size, times = case
        name, _, way = name.partition(", ")
        name = name.partition(" ")[0]
        group = by_mpi if way == "by MPI" else dist.group.WORLD
        values = (ns.arange(size) % 1024).float()
        x, out = values * (rank + 1), ns.zeros(2 * size)
        if way == "in a window" and peer == "lamella":
            x = dist.symmetric_empty(size).copy_(x)
        calls = {
            "all_reduce": lambda x=x, group=group: dist.all_reduce(x, group=group),
            "all_gather_into_tensor": lambda x=x, out=out: dist.all_gather_into_tensor(out, x),
            "broadcast": lambda x=x: dist.broadcast(x, 1),
            "barrier": dist.barrier,
        }
        call = calls[name]
        call()
        total = float(x.double().sum() + out.double().sum())
        if name == "all_reduce":
            x.copy_(values * (1 - 2 * rank))  # the sum is 0, so that repetitions change nothing
        dist.barrier()
        start = time.perf_counter_ns()
        for _ in range(times):
            call()
        took = (time.perf_counter_ns() - start) / times
        pipe.send((took, total + float(x.double().sum()) if size else 0.0))
    dist.destroy_process_group()


class Pair:
    def __init__(self, peer: str, folder: str):
        context = multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for rank in range(2):
            here, there = context.Pipe()
            args = (peer, rank, f"{folder}/{peer}", there)
            self.processes.append(context.Process(target=take_part, args=args, daemon=True))
            self.processes[-1].start()
            self.pipes.append(here)

    def ask(self, case: tuple[str, int, int]) -> tuple[float, float]:
        """Returns the nanoseconds of a call, and what the tensors of rank 0 add up to."""
        for pipe in self.pipes:
            pipe.send(case)
        answers = [pipe.recv() for pipe in self.pipes]
        return max(took for took, _ in answers), answers[0][1]

    def end(self) -> None:
        for pipe in self.pipes:
            pipe.send(None)
        for process in self.processes:
            process.join(10)


def main(word: str = "") -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        pairs = {peer: Pair(peer, folder) for peer in namespaces()}
        made = []
        for name, (size, times, bound) in CASES.items():
            if word not in name:
                continue
            samples: dict[str, list[float]] = {peer: [] for peer in pairs}
            order = list(pairs)
            for n in range(ROUNDS + 1):
                sums = set()
                for peer in order:
                    took, total = pairs[peer].ask((name, size, times))
                    sums.add(total)
                    if n:
                        samples[peer].append(took)
                assert len(sums) == 1, f"{name}: the peers differ: {sums}"
                order.append(order.pop(0))
            made.append(Row(name, {peer: Sample(t) for peer, t in samples.items()}, [Bound("torch", bound)]))
        for pair in pairs.values():
            pair.end()
    print(table("Collectives of two processes", made))
    return made


if __name__ == "__main__":
    sys.exit(not all(r.holds for r in main(*sys.argv[1:])))
