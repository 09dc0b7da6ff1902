"""Random numbers of samplers and datasets: streams that the rest of a program does not touch.

Note [Streams]: a loader draws one seed for an epoch. The sampler draws from a stream of its own, and so does each batch
of a table, by its number, and each batch of a worker's part of a stream of samples. So what a dataset draws depends
neither on the number of workers nor on what was fetched ahead, and an epoch that is resumed goes on with the same
numbers. A program that seeds the default generator itself, in ``worker_init_fn`` or in the dataset, keeps what it
chose.

While a thread fetches, it draws from the stream's generator. A dataset that is a generator function may begin a block
of its own, ``fork_rng``, in one batch and end it in a later one: the block counts in each batch between them, and the
program has its own generator between the batches. The global generators of Python and numpy are the process's: workers
seed them for each batch. The main thread of a program without workers does so, too, and gives them back after the
batch. Other threads leave them alone, since they cannot borrow them without disturbing the rest.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import lamella
from lamella import _C
from lamella.utils.data._utils import outside

MASK = (1 << 64) - 1
SAMPLER, TABLE = 1, 2
FIRST_WORKER = 16  # the stream of worker 0's part of a stream of samples


def mixed(seed: int, stream: int, index: int) -> int:
    """The seed of one batch: SplitMix64's finalizer over the three numbers (Steele, Lea and Flood, 2014)."""
    z = (seed + stream * 0xD1B54A32D192ED03 + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


@dataclass
class Seeded:
    """Which generators the program has seeded itself: those go on from batch to batch."""

    lamella: bool = False
    python: bool = False
    numpy: bool = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """A block of the program's own; what it does to the generators counts as its choice."""
        seed, before = lamella.initial_seed(), outside.states()
        yield
        now = outside.states()
        self.lamella = lamella.initial_seed() != seed
        self.python, self.numpy = (now[name] != before[name] for name in ("python", "numpy"))


class Draws:
    """The generators while a dataset is asked: each batch has a stream, until the program seeds a generator itself."""

    def __init__(self, seed: int, stream: int, generator: lamella.Generator, seeded: Seeded):
        self.seed = seed
        self.stream = stream
        self.generator = generator
        self.turns = _C._DrawingInTurns(generator)
        self.seeded = seeded

    @contextlib.contextmanager
    def batch(self, index: int, everywhere: bool = True) -> Iterator[None]:
        """A block that draws the numbers of the batch, ``everywhere`` also by the generators of Python and numpy."""
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


class Aside:
    """A stream of the default generator for a sampler; calls draw from it, and the program's goes on after them."""

    def __init__(self, seed: int):
        self.generator = lamella.Generator().manual_seed(mixed(seed, SAMPLER, 0))
        self.turns = _C._DrawingInTurns(self.generator)

    def __call__(self, call: Callable[..., Any], *arguments: Any) -> Any:
        with self.turns:
            return call(*arguments)
