"""Limits for untrusted files: how much they may allocate beyond their size, and which keys they may give to dicts and
sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from lamella import _C
from lamella.serialization.errors import Exceeded

KEY_PARTS = 10_000  # the most parts of one key: tuples that share parts could otherwise take exponential time
ALIKE = 100  # the most keys of equal hash in a dict: a look-up takes time proportional to their number
PART = 8  # approximate bytes of one element of a container
SAFE = (str, bytes, float, bool, type(None))  # types whose hashes depend on a secret, or seldom collide


def collides(key: Any) -> bool:
    """Returns whether many keys such as this one may have equal hashes. Integers are hashed modulo 2**61 - 1, so that
    few of those of 64 bits have equal hashes."""
    return type(key) not in SAFE and not (type(key) is int and -(2**63) <= key < 2**64)


def check_alike(keys: Iterable[Any]) -> None:
    """Raises Exceeded if more than ALIKE keys of a dict, or elements of a set, have equal hashes: it would be slow."""
    counts = Counter(hash(key) for key in keys if collides(key))
    if counts and max(counts.values()) > ALIKE:
        raise Exceeded(f"more than {ALIKE} keys have the same hash")


def check_truth(tensor: Any) -> Any:
    """Changes the bytes of a tensor of bools that was read to 0 and 1, since kernels rely on that; returns the tensor.

    Other bytes are rare, and no sign of damage: a mask of 0 and 255 may have been viewed as bools.
    """
    if tensor.device.type != "meta" and tensor.numel():
        shape, strides, offset = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
        if tensor.numel() > tensor._storage_nbytes():  # an expanded tensor
            shape, strides, offset = (tensor._storage_nbytes(),), (1,), 0
        flat = _C._storage_view(tensor, _C.uint8, shape, strides, offset)
        if _C._packet("aten::max")(flat).item() > 1:
            _C._packet("aten::clamp_")(flat, None, 1)
    return tensor


class Limits:
    """The limits of one file: it may cost 1 MiB of memory, and 16 bytes for each of its bytes.

    Memory proportional to the file's size is harmless. Memory from repeated use of one remembered part is not
    proportional, and is counted by ``spend``.
    """

    def __init__(self, held: int):
        self.left = 2**20
        self.hold(held)
        self._hashes: Counter[tuple[int, int]] = Counter()

    def hold(self, nbytes: int) -> None:
        """Counts bytes that the file contains."""
        self.left += 16 * nbytes

    def spend(self, cost: int) -> None:
        """Counts bytes that are allocated, or steps that take as long. Raises Exceeded."""
        self.left -= cost
        if self.left < 0:
            raise Exceeded("it makes more than a file of its size can hold")

    def call(self, arguments: tuple) -> None:
        """Counts the memory of the copies that a call may make of its arguments."""
        for each in arguments:
            if isinstance(each, (str, bytes, bytearray)):
                self.spend(len(each))
            elif isinstance(each, (list, tuple, dict, set, frozenset)):
                self.spend(PART * len(each))

    def key(self, key: Any, target: Any) -> Any:
        """Returns the key. Raises Exceeded if it would take long to hash, or would make look-ups in ``target`` slow."""
        if type(key) is str:
            return key
        self._short(key)
        if collides(key):
            place = id(target), hash(key)
            self._hashes[place] += 1
            if self._hashes[place] > ALIKE:
                raise Exceeded(f"more than {ALIKE} keys have the same hash")
        return key

    def keys(self, keys: Iterable[Any]) -> Iterable[Any]:
        """Returns the keys of a new container, checked as by ``key``."""
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
                raise Exceeded("a tensor cannot be a key")
            if isinstance(part, (tuple, frozenset)):
                parts += len(part)
                if parts > KEY_PARTS:
                    raise Exceeded("a key has too many parts")
                waiting += part
            elif type(part) is int:
                self.spend(part.bit_length() >> 6)
        self.spend(parts)
