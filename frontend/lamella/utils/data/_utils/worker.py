"""The worker's side of a DataLoader: the loop that fetches batches, and the information for datasets about their
worker."""

from __future__ import annotations

import collections
import contextlib
import faulthandler
import multiprocessing
import pickle
import random
import signal
import sys
from dataclasses import dataclass, replace
from multiprocessing import reduction
from typing import Any

import numpy as np

import lamella
import lamella.utils.data._utils.arena as arena
import lamella.utils.data._utils.channel as channel
import lamella.utils.data._utils.draws as draws
import lamella.utils.data._utils.errors as errors
import lamella.utils.data._utils.fetch as fetch
import lamella.utils.data._utils.interrupts as interrupts

DATA, ERROR, END = range(3)  # kinds of replies
TABLE, STREAM = range(2)  # kinds of datasets
READY = 2  # index in the shared place: whether the worker handles signals
PLACE_BYTES = 3 * 8
INTERRUPTED = 130  # the exit status after SIGINT


class WorkerInfo:
    """The result of ``get_worker_info()``: ``id``, ``num_workers``, ``seed`` and ``dataset``, this process's copy."""

    id: int
    num_workers: int
    seed: int
    dataset: Any

    def __init__(self, **kwargs: Any):
        self.__dict__.update(kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in vars(self).items())})"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Returns which worker of a DataLoader this process is; None in the main process.

    >>> from lamella.utils.data import get_worker_info
    >>> get_worker_info() is None
    True
    """
    return _worker_info


class Link:
    """The objects that a worker shares with the main process: a channel, the worker's position, a pipe for tracebacks.

    The position is in shared memory: the numbers of the batch and the sample, and whether the worker is ready.
    """

    def __init__(self, end: channel.Channel, place: lamella.Tensor, trace: int):
        self.channel = end
        self.place = place
        self.trace = trace

    def numbers(self) -> Any:
        """Returns the position as a memoryview of three integers."""
        return memoryview(self.place).cast("q")  # type: ignore[arg-type]

    def __reduce__(self) -> Any:
        return _linked, (self.channel, self.place, reduction.DupFd(self.trace))


def _linked(end: channel.Channel, place: lamella.Tensor, trace: Any) -> Link:
    return Link(end, place, trace.detach())


@dataclass
class Epoch:
    """The data of an epoch for a worker."""

    number: int
    base_seed: int
    skip: int = 0  # the number of batches of its stream that were handed out before
    state: Any = None  # the state of its dataset at that point


@dataclass
class Job:
    """The data that all workers of a loader have in common."""

    kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Any
    drop_last: bool
    batch_size: int | None
    worker_init_fn: Any
    num_workers: int
    state: Any = None  # the state of the thread that made the workers, which they run with

    def fetcher(self, state: Any = None) -> Any:
        """Makes a fetcher, from a state of the dataset if there is one."""
        common = (self.dataset, self.auto_collation, self.collate_fn, self.drop_last)
        if self.kind == STREAM:
            return fetch._IterableDatasetFetcher(*common, state=state)
        made = fetch._MapDatasetFetcher(*common)
        if state is not None:
            if not fetch.is_stateful(self.dataset):
                raise ValueError("DataLoader: the state has a state of the dataset, which has no load_state_dict")
            made.load_state_dict(state)
        return made


def _worker_loop(job: Job, link: Link, worker_id: int, base_seed: int) -> None:
    """Runs a worker, from its start to its end."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        interrupts.restore()
        # SIGINT was blocked when the process was started, see pool.py.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if multiprocessing.parent_process() is not None:
            channel.close_inherited(link.channel)
        faulthandler.enable(link.trace)
        faulthandler.register(signal.SIGUSR2, link.trace, all_threads=True)
        place = link.numbers()
        place[READY] = 1
        lamella.set_num_threads(1)
        with job.state if job.state is not None else contextlib.nullcontext():
            _Worker(job, link.channel, fetch.Place(place), worker_id, base_seed).run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


class _Worker:
    def __init__(self, job: Job, end: channel.Channel, place: fetch.Place, worker_id: int, base_seed: int):
        global _worker_info
        seed = base_seed + worker_id
        self.job = job
        self.id = worker_id
        self.channel = end
        self.place = place
        self.arena = arena.current = arena.Arena()
        self.tasks: collections.deque[tuple[int, int, Any]] = collections.deque()
        self.epoch: Epoch | None = None
        self.pending: Epoch | None = None
        self.fetcher: Any = None
        self.draws: Any = None
        self.init_failure: errors.ExceptionWrapper | None = None  # an error of worker_init_fn, which fails each epoch
        self.failure: errors.ExceptionWrapper | None = None  # an error of this epoch
        self.parent = multiprocessing.parent_process()
        random.seed(seed)
        np.random.seed([draws.mixed(seed, 0, k) & 0xFFFFFFFF for k in range(4)])
        self.generator = lamella.manual_seed(seed)
        self.seeded = draws.Seeded()  # those that worker_init_fn has seeded
        _worker_info = WorkerInfo(id=worker_id, num_workers=job.num_workers, seed=seed, dataset=job.dataset)
        try:
            if job.worker_init_fn is not None:
                with self.seeded.watching():
                    job.worker_init_fn(worker_id)
        except Exception as error:
            self.init_failure = self._wrapped(error, " in worker_init_fn")

    def run(self) -> None:
        while self._listen(wait=not self.tasks):
            if not self.tasks:
                continue
            epoch, index, where = self.tasks.popleft()
            if self.pending is not None:
                self._begin(self.pending)
                self.pending = None
            self._send(epoch, index, *self._fetch(index, where))

    def _listen(self, wait: bool = True) -> bool:
        """Takes the next messages; returns False if the main process, or its loader, has ended."""
        if self.channel.ended:
            return False
        frames = self.channel.receive()
        if not frames and not self.channel.ended and wait:
            others = [self.parent.sentinel] if self.parent is not None else []
            self.channel.wait(others)
            frames = self.channel.receive()
            if not frames and self.parent is not None and not self.parent.is_alive():
                return False
        if self.channel.ended:  # the results of queued tasks would not be read
            return False
        for frame in frames:
            epoch, task, returned = pickle.loads(frame)
            self.arena.returned(returned)
            if epoch is not None:
                self.pending = epoch
                self.tasks.clear()
            if task is not None:
                self.tasks.append(task)
        return True

    def _begin(self, epoch: Epoch) -> None:
        """Makes the fetcher of a new epoch, at the point from which it continues."""
        self.epoch = epoch
        stream = self.id + draws.FIRST_WORKER if self.job.kind == STREAM else draws.TABLE
        self.draws = draws.Draws(epoch.base_seed, stream, self.generator, replace(self.seeded))
        self.count = 0
        self.failure = self.init_failure
        if self.failure is not None:
            return
        try:
            with self.draws.batch(-1):
                self.fetcher = self.job.fetcher(epoch.state)
            self.count = epoch.skip
            if self.job.kind == STREAM and epoch.state is None:
                for k in range(epoch.skip):
                    with self.draws.batch(k):
                        self.fetcher.skip(self._wanted())
            self.fetcher.place = self.place
        except Exception as error:
            self.failure = self._wrapped(error, " at the beginning of the epoch")

    def _wanted(self) -> Any:
        return [None] * self.job.batch_size if self.job.batch_size is not None else None

    def _fetch(self, index: int, where: Any) -> tuple[int, Any]:
        """Returns the kind of the reply, and its content."""
        if self.failure is not None:
            failure, self.fetcher = self.failure, None
            if self.job.kind == STREAM:
                self.failure = None  # the next reply ends the stream
            return ERROR, failure
        if self.fetcher is None:
            return END, None
        stream = self.job.kind == STREAM
        self.place.numbers[0], self.place.numbers[1] = index, fetch.ALL
        try:
            with self.draws.batch(self.count if stream else index, not self.fetcher.draws_nothing):
                data = self.fetcher.fetch(self._wanted() if stream else where)
        except Exception as error:
            if stream and isinstance(error, StopIteration):
                return END, None
            return ERROR, self._wrapped(error, f", {fetch.describe(self.place.numbers, where)}")
        finally:
            self.count += 1
        return DATA, data

    def _wrapped(self, error: Exception, where: str) -> errors.ExceptionWrapper:
        return errors.ExceptionWrapper(error, f"in DataLoader worker process {self.id}{where}")

    def _send(self, epoch: int, index: int, kind: int, content: Any) -> None:
        try:
            state = self.fetcher.state_dict() if kind == DATA else None
            saved = pickle.dumps(state) if state is not None else None
            body, buffers = self.arena.dumps(content)
        except Exception as error:
            if isinstance(content, errors.ExceptionWrapper):  # its type cannot be pickled
                content.where += f" ({content.exc_type.__name__} could not be sent)"
                content.exc_type = RuntimeError
            else:
                content = self._wrapped(error, f", sending batch {index}")
            kind, saved = ERROR, None
            body, buffers = self.arena.dumps(content)
        del content
        sizes, descriptors = self.arena.news()
        self.channel.send(pickle.dumps((epoch, index, kind, sizes, saved, buffers, body), 5), descriptors)
        while self.channel.leaving and not self.channel.ended:
            if not self._listen():
                self.channel.ended = True
                self.channel.leaving.clear()
