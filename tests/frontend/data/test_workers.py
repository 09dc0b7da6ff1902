"""Workers: their memory, results that do not depend on their number, epochs, start methods, pinning."""

import gc
import itertools
import os
import runpy
import signal
import threading
import time
from pathlib import Path

import lamella
import numpy as np
import pytest
from lamella.utils.data import DataLoader, TensorDataset, get_worker_info
from lamella.utils.data._utils import arena
from lamella.utils.data._utils.pin_memory import PinThread
from loaders import Drawn, Stream, plain

pytestmark = pytest.mark.usefixtures("nothing_left")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def epochs(workers, count=2, **options):
    lamella.manual_seed(11)
    loader = DataLoader(Drawn(), 4, shuffle=True, num_workers=workers, **options)
    return [plain(loader) for _ in range(count)]


def test_the_number_of_workers_changes_nothing():
    wanted = epochs(0)
    assert wanted[0] != wanted[1]
    assert epochs(1) == wanted
    assert epochs(2, persistent_workers=True, prefetch_factor=3) == wanted


@pytest.mark.long
def test_spawned_workers_do_the_same():
    assert epochs(1, multiprocessing_context="spawn") == epochs(0)


def test_workers_of_a_fork_server_get_tensors():
    dataset = TensorDataset(lamella.arange(6), lamella.eye(6))
    loader = DataLoader(dataset, 4, num_workers=1, multiprocessing_context="forkserver")
    assert plain(loader) == plain(DataLoader(dataset, 4))


def test_out_of_order():
    batches = plain(DataLoader(range(40), 3, num_workers=2, in_order=False))
    assert sorted(batches) == plain(DataLoader(range(40), 3))


def test_streams_are_dealt_out():
    lamella.manual_seed(3)
    loader = DataLoader(Stream(11), 2, num_workers=2)
    batches = plain(loader)
    assert [b[0] for b in batches] == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]]
    lamella.manual_seed(3)
    assert plain(loader) == batches


class Kinds:
    """Samples of every type that a worker passes on."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        base = lamella.arange(6.0).view(2, 3) + index
        shared = base * 2
        wide = np.full(3000, index)
        return [base, base.T, base[:, 1:], shared, shared[0], base.to(lamella.bfloat16), lamella.ones(0, 3), wide]


def as_they_are(batch):
    return [*batch, lamella.nn.Parameter(lamella.ones(2)), {"text": "x" * 100_000}, base_and_views()]


def base_and_views():
    base = lamella.arange(5)
    return [base, base[1:], base, base.view(5, 1)]


@pytest.mark.long
def test_kinds_of_content():
    workers = DataLoader(Kinds(), None, num_workers=1, collate_fn=as_they_are)
    for got, wanted in zip(workers, DataLoader(Kinds(), None, collate_fn=as_they_are), strict=True):
        for a, b in zip(got[:8], wanted[:8], strict=True):
            assert type(a) is type(b) and a.dtype == b.dtype and tuple(a.shape) == tuple(b.shape)
            assert (a == b).all()
        assert isinstance(got[8], lamella.nn.Parameter) and got[8].requires_grad
        assert got[9] == wanted[9]
        base, part, same, column = got[10]
        base[1] = 50
        assert same is base and part.tolist() == [50, 2, 3, 4] == column.flatten().tolist()[1:]
        got[7][0] = 9  # numpy arrays are writable


@pytest.mark.long
def test_batches_that_are_kept_stay():
    dataset = TensorDataset(lamella.arange(4000.0).view(200, 20))
    kept, taken = [], []
    for k, (batch,) in enumerate(DataLoader(dataset, 5, num_workers=2)):
        (kept if k % 3 else taken).append(batch if k % 3 else None)
    rows = [r for k, r in enumerate(dataset.tensors[0].split(5)) if k % 3]
    assert all(lamella.equal(a, b) for a, b in zip(kept, rows, strict=True))
    view = kept[0][1:].numpy()
    del kept, batch
    gc.collect()
    assert np.array_equal(view, rows[0][1:].numpy())


@pytest.mark.long
def test_windows_come_back():
    room = arena.Arena()
    tenant = arena.Tenant()
    for _ in range(200):
        made = room.empty((1000,), lamella.float64, 8000)
        made.fill_(3.0)
        body, buffers = room.dumps([made, made[10:], np.ones(5000)])
        del made
        tenant.add(*[list(part) for part in (lambda news: (news[0], [os.dup(fd) for fd in news[1]]))(room.news())])
        first, part, array = tenant.loads(body, buffers)
        assert part.data_ptr() == first.data_ptr() + 80 and array.sum() == 5000 and (part == 3).all()
        view, row = array[1:], part[1:].numpy()
        del first, part, array
        assert tenant.watcher.take() == [] and view.sum() == 4999 and row[0] == 3
        del view, row
        room.returned(tenant.watcher.take())
    assert len(room.segments) == 1 and not tenant.watcher.watches
    room._release(room.watcher.take())
    assert not room.windows and not room.by_address
    assert room.segments[0].spans == [(0, room.segments[0].size)]


def test_worker_info_and_init_fn():
    def init(number):
        assert get_worker_info().id == number and get_worker_info().num_workers == 2
        with pytest.raises(RuntimeError, match="assign"):
            get_worker_info().id = 5
        get_worker_info().dataset.append(100 + number)

    class Told(list):
        def __getitem__(self, index):
            return self[-1] if index != -1 else super().__getitem__(index)

    batches = plain(DataLoader(Told([0, 1, 2, 3]), 1, num_workers=2, worker_init_fn=init))
    assert batches == [[100], [101], [100], [101]]
    assert get_worker_info() is None


def test_init_fn_that_seeds_and_one_that_fails():
    loader = DataLoader(Drawn(4), 2, num_workers=1, worker_init_fn=lambda number: lamella.manual_seed(5))
    with lamella.random.fork_rng():
        lamella.manual_seed(5)
        wanted = [lamella.rand(2).tolist() for _ in range(4)]
    assert sum([b["drawn"] for b in plain(loader)], []) == wanted

    def fail(number):
        raise OSError("no disk")

    with pytest.raises(OSError, match="process 0 in worker_init_fn(.|\n)*no disk"):
        list(DataLoader(Drawn(4), 2, num_workers=1, worker_init_fn=fail))


@pytest.mark.long
def test_persistent_workers_live_on_and_start_anew():
    loader = DataLoader(range(60), 2, num_workers=2, persistent_workers=True)
    batches = iter(loader)
    pids = {w.pid for w in batches._workers}
    assert plain(itertools.islice(batches, 3)) == [[0, 1], [2, 3], [4, 5]]
    assert plain(loader) == plain(DataLoader(range(60), 2))  # ends the first epoch in the middle
    assert {w.pid for w in loader._iterator._workers} == pids
    os.kill(min(pids), signal.SIGKILL)
    with pytest.raises(RuntimeError, match="SIGKILL"):
        list(loader)
    assert plain(loader) == plain(DataLoader(range(60), 2))
    del loader, batches


def test_large_tasks_and_replies_pass_each_other():
    wide = DataLoader(
        range(10**6), batch_sampler=[list(range(60_000))] * 6, num_workers=1, prefetch_factor=6, collate_fn=list
    )
    assert [len(b) for b in wide] == [60_000] * 6


def test_fork_while_threads_run():
    stop = threading.Event()

    def work():
        while not stop.is_set():
            (lamella.ones(64, 64) @ lamella.ones(64, 64)).sum()
            time.sleep(0)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    try:
        assert plain(DataLoader(Threads(), 1, num_workers=2)) == [[1]] * 4
    finally:
        stop.set()
        for t in threads:
            t.join(20)


class Threads:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        assert (lamella.ones(200, 200) @ lamella.ones(200, 200)).sum() == 200**3
        return lamella.get_num_threads()


def test_a_thread_that_pins():
    batches = iter(DataLoader(range(20), 2, num_workers=2))
    batches._start_pinning(lambda data: ("pinned", data))
    marks = list(batches)
    assert [m[0] for m in marks] == ["pinned"] * 10 and plain(m[1] for m in marks) == plain(DataLoader(range(20), 2))
    del batches


def test_a_thread_that_pins_ends_wherever_it_waits():
    batches = iter(DataLoader(Sleepy(), 1, num_workers=1))
    batches._start_pinning(lambda data: data)
    thread = batches._pinning
    batches._pool.workers[0].late = True
    del batches
    gc.collect()
    assert not thread.thread.is_alive()
    full = PinThread(lambda: (1, ()), 1, pin=lambda data: data)
    full.start()
    full.stop()
    full.close()
    assert not full.thread.is_alive()


class Sleepy:
    def __len__(self):
        return 3

    def __getitem__(self, index):
        time.sleep(1000)


def test_the_example_of_transforms():
    example = runpy.run_path(str(EXAMPLES / "transforms.py"))
    losses = example["train"](2, 2)
    assert losses == example["train"](0, 2) and losses[-1] < 0.7 * losses[0]


def seeded(worker):
    lamella.manual_seed(5 + worker)


def test_workers_that_stay_go_on_with_a_seed_of_their_own():
    loader = DataLoader(Drawn(4), num_workers=1, persistent_workers=True, worker_init_fn=seeded)
    first, second = ([batch["drawn"].tolist() for batch in loader] for _ in range(2))
    lamella.manual_seed(5)
    assert first + second == [lamella.rand(1, 2).tolist() for _ in range(8)]


def broken(worker):
    raise OSError("no disk")


def test_workers_that_stay_fail_in_each_epoch():
    loader = DataLoader(Stream(4), num_workers=1, persistent_workers=True, worker_init_fn=broken)
    for _ in range(2):
        with pytest.raises(OSError, match="no disk"):
            list(loader)
