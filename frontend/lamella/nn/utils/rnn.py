"""Sequences of different lengths: padded to one tensor, or packed without the padding.

Packed rows are sorted by step: the first elements of all sequences, beginning with the longest sequence, then the
second elements of those that have one, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import lamella
from lamella import _C
from lamella._C import Tensor
from lamella._devices import host

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


def _op(name: str) -> Any:
    return _C._packet(f"aten::{name}")


class _Fields(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Fields):
    """Packed sequences: the rows, the number of rows of each step, and the permutations that sort by length and undo
    that.

    :func:`pack_sequence` and :func:`pack_padded_sequence` make it. Recurrent modules take and return it.

    Raises:
        ValueError: ``batch_sizes`` is not in CPU memory

    >>> rnn = lamella.nn.utils.rnn
    >>> rnn.pack_sequence([lamella.tensor([1, 2, 3]), lamella.tensor([4, 5])]).data
    tensor([1, 4, 2, 5, 3])
    """

    def __new__(cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, list | tuple) and len(data) == 2):
                raise AssertionError(
                    "PackedSequence: argument 'data': expected a pair (data, batch_sizes) without the argument "
                    f"'batch_sizes', got {type(data).__name__}"
                )
            data, batch_sizes = data
        elif batch_sizes.device.type != host().type:
            raise ValueError(
                "PackedSequence: argument 'batch_sizes': expected a tensor on the host, as pack_sequence makes it, "
                f"got one on {batch_sizes.device}"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    @property
    def is_cuda(self) -> bool:
        """Returns whether the rows are on a device named "cuda"."""
        return bool(self.data.is_cuda)

    def _with(self, change: Any, move: Any) -> PackedSequence:
        moved = (None if t is None else move(t) for t in (self.sorted_indices, self.unsorted_indices))
        return type(self)(change(self.data), self.batch_sizes, *moved)

    def pin_memory(self) -> PackedSequence:
        """Returns the same sequences with data in pinned memory."""
        return self._with(lambda t: t.pin_memory(), lambda t: t.pin_memory())

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Returns the sequences with data moved or converted; itself if nothing changes. ``batch_sizes`` stays on the
        CPU."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return self._with(lambda _: data, lambda t: t.to(data.device))

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Returns the same sequences in CPU memory."""
        return self.to(host(), *args, **kwargs)

    def double(self) -> PackedSequence:
        """Returns the same sequences in float64."""
        return self.to(dtype=lamella.float64)

    def float(self) -> PackedSequence:
        """Returns the same sequences in float32."""
        return self.to(dtype=lamella.float32)

    def half(self) -> PackedSequence:
        """Returns the same sequences in float16."""
        return self.to(dtype=lamella.float16)

    def long(self) -> PackedSequence:
        """Returns the same sequences in int64."""
        return self.to(dtype=lamella.int64)

    def int(self) -> PackedSequence:
        """Returns the same sequences in int32."""
        return self.to(dtype=lamella.int32)

    def short(self) -> PackedSequence:
        """Returns the same sequences in int16."""
        return self.to(dtype=lamella.int16)

    def char(self) -> PackedSequence:
        """Returns the same sequences in int8."""
        return self.to(dtype=lamella.int8)

    def byte(self) -> PackedSequence:
        """Returns the same sequences in uint8."""
        return self.to(dtype=lamella.uint8)

    def is_pinned(self) -> bool:
        """Returns whether the data is in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation: Any) -> Any:
    """Returns the inverse of a permutation; ``None`` for ``None``.

    >>> lamella.nn.utils.rnn.invert_permutation(lamella.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    places = _op("arange")(permutation.numel(), device=permutation.device)
    return _op("empty_like")(permutation).scatter_(0, permutation, places)


def _there(lengths: Tensor, steps: int) -> Tensor:
    """Returns which elements of a padded tensor (steps, batch) are not padding."""
    return _op("arange")(steps, device=lengths.device).unsqueeze(1) < lengths


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs padded sequences, (steps, batch, ...) or, with ``batch_first``, (batch, steps, ...).

    Args:
        lengths: the length of each sequence, in CPU memory
        enforce_sorted: lengths must not increase; otherwise they are sorted, and the result stores the original order

    Raises:
        RuntimeError: lengths are missing, not positive, more than the steps or, with ``enforce_sorted``, not sorted

    >>> rnn = lamella.nn.utils.rnn
    >>> rnn.pack_padded_sequence(lamella.tensor([[1, 2], [3, 4], [5, 0]]), [3, 2])[:2]
    (tensor([1, 2, 3, 4, 5]), tensor([2, 2, 1]))
    """
    lengths = lamella.as_tensor(lengths, dtype=lamella.int64)
    if lengths.device.type != host().type:
        raise RuntimeError(
            f"pack_padded_sequence: argument 'lengths': expected a tensor on the host, got one on {lengths.device}"
        )
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    if input.numel() == 0:
        raise RuntimeError("pack_padded_sequence: argument 'input': cannot pack empty tensors")
    if input.ndim < 2:
        raise IndexError(
            f"pack_padded_sequence: argument 'input': expected two dimensions at least, got shape {tuple(input.shape)}"
        )
    rows = input.transpose(0, 1) if batch_first else input
    steps, batch = rows.shape[:2]
    if lengths.shape != (batch,):
        raise RuntimeError(
            f"pack_padded_sequence: argument 'lengths': expected one for each of {batch} sequences, got shape "
            f"{tuple(lengths.shape)} (batch_size={batch})"
        )
    numbers = lengths.tolist()
    if min(numbers) <= 0:
        raise RuntimeError(
            f"pack_padded_sequence: argument 'lengths': length of all samples has to be greater than 0, got {numbers}"
        )
    if max(numbers) > steps:
        raise RuntimeError(
            f"pack_padded_sequence: argument 'lengths': expected numbers from 1 to the {steps} steps, got {numbers}"
        )
    if sorted(numbers, reverse=True) != numbers:
        raise RuntimeError(
            "pack_padded_sequence: argument 'lengths': must be sorted in decreasing order when `enforce_sorted` is "
            f"True, got {numbers}; pass enforce_sorted=False"
        )
    there = _there(lengths, numbers[0])
    places = there.flatten().nonzero().flatten().to(input.device)
    data = rows.reshape(steps * batch, *rows.shape[2:]).index_select(0, places)
    return PackedSequence(data, there.sum(1), order, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Returns the padded sequences, in their order before they were packed, and their lengths.

    Raises:
        ValueError: ``total_length`` is less than the longest sequence

    >>> rnn = lamella.nn.utils.rnn
    >>> rnn.pad_packed_sequence(rnn.pack_sequence([lamella.tensor([1, 2]), lamella.tensor([3])]), batch_first=True)
    (tensor([[1, 2],
            [3, 0]]), tensor([2, 1]))
    """
    data, sizes = sequence.data, sequence.batch_sizes
    steps, batch = sizes.shape[0], int(sizes[0])
    lengths = (sizes.unsqueeze(1) > _op("arange")(batch)).sum(0)
    length = steps if total_length is None else total_length
    if length < steps:
        raise ValueError(
            f"pad_packed_sequence: argument 'total_length': expected at least the longest sequence's {steps}, "
            f"got {length}"
        )
    count = data.shape[0]
    places = _there(lengths, length).flatten().nonzero().flatten()
    source = _op("full")((length * batch,), count)  # the index of the row of padding, which is appended below
    source[places] = _op("arange")(count)
    padding = data.new_full((1, *data.shape[1:]), padding_value)
    padded = _op("cat")([data, padding], 0).index_select(0, source.to(data.device))
    padded = padded.view(length, batch, *data.shape[1:])
    if batch_first:
        padded = padded.transpose(0, 1)
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths.index_select(0, order.cpu())


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Pads sequences (length, ...) to one tensor (longest, batch, ...), or (batch, longest, ...) with ``batch_first``.

    Raises:
        RuntimeError: there are no sequences, they differ after the first dimension, or ``padding_side`` is unknown

    >>> lamella.nn.utils.rnn.pad_sequence([lamella.tensor([1, 2]), lamella.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: argument 'sequences': expected an iterable of tensors, got {type(sequences).__name__}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"pad_sequence: argument 'padding_side': expected 'left' or 'right', got {padding_side!r}")
    all_of_them = list(sequences)
    if not all_of_them:
        raise RuntimeError("pad_sequence: argument 'sequences': received an empty list of sequences")
    if any(t.ndim == 0 for t in all_of_them):
        raise RuntimeError("pad_sequence: argument 'sequences': one has no dimension to pad")
    rest = all_of_them[0].shape[1:]
    others = [tuple(t.shape) for t in all_of_them if t.shape[1:] != rest]
    if others:
        raise RuntimeError(
            "pad_sequence: argument 'sequences': their shapes differ after the first dimension, got "
            f"{tuple(all_of_them[0].shape)} and {others[0]}"
        )
    longest = max(t.shape[0] for t in all_of_them)

    def padded(t: Any) -> Any:
        missing = longest - t.shape[0]
        if not missing:
            return t
        more = t.new_full((missing, *rest), padding_value)
        return _op("cat")([more, t] if padding_side == "left" else [t, more], 0)

    return _op("stack")([padded(t) for t in all_of_them], 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Returns the sequences without their padding.

    >>> rnn = lamella.nn.utils.rnn
    >>> rnn.unpad_sequence(lamella.tensor([[1, 2], [3, 0]]), lamella.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    numbers = lengths.tolist() if isinstance(lengths, Tensor) else [int(n) for n in lengths]
    return [row[:n] for row, n in zip(rows, numbers, strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences (length, ...); with ``enforce_sorted`` lengths must not increase.

    >>> rnn = lamella.nn.utils.rnn
    >>> rnn.pack_sequence([lamella.tensor([1]), lamella.tensor([2, 3])], enforce_sorted=False).data
    tensor([2, 1, 3])
    """
    lengths = [t.shape[0] for t in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Returns the sequences that were packed.

    >>> rnn = lamella.nn.utils.rnn
    >>> rnn.unpack_sequence(rnn.pack_sequence([lamella.tensor([1, 2]), lamella.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
