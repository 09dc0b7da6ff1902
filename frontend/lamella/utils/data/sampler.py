"""Samplers: the order in which a DataLoader reads samples, and the grouping into batches."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import lamella
from lamella._devices import host

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """An order of indices, or of lists of indices: a subclass defines ``__iter__``, and ``__len__`` if it has a length.

    A sampler that has ``state_dict()`` and ``load_state_dict(state)`` is resumed by them within an epoch. Another one
    is iterated again from its initial random state, up to its position. Within a DataLoader, the numbers that a
    sampler draws from the default generator are a stream of their own.

    >>> from lamella.utils.data import Sampler
    >>> class Backwards(Sampler):
    ...     def __init__(self, size):
    ...         self.size = size
    ...
    ...     def __iter__(self):
    ...         return iter(range(self.size - 1, -1, -1))
    >>> list(Backwards(3))
    [2, 1, 0]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """The indices 0, 1, … of a table.

    >>> from lamella.utils.data import SequentialSampler
    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class RandomSampler(Sampler[int]):
    """The indices of a table in random order.

    Args:
        data_source: the table, of which only the length is used
        replacement: draw each index independently, so that one may be repeated
        num_samples: the number of indices, by default the length of the table; a larger number without replacement
            yields several orders of the whole table
        generator: draws them; by default a generator whose seed is drawn by the default generator

    Raises:
        TypeError: ``replacement`` is no bool
        ValueError: ``num_samples`` is not positive

    >>> from lamella.utils.data import RandomSampler
    >>> sorted(RandomSampler("abc"))
    [0, 1, 2]
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: lamella.Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"{type(self).__name__}: replacement should be a boolean value, but got replacement={replacement}"
            )
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                f"{type(self).__name__}: num_samples should be a positive integer value, but got {self.num_samples}"
            )

    @property
    def num_samples(self) -> int:
        """The number of indices in one pass; the table may grow between passes."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size, generator = len(self.data_source), self.generator
        if generator is None:
            generator = lamella.Generator()
            generator.manual_seed(draw_seed(None))
        if self.replacement:
            for start in range(0, self.num_samples, 1024):
                count = min(1024, self.num_samples - start)
                yield from lamella.randint(0, size, (count,), generator=generator).tolist()
        else:
            left = self.num_samples
            while left > 0:
                yield from lamella.randperm(size, generator=generator).tolist()[:left]
                left -= size

    def __len__(self) -> int:
        return self.num_samples


def draw_seed(generator: lamella.Generator | None) -> int:
    """Returns a seed from 0 to 2⁶³ - 1, drawn by the generator, or by the default one."""
    return operator.index(lamella.empty((), dtype=lamella.int64, device=host()).random_(generator=generator))


class SubsetRandomSampler(Sampler[int]):
    """Given indices in random order.

    >>> from lamella.utils.data import SubsetRandomSampler
    >>> sorted(SubsetRandomSampler([7, 3]))
    [3, 7]
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: lamella.Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for k in lamella.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[k]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with probabilities in proportion to weights.

    Args:
        weights: one for each index, not negative; their sum need not be 1
        num_samples: the number of indices
        replacement: draw each index independently, so that one may be repeated
        generator: draws them; by default the default generator

    Raises:
        ValueError: ``num_samples`` is not positive, ``replacement`` no bool, or ``weights`` no vector

    >>> from lamella.utils.data import WeightedRandomSampler
    >>> list(WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    weights: lamella.Tensor
    num_samples: int
    replacement: bool

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: lamella.Generator | None = None,
    ) -> None:
        if not _is_count(num_samples):
            raise ValueError(
                f"{type(self).__name__}: num_samples should be a positive integer value, but got {num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"{type(self).__name__}: replacement should be a boolean value, but got replacement={replacement}"
            )
        self.weights = lamella.as_tensor(weights, dtype=lamella.float64)
        if self.weights.ndim != 1:
            shape = tuple(self.weights.shape)
            raise ValueError(
                f"{type(self).__name__}: weights should be a 1d sequence but given weights have shape {shape}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = lamella.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Groups the indices of another sampler into lists of ``batch_size``; the last may be shorter, or be left out.

    Args:
        sampler: any iterable
        batch_size: the number of indices in a list
        drop_last: leave out a last list that is shorter

    Raises:
        ValueError: ``batch_size`` is not positive, or ``drop_last`` no bool

    >>> from lamella.utils.data import BatchSampler
    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not _is_count(batch_size):
            raise ValueError(
                f"{type(self).__name__}: batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(
                f"{type(self).__name__}: drop_last should be a boolean value, but got drop_last={drop_last}"
            )
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]
        return size // self.batch_size if self.drop_last else (size + self.batch_size - 1) // self.batch_size
