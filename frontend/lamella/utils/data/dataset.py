"""Datasets: tables of samples that an index finds, streams of samples, and ways to put several together."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

import lamella
import lamella.utils.data._utils.arena as arena

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """A table of samples: ``dataset[index]`` is one of them, and ``len(dataset)`` their number.

    A subclass may serve several samples at once. ``__getitems__(indices)`` returns a list of samples.
    ``__getbatch__(indices)`` returns what ``default_collate`` would make of that list; a DataLoader calls it if its
    ``collate_fn`` is ``default_collate``. For a class that overrides ``__getitem__`` alone, these methods of its base
    classes are not used.

    >>> from lamella.utils.data import Dataset
    >>> class Squares(Dataset):
    ...     def __getitem__(self, index):
    ...         return index * index
    ...
    ...     def __len__(self):
    ...         return 4
    >>> (Squares() + Squares())[5]
    1
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """A stream of samples: a subclass defines ``__iter__``. Each worker of a DataLoader gets a copy of it.

    In a copy, ``get_worker_info()`` says which part of the stream it should read. A stream, or its iterator, that has
    ``state_dict()`` and ``load_state_dict(state)`` is resumed by them; another one is read again up to its position.

    >>> from lamella.utils.data import IterableDataset
    >>> class Count(IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    >>> list(Count() + Count())
    [0, 1, 2, 0, 1, 2]
    """

    def __add__(self, other: Dataset[T_co]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


def takes_lists(dataset: Any, name: str = "__getitems__") -> bool:
    """Returns whether the dataset serves several samples by the method ``name``: no subclass overrides ``__getitem__``
    alone, and of the datasets that it consists of, if any, one has the method as well."""
    for cls in type(dataset).__mro__:
        if name in vars(cls):
            break
        if "__getitem__" in vars(cls):
            return False
    if not callable(getattr(dataset, name, None)):
        return False
    parts = getattr(dataset, "_parts", None)
    return parts is None or any(takes_lists(part, name) for part in parts())


def draws_nothing(dataset: Any) -> bool:
    """Returns whether the dataset is Lamella's own, serves whole batches and draws no random numbers, nor do any of the
    datasets that it consists of."""
    method = getattr(type(dataset), "__getbatch__", None)
    if not takes_lists(dataset, "__getbatch__") or getattr(method, "__module__", "") != __name__:
        return False
    parts = getattr(dataset, "_parts", list)
    return all(draws_nothing(part) for part in parts())


def samples_of(dataset: Any, indices: Sequence[Any]) -> list[Any]:
    """Returns the samples at several indices."""
    if takes_lists(dataset):
        samples = dataset.__getitems__(indices)
        if hasattr(samples, "__len__") and len(samples) != len(indices):
            raise ValueError(
                f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)} from __getitems__ "
                f"of {type(dataset).__name__}"
            )
        return samples
    return [dataset[index] for index in indices]


def batch_of(dataset: Any, indices: Sequence[Any], sequence: Callable[[Any], Any] = list) -> Any:
    """Returns the batch that default_collate makes of the samples at several indices. ``sequence`` makes the list or
    tuple of samples that default_collate gets."""
    from lamella.utils.data._utils.collate import default_collate

    if takes_lists(dataset, "__getbatch__"):
        return dataset.__getbatch__(indices)
    return default_collate(sequence(samples_of(dataset, indices)))


class TensorDataset(Dataset[tuple[lamella.Tensor, ...]]):
    """Sample i is the tuple of the i-th parts of several tensors, along their first dimension.

    Raises:
        AssertionError: their first sizes differ

    >>> from lamella.utils.data import TensorDataset
    >>> TensorDataset(lamella.arange(3), lamella.eye(3))[1]
    (tensor(1), tensor([0., 1., 0.]))
    """

    tensors: tuple[lamella.Tensor, ...]

    def __init__(self, *tensors: lamella.Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            sizes = [tensor.size(0) for tensor in tensors]
            raise AssertionError(f"Size mismatch between tensors: their first dimensions have sizes {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[lamella.Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __getitems__(self, indices: Sequence[Any]) -> list[tuple[lamella.Tensor, ...]]:
        chosen = _positions(self, indices)
        if chosen is None:
            return [self[index] for index in indices]
        return list(zip(*(tensor.index_select(0, chosen).unbind(0) for tensor in self.tensors), strict=True))

    def __getbatch__(self, indices: Sequence[Any]) -> list[lamella.Tensor]:
        from lamella.utils.data._utils.collate import default_collate

        chosen = _positions(self, indices)
        if chosen is None:
            return default_collate([self[index] for index in indices])
        return [_gathered(tensor, chosen) for tensor in self.tensors]

    def __len__(self) -> int:
        return self.tensors[0].size(0)


def _positions(dataset: TensorDataset, indices: Sequence[Any]) -> lamella.Tensor | None:
    """Returns the indices as a tensor, if they are plain numbers within the dataset and its tensors are plain tensors;
    else None."""
    if not indices or any(type(tensor) is not lamella.Tensor for tensor in dataset.tensors):
        return None
    if type(indices[0]) is not int:
        return None
    try:
        chosen = np.array(indices)
    except (TypeError, ValueError, OverflowError):
        return None
    if chosen.dtype != np.int64 or chosen.ndim != 1 or chosen.min() < 0 or chosen.max() >= len(dataset):
        return None
    positions = lamella.from_numpy(chosen)
    return positions if dataset.tensors[0].is_cpu else positions.to(dataset.tensors[0].device)


def _gathered(tensor: lamella.Tensor, positions: lamella.Tensor) -> lamella.Tensor:
    """Returns the rows at the positions; in a worker they are written into shared memory."""
    out = arena.place(tensor, (positions.shape[0], *tensor.shape[1:]))
    if out is None:
        return tensor.index_select(0, positions)
    return lamella.index_select(tensor, 0, positions, out=out)


class StackDataset(Dataset[Any]):
    """Sample i is the tuple, or the dict, of the i-th samples of several datasets.

    Raises:
        ValueError: there is none, positional and named ones are mixed, or their lengths differ

    >>> from lamella.utils.data import StackDataset
    >>> StackDataset(image=[1, 2], label=["cat", "dog"])[1]
    {'image': 2, 'label': 'dog'}
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("StackDataset: give positional datasets, for tuples, or named ones, for dicts; got both")
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = [len(dataset) for dataset in self._parts()]
        if any(length != lengths[0] for length in lengths):
            raise ValueError(f"Size mismatch between datasets: their lengths are {lengths}")
        self._length = lengths[0]

    def _parts(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        columns = [samples_of(dataset, indices) for dataset in self._parts()]
        if isinstance(self.datasets, dict):
            return [dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)]
        return list(zip(*columns, strict=True))

    def __getbatch__(self, indices: Sequence[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return {name: batch_of(dataset, indices) for name, dataset in self.datasets.items()}
        return [batch_of(dataset, indices, tuple) for dataset in self.datasets]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """The samples of several datasets, one dataset after the other.

    Raises:
        AssertionError: there is no dataset, or one is a stream

    >>> from lamella.utils.data import ConcatDataset
    >>> joined = ConcatDataset([["a", "b"], ["c"]])
    >>> joined[2], joined[-1], joined.cumulative_sizes
    ('c', 'c', [2, 3])
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Returns the length of the first dataset, of the first two, and so on."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def _parts(self) -> list[Any]:
        return self.datasets

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def _find(self, index: int) -> tuple[int, int]:
        """Returns the number of the dataset that has the sample, and its index there."""
        if index < 0:
            if -index > len(self):
                raise ValueError(
                    f"absolute value of index should not exceed dataset length, got index {index} of {len(self)}"
                )
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return which, index - (self.cumulative_sizes[which - 1] if which else 0)

    def __getitem__(self, idx: int) -> T_co:
        which, index = self._find(idx)
        return self.datasets[which][index]

    def __getitems__(self, indices: Sequence[int]) -> list[T_co]:
        places = [self._find(index) for index in indices]
        samples: list[Any] = [None] * len(places)
        for which in {which for which, _ in places}:
            mine = [k for k, place in enumerate(places) if place[0] == which]
            for k, sample in zip(mine, samples_of(self.datasets[which], [places[k][1] for k in mine]), strict=True):
                samples[k] = sample
        return samples

    @property
    def cummulative_sizes(self) -> list[int]:
        """The older spelling of ``cumulative_sizes``."""
        warnings.warn("cummulative_sizes attribute is renamed to cumulative_sizes", DeprecationWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Several streams, one after the other.

    >>> from lamella.utils.data import ChainDataset
    >>> ChainDataset([]).datasets
    []
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            _check_stream(dataset)
            yield from dataset  # type: ignore[misc]

    def __len__(self) -> int:
        total = 0
        for dataset in self.datasets:
            _check_stream(dataset)
            total += len(dataset)  # type: ignore[arg-type]
        return total


def _check_stream(dataset: Any) -> None:
    if not isinstance(dataset, IterableDataset):
        raise AssertionError(f"ChainDataset only supports IterableDataset, got {type(dataset).__name__}")


class Subset(Dataset[T_co]):
    """The samples of a dataset at given indices.

    >>> from lamella.utils.data import Subset
    >>> list(Subset("abcd", [3, 0]))
    ['d', 'a']
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def _parts(self) -> list[Any]:
        return [self.dataset]

    def __getitem__(self, idx: Any) -> T_co:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: Sequence[int]) -> list[T_co]:
        return samples_of(self.dataset, [self.indices[index] for index in indices])

    def __getbatch__(self, indices: Sequence[int]) -> Any:
        return batch_of(self.dataset, [self.indices[index] for index in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[T], lengths: Sequence[int | float], generator: lamella.Generator | None = None
) -> list[Subset[T]]:
    """Returns subsets without a common sample, drawn at random, which together are the dataset.

    Args:
        dataset: the dataset to split
        lengths: the length of each part; or fractions with the sum 1, by which each length is rounded down, and then
            the first parts get one sample more each until all are placed
        generator: draws the order; the default generator otherwise

    Raises:
        ValueError: the lengths do not sum to that of the dataset, or a fraction is not between 0 and 1

    >>> from lamella.utils.data import random_split
    >>> [len(part) for part in random_split(range(10), [0.5, 0.25, 0.25])]
    [6, 2, 2]
    """
    size = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for k, fraction in enumerate(lengths):
            if fraction < 0 or fraction > 1:
                raise ValueError(f"Fraction at index {k} is not between 0 and 1, got {fraction}")
        counts = [math.floor(size * fraction) for fraction in lengths]
        for k in range(size - sum(counts)):
            counts[k % len(counts)] += 1
        for k, count in enumerate(counts):
            if count == 0:
                text = f"Length of split at index {k} is 0. This might result in an empty dataset."
                warnings.warn(text, stacklevel=2)
        lengths = counts
    if sum(lengths) != size:
        raise ValueError(
            f"Sum of input lengths does not equal the length of the input dataset! They are {list(lengths)}, and the "
            f"dataset has {size} samples"
        )
    order = lamella.randperm(size, generator=generator).tolist()
    ends = list(itertools.accumulate(lengths))
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, lengths, strict=True)]  # type: ignore[misc]
