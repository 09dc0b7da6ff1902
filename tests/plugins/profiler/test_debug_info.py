"""Debug information: values by kind, which observers get and which travel with the work."""

import asyncio
import gc
import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import lamella
import lamella.multiprocessing as mp
import pytest
import tasks
from lamella import profiler
from lamella.profiler import all_debug_info, debug_info, get_debug_info
from lamella.utils.data import DataLoader
from observing import BACKWARD, FUNCTION, KERNEL, USER, observed

METHODS = ("fork", "spawn", "forkserver")


def in_a_thread(function, *args):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result(60)


def test_the_innermost_counts():
    assert get_debug_info("model") is None and all_debug_info() == {}
    with debug_info("model", "a"), debug_info("request", 7):
        with debug_info("model", "b"):
            assert get_debug_info("model") == "b" and all_debug_info() == {"request": 7, "model": "b"}
        assert all_debug_info() == {"model": "a", "request": 7}
    assert all_debug_info() == {}


@pytest.mark.parametrize(
    "value", [3, -(2**63), 2**70, 2.5, True, None, "ä", "nul \0", "\udcff", b"x", (1, [2]), object()]
)
def test_any_value(value):
    with debug_info("kind", value):
        got = get_debug_info("kind")
        assert got == value and type(got) is type(value)
        assert in_a_thread(lamella.capture_state().run, get_debug_info, "kind") == value


def test_a_tensor_is_the_same_object():
    x = lamella.ones(2)
    with debug_info("batch", x):
        assert get_debug_info("batch") is x


def test_values_are_freed():
    class Value:
        pass

    value = Value()
    dead = weakref.ref(value)
    with debug_info("kind", value), observed(lambda r: all_debug_info(), needs="ids", scopes=(FUNCTION, BACKWARD)):
        state = lamella.capture_state()
        lamella.ones(2, requires_grad=True).exp().sum().backward()
        with state:
            pass
    del value, state
    gc.collect()
    assert dead() is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: debug_info(3, 4), "argument 'kind' must be str, got int"),
        (lambda: get_debug_info(3), "str"),
        (lambda: debug_info("a"), "value"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_odd_kinds():
    for kind in "", "ä 🚀", "x" * 1000:
        with debug_info(kind, 1):
            assert get_debug_info(kind) == 1 and all_debug_info() == {kind: 1}
    with pytest.raises(UnicodeEncodeError), debug_info("\udcff", 1):
        pass
    assert all_debug_info() == {}


def test_a_block_that_is_used_again_and_within_itself():
    block = debug_info("n", 1)
    with block, debug_info("n", 2), block:
        assert get_debug_info("n") == 1
    with block:
        assert get_debug_info("n") == 1
    assert get_debug_info("n") is None


def test_an_observer_sees_it():
    seen = []
    with observed(lambda r: seen.append((r.name, get_debug_info("model"))), scopes=(FUNCTION, USER, KERNEL)):
        lamella.ones(1)
        with debug_info("model", "net"), profiler.record_function("step"):
            lamella.zeros(1)
    assert seen == [("aten::ones", None)] * 2 + [("step", "net")] + [("aten::zeros", "net")] * 2


def test_threads_have_their_own():
    with debug_info("model", "net"):
        assert in_a_thread(all_debug_info) == {}
        state = lamella.capture_state()
        with debug_info("model", "other"):
            assert in_a_thread(state.run, get_debug_info, "model") == "net"
            with state:
                assert get_debug_info("model") in ("net", "other")
    assert in_a_thread(state.run, all_debug_info) == {"model": "net"}  # the state keeps its information afterwards
    assert in_a_thread(all_debug_info) == {}


def test_what_a_thread_adds_to_a_state_stays_there():
    def work():
        with debug_info("request", 1):
            return all_debug_info(), in_a_thread(lamella.capture_state().run, all_debug_info)

    with debug_info("model", "net"):
        state = lamella.capture_state()
    assert in_a_thread(state.run, work) == ({"model": "net", "request": 1},) * 2
    assert in_a_thread(state.run, all_debug_info) == {"model": "net"}


def test_tasks_of_asyncio_each_have_their_own():
    seen = {}

    async def task(n):
        with debug_info("request", n):
            for _ in range(3):
                await asyncio.sleep(0)
                lamella.full((1,), float(n))
                assert get_debug_info("request") == n

    async def both():
        with debug_info("model", "net"):
            await asyncio.gather(task(1), task(2), task(3))

    def enter(r):
        number = r.inputs[1]
        seen.setdefault(number, set()).add((get_debug_info("request"), get_debug_info("model")))

    with observed(enter, needs="inputs"):
        asyncio.run(both())
    assert seen == {n: {(n, "net")} for n in (1.0, 2.0, 3.0)}
    assert all_debug_info() == {}


def test_a_thread_of_asyncio():
    async def work():
        with debug_info("model", "net"):
            return await asyncio.to_thread(get_debug_info, "model")

    assert asyncio.run(work()) == "net"


def test_a_step_of_backward_has_that_of_its_call():
    """A step has its call's information even if another thread, with information of its own, runs backward."""
    seen = {}

    def enter(r):
        seen[r.name] = (get_debug_info("layer"), get_debug_info("phase"), r.schema and r.schema.partition("(")[0])

    x = lamella.ones(2, requires_grad=True)
    with observed(enter, scopes=(BACKWARD,), needs="ids"):
        with debug_info("layer", "first"):
            y = x.exp()
        with debug_info("layer", "second"):
            z = y.sin().sum()

        def backward():
            with debug_info("phase", "backward"):
                z.backward()

        in_a_thread(backward)
    assert seen["ExpBackward0"] == ("first", "backward", "aten::exp")
    assert seen["SinBackward0"] == ("second", "backward", "aten::sin")
    assert all_debug_info() == {}


def test_what_backward_calls_has_it_too():
    seen = set()
    x = lamella.ones(2, requires_grad=True)
    with observed(lambda r: None, scopes=(BACKWARD,), needs="ids"):
        with debug_info("layer", "first"):
            y = x.exp().sum()
        with observed(lambda r: seen.add((r.name, get_debug_info("layer")))):
            y.backward()
    assert ("aten::mul", "first") in seen


def test_a_captured_state_in_a_pickle():
    with ExitStack() as stack:
        for kind, value in {"model": "net", "request": 7, "lock": threading.Lock(), "lambda": lambda: 0}.items():
            stack.enter_context(debug_info(kind, value))
        stack.enter_context(lamella.no_grad())
        lamella.set_default_device("meta")
        state = lamella.capture_state()
        lamella.set_default_device(None)
    there = pickle.loads(pickle.dumps(state))
    assert tasks.told() == (None, None, True, "cpu")
    assert there.run(tasks.told) == in_a_thread(there.run, tasks.told) == ("net", 7, False, "meta")
    assert set(there.run(all_debug_info)) == {"model", "request"}
    again = pickle.loads(pickle.dumps(there))
    assert again.run(tasks.told) == ("net", 7, False, "meta")
    with lamella.inference_mode():
        state = lamella.capture_state()
    assert pickle.loads(pickle.dumps(state)).run(lamella.is_inference_mode_enabled)
    assert not lamella.is_inference_mode_enabled()


@pytest.fixture
def set_here():
    with debug_info("model", "net"), debug_info("request", 7), debug_info("lock", threading.Lock()), lamella.no_grad():
        yield ("net", 7, False, "cpu")


@pytest.mark.parametrize("method", METHODS)
def test_workers_of_a_loader(method, set_here):
    loader = DataLoader(
        tasks.Told(), batch_size=1, num_workers=1, collate_fn=tasks.first, multiprocessing_context=method, timeout=60
    )
    assert list(loader) == [set_here] * 4


@pytest.mark.parametrize("method", METHODS)
def test_processes(method, set_here, tmp_path):
    context = mp.get_context(method)
    queue = context.SimpleQueue()
    process = context.Process(target=lamella.capture_state().run, args=(tasks.answer, queue))
    process.start()
    got = queue.get()
    process.join(60)
    assert got == set_here and process.exitcode == 0
    mp.start_processes(tasks.note, (str(tmp_path),), nprocs=1, start_method=method)
    assert (tmp_path / "0").read_text() == repr(set_here)
