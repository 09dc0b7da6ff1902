"""Loaders beside torch's: whole epochs in batches of 64, in nanoseconds a sample.
``python data.py WORD`` runs the rows with that word in their names."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from autograd import namespaces
from common import Bound, Row, Sample, same, table

ROUNDS = 7
BATCH = 64


class Images:
    """A dataset of bytes, which numpy decodes to a float image of 3×224², and labels; the same for each peer."""

    def __init__(self, size: int):
        draw = np.random.default_rng(0)
        self.size = size
        self.stored = [draw.integers(0, 256, 3 * 224 * 224, np.uint8).tobytes() for _ in range(64)]

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        raw = np.frombuffer(self.stored[index % 64], np.uint8).reshape(3, 224, 224)
        return raw.astype(np.float32) / 255, index % 10


def table_in_memory(ns: ModuleType) -> Any:
    rows = np.random.default_rng(0).standard_normal((20_000, 32)).astype(np.float32)
    return ns.utils.data.TensorDataset(ns.from_numpy(rows), ns.from_numpy(np.arange(len(rows))))


CASES: list[tuple[str, Callable[[ModuleType], Any], int, float]] = [
    ("loader, tensors in memory, 0 workers", table_in_memory, 0, 1 / 2),
    ("loader, tensors in memory, 2 workers", table_in_memory, 2, 1 / 8),
    ("loader, 3×224² images decoded by numpy, 2 workers", lambda ns: Images(1024), 2, 1 / 1.5),
]


def epoch(loader: Any, samples: int) -> float:
    """Runs one epoch; returns the nanoseconds a sample."""
    start = time.perf_counter()
    for _ in loader:
        pass
    return (time.perf_counter() - start) * 1e9 / samples


def row(name: str, make: Callable[[ModuleType], Any], workers: int, most: float) -> Row:
    """Times loaders whose workers persist, so that an epoch does not include their start. The peers take turns by
    epochs; the first epoch of each is not counted."""
    loaders, sizes = {}, {}
    for peer, ns in namespaces().items():
        dataset = make(ns)
        plain = ns.utils.data.DataLoader(dataset, BATCH, num_workers=workers)
        first = next(iter(plain))
        sizes[peer] = len(dataset)
        options = {"shuffle": True, "num_workers": workers, "persistent_workers": workers > 0}
        loaders[peer] = (ns.utils.data.DataLoader(dataset, BATCH, **options), first)
    for part in range(2):
        same({peer: np.asarray(first[part]) for peer, (_, first) in loaders.items()})
    for peer, (loader, _) in loaders.items():
        seen = np.concatenate([np.asarray(labels) for _, labels in loader])
        assert len(seen) == sizes[peer]
    times: dict[str, list[float]] = {peer: [] for peer in loaders}
    order = list(loaders)
    for _ in range(ROUNDS):
        for peer in order:
            times[peer].append(epoch(loaders[peer][0], sizes[peer]))
        order.append(order.pop(0))
    return Row(name, {peer: Sample(t) for peer, t in times.items()}, [Bound("torch", most)])


def rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    for name, make, workers, most in CASES:
        if wanted(name):
            yield row(name, make, workers, most)


def main(word: str = "") -> list[Row]:
    made = list(rows(lambda name: word in name))
    print(table("Loaders, nanoseconds a sample", made))
    for r in made:
        rates = ", ".join(f"{peer} {1e9 / s.median:,.0f}" for peer, s in r.samples.items())
        print(f"{r.name}: samples a second: {rates}; {1 / r.ratios['torch']:.1f} ×")
    return made


if __name__ == "__main__":
    sys.exit(not all(r.holds for r in main(*sys.argv[1:])))
