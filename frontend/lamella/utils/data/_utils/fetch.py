"""Fetching: reads the samples of one batch from a dataset, in the process that has it, and notes the sample being
read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from lamella.utils.data._utils.collate import default_collate, is_untouched
from lamella.utils.data.dataset import draws_nothing, samples_of, takes_lists

ALL, COLLATING = -1, -2  # in place of a sample's number: all samples at once; collating


class Place:
    """The position of a fetch: the numbers of the batch and of the sample in it. A worker's is in shared memory."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: Any = None):
        self.numbers = [-1, ALL] if numbers is None else numbers

    def at(self, k: int) -> None:
        """Notes that the fetch is at sample k."""
        self.numbers[1] = k


def is_stateful(thing: Any) -> bool:
    """Returns whether an object can save its state and continue from one."""
    return callable(getattr(thing, "state_dict", None)) and callable(getattr(thing, "load_state_dict", None))


class _BaseDatasetFetcher:
    makes_batches = False  # whether the dataset's __getbatch__ makes the batch in place of collate_fn
    draws_nothing = False  # whether neither the dataset nor collate_fn draws random numbers

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.place = Place()

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Returns the batch at the indices, or the sample at the index."""
        raise NotImplementedError

    def state_dict(self) -> Any:
        """Returns the dataset's state, or None."""
        return self.dataset.state_dict() if is_stateful(self.dataset) else None

    def load_state_dict(self, state: Any) -> None:
        """Continues from a state of the dataset."""
        self.dataset.load_state_dict(state)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Reads samples of a table by index."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.length = length_of(dataset)
        self.takes_lists = takes_lists(dataset)
        self.makes_batches = collate_fn is default_collate and takes_lists(dataset, "__getbatch__")
        self.draws_nothing = self.makes_batches and is_untouched() and draws_nothing(dataset)

    def fetch(self, possibly_batched_index: Any) -> Any:
        try:
            return self._fetch(possibly_batched_index)
        except (IndexError, KeyError) as error:
            now = length_of(self.dataset)
            if now != self.length:
                raise IndexError(
                    f"DataLoader: the dataset has changed its length: it had {self.length} samples when the epoch "
                    f"began and has {now}; {type(error).__name__}: {error}"
                ) from error
            raise

    def _fetch(self, index: Any) -> Any:
        dataset, place = self.dataset, self.place
        if not self.auto_collation:
            place.at(0)
            data = dataset[index]
        elif self.takes_lists:
            place.at(ALL)
            if self.makes_batches and is_untouched():
                return dataset.__getbatch__(index)
            data = samples_of(dataset, index)
        else:
            data = []
            for k, i in enumerate(index):
                place.at(k)
                data.append(dataset[i])
        place.at(COLLATING)
        return self.collate_fn(data)


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Reads the next samples of a stream."""

    def __init__(
        self,
        dataset: Any,
        auto_collation: bool,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
        state: Any = None,
    ):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.ended = bool(state and state["ended"])
        own = state and state["of"] == "dataset"
        if own:
            if not is_stateful(dataset):
                raise ValueError("DataLoader: the state has a state of the stream, which has no load_state_dict")
            dataset.load_state_dict(state["state"])
        self.dataset_iter: Any = iter(()) if self.ended else iter(dataset)
        if state and not own and not self.ended:
            if not is_stateful(self.dataset_iter):
                raise ValueError(
                    "DataLoader: the state has a state of the stream's iterator, which has no load_state_dict"
                )
            self.dataset_iter.load_state_dict(state["state"])

    def state_dict(self) -> Any:
        """Returns the state of the stream, else of its iterator, and whether it has ended; None if neither has a
        state."""
        for of, thing in (("dataset", self.dataset), ("iterator", self.dataset_iter)):
            if is_stateful(thing):
                return {"of": of, "ended": self.ended, "state": thing.state_dict()}
        return None

    def skip(self, possibly_batched_index: Any) -> None:
        """Skips one batch."""
        count = len(possibly_batched_index) if self.auto_collation else 1
        for _ in itertools.islice(self.dataset_iter, count):
            pass

    def fetch(self, possibly_batched_index: Any) -> Any:
        if self.ended:
            raise StopIteration
        self.place.at(0)
        if not self.auto_collation:
            data: Any = next(self.dataset_iter)
        else:
            data = []
            for sample in itertools.islice(self.dataset_iter, len(possibly_batched_index)):
                data.append(sample)
                self.place.at(len(data))
            if len(data) < len(possibly_batched_index):
                self.ended = True
                if not data or self.drop_last:
                    raise StopIteration
        self.place.at(COLLATING)
        return self.collate_fn(data)


def length_of(dataset: Any) -> int | None:
    """Returns the length of a dataset, or None."""
    try:
        return len(dataset)
    except (TypeError, NotImplementedError):
        return None


def describe(place: Sequence[int], indices: Any) -> str:
    """Describes the position of a fetch for an error; the indices are those of the batch, None for a stream."""
    batch, k = int(place[0]), int(place[1])
    if batch < 0:
        return "before its first batch"
    if k == COLLATING:
        return f"collating batch {batch}"
    if not isinstance(indices, (list, tuple)):
        return (
            f"at number {max(k, 0)} of batch {batch}" if indices is None else f"at sample {indices!r} (batch {batch})"
        )
    if k == ALL:
        return f"at the samples {_short(indices)} (batch {batch})"
    return f"at sample {indices[k]!r} (number {k} of batch {batch})"


def _short(indices: Sequence[Any]) -> str:
    shown = ", ".join(repr(index) for index in indices[:8])
    return f"{shown}, …" if len(indices) > 8 else shown
