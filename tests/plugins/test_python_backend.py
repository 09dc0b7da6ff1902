"""A Python device with all optional methods, through the functions of its users; and refused definitions."""

import ctypes
import sys
import threading
import time

import lamella
import numpy as np
import pytest
from heaps import Heap, Spool
from lamella import _devices


def copy_(to, source, non_blocking=False):
    """Copies between a spool's tensors of any dtype and shape; the destination must be contiguous."""
    there = source.to("cpu").to(to.dtype).expand(to.shape).contiguous()
    lamella.spool.synchronize(to.device)
    ctypes.memmove(to.data_ptr(), there.data_ptr(), there.nbytes)
    return to


@pytest.fixture
def spool(monkeypatch):
    monkeypatch.setattr(_devices, "accelerators", lambda: ["spool"])  # hides other installed devices
    backend = Spool()
    library = lamella.library.register_backend("spool", backend)
    library.impl("aten::copy_", copy_, "spool")
    yield backend
    library.close()


def test_memory_copies_and_devices(spool):
    x = lamella.arange(6.0).to("spool:1")
    assert x.is_spool and not x.is_cpu and not lamella.ones(1).is_spool
    assert x.device == lamella.device("spool", 1) and x.to("spool:0").tolist() == [0, 1, 2, 3, 4, 5]
    assert "copy_between" in spool.calls
    assert lamella.ones(2).spool().device == lamella.device("spool:0")
    assert lamella.ones(2).spool(1).device == lamella.device("spool:1")
    with pytest.raises(TypeError, match="device 'spool' has no float64; it has uint32, int64, float32"):
        lamella.ones(2, dtype=lamella.float64, device="spool")
    with pytest.raises(lamella.OutOfMemoryError, match="spool: it is full"):
        lamella.empty(2**29, device="spool")
    assert "trim" in spool.calls
    pinned = lamella.ones(3).pin_memory()
    assert pinned.is_pinned() and pinned.to("spool", non_blocking=True).tolist() == [1, 1, 1]


def test_the_host_serves_copies_too():
    """The host copies any dtype, strides and shape by moving bytes: a device without kernels has every operator."""
    library = lamella.library.register_backend("bare", Heap())
    lamella.reset_fallback_counts()
    base = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x = lamella.from_numpy(base).to("bare")
    part = x[:, ::2, 1:3].transpose(0, 2)
    want = base[:, ::2, 1:3].transpose(2, 1, 0)
    for dtype in ("int64", "float16", "bool", "complex64"):
        got = part.to(getattr(lamella, dtype))
        assert got.is_bare and (got.to("cpu").numpy() == want.astype(dtype)).all(), dtype
    part[:] = lamella.tensor([[-1], [-2]], dtype=lamella.int32)  # from another device, dtype and shape, into a view
    base[:, ::2, 1:3] = np.array([-1, -2]).reshape(1, 2, 1)
    assert x.to("cpu").tolist() == base.tolist()
    row = lamella.ones(4, device="bare").expand(3, 4)
    assert x[0].copy_(row).to("cpu").tolist() == [[1] * 4] * 3
    with lamella.device("bare"):
        assert lamella.rand(5, 3)[::2].clone().is_bare and lamella.zeros(0, 3).clone().shape == (0, 3)
    counts = {c.operator: c for c in lamella.fallback_counts()}
    assert counts["aten::copy_"].calls > 5 and counts["aten::copy_"].bytes > 0
    lamella.set_fallback("error")
    try:
        with pytest.raises(NotImplementedError, match="copy_: device 'bare' has neither a kernel"):
            x.clone()
    finally:
        lamella.set_fallback("allow")
    library.close()


def test_a_device_that_comes_back_has_operators_that_were_called_meanwhile():
    lamella.library.register_backend("bare", Heap()).close()
    assert lamella.ones(2).log1p().numel() == 2
    library = lamella.library.register_backend("bare", Heap())
    assert lamella.zeros(2).to("bare").log1p().tolist() == [0, 0]
    library.close()


@pytest.mark.needs("autograd")
def test_opcheck_on_a_device():
    library = lamella.library.register_backend("bare", Heap())
    x = lamella.tensor([0.5, 2.0]).to("bare").requires_grad_()
    assert set(lamella.library.opcheck("aten::exp", (x,)).values()) == {"SUCCESS"}
    library.close()


def test_kernels_that_call_each_other_without_end():
    library = lamella.library.register_backend("bare", Heap())
    library.impl("aten::exp", lambda x: lamella.exp(x), "bare")
    x = lamella.ones(2, device="bare")
    for limit in (sys.getrecursionlimit(), 10**6):
        old = sys.getrecursionlimit()
        sys.setrecursionlimit(limit)
        try:
            with pytest.raises(RecursionError):
                lamella.exp(x)
        finally:
            sys.setrecursionlimit(old)
    library.close()


def test_streams_that_are_recorded(spool):
    x, stream = lamella.ones(4, device="spool"), lamella.Stream("spool")
    x.record_stream(stream)
    assert "record_stream" in spool.calls
    with pytest.raises(
        ValueError, match="record_stream: the tensor is on device 'cpu', and the stream is of 'spool:0'"
    ):
        lamella.ones(1).record_stream(stream)
    with pytest.raises(TypeError, match="record_stream: argument 'stream' must be a lamella.Stream, got int"):
        x.record_stream(1)


def test_the_module_of_the_device(spool):
    import lamella.spool as module

    assert module is lamella.spool and "synchronize" in dir(module)
    assert (module.is_available(), module.device_count(), module.current_device()) == (True, 2, 0)
    with module.device(1):
        assert module.current_device() == 1 and lamella.device("spool").index == 1
        with lamella.device("spool"):
            assert lamella.zeros(2).device == lamella.device("spool:1")
    assert module.current_device() == 0 and lamella.zeros(2).is_cpu
    module.set_device(1)
    assert lamella.empty(1, device="spool").device.index == 1
    module.set_device("spool:0")
    with pytest.raises(RuntimeError, match="'spool:2' does not exist; there are 2"):
        module.set_device(2)
    with pytest.raises(ValueError, match="must be a device of 'spool', got 'cpu'"):
        module.synchronize("cpu")
    assert module.get_device_name(1) == "Spool 1" and module.mem_get_info() == (2**29, 2**30)
    assert module.get_device_properties().total_memory == 2**30
    assert module.get_device_capability()["supported_dtypes"] == set(Spool.dtypes)
    with pytest.raises(AttributeError, match="module 'lamella.spool' has no attribute 'nothing'"):
        _ = module.nothing


def test_what_the_allocator_says(spool):
    module = lamella.spool
    x = lamella.empty(1000, device="spool")
    stats = module.memory_stats()
    assert stats["allocated_bytes.all.current"] == 4000 == module.memory_allocated() == module.memory_reserved()
    assert stats["allocation.all.allocated"] == 1 and module.memory_stats(1)["allocation.all.allocated"] == 0
    del x
    assert module.memory_allocated() == 0 and module.max_memory_allocated() == 4000
    module.reset_peak_memory_stats()
    module.reset_accumulated_memory_stats()
    assert module.max_memory_allocated() == 0 and module.memory_stats()["allocation.all.allocated"] == 0
    spool.counted[0]["live_bytes"] = -3
    with pytest.raises(TypeError, match="backend spool: stats must return a dictionary with numbers of bytes"):
        module.memory_stats()
    spool.counted[0]["live_bytes"] = 0
    module.empty_cache()


def test_streams(spool):
    module, order = lamella.spool, []
    side = module.Stream(1)
    assert isinstance(side, lamella.Stream) and side.device == lamella.device("spool:1") and side.native_handle
    usual = module.current_stream(1)
    assert usual == module.default_stream(1) != side and hash(usual) == hash(module.current_stream(1))
    with side as entered:
        assert entered is side and module.current_stream() == side and module.current_device() == 1
        assert module.current_stream(0) == module.default_stream(0)
        seen = []
        thread = threading.Thread(target=lambda: seen.append(module.current_stream(1)))
        thread.start()
        thread.join()
        assert seen == [usual]  # another thread has its own current stream
        with module.stream(usual), side, side:
            assert module.current_stream() == side
        with module.stream(None):
            assert module.current_stream() == side
    assert module.current_stream(1) == usual and module.current_device() == 0
    module.set_stream(side)
    assert (module.current_stream(), module.current_device()) == (side, 1)
    module.set_stream(usual)
    module.set_device(0)

    gate = threading.Event()
    line = spool.things[side.native_handle]
    line.push(gate.wait)
    line.push(lambda: order.append("side"))
    assert not side.query()
    usual.wait_stream(side)
    spool.things[usual.native_handle].push(lambda: order.append("usual"))
    gate.set()
    usual.synchronize()
    assert order == ["side", "usual"] and side.query()
    del side, entered
    assert "stream_destroy" in spool.calls


def test_events(spool):
    start, end = (lamella.Event("spool", enable_timing=True) for _ in range(2))
    assert start.query() and start.device == lamella.device("spool:0")
    start.synchronize()  # an event that was never recorded
    with pytest.raises(RuntimeError, match="elapsed_time: both events must have been recorded"):
        start.elapsed_time(end)
    start.record()
    gate = threading.Event()
    spool.things[spool.usual[0]].push(gate.wait)
    lamella.spool.current_stream().record_event(end)
    assert not end.query()
    with pytest.raises(RuntimeError, match="elapsed_time: both events must be done"):
        start.elapsed_time(end)
    time.sleep(0.02)
    gate.set()
    end.synchronize()
    assert end.query() and 15 <= start.elapsed_time(end) < 60_000
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        start.elapsed_time(lamella.spool.current_stream().record_event())
    with pytest.raises(RuntimeError, match="argument 'stream' is of device 'cpu', the event of 'spool:0'"):
        start.record(lamella.cpu.current_stream())
    with pytest.raises(NotImplementedError, match="interprocess"):
        lamella.Event("spool", interprocess=True)
    other = lamella.Event("spool:1", enable_timing=True)
    other.record()
    other.synchronize()
    with pytest.raises(RuntimeError, match="devices 'spool:0' and 'spool:1'"):
        start.elapsed_time(other)
    other.wait(lamella.cpu.current_stream())  # another backend's stream: this thread waits
    del start
    assert "event_destroy" in spool.calls


def test_generators(spool):
    module = lamella.spool
    module.manual_seed_all(5)
    assert module.initial_seed() == 5 and lamella.initial_seed() != 5
    state = module.get_rng_state(1)
    module.default_generator(1).manual_seed(6)
    assert module.get_rng_state(1) != state
    module.set_rng_state(state, 1)
    assert module.get_rng_state(1) == state
    assert module.default_generator(1).device == lamella.device("spool:1")


def test_errors_of_methods(spool):
    def fails(*_):
        raise OSError("the spool is torn")

    spool_calls = {
        "synchronize": lambda: lamella.spool.synchronize(1),
        "stream_create": lambda: lamella.spool.Stream(1),
        "event_create": lambda: lamella.Event("spool:1"),
        "property": lambda: lamella.spool.get_device_name(1),
    }
    library = lamella.library.register_backend("torn", type("Torn", (Spool,), dict.fromkeys(spool_calls, fails))())
    for call in (
        lambda: lamella.torn.synchronize(1),
        lambda: lamella.torn.Stream(1),
        lambda: lamella.Event("torn:1"),
        lambda: lamella.torn.get_device_name(1),
    ):
        with pytest.raises(OSError, match="the spool is torn") as error:
            call()
        assert any("torn:1" in note for note in error.value.__notes__)
    library.close()
    for call in (
        lambda: lamella.torn.synchronize(),
        lambda: lamella.torn.Stream(),
        lambda: lamella.torn.current_stream(),
    ):
        with pytest.raises(RuntimeError, match="no backend 'torn'|no longer registered"):
            call()
    assert not lamella.torn.is_available() and lamella.torn.device_count() == 0
    wrong = lamella.library.register_backend("wrong", type("Wrong", (Spool,), {"stream_current": lambda s, i: None})())
    with pytest.raises(TypeError, match="wrong: stream_current must return a number other than 0 as int, got N"):
        lamella.wrong.current_stream()
    wrong.close()


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"copy_to_host": None}, "Made must define copy_to_host"),
        ({"stream_create": lambda *_: 1}, "Made must define stream_destroy, as it has stream_create"),
        ({"host_alloc": lambda *_: 1}, "Made must define host_free, as it has host_alloc"),
        ({"sychronize": lambda *_: 1}, "Made.sychronize is no method of a backend; did you mean 'synchronize'"),
        ({"synchronize": 3}, "backend.synchronize.*expected a callable, got int"),
        ({"dtypes": (lamella.float32, "half")}, "expected dtypes, got str"),
        ({"dtypes": ()}, "dtypes must not be empty"),
        ({"device_count": 0}, "device_count must be at least 1 and at most 10000, got 0"),
        ({"host": 1}, "backend.host.*got int"),
        ({"dlpack_type": "cpu"}, "backend.dlpack_type.*got str"),
    ],
)
def test_refused(changes, message):
    made = type("Made", (Heap,), changes)()
    with pytest.raises((TypeError, ValueError), match=message):
        lamella.library.register_backend("refused", made)
    assert "refused" not in [row[0] for row in lamella._C._backends()]


def test_something_else_than_a_backend():
    with pytest.raises(TypeError, match="'backend': expected a lamella.library.Backend, got dict"):
        lamella.library.register_backend("refused", {})


def test_a_host_needs_no_copies():
    class Second(Heap):
        host = True
        copy_from_host = copy_to_host = None

    library = lamella.library.register_backend("second", Second())
    x = lamella.arange(3.0).to("second")
    assert x.device.type == "second" and x.to("cpu").tolist() == [0, 1, 2] and (x + 1).tolist() == [1, 2, 3]
    assert "second" not in str(lamella.accelerator.current_accelerator())  # a host device is no accelerator
    del x
    library.close()


def test_the_accelerator(spool):
    accelerator = lamella.accelerator
    assert accelerator.current_accelerator() == lamella.device("spool:0") and accelerator.device_count() == 2
    assert accelerator.is_available() and accelerator.current_device_index() == 0
    with accelerator.device_index(1):
        assert accelerator.current_accelerator(check_available=True) == lamella.device("spool:1")
        assert accelerator.current_stream().device == lamella.device("spool:1") == lamella.Stream().device
        assert lamella.Event().device == lamella.device("spool:1") and lamella.Stream(0).device.index == 0
    accelerator.synchronize()
    assert "synchronize" in spool.calls
    with lamella.Stream() as stream:
        assert accelerator.current_stream() == stream
    x = lamella.empty(10, device=accelerator.current_accelerator())
    assert accelerator.memory_allocated() == 40 == accelerator.memory_stats(x.device)["allocated_bytes.all.peak"]
    accelerator.manual_seed(3)
    assert lamella.spool.initial_seed() == 3 == accelerator.default_generator().initial_seed()


def test_what_outlives_its_backend(spool):
    first = lamella.library.register_backend("brief", Spool())
    stream, event = lamella.brief.Stream(), lamella.brief.Event()
    stream.record_event(event)
    device = lamella.device("brief")
    first.close()
    for call in (stream.query, stream.synchronize, event.query, event.record, stream.__enter__):
        with pytest.raises(RuntimeError, match="no longer registered|no backend 'brief'"):
            call()
    with device:  # the device's backend is gone
        assert lamella.accelerator.current_accelerator().type == "spool"
    again = Spool()
    second = lamella.library.register_backend("brief", again)
    for call in (stream.query, event.query):
        with pytest.raises(
            RuntimeError, match="a backend 'brief' that was withdrawn since; another one has the name now"
        ):
            call()
    fresh = lamella.Event("brief")
    for call in (fresh.record, fresh.wait):  # the new backend refuses the old one's stream
        with pytest.raises(RuntimeError, match="was withdrawn since"):
            call(stream)
    del stream, event  # the new backend does not get the old handles
    assert not {"stream_destroy", "event_destroy"} & set(again.calls)
    second.close()


def test_blocks_that_fail(spool):
    class Stuck(Spool):
        def stream_set_current(self, index, stream):
            if stream not in self.usual:
                raise OSError("stuck")
            super().stream_set_current(index, stream)

    library = lamella.library.register_backend("stuck", Stuck())
    with pytest.raises(OSError, match="stuck"), lamella.stuck.Stream(1):
        pass
    assert lamella.stuck.current_device() == 0
    with pytest.raises(RuntimeError, match="has not entered the stream"):
        lamella.stuck.Stream(1).__exit__(None, None, None)
    one = lamella.stuck.device(1)
    with one:
        with one:
            assert lamella.stuck.current_device() == 1
        assert lamella.stuck.current_device() == 1
    with pytest.raises(KeyError, match="mine"), one:
        library.close()  # an error at the block's end must not hide the block's exception
        raise KeyError("mine")


def test_a_device_without_a_current_one():
    class Two(Heap):
        device_count = 2

    library = lamella.library.register_backend("two", Two())
    with lamella.Stream("two:1") as stream:
        assert stream.query() and lamella.two.current_device() == 0
    with pytest.raises(RuntimeError, match="on device 'two' the index 0 is always the current one; pass 'two:1'"):
        lamella.two.device(1).__enter__()
    event = lamella.Event("two:1", enable_timing=True)
    event.record()
    event.wait(lamella.cpu.current_stream())
    assert event.query() and event.elapsed_time(event) == 0
    library.close()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: m.Event().record(5), "record: argument 'stream' must be a lamella.Stream, got int"),
        (lambda m: m.Event().elapsed_time(5), "elapsed_time: argument 'end' must be a lamella.Event, got int"),
        (
            lambda m: m.Stream().wait_stream(None),
            "wait_stream: argument 'stream' must be a lamella.Stream, got NoneType",
        ),
        (lambda m: m.Stream().wait_event(5), "wait_event: argument 'event' must be a lamella.Event, got int"),
        (lambda m: m.set_stream(None), "set_stream: argument 'stream' must be a lamella.Stream, got None"),
        (lambda m: m.set_stream(lamella.cpu.current_stream()), "must be a device of 'spool', got 'cpu'"),
        (lambda m: m.Stream(priority=2**40), "'priority' must fit 32 bits"),
        (lambda m: m.Stream(priority="high"), "'priority' must be int, got str"),
        (lambda m: m.synchronize(7), "'spool:7' does not exist; there are 2"),
    ],
)
def test_wrong_arguments(spool, call, message):
    with pytest.raises((TypeError, ValueError, RuntimeError), match=message):
        call(lamella.spool)
    lamella.spool.synchronize(np.int64(1))


@pytest.mark.parametrize(
    "changes, call, message",
    [
        (
            {"property": lambda *_: [1]},
            lambda m: m.get_device_name(),
            "property must return None, int, float or str, got list",
        ),
        (
            {"device_current": lambda _: 2**32},
            lambda m: m.current_device(),
            "must return the index of a device, got 4294967296",
        ),
        ({"device_current": lambda _: -1}, lambda m: m.current_device(), "must return the index of a device, got -1"),
    ],
)
def test_wrong_results(changes, call, message):
    library = lamella.library.register_backend("odd", type("Odd", (Spool,), changes)())
    with pytest.raises(TypeError, match=message):
        call(lamella.odd)
    library.close()


def test_attributes_of_a_backend_are_not_asked():
    class Handle(Heap):
        @property
        def handle(self):
            raise RuntimeError("not connected yet")

    lamella.library.register_backend("handled", Handle()).close()
