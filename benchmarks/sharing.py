"""Tensors that a process sends to another by a queue, beside torch: the time from the request until all have arrived.
``python sharing.py WORD`` runs the rows with that word in their names."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from autograd import namespaces
from common import Bound, Row, Sample, table

ROUNDS = 9
CASES = {  # each name has the number of tensors and of elements in each
    "a queue: one small tensor": (1, 4),
    "a queue: a list of 1000 small tensors": (1000, 4),
    "a queue: a list of 20 tensors of 1 MB": (20, 250_000),
}


def answer(peer: str, requests: Any, answers: Any) -> None:
    """Runs in the child: answers each request, a pair of numbers, with a list of new tensors."""
    ns = importlib.import_module(peer)
    ns.set_num_threads(1)
    while case := requests.get():
        count, size = case
        answers.put([ns.full((size,), float(i)) for i in range(count)])


class Child:
    def __init__(self, peer: str):
        context = importlib.import_module(f"{peer}.multiprocessing").get_context("spawn")
        self.requests, self.answers = context.Queue(), context.Queue()
        self.process = context.Process(target=answer, args=(peer, self.requests, self.answers), daemon=True)
        self.process.start()

    def ask(self, case: tuple[int, int]) -> float:
        """Returns the nanoseconds from a request until its tensors have arrived."""
        start = time.perf_counter_ns()
        self.requests.put(case)
        found = self.answers.get(timeout=100)
        took = time.perf_counter_ns() - start
        assert [x[-1].item() for x in found] == list(range(case[0]))
        return took

    def end(self) -> None:
        self.requests.put(None)
        self.process.join(10)


def main(word: str = "") -> list[Row]:
    children = {peer: Child(peer) for peer in namespaces()}
    made = list(rows(children, word))
    for child in children.values():
        child.end()
    print(table("Tensors between processes", made))
    return made


def rows(children: dict[str, Child], word: str) -> Iterator[Row]:
    for name, case in CASES.items():
        if word not in name:
            continue
        times: dict[str, list[float]] = {peer: [] for peer in children}
        order = list(children)
        for n in range(ROUNDS + 1):
            for peer in order:
                took = children[peer].ask(case)
                if n:
                    times[peer].append(took)
            order.append(order.pop(0))
        yield Row(name, {peer: Sample(t) for peer, t in times.items()}, [Bound("torch", 1.0)])


if __name__ == "__main__":
    sys.exit(not all(r.holds for r in main(*sys.argv[1:])))
