"""Memory moves into shared memory while other threads work: no thread reads freed memory, and no write is lost."""

import contextlib
import gc
import os
import signal
import sys
import threading
import warnings

import lamella
import lamella.multiprocessing as mp
import pytest
from lamella import _C
from threads import in_threads

BOUND = 50


class Waiting:
    """Runs a backward in another thread; one of its steps reads a saved tensor, and waits for the block's end."""

    def __enter__(self):
        self.inside, self.go = threading.Event(), threading.Event()

        def unpack(saved):
            self.inside.set()
            self.go.wait(BOUND)
            return saved

        with lamella.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), unpack):
            y = lamella.ones(3, requires_grad=True).exp()
        self.thread = threading.Thread(target=y.sum().backward)
        self.thread.start()
        assert self.inside.wait(BOUND)
        return self

    def __exit__(self, *_):
        self.go.set()
        self.thread.join(BOUND)
        assert not self.thread.is_alive()


def test_a_kernel_that_runs_keeps_its_memory():
    for _ in range(3):
        x, out, started = lamella.ones(1500, 1500), [], threading.Event()
        thread = threading.Thread(target=lambda x=x, out=out, s=started: (s.set(), out.append(x @ x)))
        thread.start()
        assert started.wait(BOUND)
        threading.Event().wait(0.01)  # by then the thread should be in the kernel
        x.share_memory_()
        other = lamella.zeros(1500, 1500)  # this would reuse the memory if it were freed
        thread.join(BOUND)
        assert x.is_shared() and (out[0] == 1500).all() and not other.any()


@pytest.mark.parametrize("how", ["share_memory_", "queue"])
def test_writes_are_not_lost(how):
    queue = mp.Queue()
    for _ in range(4):
        x, stop = lamella.zeros(1500, 1500), threading.Event()
        counts = []

        def write(x=x, stop=stop, counts=counts):
            n = 0
            while not stop.is_set():
                x += 1
                n += 1
            counts.append(n)

        thread = threading.Thread(target=write)
        thread.start()
        if how == "queue":
            queue.put(x)
            got = queue.get(timeout=BOUND)
        else:
            got = x.share_memory_()
        stop.set()
        thread.join(BOUND)
        assert x.is_shared() and (x == counts[0]).all() and (got == counts[0]).all()
    queue.close()
    queue.join_thread()


def test_a_save_that_runs_writes_what_was_there(tmp_path):
    for n in range(3):
        x, path = lamella.ones(8_000_000), tmp_path / str(n)
        thread = threading.Thread(target=lamella.save, args=(x, path), kwargs={"durable": False})
        thread.start()
        threading.Event().wait(0.004)
        x.share_memory_()
        other = lamella.zeros(8_000_000)
        thread.join(BOUND)
        assert (lamella.load(path) == 1).all() and not other.any()


def test_work_that_does_not_end():
    t = lamella.ones(3)
    with Waiting():
        with pytest.raises(TimeoutError, match="other threads have worked on tensors for 0 seconds"):
            _C._share_memory(t, 0.05)
        assert not t.is_shared()
        done = []
        other = threading.Thread(target=lambda: done.append(t.share_memory_().is_shared()))
        other.start()
        big = lamella.ones(300, 300)  # calls go on while the other thread waits
        assert (big @ big).sum().item() == 300**3
    other.join(BOUND)
    assert done == [True] and t.tolist() == [1, 1, 1]


def test_a_hook_moves_memory_in_its_own_backward():
    t = lamella.ones(3)
    x = lamella.ones(3, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: t.share_memory_() * g)
    y.sum().backward()
    assert t.is_shared() and x.grad.tolist() == [2, 2, 2]


def test_hooks_of_two_backwards_move_memory():
    tensors, both = [lamella.ones(3), lamella.ones(3)], threading.Barrier(2)

    def backward(t):
        def hook(gradient):
            both.wait(BOUND)
            _C._share_memory(t, BOUND)
            both.wait(BOUND)

        y = lamella.ones(3, requires_grad=True) * 2
        y.register_hook(hook)
        y.sum().backward()

    in_threads(*[lambda t=t: backward(t) for t in tensors])
    assert not both.broken and all(t.is_shared() for t in tensors)


class Joins(lamella.autograd.Function):
    """A function whose backward waits for a thread that moves memory."""

    @staticmethod
    def forward(ctx, x, moved):
        ctx.moved = moved
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        in_threads(lambda: _C._share_memory(ctx.moved, BOUND))
        assert ctx.moved.is_shared()
        return gradient * 2, None


def test_a_backward_waits_for_a_thread_that_moves_memory():
    x = lamella.ones(3, requires_grad=True)
    Joins.apply(x, lamella.ones(3)).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_an_interrupted_wait_leaves_nothing():
    t = lamella.ones(3)
    with Waiting():
        timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            _C._share_memory(t, BOUND)
        timer.join(BOUND)
        big = lamella.ones(300, 300)
        assert (big @ big).sum().item() == 300**3
    assert not t.is_shared() and t.share_memory_().is_shared()


def move(pipe):
    pipe.send(lamella.ones(3).share_memory_().is_shared())


def test_a_child_has_none_of_its_parents_work():
    here, there = mp.Pipe()
    with Waiting(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a warning of forking with threads
        child = mp.get_context("fork").Process(target=move, args=(there,))
        child.start()
        try:
            assert here.poll(BOUND) and here.recv()
            child.join(BOUND)
        finally:
            child.kill()


def test_a_list_is_made_of_memory_that_stays():
    t, seen = lamella.ones(200, 40), []

    def collected(phase, info):  # Python 3.11 may call this while a list is made
        seen.append(None)
        if len(seen) == 7:
            with contextlib.suppress(RuntimeError):
                t.share_memory_()
            seen.extend(lamella.full((200, 40), 7.0) for _ in range(5))  # these would reuse freed memory

    threshold = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(20)
    try:
        made = t.tolist()
    finally:
        gc.callbacks.remove(collected)
        gc.set_threshold(*threshold)
    assert made == [[1.0] * 40] * 200 and (len(seen) > 7 or sys.version_info >= (3, 12))


def test_a_failed_write_ends_its_work():
    fd = os.open("/dev/full", os.O_WRONLY)
    try:
        writer = _C._ArchiveWriter(fd)
        with pytest.raises(OSError, match="No space left"):
            writer.add("a", lamella.ones(1_000_000))
    finally:
        os.close(fd)
    _C._share_memory(lamella.ones(2), 0.0)
