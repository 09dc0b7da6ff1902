"""What a stranger's file may cost: how much it makes beyond what it holds, and which keys it gives dicts and sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from lamella import _C
from lamella.serialization.errors import Exceeded

KEY_PARTS = 10_000  # of a key: tuples that share parts would otherwise take exponential time
ALIKE = 100  # keys of one hash in a dict: looking one up is as slow as their number
PART = 8  # bytes of a container's part, about
SAFE = (str, bytes, float, bool, type(None))  # their hashes are secret, or few of them collide


def collides(key: Any) -> bool:
    """Whether any number of keys of this kind may have one hash: all integers are hashed modulo 2**61 - 1."""
    return type(key) not in SAFE and not (type(key) is int and -(2**63) <= key < 2**64)


def check_alike(keys: Iterable[Any]) -> None:
    """Raises Exceeded where the keys of a dict, or elements of a set, would make it slow on purpose."""
    counts = Counter(hash(key) for key in keys if collides(key))
    if counts and max(counts.values()) > ALIKE:
        raise Exceeded("hundreds of keys have the same hash")


def check_truth(tensor: Any) -> Any:
    """A tensor of bools as it was read; its bytes become 0 and 1, on which kernels count.

    Memory of other bytes seen as bools is a rare thing that is meant well, as masks of 0 and 255.
    """
    if tensor.device.type != "meta" and tensor.numel():
        shape, strides, offset = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
        if tensor.numel() > tensor._storage_nbytes():  # an expanded one
            shape, strides, offset = (tensor._storage_nbytes(),), (1,), 0
        flat = _C._storage_view(tensor, _C.uint8, shape, strides, offset)
        if _C._packet("aten::max")(flat).item() > 1:
            _C._packet("aten::clamp_")(flat, None, 1)
    return tensor


class Limits:
    """Of one file. Each byte that it holds, once it is read, may make 16 others.

    Memory that is proportional to the file is no harm. What calls make from one remembered part again and again is not
    proportional, and is counted by ``spend``.
    """

    def __init__(self, held: int):
        self.left = 2**20
        self.hold(held)
        self._hashes: Counter[tuple[int, int]] = Counter()

    def hold(self, nbytes: int) -> None:
        """Counts bytes that the file holds."""
        self.left += 16 * nbytes

    def spend(self, cost: int) -> None:
        """Counts bytes that are made, or steps that take as long. Raises Exceeded."""
        self.left -= cost
        if self.left < 0:
            raise Exceeded("it makes more than a file of its size can hold")

    def call(self, arguments: tuple) -> None:
        """Counts what a call makes of its arguments."""
        for each in arguments:
            if isinstance(each, (str, bytes, bytearray)):
                self.spend(len(each))
            elif isinstance(each, (list, tuple, dict, set, frozenset)):
                self.spend(PART * len(each))

    def key(self, key: Any, target: Any) -> Any:
        """The key, if hashing it is short, calls no code, and does not make the target slow."""
        if type(key) is str:
            return key
        self._short(key)
        if collides(key):
            place = id(target), hash(key)
            self._hashes[place] += 1
            if self._hashes[place] > ALIKE:
                raise Exceeded("hundreds of keys have the same hash")
        return key

    def keys(self, keys: Iterable[Any]) -> Iterable[Any]:
        """The keys of a new container, which were checked as ``key`` does it."""
        keys = list(keys)
        for key in keys:
            self._short(key)
        check_alike(keys)
        return keys

    def _short(self, key: Any) -> None:
        waiting, parts = [key], 0
        while waiting:
            part = waiting.pop()
            if isinstance(part, _C.Tensor):
                raise Exceeded("a tensor is no key")
            if isinstance(part, (tuple, frozenset)):
                parts += len(part)
                if parts > KEY_PARTS:
                    raise Exceeded("a key has too many parts")
                waiting += part
            elif type(part) is int:
                self.spend(part.bit_length() >> 6)
        self.spend(parts)
