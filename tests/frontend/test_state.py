"""The state of a thread, which other threads can use; tensors that take over other memory, or swap."""

import asyncio
import copy
import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import lamella
import pytest
from lamella.autograd import graph
from threads import in_threads


def set_now():
    """Returns the settings of this thread."""
    modes = lamella.is_grad_enabled(), lamella.is_inference_mode_enabled()
    return *modes, str(lamella.get_default_device()), packs()


def packs():
    """Returns how often the thread's saved-tensor hooks pack when one tensor is saved."""
    before = len(packed)
    with lamella.enable_grad():
        lamella.ones(1, device="cpu", requires_grad=True).exp()
    return len(packed) - before


packed = []
PLAIN = (True, False, "cpu", 0)
CHANGED = (False, True, "meta", 1)


@pytest.fixture
def state():
    """Captures a state in which every setting is changed."""
    hooks = graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t)
    with lamella.inference_mode(), hooks:
        lamella.set_default_device("meta")
        captured = lamella.capture_state()
        assert set_now() == CHANGED
        lamella.set_default_device(None)
    packed.clear()
    assert set_now() == PLAIN
    return captured


def in_a_thread(function, *args):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()


def test_a_block_has_the_state_and_the_thread_its_own_again(state):
    for _ in range(3):
        with state:
            assert set_now() == CHANGED
        assert set_now() == PLAIN


def test_another_thread(state):
    assert in_a_thread(set_now) == PLAIN
    assert in_a_thread(state.run, set_now) == CHANGED
    with ThreadPoolExecutor(1) as pool:
        assert [pool.submit(f, *a).result() for f, *a in ((state.run, set_now), (set_now,))] == [CHANGED, PLAIN]


def test_blocks_in_blocks_and_what_a_block_changes(state):
    usual = lamella.capture_state()
    with state:
        with usual:
            assert set_now() == PLAIN
            with state, lamella.enable_grad():
                assert set_now() == (True, True, "meta", 1)
        assert set_now() == CHANGED
        lamella.set_default_device("cpu")
    assert set_now() == PLAIN
    with state:
        assert set_now() == CHANGED  # the state's settings, not the outer block's


def test_an_error_in_a_block(state):
    with pytest.raises(ZeroDivisionError), state:
        raise ZeroDivisionError
    assert set_now() == PLAIN
    with pytest.raises(ZeroDivisionError):
        state.run(lambda: 1 / 0)
    assert set_now() == PLAIN


def test_many_threads_at_once(state):
    barrier, found = threading.Barrier(8, timeout=60), []

    def work(inside):
        for _ in range(20):
            barrier.wait()
            found.append(state.run(set_now)[:3] == CHANGED[:3] if inside else set_now()[:3] == PLAIN[:3])

    in_threads(*[lambda i=i: work(i % 2) for i in range(8)])
    assert len(found) == 160 and all(found)


def test_tasks_that_take_turns(state):
    async def look(times):
        found = []
        for _ in range(times):
            found.append(set_now())
            await asyncio.sleep(0)
        lamella.set_default_device("meta")
        await asyncio.sleep(0)
        found.append(str(lamella.get_default_device()))
        lamella.set_default_device(None)
        return found

    async def fails():
        await asyncio.sleep(0)
        raise ZeroDivisionError

    async def main():
        usual = lamella.capture_state()
        mine, others = await asyncio.gather(state.wrap(look(4)), usual.wrap(look(4)))
        assert mine == [CHANGED] * 4 + ["meta"] and others == [PLAIN] * 4 + ["meta"]
        with pytest.raises(ZeroDivisionError):
            await state.wrap(fails())
        assert set_now() == PLAIN
        task = asyncio.ensure_future(state.wrap(asyncio.sleep(60)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert set_now() == PLAIN


def test_a_forked_process(state):
    child = os.fork()
    if child == 0:
        os._exit(0 if state.run(set_now) == CHANGED and set_now() == PLAIN else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_what_hooks_hold_lives_as_long_as_a_state(state):
    class Hook:
        def __call__(self, t):
            return t

    hook = Hook()
    seen = weakref.ref(hook)
    with graph.saved_tensors_hooks(hook, hook):
        captured = lamella.capture_state()
        copies = in_a_thread(captured.run, lamella.capture_state)
    del hook
    gc.collect()
    assert seen() is not None
    del captured
    gc.collect()
    assert seen() is not None  # the other thread's copy keeps it
    del copies
    gc.collect()
    assert seen() is None


def test_no_hooks_to_take_away():
    with pytest.raises(RuntimeError, match="this thread has no hooks to remove"):
        graph.saved_tensors_hooks(id, id).__exit__()


# ---- assigned memory, and tensors that swap ----


def test_data():
    t = lamella.ones(2, 3, requires_grad=True)
    other = lamella.arange(4.0)
    assert not t.data.requires_grad and t.data.data_ptr() == t.data_ptr()
    t.data = other
    assert t.tolist() == [0, 1, 2, 3] and t.requires_grad and t.is_leaf and t.data_ptr() == other.data_ptr()
    (t * 2).sum().backward()
    assert t.grad.tolist() == [2, 2, 2, 2] and other.tolist() == [0, 1, 2, 3]
    t.data[0] = 9
    assert other[0].item() == 9
    with pytest.raises(TypeError, match="data: expected a Tensor, got int"):
        t.data = 3
    with pytest.raises(RuntimeError, match="requires grad"):
        t.data = lamella.arange(3)
    view = lamella.ones(3)[1:]
    view.data = lamella.zeros(5, dtype=lamella.int64)
    assert view._base is None and view.dtype is lamella.int64 and view.shape == (5,)


def test_set():
    t, other = lamella.zeros(2, 3), lamella.arange(6.0)
    t.mark, held = "kept", [t]
    assert t.set_(other) is t and held[0].tolist() == [0, 1, 2, 3, 4, 5] and t.mark == "kept"
    t[0] = 9
    assert other[0].item() == 9
    assert t.set_(other, 1, (2, 2), (1, 2)).tolist() == [[1, 3], [2, 4]]
    assert t.set_(other.untyped_storage(), 4).tolist() == [4, 5]
    assert t.set_(other.untyped_storage(), 0, [3, 2]).stride() == (2, 1)
    assert t.set_().shape == (0,) and t.dtype is lamella.float32 and other.tolist() == [9, 1, 2, 3, 4, 5]
    view = lamella.ones(3)[1:]
    assert view.set_(other)._base is None
    for wrong, kind, says in (
        (lambda: t.set_(lamella.arange(2)), RuntimeError, "set_: argument 'source' has dtype .*int64 on cpu, 'self'"),
        (lambda: t.set_(other.untyped_storage(), 5, (2,)), RuntimeError, "5 reach beyond the storage of 24 bytes"),
        (lambda: t.set_(other, 0, (-1,)), RuntimeError, "negative"),
        (lambda: t.set_(3), TypeError, "set_: argument 'source' must be a Tensor or"),
        (lambda: t.set_(other, 0, ("x",)), TypeError, "set_: argument 'size' must be"),
    ):
        with pytest.raises(kind, match=says):
            wrong()
    assert t.shape == (0,)


def test_resize():
    t = lamella.arange(6)
    alias, before = t.view(2, 3), t.data_ptr()
    assert t.resize_(2, 2) is t and t.tolist() == [[0, 1], [2, 3]] and t.data_ptr() == before
    assert t.resize_((6,)).tolist() == [0, 1, 2, 3, 4, 5] and t.data_ptr() == before
    version = t._version
    t.resize_(2, 4)
    assert t.data_ptr() != before and t.flatten()[:6].tolist() == [0, 1, 2, 3, 4, 5] and t._version == version + 1
    assert alias.tolist() == [[0, 1, 2], [3, 4, 5]] and alias.data_ptr() == before
    assert t.resize_(()).shape == () and t.item() == 0 and t.resize_(0).tolist() == []
    assert lamella.empty(0).resize_(3).shape == (3,)
    # An empty tensor may begin behind its storage, at an offset whose bytes do not fit 64 bits.
    for far in (lamella.empty_strided((2, 0), (2**62 - 200, 1)), lamella.zeros(9).as_strided((2, 0), (2**62 - 200, 1))):
        with pytest.raises(RuntimeError, match="is a view, and cannot grow"):
            far[1].resize_(200)
    last = lamella.empty(0).resize_(1, 2, 2, 2, memory_format=lamella.channels_last)
    assert last.stride() == (8, 1, 4, 2)
    view = lamella.arange(6)[2:]
    assert view.resize_(2, 2).tolist() == [[2, 3], [4, 5]]
    for wrong, kind, says in (
        (
            lambda: view.resize_(5),
            RuntimeError,
            "resize_: 'size' asks for .* bytes; the tensor is a view, and cannot grow",
        ),
        (lambda: view.resize_(-1), RuntimeError, "negative"),
        (lambda: view.resize_("x"), TypeError, "resize_: argument 'size' must be"),
        (lambda: view.resize_(2, memory_format=lamella.channels_last), RuntimeError, "channels_last"),
        (lambda: view.resize_(2**62, 2**62), RuntimeError, "63 bits"),
    ):
        with pytest.raises(kind, match=says):
            wrong()
    assert view.tolist() == [[2, 3], [4, 5]]


class Special(lamella.Tensor):
    pass


def test_tensors_trade_places():
    a, b = lamella.ones(2, requires_grad=True), lamella.zeros(3)
    special = Special(lamella.arange(2))
    a.mark, special.mark = "a", "special"
    (a * 3).sum().backward()
    held = [a]
    lamella.utils.swap_tensors(a, b)
    assert held[0].tolist() == [0, 0, 0] and not a.requires_grad and a.grad is None and not hasattr(a, "mark")
    assert b.requires_grad and b.grad.tolist() == [3, 3] and b.mark == "a"
    lamella.utils.swap_tensors(b, special)
    assert type(b) is Special and type(special) is lamella.Tensor and b.mark == "special"
    assert b.tolist() == [0, 1] and special.grad.tolist() == [3, 3]
    lamella.utils.swap_tensors(b, b)
    assert b.tolist() == [0, 1]
    view = special[0:1]
    lamella.utils.swap_tensors(special, b)  # the view keeps its old memory
    assert view.tolist() == [1] and copy.copy(view).tolist() == [1]
    gc.collect()


def test_tensors_that_cannot_trade_places():
    a, b = lamella.ones(2), lamella.zeros(2)
    watch = weakref.ref(a)
    with pytest.raises(RuntimeError, match="swap_tensors: a tensor has weak references"):
        lamella.utils.swap_tensors(a, b)
    with pytest.raises(TypeError, match="swap_tensors: expected a Tensor, got int"):
        lamella.utils.swap_tensors(b, 3)
    assert watch() is a and a.tolist() == [1, 1]
    special = Special(lamella.arange(2))
    with pytest.raises(RuntimeError, match="weak references"):
        lamella.utils.swap_tensors(special, a)
    assert type(special) is Special and type(a) is lamella.Tensor
    pair = Pair(lamella.arange(2))
    with pytest.raises(TypeError):
        lamella.utils.swap_tensors(special, pair)
    assert type(special) is Special and type(pair) is Pair and special.tolist() == [0, 1]


class Pair(lamella.Tensor):
    __slots__ = ("left", "right")


def test_what_classes_keep_in_slots_trades_places_too():
    a, b = Pair(lamella.arange(2)), Pair(lamella.arange(3))
    a.left, a.right, b.left = "a.left", "a.right", "b.left"
    lamella.utils.swap_tensors(a, b)
    assert (a.left, b.left, b.right) == ("b.left", "a.left", "a.right") and not hasattr(a, "right")
    assert a.tolist() == [0, 1, 2]
