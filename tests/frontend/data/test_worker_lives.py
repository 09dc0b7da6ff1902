"""The lives of workers: interrupts while they start and end, workers that hang or start slowly, threads that share."""

import gc
import itertools
import os
import signal
import time

import lamella
import pytest
from lamella.utils.data import DataLoader, IterableDataset
from lamella.utils.data._utils import arena, channel, pool
from loaders import Faulty, plain
from threads import in_threads

pytestmark = pytest.mark.usefixtures("nothing_left")


def interrupting(monkeypatch, owner, name, call=1):
    """Makes the function raise SIGINT at the end of one call."""
    function, calls = getattr(owner, name), itertools.count(1)

    def then_interrupted(*args, **kwargs):
        result = function(*args, **kwargs)
        if next(calls) == call:
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(owner, name, staticmethod(then_interrupted) if name == "pair" else then_interrupted)


@pytest.mark.parametrize("call", [1, 2])
@pytest.mark.parametrize(
    "owner, name",
    [(channel.Channel, "pair"), (os, "pipe"), (pool.signal, "pthread_sigmask")],
    ids=["pair", "pipe", "sigmask"],
)
def test_an_interrupt_while_workers_start(monkeypatch, owner, name, call):
    interrupting(monkeypatch, owner, name, call)
    with pytest.raises(KeyboardInterrupt):
        iter(DataLoader(range(8), num_workers=2))
    monkeypatch.undo()
    assert len(list(DataLoader(range(8), num_workers=2))) == 8


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_interrupt_when_a_worker_has_started(monkeypatch, method):
    from multiprocessing.process import BaseProcess

    interrupting(monkeypatch, BaseProcess, "start")
    with pytest.raises(KeyboardInterrupt):
        iter(DataLoader(range(8), num_workers=2, multiprocessing_context=method))


@pytest.mark.parametrize("name", ["pipe", "set_blocking"])
def test_a_worker_that_cannot_start(monkeypatch, name):
    function, calls = getattr(os, name), itertools.count()

    def fails(*args):
        if next(calls) == 1:
            raise OSError(24, "Too many open files")
        return function(*args)

    monkeypatch.setattr(os, name, fails)
    with pytest.raises(OSError, match="Too many open files"):
        iter(DataLoader(range(8), num_workers=2))


class Sleepy:
    def __init__(self, seconds=1000.0, size=100):
        self.seconds, self.size = seconds, size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return index


def test_an_interrupt_while_workers_end(monkeypatch):
    batches = iter(DataLoader(Sleepy(), num_workers=2))
    processes = batches._workers
    pids = [p.pid for p in processes]
    interrupting(monkeypatch, pool.Worker, "wait")
    batches._pool.workers[-1].late = True  # so that the pool waits only briefly at first
    with pytest.raises(KeyboardInterrupt):
        batches._shutdown_workers()
    assert all(not os.path.exists(f"/proc/{pid}") for pid in pids)


def test_an_interrupt_while_a_batch_is_waited_for_after_a_timeout(monkeypatch):
    batches = iter(DataLoader(Sleepy(), num_workers=1, timeout=0.2))
    with pytest.raises(RuntimeError, match="timed out"):
        next(batches)
    assert batches._pool is not None  # the program may wait again
    interrupting(monkeypatch, pool.Pool, "_poll")
    with pytest.raises(KeyboardInterrupt):
        next(batches)
    assert batches._pool is None


def on_interrupt(*_):
    raise KeyboardInterrupt


class Handler:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return signal.getsignal(signal.SIGINT).__name__


def test_a_worker_has_the_handler_of_the_program():
    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        assert list(DataLoader(Handler(), None, num_workers=1)) == ["on_interrupt"] * 2
        assert signal.getsignal(signal.SIGINT) is on_interrupt
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert len(list(DataLoader(range(3), num_workers=1))) == 3
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


class HangsOnce:
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 2 and not self.path.exists():
            self.path.touch()
            time.sleep(1000)
        return index


@pytest.mark.parametrize("pin", [False, True])
def test_a_worker_that_hung_is_replaced_in_the_next_epoch(tmp_path, pin):
    loader = DataLoader(HangsOnce(tmp_path / "hung"), 2, num_workers=2, persistent_workers=True, timeout=1)
    batches = iter(loader)
    if pin:
        batches._start_pinning(lambda data: data)
    assert next(batches).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match=r"timed out after 1 seconds: worker 1 .*at sample 2"):
        next(batches)
    if pin:
        with pytest.raises(RuntimeError, match="the pinning thread has ended"):
            next(batches)
    first = {w.pid for w in batches._workers}
    assert plain(loader) == [[0, 1], [2, 3]] == plain(loader)
    assert not first & {w.pid for w in loader._iterator._workers}
    del batches, loader


class SlowToUnpickle:
    def __init__(self):
        self.ready = False

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return index

    def __setstate__(self, state):
        time.sleep(2)


def test_a_timeout_while_a_spawned_worker_starts_does_not_end_it():
    batches = iter(DataLoader(SlowToUnpickle(), 2, num_workers=1, timeout=0.2, multiprocessing_context="spawn"))
    texts = []
    for _ in range(200):
        try:
            got = next(batches)
            break
        except RuntimeError as error:
            texts.append(str(error))
    assert got.tolist() == [0, 1]
    assert "is still starting" in texts[0] and not any("exited" in text for text in texts)
    del batches


def test_errors_that_are_handled_keep_no_workers():
    import multiprocessing

    gc.collect()
    gc.disable()
    try:
        for pin in (False, True):
            batches = iter(DataLoader(Faulty("KeyError"), 2, num_workers=2))
            if pin:
                batches._start_pinning(lambda data: data)
            with pytest.raises(KeyError):
                list(batches)
            del batches
            assert multiprocessing.active_children() == []
    finally:
        gc.enable()


class Numbers(IterableDataset):
    def __iter__(self):
        return iter(range(60))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("dataset", [range(60), Numbers()], ids=["table", "stream"])
def test_threads_that_share_an_iterator(dataset, workers):
    batches = iter(DataLoader(dataset, 2, num_workers=workers))
    found = []

    def take():
        for batch in batches:
            found.extend(batch.tolist())
            time.sleep(0)

    in_threads(*[take] * 4)
    assert sorted(found) == sorted([*range(60)] * (2 if workers and isinstance(dataset, Numbers) else 1))


def test_tasks_of_a_loader_that_was_left_are_not_worked_off():
    batches = iter(DataLoader(Sleepy(0.1), num_workers=1, prefetch_factor=50))
    next(batches)
    place = batches._pool.workers[0].place
    del batches
    assert place[0] <= 20


def test_a_tensor_with_a_history_is_refused():
    class History:
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return lamella.ones(2, requires_grad=True) * 2

    assert next(iter(DataLoader(History(), None))).requires_grad
    for kind in (None, 1):
        with pytest.raises(RuntimeError, match=r"is no leaf(.|\n)*detach\(\)"):
            list(DataLoader(History(), kind, num_workers=1))


TABLE = lamella.arange(60.0).view(20, 3)
WIDE = lamella.arange(1000.0).view(20, 50)


class Views:
    """Overlapping rows, columns, views of other dtypes: some share memory, for others that is not worth it."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        words = lamella.arange(16, dtype=lamella.int32)
        return {
            "rows": (TABLE[2:5], TABLE[4:7]),
            "columns": (WIDE[:, 0], WIDE[:, 1]),
            "same": (TABLE[9], TABLE[9]),
            "dtypes": (words[1:9].view(lamella.uint8)[2:], words[3:]),
            "alone": TABLE[19],
        }


def test_views_in_a_batch():
    for batch in DataLoader(Views(), None, num_workers=1, collate_fn=lambda sample: sample):
        wanted = Views()[0]
        for name in ("rows", "columns", "same", "dtypes"):
            assert all(lamella.equal(a, b) for a, b in zip(batch[name], wanted[name], strict=True)), name
        assert lamella.equal(batch["alone"], TABLE[19])
        first, second = batch["rows"]
        first[2] = -1
        assert second[0].tolist() == [-1] * 3
        same, again = batch["same"]
        same.zero_()
        assert again.tolist() == [0] * 3
        bytes_, words = batch["dtypes"]
        bytes_[6:10] = 255
        assert words[0] == -1
        left, right = batch["columns"]
        left.zero_()
        assert right.tolist() == WIDE[:, 1].tolist()
    room = arena.Arena()
    body, buffers = room.dumps([TABLE[2:5], TABLE[4:7], WIDE[:, 0], WIDE[:, 2]])
    assert sum(w.nbytes for w in room.windows.values()) == 128 + 2 * 128 and not buffers


def test_large_numbers_are_no_batch():
    from lamella.utils.data import default_collate

    with pytest.raises(RuntimeError, match="9223372036854775808 does not fit dtype int64"):
        default_collate([2**63] * 2)
    assert default_collate([True, False]).dtype is lamella.bool
