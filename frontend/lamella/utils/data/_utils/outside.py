"""The global generators of Python and numpy, from which a dataset may draw besides Lamella's own."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

NUMPY_BYTES = 625 * 4  # of MT19937: 624 words, and the position in them


def states() -> dict[str, Any]:
    """Returns the states of both generators, as plain containers."""
    version, numbers, gauss = random.getstate()
    name, keys, *rest = np.random.get_state(legacy=True)
    return {"python": [version, list(numbers), gauss], "numpy": [name, np.asarray(keys).tolist(), *rest]}


def set_states(state: dict[str, Any]) -> None:
    """Sets the states of both generators."""
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, np.array(keys, np.uint32), *rest))


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Restores the states of both generators after the block."""
    python, numpy = random.getstate(), _numpy_state()
    try:
        yield
    finally:
        try:
            random.setstate(python)
        finally:
            _set_numpy_state(numpy)


# numpy takes 35 µs to return its state, and as long to set it, word by word; so its memory is copied at once. Beside
# the words, the state has the second of two normal numbers that were drawn together: if it is unused, the next draw
# returns it and leaves the words unchanged.


@functools.lru_cache(maxsize=1)
def _memory(generator: Any) -> int:
    """Returns the address of the words; 0 if the memory is not laid out as expected."""
    try:
        words = np.frombuffer(ctypes.string_at(generator.ctypes.state_address, NUMPY_BYTES), np.uint32)
        state = generator.state["state"]
        same = np.array_equal(words[:-1], state["key"]) and words[-1] == state["pos"]
        return generator.ctypes.state_address if same else 0
    except (AttributeError, KeyError):
        return 0


def _generator() -> Any:
    return np.random.mtrand._rand._bit_generator  # type: ignore[attr-defined]


def _words(generator: Any, address: int) -> bytes:
    with generator.lock:
        return ctypes.string_at(address, NUMPY_BYTES)


def _numpy_state() -> Any:
    generator = _generator()
    address = _memory(generator)
    if not address:
        return np.random.get_state(legacy=False)
    words = _words(generator, address)
    left = np.random.standard_normal()
    return generator, words, left if _words(generator, address) == words else None


def _set_numpy_state(state: Any) -> None:
    if isinstance(state, dict):
        np.random.set_state(state)
        return
    generator, words, left = state
    np.random.seed(0)  # so that there is no unused normal number
    with generator.lock:
        ctypes.memmove(generator.ctypes.state_address, words, NUMPY_BYTES)
    if left is not None:
        np.random.set_state({**np.random.get_state(legacy=False), "has_gauss": 1, "gauss": left})
