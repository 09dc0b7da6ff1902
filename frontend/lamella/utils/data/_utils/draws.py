"""Random numbers of samplers and datasets: streams of their own, which the rest of a program does not change.

Note [Streams]  A loader draws one seed for an epoch. The sampler draws from a stream of its own, and so does each batch
  of a table, by its number, and each batch of a worker's part of a stream of samples. So the numbers that a table
  draws depend neither on the number of workers nor on the number of batches fetched ahead, and a resumed epoch
  continues with the same numbers. If a program seeds the default generator itself, in ``worker_init_fn`` or in the
  dataset, that seed is kept.

While a thread fetches, it draws from the stream's generator. A dataset that is a generator function may begin a
``fork_rng`` block in one batch and end it in a later one: the block is in effect in each batch between, and the program
has its own generator between the batches. The global generators of Python and numpy belong to the process: workers seed
them for each batch. The main thread of a program without workers does so as well, and restores them after the batch.
Neither does so if the dataset consists of Lamella's own that draw nothing, such as TensorDataset, and default_collate
collates it. Other threads do not seed them, since the rest of the program draws from them meanwhile.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import lamella
import lamella.utils.data._utils.outside as outside
from lamella import _C

MASK = (1 << 64) - 1
SAMPLER, TABLE = 1, 2
FIRST_WORKER = 16  # the stream of worker 0's part of a stream of samples


def mixed(seed: int, stream: int, index: int) -> int:
    """Returns the seed of one batch: SplitMix64's finalizer over the three numbers (Steele, Lea and Flood, 2014)."""
    z = (seed + stream * 0xD1B54A32D192ED03 + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


@dataclass
class Seeded:
    """Says which generators the program has seeded itself: these continue from batch to batch."""

    lamella: bool = False
    python: bool = False
    numpy: bool = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Runs the program's own code within the block. Lamella's generator counts as seeded by the program if its seed
        has changed afterwards, those of Python and numpy if their states have."""
        seed, before = lamella.initial_seed(), outside.states()
        yield
        now = outside.states()
        self.lamella = lamella.initial_seed() != seed
        self.python, self.numpy = (now[name] != before[name] for name in ("python", "numpy"))


class Draws:
    """Seeds the generators for each batch of a dataset, except those that the program has seeded."""

    def __init__(self, seed: int, stream: int, generator: lamella.Generator, seeded: Seeded):
        self.seed = seed
        self.stream = stream
        self.generator = generator
        self.turns = _C._DrawingInTurns(generator)
        self.seeded = seeded

    @contextlib.contextmanager
    def batch(self, index: int, everywhere: bool = True) -> Iterator[None]:
        """Seeds the generators for a batch within the block; with ``everywhere`` also those of Python and numpy."""
        seed, seeded = mixed(self.seed, self.stream, index), self.seeded
        if not seeded.lamella:
            self.generator.set_state((seed, 0))
        if everywhere and not seeded.python:
            random.seed(seed)
        if everywhere and not seeded.numpy:
            np.random.seed(seed & 0xFFFFFFFF)
        with self.turns:
            try:
                yield
            finally:
                seeded.lamella = seeded.lamella or self.generator.initial_seed() != seed


class SamplerStream:
    """A stream of the default generator for a sampler: calls draw from it, and the program's stream continues after
    them."""

    def __init__(self, seed: int):
        self.generator = lamella.Generator().manual_seed(mixed(seed, SAMPLER, 0))
        self.turns = _C._DrawingInTurns(self.generator)

    def __call__(self, call: Callable[..., Any], *arguments: Any) -> Any:
        with self.turns:
            return call(*arguments)
