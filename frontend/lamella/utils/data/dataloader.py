"""The loader: makes batches of a dataset, in the order of a sampler, in this process or in workers."""

from __future__ import annotations

import copy
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import lamella
import lamella.utils.data._utils.collate as _collate
import lamella.utils.data._utils.fetch as _fetch
import lamella.utils.data._utils.worker as _worker
from lamella._usage_log import log_once
from lamella.utils.data._iterators import (
    Progress,
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from lamella.utils.data._utils.worker import get_worker_info
from lamella.utils.data.dataset import Dataset, IterableDataset
from lamella.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)
default_collate = _collate.default_collate
default_convert = _collate.default_convert
STATE_VERSION = 1


class _DatasetKind:
    Map = _worker.TABLE
    Iterable = _worker.STREAM

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> Any:
        of = _fetch._MapDatasetFetcher if kind == _DatasetKind.Map else _fetch._IterableDatasetFetcher
        return of(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler[None]):
    """The sampler of a stream, which has no indices: yields None forever."""

    def __iter__(self) -> Any:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """An iterable of batches of a dataset; each pass is an epoch.

    Workers pass tensors in shared memory, without a copy; the memory of a batch that the program has dropped is reused
    for a later one. An exception in a worker is raised here with the worker's traceback and the index of the sample;
    the death of a worker and an exceeded ``timeout`` raise a RuntimeError here. The numbers that a table draws from the
    default generator depend on the epoch's seed and the number of the batch, not on the number of workers; those of a
    stream depend on the worker too. Neither changes the program's own numbers.

    In the middle of an epoch, ``state_dict()`` counts the batches that were handed out. After ``load_state_dict`` the
    next pass yields the other batches of that epoch.

    Args:
        dataset: a table, with ``__getitem__``, or an ``IterableDataset``
        batch_size: the number of samples in a batch; with None the loader yields single samples, or the dataset's
            items at the sampler's indices, through ``default_convert``
        shuffle: whether each epoch has a new random order
        sampler: yields the indices of samples
        batch_sampler: yields lists of indices
        num_workers: the number of worker processes; 0 fetches in this one
        collate_fn: makes a batch of a list of samples
        pin_memory: whether batches are copied, with workers by a thread, to memory from which the accelerator copies
            fast
        drop_last: leave out a last batch that is smaller
        timeout: seconds that a batch of a worker may take; 0 means without limit
        worker_init_fn: called in each worker with its number
        multiprocessing_context: how workers start: "fork", "spawn", "forkserver", or a context
        generator: draws the order and the seed of each epoch
        prefetch_factor: the number of batches that a worker makes ahead; 2 by default
        persistent_workers: whether workers are kept between epochs
        pin_memory_device: deprecated, and without effect
        in_order: whether batches come in the order of the sampler; otherwise as soon as one is made

    Raises:
        ValueError: options do not go together, or are out of range
        TypeError: ``multiprocessing_context`` is neither a name nor a context
        RuntimeError: while iterating: a worker died, or made no batch within ``timeout``

    >>> from lamella.utils.data import DataLoader
    >>> loader = DataLoader(range(5), batch_size=2)
    >>> batches = iter(loader)
    >>> next(batches)
    tensor([0, 1])
    >>> state = loader.state_dict()
    >>> resumed = DataLoader(range(5), batch_size=2)
    >>> resumed.load_state_dict(state)
    >>> list(resumed)
    [tensor([2, 3]), tensor([4])]
    """

    dataset: Dataset[T_co]
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    prefetch_factor: int | None
    __initialized = False

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: lamella.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        log_once("python.data_loader")
        _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers)
        if pin_memory_device:
            text = f"pin_memory_device is deprecated, ignore pin_memory_device='{pin_memory_device}'."
            warnings.warn(text, stacklevel=2)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._dataset_kind = _DatasetKind.Iterable if isinstance(dataset, IterableDataset) else _DatasetKind.Map
        if self._dataset_kind == _DatasetKind.Iterable:
            _check_stream(shuffle, sampler, batch_sampler)
            shuffle = False
        shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)  # type: ignore[arg-type]
            else:
                sampler = SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator: _BaseDataLoaderIter | None = None
        self._latest: Any = None  # a weak reference to the last iterator
        self._progress: Progress | None = None
        self._resumed: dict[str, Any] | None = None
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self) -> Any:
        """The context that workers are started with; None means the program's default."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                valid = multiprocessing.get_all_start_methods()
                if context not in valid:
                    raise ValueError(
                        f"multiprocessing_context option should specify a valid start method in {valid!r}, but got "
                        f"multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start "
                    f"method, but got multiprocessing_context={context}"
                )
        self.__multiprocessing_context = context

    def __setattr__(self, attr: str, val: Any) -> None:
        fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
        if self.__initialized and attr in fixed:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __getstate__(self) -> dict[str, Any]:
        """Returns the attributes for a copy or a pickle, except the iterator, which only this loader has."""
        return {**self.__dict__, "_latest": None, "_iterator": None}

    def __iter__(self) -> _BaseDataLoaderIter:
        if self.persistent_workers and self.num_workers > 0:
            kept = self._iterator
            if isinstance(kept, _MultiProcessingDataLoaderIter) and kept._is_late():
                kept._shutdown_workers()  # a worker hangs, and would hang in each epoch
            if isinstance(kept, _MultiProcessingDataLoaderIter) and kept._pool is not None:
                kept._reset(self)
            else:  # the first pass, or the workers were ended above or after an error
                self._iterator = self._get_iterator()
            made = self._iterator
        else:
            made = self._get_iterator()
        assert made is not None
        self._latest = made._reference()
        return made

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        if multiprocessing.get_start_method() != "fork" or self.multiprocessing_context is not None:
            import lamella.multiprocessing  # noqa: F401 (so that tensors of the dataset are handed over, not copied)
        return _MultiProcessingDataLoaderIter(self)

    def __len__(self) -> int:
        """Returns the number of batches. That of a stream is computed from the stream's own length, which may be
        wrong."""
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is not None:
            length = length // self.batch_size if self.drop_last else -(-length // self.batch_size)
        self._IterableDataset_len_called = length
        return length

    def check_worker_number_rationality(self) -> None:
        """Warns if there are more workers than this process has cores."""
        if not self.num_workers:
            return
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if cores is not None and self.num_workers > cores:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {cores}, which is smaller than what this DataLoader is going to "
                "create; that may be slower than fewer workers.",
                stacklevel=3,
            )

    def state_dict(self) -> dict[str, Any]:
        """Returns the position of the loader, as plain containers: it counts batches that were handed out, not those
        fetched ahead.

        It has the states of the dataset, a stream's iterator or a sampler, if these have ``state_dict`` and
        ``load_state_dict``. Before a pass, and after one that has ended, its ``epoch`` is None.

        >>> loader = lamella.utils.data.DataLoader(range(4))
        >>> sorted(loader.state_dict())
        ['epoch', 'generators', 'kind', 'length', 'num_workers', 'order', 'version']
        """
        state: dict[str, Any] = {
            "version": STATE_VERSION,
            "kind": "stream" if self._dataset_kind == _DatasetKind.Iterable else "table",
            "num_workers": self.num_workers,
            "length": None if self._dataset_kind == _DatasetKind.Iterable else _fetch.length_of(self.dataset),
            "generators": [generator.get_state() for generator in self._generators()],
            "order": self._order(),
            "epoch": None,
        }
        if self._resumed is not None:
            state["epoch"] = copy.deepcopy(self._resumed)
        elif self._progress is not None and not self._progress.finished:
            latest = self._latest() if self._latest is not None else None
            if latest is not None:
                latest._dataset_states()
            state["epoch"] = self._progress.state()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Makes the next pass yield the rest of the epoch in which the state was made.

        Args:
            state_dict: the state of a loader with the same dataset; within an epoch also with the same batch size,
                ``drop_last`` and types of samplers. The number of workers may differ if the dataset is a table
                without a state of its own

        Raises:
            ValueError: it is not the state of such a loader
        """
        try:
            version, kind = state_dict["version"], state_dict["kind"]
            count, length, epoch = state_dict["num_workers"], state_dict["length"], state_dict["epoch"]
            generators, order = state_dict["generators"], dict(state_dict["order"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"DataLoader.load_state_dict: this is no state of a loader: {error!r}") from None
        if version != STATE_VERSION:
            raise ValueError(f"DataLoader.load_state_dict: expected version {STATE_VERSION}, got {version}")
        mine = self.state_dict()
        if (kind, length) != (mine["kind"], mine["length"]):
            raise ValueError(
                f"DataLoader.load_state_dict: the state is that of a {kind} of length {length}, and the dataset is a "
                f"{mine['kind']} of length {mine['length']}"
            )
        if len(generators) != len(mine["generators"]):
            raise ValueError(
                "DataLoader.load_state_dict: the state has other generators than the loader and sampler: it has "
                f"{len(generators)}, and they have {len(mine['generators'])}"
            )
        for name, of_mine in mine["order"].items() if epoch is not None else ():
            if order.get(name) != of_mine:
                raise ValueError(
                    f"DataLoader.load_state_dict: the state is of an epoch with {name}={order.get(name)}, and the "
                    f"loader has {name}={of_mine}"
                )
        epoch = copy.deepcopy(epoch)
        if epoch is not None and max(1, count) != max(1, self.num_workers):
            if kind == "stream" or any(w["dataset"] is not None for w in epoch["workers"]):
                raise ValueError(
                    f"DataLoader.load_state_dict: the state is that of {count} workers, each with a state of its "
                    f"dataset, and the loader has {self.num_workers}"
                )
            epoch["workers"] = [{"batches": 0, "dataset": None}] * max(1, self.num_workers)
        for generator, saved in zip(self._generators(), generators, strict=True):
            generator.set_state(tuple(saved))
        self._progress = None
        self._resumed = epoch

    def _order(self) -> dict[str, Any]:
        """Returns the options that determine the batches of an epoch, besides the dataset and random numbers."""
        batches = self._index_sampler
        return {
            "batch_size": getattr(batches, "batch_size", None) if self._auto_collation else None,
            "drop_last": getattr(batches, "drop_last", None) if self._auto_collation else None,
            "sampler": type(getattr(batches, "sampler", self.sampler)).__name__,
            "batch_sampler": type(self.batch_sampler).__name__ if self._auto_collation else None,
        }

    def _take_state(self) -> dict[str, Any] | None:
        state, self._resumed = self._resumed, None
        return state

    def _generators(self) -> list[lamella.Generator]:
        """Returns the generators that the order is drawn from, except the default one."""
        holders = [self, self.sampler, self.batch_sampler, getattr(self.batch_sampler, "sampler", None)]
        found: list[lamella.Generator] = []
        for holder in holders:
            generator = getattr(holder, "generator", None)
            if isinstance(generator, lamella.Generator) and not any(generator is other for other in found):
                found.append(generator)
        return found

    def _stateful_sampler(self) -> Any:
        """Returns the sampler, or that within the batch sampler, that has a state of its own; None if there is none."""
        candidates = (self._index_sampler, getattr(self._index_sampler, "sampler", None))
        return next((s for s in candidates if s is not None and _fetch.is_stateful(s)), None)


def _check_numbers(workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing. "
            f"Got num_workers={workers}."
        )
    if timeout < 0:
        raise ValueError(f"timeout option should be non-negative, got timeout={timeout}")
    if workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing. Let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 1:
        raise ValueError(f"prefetch_factor option should be positive, got {prefetch_factor}")
    if persistent and workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """Raises if a stream is given an order."""
    if shuffle not in {False, None}:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
        )
    for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if given is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}"
            )
