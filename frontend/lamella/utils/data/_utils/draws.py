"""Random numbers of samplers and datasets: streams of the default generator that the rest of a program does not touch.

Note [Streams]: a loader draws one seed for an epoch. The sampler draws from a stream of its own, and so does each batch
of a table, by its number, and each batch of a worker's part of a stream of samples. So what a dataset draws by the
default generator depends neither on the number of workers nor on what was fetched ahead, and an epoch that is resumed
goes on with the same numbers. A program that seeds the default generator itself, in ``worker_init_fn`` or in the
dataset, keeps what it chose.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import lamella

MASK = (1 << 64) - 1
SAMPLER, TABLE, OPENING = 1, 2, 3
FIRST_WORKER = 16  # the stream of worker 0's part of a stream of samples


def mixed(seed: int, stream: int, index: int) -> int:
    """The seed of one batch: SplitMix64's finalizer over the three numbers (Steele, Lea and Flood, 2014)."""
    z = (seed + stream * 0xD1B54A32D192ED03 + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def default() -> lamella.Generator:
    """The default generator of the host."""
    return lamella._C._default_generator()


class Draws:
    """The default generator while a dataset is asked: each batch has a stream, until the program seeds it itself."""

    def __init__(self, seed: int, stream: int):
        self.seed = seed
        self.stream = stream
        self.generator = default()
        self.set: int | None = None
        self.kept: Any = None  # where the program's own seed has got to

    def enter(self, index: int) -> None:
        """Begins the batch."""
        if self.kept is not None:
            self.generator.set_state(self.kept)
        else:
            self.set = mixed(self.seed, self.stream, index)
            self.generator.set_state((self.set, 0))

    def leave(self) -> None:
        """Ends the batch."""
        state = self.generator.get_state()
        if self.kept is not None or state[0] != self.set:
            self.kept = state


class Aside:
    """A stream of the default generator for a sampler; calls draw from it, and the program's goes on after them."""

    def __init__(self, seed: int):
        self.generator = default()
        self.state = (mixed(seed, SAMPLER, 0), 0)

    def __call__(self, call: Callable[..., Any], *arguments: Any) -> Any:
        generator = self.generator
        kept = generator.get_state()
        generator.set_state(self.state)
        try:
            return call(*arguments)
        finally:
            self.state = generator.get_state()
            generator.set_state(kept)


def outside() -> dict[str, Any]:
    """The states of Python's and of numpy's global generators, as plain containers."""
    version, numbers, gauss = random.getstate()
    name, keys, *rest = np.random.get_state(legacy=True)
    return {"python": [version, list(numbers), gauss], "numpy": [name, np.asarray(keys).tolist(), *rest]}


def set_outside(state: dict[str, Any]) -> None:
    """Sets Python's and numpy's global generators."""
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, np.array(keys, np.uint32), *rest))
