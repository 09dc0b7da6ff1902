"""Observers and threads: a thread's observers travel with its state; all may be added and removed during calls."""

import asyncio
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import lamella
import pytest
from lamella import profiler
from observing import BACKWARD, FUNCTION, KERNEL, USER, callback, names, observed


def in_a_thread(function, *args):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result(60)


def test_a_global_one_hears_of_all_threads():
    threads = []

    def work():
        lamella.ones(1)
        return threading.get_native_id()

    with observed(lambda r: threads.append(r.thread_id)):
        other = in_a_thread(work)
        me = work()
    assert threads == [other, me] and me != other
    in_a_thread(work)
    assert len(threads) == 2


def test_one_of_a_thread_hears_of_that_thread():
    with names(everywhere=False, scopes=(FUNCTION, USER)) as heard:
        in_a_thread(lamella.zeros, 1)
        with profiler.record_function("here"):
            lamella.ones(1)
    lamella.ones(1)
    assert heard == ["here", "aten::ones"]


def test_one_of_a_thread_travels_with_its_state():
    with names(everywhere=False) as heard:
        state = lamella.capture_state()
        in_a_thread(state.run, lamella.zeros, 1)
        in_a_thread(lamella.eye, 1)
        asyncio.run(state.wrap(wait_and_call(lamella.full, (1,), 1.0)))
    assert heard == ["aten::zeros", "aten::full"]
    in_a_thread(state.run, lamella.zeros, 1)  # the observer was removed
    assert heard == ["aten::zeros", "aten::full"]


async def wait_and_call(function, *args):
    await asyncio.sleep(0)
    function(*args)


def test_one_of_a_thread_is_carried_into_backward():
    """Steps may run on a thread of the engine; the observer gets them and their operators."""
    x = lamella.ones(2, requires_grad=True)
    with names(everywhere=False, scopes=(FUNCTION, BACKWARD)) as heard:
        y = (x * 3).sum()
        del heard[:]
        in_a_thread(lamella.capture_state().run, y.backward)
    assert "MulBackward0" in heard and "aten::mul" in heard


def test_a_state_from_before_has_no_observer():
    state = lamella.capture_state()
    with names(everywhere=False) as heard:
        with state:
            lamella.ones(1)
        lamella.zeros(1)
    assert heard == ["aten::zeros"]


def test_one_that_a_block_adds_to_a_state_ends_with_the_block():
    state = lamella.capture_state()
    heard = []
    with state:
        handle = profiler.add_thread_local_callback(callback(lambda r: heard.append(r.name)))
        lamella.ones(1)
    lamella.zeros(1)
    profiler.remove_callback(handle)
    assert heard == ["aten::ones"]


def test_removed_by_another_thread():
    with names(everywhere=False) as heard:
        handle = profiler.add_thread_local_callback(callback(lambda r: heard.append("second")))
        in_a_thread(profiler.remove_callback, handle)
        lamella.ones(1)
    assert heard == ["aten::ones"]


def test_they_come_and_go_while_operators_run():
    """Four threads add and remove, four call: each record that begins also ends, with the value from its begin."""
    stop, faults = threading.Event(), []

    def guarded(function):
        def run(*args):
            try:
                while not stop.is_set():
                    function(*args)
            except BaseException as error:
                faults.append(error)

        return run

    x = lamella.ones(2, requires_grad=True)

    def call():
        with profiler.record_function("work"):
            assert (x * 2).sum().detach().item() == 4
            (x * 2).sum().backward()

    def come_and_go(k):
        begun, ended = [], []
        handle = profiler.add_global_callback(
            callback(
                lambda r: begun.append(1) or "context",
                lambda r, c: ended.append(c),
                needs="inputs ids" if k % 2 else "",
                scopes=tuple(profiler.RecordScope),
                p=0.5 if k > 1 else 1,
            )
        )
        time.sleep(0.002)
        profiler.disable_callback(handle)
        profiler.reenable_callback(handle)
        profiler.remove_callback(handle)
        counted.append((begun, ended))

    counted = []
    threads = [threading.Thread(target=guarded(call)) for _ in range(4)]
    threads += [threading.Thread(target=guarded(come_and_go), args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    time.sleep(1.5)
    stop.set()
    for t in threads:
        t.join(60)
    assert faults == [] and not any(t.is_alive() for t in threads)
    assert len(counted) > 10 and sum(len(begun) for begun, _ in counted) > 100
    assert [c for c in counted if len(c[0]) != len(c[1]) or set(c[1]) - {"context"}] == []


def test_a_thread_that_ends_within_a_block():
    told = []

    def work():
        profiler.record_function("left open").__enter__()
        lamella.ones(1)

    with observed(lambda r: told.append(r.name), lambda r, c: told.append("end"), scopes=(USER,)):
        in_a_thread(work)
    assert told[0] == "left open"


def test_kernels_on_the_workers_of_an_operator():
    """A composite's calls on this thread are observed; the worker threads of a loop call no operators."""
    lamella.set_num_threads(2)
    a = lamella.ones(300, 300)
    with names(scopes=(FUNCTION, KERNEL)) as heard:
        a @ a
    assert heard.count("aten::matmul") >= 1 and "aten::mm" in heard


@pytest.mark.parametrize("after", ["idle", "busy"])
def test_what_was_removed_goes_although_other_threads_do_not_come_by(after):
    """After its removal, no thread that called the observer keeps it, whether the thread calls operators or not."""
    stop, heard_there = threading.Event(), threading.Event()

    class Heard(list):
        pass

    heard = Heard()
    gone = weakref.ref(heard)

    def work():
        while not heard_there.is_set():
            lamella.ones(1)
        while not stop.wait(0.001):
            if after == "busy":
                lamella.ones(1)

    thread = threading.Thread(target=work)
    thread.start()
    try:

        def enter(record, heard=heard):
            heard.append(record.thread_id)
            if record.thread_id == thread.native_id:
                heard_there.set()

        handle = profiler.add_global_callback(profiler.RecordFunctionCallback(enter))
        unheard = profiler.RecordFunctionCallback(print).scopes({"user_scope"})
        assert heard_there.wait(20)
        profiler.remove_callback(handle)
        del heard, enter
        until = time.monotonic() + 20  # the thread may still be inside an observed call
        while gone() is not None and time.monotonic() < until:
            profiler.remove_callback(profiler.add_global_callback(unheard))
            time.sleep(0.01)
        assert gone() is None
    finally:
        stop.set()
        heard_there.set()
        thread.join(20)
