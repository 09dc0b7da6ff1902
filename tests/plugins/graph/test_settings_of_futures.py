"""A future computes under the settings of the thread that forked it, and in a thread of its own."""

import contextlib
import threading

import lamella
import pytest
from lamella import jit

begun = threading.Event()
threads: list[int] = []


@jit.ignore
def begin() -> int:
    """Says that the future runs."""
    threads.append(threading.get_ident())
    begun.set()
    return 0


@jit.ignore
def meet() -> int:
    """Waits until the future runs, which then has to be in another thread."""
    threads.append(threading.get_ident())
    assert begun.wait(60)
    return 0


def work(x):
    begin()
    return x * x + lamella.ones(2)


@jit.script
def forks(x):
    future = jit.fork(work, x)
    meet()
    return jit.wait(future)


def inner(x):
    return jit.wait(jit.fork(work, x))


@jit.script
def forks_twice(x):
    future = jit.fork(inner, x)
    meet()
    return jit.wait(future)


@pytest.fixture(params=[forks, forks_twice], ids=["future", "future of a future"])
def forked(request):
    """Returns a function that calls a script under a setting, and asserts that its future ran in another thread."""

    def run(setting, x):
        begun.clear()
        threads.clear()
        with setting:
            found = request.param(x)
        assert len(threads) == len(set(threads)) == 2
        return found

    return run


def test_modes_of_gradients(forked):
    x = lamella.ones(2, requires_grad=True)
    assert forked(contextlib.nullcontext(), x).requires_grad
    assert not forked(lamella.no_grad(), x).requires_grad
    with lamella.no_grad():
        assert forked(lamella.enable_grad(), x).requires_grad


def test_gradients_go_back_through_a_future(forked):
    x = lamella.tensor([1.5, -2.0], requires_grad=True)
    forked(contextlib.nullcontext(), x).sum().backward()
    assert x.grad.tolist() == [3.0, -4.0]


def test_a_default_device(forked):
    assert forked(lamella.device("meta"), lamella.ones(2, device="meta")).device.type == "meta"
    assert forked(contextlib.nullcontext(), lamella.ones(2)).device.type == "cpu"


def test_layers(forked):
    seen = []

    def watch(call, *args, **kwargs):
        seen.append((call.name, threading.get_ident()))
        return call(*args, **kwargs)

    x = lamella.ones(2)
    layer = lamella.library.register_layer("forked_watch", watch, at="profiler")
    try:
        forked(layer.on(), x)
        assert [name for name, _ in seen] == ["aten::mul", "aten::ones", "aten::add"]
        assert {thread for _, thread in seen} == set(threads) - {threading.get_ident()}
        seen.clear()
        forked(contextlib.nullcontext(), x)
        assert seen == []
    finally:
        layer.remove()


@pytest.mark.needs("profiler")
def test_a_profile(forked):
    profile = lamella.profiler.profile(activities=["cpu"])
    forked(profile, lamella.arange(2.0))
    assert {e.key: e.count for e in profile.key_averages()} == {"aten::mul": 1, "aten::ones": 1, "aten::add": 1}


@pytest.mark.needs("profiler")
def test_debug_information(forked):
    from lamella.profiler import RecordFunctionCallback, debug_info, get_debug_info

    found = []
    callback = RecordFunctionCallback(lambda record: found.append((record.name, get_debug_info("model"))))
    handle = lamella.profiler.add_global_callback(callback)
    try:
        forked(debug_info("model", "small"), lamella.arange(2.0))
        assert found[-3:] == [("aten::mul", "small"), ("aten::ones", "small"), ("aten::add", "small")]
        forked(contextlib.nullcontext(), lamella.arange(2.0))
        assert found[-1] == ("aten::add", None)
    finally:
        lamella.profiler.remove_callback(handle)


@pytest.mark.needs("quantization")
def test_blocks_of_quantization(forked):
    quantization = lamella.quantization
    x = lamella.quantize_per_tensor(lamella.ones(2), 0.1, 0, lamella.uint8)
    calls = quantization.trace()
    with quantization.out_scale(0.05, 1):
        result = forked(calls, x)
    assert (result.q_scale(), result.q_zero_point()) == (0.05, 1)
    with (
        pytest.raises(NotImplementedError, match="mul: strict: the quantized tensors"),
        quantization.out_scale(0.05, 1),
    ):
        forked(quantization.strict(), x)
