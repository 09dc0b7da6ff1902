"""Tensors sent between processes: by queues, pipes and arguments, with each start method."""

import gc
import importlib.util
import os
import pathlib
import pickle
import resource
import signal
import threading
import warnings

import lamella
import lamella.multiprocessing as mp
import pytest
from children import holders
from lamella import _C, nn

WAYS = ["fork", "spawn", "forkserver"]
BOUND = 50


class Run:
    """Starts a child, and ends it in any case."""

    def __init__(self, way, target, *args):
        self.process = mp.get_context(way).Process(target=target, args=args)

    def __enter__(self):
        self.process.start()
        return self.process

    def __exit__(self, *_):
        self.process.join(BOUND)
        alive = self.process.is_alive()
        self.process.kill()
        self.process.join(BOUND)
        assert not alive, "the child did not end"


def answer(pipe, base, view, parameter):
    same = view.untyped_storage() is base.untyped_storage()
    view += 10
    received = pipe.recv()
    received[0] = 42
    kind = type(parameter).__name__
    pipe.send((same, base.tolist(), parameter.requires_grad, kind, parameter.is_leaf, received))
    assert pipe.recv() == "done"


@pytest.mark.parametrize("way", WAYS)
def test_both_sides_see_writes(way):
    base, parameter, other = lamella.arange(4.0), nn.Parameter(lamella.ones(2)), lamella.zeros(20_000)
    view = base[2:]
    base.share_memory_()
    here, there = mp.Pipe()
    with Run(way, answer, there, base, view, parameter):
        there.close()
        here.send(other)
        assert here.poll(BOUND)
        same, values, wants, kind, leaf, back = here.recv()
        here.send("done")
    assert same and values == [0, 1, 12, 13] == base.tolist() and view.tolist() == [12, 13]
    assert wants and leaf and kind == "Parameter" and other[0].item() == 42
    assert back.data_ptr() == other.data_ptr()


def make(pipe):
    pipe.send([nn.Parameter(lamella.ones(2)), lamella.zeros(20_000)])
    assert pipe.recv() == "done"


@pytest.mark.parametrize("way", WAYS)
def test_what_a_fresh_process_sends_is_shared(way):
    import multiprocessing  # like a program whose child processes alone import lamella

    here, there = mp.Pipe()
    child = multiprocessing.get_context(way).Process(target=make, args=(there,))
    child.start()
    try:
        assert here.poll(BOUND)
        assert all(t.is_shared() for t in here.recv())
        here.send("done")
        child.join(BOUND)
    finally:
        child.kill()


def square(t):
    return t * t


def test_pools_and_queues():
    with mp.get_context("fork").Pool(2) as pool:
        made = pool.map_async(square, [lamella.full((3,), float(i)) for i in range(8)]).get(BOUND)
    assert [t[0].item() for t in made] == [i * i for i in range(8)] and all(t.is_shared() for t in made)
    queue = mp.Queue()
    queue.put({"a": lamella.ones(2), "meta": lamella.ones(3, device="meta"), "empty": lamella.ones(0, 2)})
    got = queue.get(timeout=BOUND)
    assert got["a"].tolist() == [1, 1] and got["meta"].shape == (3,) and got["empty"].shape == (0, 2)
    queue.close()
    queue.join_thread()


def test_what_is_refused():
    from multiprocessing.reduction import ForkingPickler

    with pytest.raises(RuntimeError, match="no leaf"):
        ForkingPickler.dumps(lamella.ones(2, requires_grad=True) * 2)
    with pytest.raises(ValueError, match="files"):
        mp.set_sharing_strategy("files")
    with pytest.warns(RuntimeWarning, match="stays 'file_descriptor'"):
        mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises(ValueError, match="start_processes"):
        mp.spawn(print, start_method="fork")
    with pytest.raises(AttributeError, match="nothing_here"):
        mp.nothing_here  # noqa: B018
    assert mp.connection.wait and mp.get_start_method(allow_none=True) in (None, *WAYS)


def test_memory_that_cannot_move_is_copied():
    t = lamella.ones(3)
    array = t.numpy()
    queue = mp.SimpleQueue()
    with pytest.warns(RuntimeWarning, match="as a copy"):
        queue.put(t)
    assert queue.get().tolist() == [1, 1, 1] and not t.is_shared() and array[0] == 1


def send_and_die(pipe):
    pipe.send(lamella.ones(50_000))
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_dead_sender():
    here, there = mp.Pipe()
    with Run("fork", send_and_die, there) as child:
        there.close()
        child.join(BOUND)
        assert child.exitcode == -signal.SIGKILL
        with pytest.raises(ConnectionError, match="has ended"):
            here.recv()


def keep(pipe):
    kept = pipe.recv()
    pipe.send(kept.shape)
    threading.Event().wait(BOUND)


def test_a_killed_receiver_leaves_the_memory_to_the_sender():
    t = lamella.ones(50_000)
    here, there = mp.Pipe()
    with Run("fork", keep, there) as child:
        here.send(t)
        assert here.poll(BOUND) and here.recv() == (50_000,)
        inode = os.fstat(_C._shared_fd(t)).st_ino
        assert holders(inode) == {os.getpid(), child.pid}
        child.kill()
        child.join(BOUND)
        assert holders(inode) == {os.getpid()}
    assert t.sum().item() == 50_000
    del t
    gc.collect()
    assert holders(inode) == set()


def many(pipe):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, limit))
    total = 0
    for _ in range(100):
        total += pipe.recv()[0].item()
    total += sum(t[0].item() for t in pipe.recv())
    pipe.send(total)


def test_many_tensors_need_few_files():
    here, there = mp.Pipe()
    with Run("fork", many, there):
        opened = len(os.listdir("/proc/self/fd"))
        for _ in range(100):
            here.send(lamella.ones(5_000))
        small = [lamella.ones(5) for _ in range(1000)]
        here.send(small)
        assert here.poll(BOUND) and here.recv() == 1100
    assert len(os.listdir("/proc/self/fd")) <= opened + 5


def bad(rank, where):
    if rank == 1 and where == "raise":
        raise ValueError("rank one")
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL) if where == "kill" else os._exit(3)
    threading.Event().wait(BOUND)


@pytest.mark.parametrize("where, name", [("raise", None), ("kill", "SIGKILL"), ("exit", None)])
def test_failures_of_processes(where, name):
    kind = mp.ProcessRaisedException if where == "raise" else mp.ProcessExitedException
    with pytest.raises(kind) as caught:
        mp.start_processes(bad, (where,), nprocs=2, start_method="fork")
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.error_index == 1 and error.error_pid > 0
    if where == "raise":
        assert "ValueError: rank one" in str(error) and "Traceback" in str(error)
    else:
        assert error.signal_name == name and error.exit_code == (3 if where == "exit" else -9)


def count(pipe):
    x = lamella.ones(300, 300, requires_grad=True)
    (x @ x).sum().backward()
    pipe.send(x.grad[0, 0].item())


def test_fork_while_threads_run():
    stop = threading.Event()

    def work():
        while not stop.is_set():
            x = lamella.ones(200, 200, requires_grad=True)
            (x @ x).sum().backward()
            _C._shared_empty(100)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(3):
            here, there = mp.Pipe()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # a warning of forking with threads
                with Run("fork", count, there):
                    assert here.poll(BOUND) and here.recv() == 600
    finally:
        stop.set()
        thread.join(BOUND)


def test_hogwild():
    path = pathlib.Path(__file__).parents[3] / "examples" / "hogwild.py"
    spec = importlib.util.spec_from_file_location("hogwild_example", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    before, after = example.main(processes=2, steps=60, start_method="fork")
    assert after < 0.5 * before


def test_a_file_is_asked_for_once_a_pickle(monkeypatch):
    from multiprocessing.reduction import ForkingPickler

    from lamella.multiprocessing import reductions

    asked = []
    detach = reductions.Way.detach
    monkeypatch.setattr(reductions.Way, "detach", lambda way: asked.append(way.ident) or detach(way))
    small, large = [lamella.full((4,), float(i)) for i in range(200)], lamella.ones(20_000)
    for _ in range(2):
        sent = bytes(ForkingPickler.dumps([*small, large, small[0][1:]]))
        _C._shared_empty(0)
        got = pickle.loads(sent)
        assert [t[0].item() for t in got[:200]] == [t[0].item() for t in small]
        assert got[200].data_ptr() == large.data_ptr() and got[201].data_ptr() == small[0].data_ptr() + 4
    assert 4 <= len(asked) <= 8 and len(set(asked)) == len(asked)  # the small tensors may use two chunks
    with pytest.raises(ConnectionError, match="once already"):
        pickle.loads(sent)


def test_a_file_outlives_its_sender_until_it_is_asked_for():
    from multiprocessing.reduction import ForkingPickler

    first, second = (ForkingPickler.dumps(lamella.full((20_000,), x)) for x in (1.0, 2.0))
    _C._shared_empty(20_000)  # a freed place would be reused here
    assert pickle.loads(second)[-1].item() == 2 and pickle.loads(first)[-1].item() == 1
