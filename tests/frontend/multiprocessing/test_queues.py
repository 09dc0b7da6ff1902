"""Queues put synchronously: when put() returns, tensors are shared, and errors are raised there."""

import pickle
import queue as standard

import lamella
import lamella.multiprocessing as mp
import pytest
from lamella.multiprocessing import reductions

BOUND = 50
WAYS = ["fork", "spawn", "forkserver"]


def closed(queue):
    queue.close()
    queue.join_thread()


@pytest.mark.parametrize("kind", ["Queue", "JoinableQueue"])
def test_memory_is_shared_when_put_returns(kind):
    queue, t = getattr(mp, kind)(), lamella.zeros(20_000)
    for n in range(5):
        queue.put([t, {"n": n}])
        assert t.is_shared()
        t.numpy()[n] = 1  # from now on share_memory_() could not move it
    for n in range(5):
        got, more = queue.get(timeout=BOUND)
        assert got.sum().item() == 5 and got.data_ptr() == t.data_ptr() and more == {"n": n}
    if kind == "JoinableQueue":
        for _ in range(5):
            queue.task_done()
        queue.join()
    closed(queue)


def test_what_cannot_be_sent_raises_in_put():
    queue = mp.Queue(1)
    with pytest.raises(RuntimeError, match="no leaf"):
        queue.put(lamella.ones(2, requires_grad=True) * 2)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        queue.put([lamella.ones(20_000), lambda: 1])
    assert not reductions.resource_sharer._resource_sharer._cache
    queue.put(lamella.ones(1))
    assert len(reductions.resource_sharer._resource_sharer._cache) == 1
    with pytest.raises(standard.Full):
        queue.put(lamella.ones(20_000), timeout=0.01)
    assert len(reductions.resource_sharer._resource_sharer._cache) == 1
    assert queue.get(timeout=BOUND).item() == 1
    closed(queue)
    with pytest.raises(ValueError, match="closed"):
        queue.put(lamella.ones(20_000))
    assert not reductions.resource_sharer._resource_sharer._cache


def add(inbox, outbox):
    t = inbox.get(timeout=BOUND)
    t += 1
    outbox.put((t, lamella.ones(3)))
    inbox.get(timeout=BOUND)


@pytest.mark.parametrize("way", WAYS)
def test_contexts(way):
    context = mp.get_context(way)
    assert context.get_start_method() == way and context.get_context() is context
    inbox, outbox = context.Queue(), context.Queue()
    child = context.Process(target=add, args=(inbox, outbox))
    child.start()
    try:
        t = lamella.zeros(20_000)
        inbox.put(t)
        back, other = outbox.get(timeout=BOUND)
        assert (t == 1).all() and back.data_ptr() == t.data_ptr() and other.is_shared()
        inbox.put("done")
        child.join(BOUND)
        assert child.exitcode == 0
    finally:
        child.kill()
    closed(inbox)
    with pytest.raises(ValueError, match="nothing"):
        mp.get_context("nothing")
