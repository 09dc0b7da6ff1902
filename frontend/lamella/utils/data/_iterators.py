"""The iterators of a DataLoader: one that fetches in this process, and one whose worker processes fetch."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import lamella
import lamella.utils.data._utils.draws as draws
import lamella.utils.data._utils.interrupts as interrupts
import lamella.utils.data._utils.outside as outside
import lamella.utils.data._utils.worker as worker
from lamella.utils.data._utils.pin_memory import PinThread, can_pin, pin_memory
from lamella.utils.data._utils.pool import Pool, Worker
from lamella.utils.data.sampler import draw_seed


class Progress:
    """The position in an epoch: the batches that were handed out. It is the epoch's part of the loader's state; the
    state of a dataset in this process is read only when the loader's state is made."""

    def __init__(self, begin: dict[str, Any], workers: int):
        self.begin = begin  # base_seed and the states of generators when the epoch began
        self.batches = begin.get("batches", 0)
        self.ahead: set[int] = set(begin.get("ahead", ()))  # numbers of batches handed out after the first that was not
        self.samples = begin.get("samples", 0)
        self.turn = begin.get("turn", 0)
        self.workers = [dict(w) for w in begin.get("workers", ())] or [{"batches": 0, "dataset": None}] * workers
        self.sampler = begin.get("sampler")
        self.finished = False

    def hand(self, index: int) -> None:
        """Notes that the batch of this number was handed out."""
        self.ahead.add(index)
        while self.batches in self.ahead:
            self.ahead.discard(self.batches)
            self.batches += 1

    def done(self, number: int) -> bool:
        """Returns whether the batch of this number was handed out."""
        return number < self.batches or number in self.ahead

    def state(self) -> dict[str, Any]:
        """Returns a copy of the state, as plain containers."""
        return copy.deepcopy(
            {
                **{k: self.begin[k] for k in ("base_seed", "generators", "outside")},
                "batches": self.batches,
                "ahead": sorted(self.ahead),
                "samples": self.samples,
                "turn": self.turn,
                "workers": [
                    {k: pickle.loads(v) if isinstance(v, bytes) else v for k, v in w.items()} for w in self.workers
                ],
                "sampler": self.sampler,
            }
        )


class _BaseDataLoaderIter:
    def __init__(self, loader: Any):
        self._loader = loader
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._auto_collation = loader._auto_collation
        self._collate_fn = loader.collate_fn
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        if loader.pin_memory and not lamella.accelerator.is_available():
            text = "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't "
            warnings.warn(text + "be used.", stacklevel=3)
        self._pin_memory = loader.pin_memory and can_pin()
        self._is_stream = self._dataset_kind == worker.STREAM
        self._lock = threading.RLock()
        self._begin(loader)

    def _begin(self, loader: Any) -> None:
        """Begins an epoch, or continues one whose state was loaded."""
        resumed = loader._take_state()
        if resumed is None:
            begin: dict[str, Any] = {"base_seed": draw_seed(loader.generator)}
            begin["generators"] = [g.get_state() for g in loader._generators()]
            begin["outside"] = None if self._is_stream else outside.states()
        else:
            begin = resumed
            for generator, state in zip(loader._generators(), begin["generators"], strict=True):
                generator.set_state(tuple(state))
        self._base_seed: int = begin["base_seed"]
        self._progress = loader._progress = Progress(begin, max(1, self._num_workers))
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._sampling = draws.SamplerStream(self._base_seed)
        self._stateful_sampler = loader._stateful_sampler()
        self._sampler_state: Any = None
        self._next_number = self._progress.batches
        if not self._is_stream:
            with outside.kept() if resumed is not None else contextlib.nullcontext():
                if resumed is not None:
                    outside.set_states(begin["outside"])
                self._open_sampler(resumed)

    def _open_sampler(self, resumed: dict[str, Any] | None) -> None:
        if self._stateful_sampler is not None and resumed is not None and resumed["sampler"] is not None:
            self._sampling.generator.set_state(tuple(resumed["sampler"]["draws"]))
            self._stateful_sampler.load_state_dict(resumed["sampler"]["own"])
            self._sampler_iter: Iterator[Any] = self._sampling(iter, self._index_sampler)
            return
        self._sampler_iter = self._sampling(iter, self._index_sampler)
        for k in range(self._progress.batches):
            try:
                self._sampling(next, self._sampler_iter)
            except StopIteration:
                raise RuntimeError(
                    f"DataLoader: the state was made after {self._progress.batches} batches, and the sampler has {k}; "
                    "has the dataset changed its length?"
                ) from None

    def _next_index(self) -> Any:
        """Returns the indices of the next batch; the sampler draws from its own stream of random numbers."""
        index = self._sampling(next, self._sampler_iter)
        if self._stateful_sampler is not None:
            own = copy.deepcopy(self._stateful_sampler.state_dict())
            self._sampler_state = {"own": own, "draws": self._sampling.generator.get_state()}
        return index

    def _job(self) -> worker.Job:
        loader = self._loader
        return worker.Job(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
            loader.batch_size,
            loader.worker_init_fn,
            self._num_workers,
            lamella.capture_state(),
        )

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        with self._lock:  # several threads may take batches
            try:
                data = self._next_data()
            except StopIteration:
                self._progress.finished = True
                raise
            if self._is_stream:
                self._count()
            return data

    def _count(self) -> None:
        """Counts the batches of a stream, and warns if they are more than ``len(loader)`` has returned. The text says
        samples, as torch's does.

        Workers that share a stream have each a last batch that may be smaller, and so one batch more than the first.
        """
        progress = self._progress
        progress.samples += 1
        reported = self._IterableDataset_len_called
        last = max(self._num_workers - 1, 0) if self._auto_collation and not self._drop_last else 0
        if reported is not None and progress.samples > reported + last:
            text = (
                f"Length of IterableDataset {self._dataset} was reported to be {reported}"
                f"(when accessing len(dataloader)), but {progress.samples} samples have been fetched. "
            )
            if self._num_workers > 0:
                text += "Each worker has a copy of the stream; get_worker_info() says which part it should read."
            warnings.warn(text, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def _reference(self) -> Any:
        """Returns a weak reference, by which the loader finds the iterator for its state."""
        return weakref.ref(self)

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")

    def _dataset_states(self) -> None:
        """Reads the state of a dataset in this process; workers send theirs with each batch."""


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader: Any):
        super().__init__(loader)
        stream = draws.FIRST_WORKER if self._is_stream else draws.TABLE
        self._draws = draws.Draws(self._base_seed, stream, lamella.Generator(), draws.Seeded())
        self._wanted = [None] * loader.batch_size if loader.batch_size is not None else None
        self._fetcher: Any = None
        mine = self._progress.workers[0]
        with self._batch(-1):
            self._fetcher = self._job().fetcher(mine["dataset"])
        if self._is_stream and mine["dataset"] is None:
            for k in range(mine["batches"]):
                with self._batch(k):
                    self._fetcher.skip(self._wanted)

    @contextlib.contextmanager
    def _batch(self, number: int) -> Iterator[None]:
        """Seeds Lamella's generator for the batch within the block. In the main thread it also seeds Python's and
        numpy's, unless the dataset draws nothing."""
        quiet = self._fetcher is not None and self._fetcher.draws_nothing
        if quiet or threading.current_thread() is not threading.main_thread():
            with self._draws.batch(number, everywhere=False):
                yield
        else:
            with outside.kept(), self._draws.batch(number):
                yield

    def _next_data(self) -> Any:
        progress = self._progress
        index = self._wanted if self._is_stream else self._next_index()
        while not self._is_stream and progress.done(self._next_number):  # returned earlier, out of order
            self._next_number += 1
            index = self._next_index()
        number = progress.workers[0]["batches"] if self._is_stream else self._next_number
        self._next_number += 1
        interrupted = True  # an interrupted batch is not handed out, so a state has it still to come
        try:
            with self._batch(number):
                data = self._fetcher.fetch(index)
            interrupted = False
        except Exception as error:
            interrupted = False
            if isinstance(error, StopIteration) and not self._is_stream:
                raise RuntimeError(f"DataLoader: the dataset raised StopIteration in batch {number}") from error
            raise
        finally:
            if not interrupted:
                self._hand(number)
        return pin_memory(data) if self._pin_memory else data

    def _hand(self, number: int) -> None:
        progress = self._progress
        progress.sampler = self._sampler_state
        if self._is_stream:
            progress.workers[0] = {"batches": number + 1, "dataset": None}
            progress.batches += 1
        else:
            progress.hand(number)

    def _dataset_states(self) -> None:
        self._progress.workers[0] = {**self._progress.workers[0], "dataset": self._fetcher.state_dict()}


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader: Any):
        self._pool: Pool | None = None
        self._pinning: PinThread | None = None
        self._epoch = 0
        super().__init__(loader)
        self._in_order = loader.in_order
        self._prefetch_factor = loader.prefetch_factor
        self._persistent_workers = loader.persistent_workers
        context = loader.multiprocessing_context
        if context is None:
            import multiprocessing

            context = multiprocessing.get_context()
        self._pool = Pool(self._num_workers, self._job(), context, self._base_seed, loader.timeout)
        self._open()

    @property
    def _workers(self) -> list[Any]:
        """Returns the processes of the workers."""
        return [w.process for w in self._pool.workers] if self._pool is not None else []

    def _reset(self, loader: Any) -> None:
        """Begins another epoch with the same workers."""
        with self._lock:
            self._stop_pinning()
            self._begin(loader)
            self._open()

    def _open(self) -> None:
        """Sends the epoch to the workers, and hands out the first tasks."""
        assert self._pool is not None
        self._epoch += 1
        progress = self._progress
        self._expected = progress.batches  # for a table: the number of the next batch in order
        self._turn = progress.turn
        self._exhausted = False
        self._ended = False
        self._sampler_states: dict[int, Any] = {}
        for w, mine in zip(self._pool.workers, progress.workers, strict=True):
            w.begin(worker.Epoch(self._epoch, self._base_seed, mine["batches"], mine["dataset"]))
        self._fill()
        if self._pin_memory:
            self._start_pinning(pin_memory)

    def _start_pinning(self, pin: Callable[[Any], Any]) -> None:
        """Starts a thread that fetches from now on."""
        assert self._pool is not None
        ahead = object.__new__(_Ahead)
        ahead.__dict__.update(self.__dict__)
        with interrupts.Deferred():
            self._pinning = PinThread(ahead._fetch, self._prefetch_factor * self._num_workers, pin)
            self._pool.wake = self._pinning.wake
            self._pinning.start()

    def _fill(self) -> None:
        """Hands out tasks until the workers have as many as they may fetch ahead."""
        assert self._pool is not None
        workers = self._pool.workers
        if self._is_stream:
            for w in workers:
                while not w.ended and len(w.tasks) < self._prefetch_factor:
                    w.give(self._epoch, self._next_number, None)
                    self._next_number += 1
            return
        while not self._exhausted and sum(len(w.tasks) for w in workers) < self._prefetch_factor * len(workers):
            try:
                index = self._next_index()
            except StopIteration:
                self._exhausted = True
                return
            number = self._next_number
            self._next_number += 1
            if self._progress.done(number):
                continue
            w = workers[number % len(workers)] if self._in_order else min(workers, key=lambda w: len(w.tasks))
            if self._stateful_sampler is not None:
                self._sampler_states[number] = self._sampler_state
            w.give(self._epoch, number, index)

    def _next_worker(self) -> Worker | None:
        """Returns the worker whose reply is next in order; None if all batches were handed out."""
        assert self._pool is not None
        workers = self._pool.workers
        if not self._is_stream:
            while self._progress.done(self._expected):
                self._expected += 1
            w = workers[self._expected % len(workers)]
            return w if self._expected in w.tasks else None
        for k in range(len(workers)):
            w = workers[(self._turn + k) % len(workers)]
            if not w.ended:
                self._turn = w.number
                return w
        return None

    def _reply(self) -> tuple[Worker, tuple[Any, ...]]:
        """Returns a worker and its next reply, in order or as it arrives. Raises StopIteration if all batches were
        handed out."""
        if self._pool is None:
            raise RuntimeError("DataLoader: the workers of this iterator have ended; make a new iterator")
        if self._in_order:
            w = self._next_worker()
            if w is None:
                raise StopIteration
            while not w.replies:
                self._pool.listen([w], self._epoch)
            return w, w.replies.popleft()
        busy = [w for w in self._pool.workers if w.tasks]
        if not busy:
            raise StopIteration
        while not any(w.replies for w in busy):
            self._pool.listen(busy, self._epoch)
        w = next(w for w in busy if w.replies)
        return w, w.replies.popleft()

    def _fetch(self) -> tuple[Any, Any]:
        """Returns the next batch, and the arguments for ``_hand`` when the batch is handed out."""
        while True:
            w, reply = self._reply()
            _, number, kind, _, saved, _, _ = reply
            del w.tasks[number]
            content = w.read(reply)
            if kind == worker.END:
                w.ended = True
                w.tasks.clear()
                while w.replies:
                    w.read(w.replies.popleft())
                continue
            self._turn = (w.number + 1) % self._num_workers
            self._expected = number + 1
            self._fill()
            handed = (number, w.number, self._turn, saved, self._sampler_states.pop(number, None))
            if kind == worker.ERROR:
                try:
                    content.reraise()
                except BaseException as error:
                    error._handed = handed  # type: ignore[attr-defined]
                    raise
            return content, handed

    def _next_data(self) -> Any:
        if self._ended:
            raise StopIteration
        try:
            data, handed = self._pinning.take() if self._pinning is not None else self._fetch()
        except StopIteration:
            self._ended = True
            if not self._persistent_workers:
                self._shutdown_workers()
            raise
        except BaseException as error:
            handed = getattr(error, "_handed", None)
            if handed is not None:
                self._hand(*handed)
            elif not hasattr(error, "_timed_out"):
                self._shutdown_workers()  # a worker is dead, or the program was interrupted
            raise
        self._hand(*handed)
        return data

    def _hand(self, number: int, of: int, turn: int, saved: Any, sampler: Any) -> None:
        progress = self._progress
        progress.hand(number) if not self._is_stream else None
        progress.turn = turn
        progress.sampler = sampler
        mine = progress.workers[of]
        progress.workers[of] = {"batches": mine["batches"] + 1, "dataset": saved if saved is not None else None}

    def _stop_pinning(self) -> None:
        if self._pinning is not None:
            self._pinning.stop()
            with interrupts.Deferred():
                self._pinning.close()
                self._pinning = None
                if self._pool is not None:
                    self._pool.wake = None

    def _is_late(self) -> bool:
        """Returns whether a worker has exceeded the timeout and not replied since."""
        return self._pool is not None and any(w.late for w in self._pool.workers)

    def _shutdown_workers(self) -> None:
        """Ends the workers."""
        pool = self._pool
        if pool is not None:
            if pool.owner == os.getpid():
                self._stop_pinning()
            self._pool = None
            pool.close()

    def __del__(self) -> None:
        if getattr(self, "_pool", None) is not None:
            self._shutdown_workers()


class _Ahead(_MultiProcessingDataLoaderIter):
    """The copy of the iterator with which the pinning thread fetches. So the thread does not keep the iterator alive,
    whose destructor ends the thread."""

    def __del__(self) -> None:
        pass
