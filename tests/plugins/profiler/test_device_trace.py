"""Device rows of profiles over the example backend `bank`, whose streams are threads and whose clock is its own."""

import pytest
from trace_format import checked_trace

PROLOGUE = """
    import os, threading, time
    import lamella
    from lamella.profiler import ProfilerActivity, profile, record_function

    def rows(prof):
        return [e for e in prof.events() if e.is_device]

    def delay(x, ms):
        lamella.ops.bank.delay(x, ms * 1000)
"""


@pytest.fixture
def child(guest):
    return lambda program, *arguments: guest.run(PROLOGUE + program, *arguments)


def test_rows_times_and_sums(child, guest):
    """Each kernel has a row in the host's time and its operator's name, and counts for all enclosing rows. The device
    is loaded while the profile runs. bank's clock differs by some 77 s."""
    child("""
    with profile(with_stack=True, record_shapes=True) as prof:
        with record_function("training"):
            x = lamella.ones(50, 40, device="bank:1", requires_grad=True)
            with record_function("waiting"):
                delay(x, 30)
            y = (x @ x.t()).exp().sum()
            y.backward()
            far = x.detach().to("bank:0")
            back = far.cpu()
    events = prof.events()
    launched_by = {}
    for e in rows(prof):
        assert e.launched_by is not None and e.launched_by.device_type == "cpu", e
        assert e.stack == e.launched_by.stack != []
        assert e.launched_at >= e.launched_by.time_range.start and e.device_type == "bank"
        assert e.time_range.start >= e.launched_at - 5000  # the clocks may differ by as much as a reading was held up
        launched_by.setdefault((e.name, e.device_index), []).append(e.launched_by.name)
    assert launched_by["delay", 1] == ["bank::delay"] and launched_by["multiply", 1][0] == "aten::bmm"
    assert {"aten::exp"} <= set(launched_by["pointwise", 1])
    (out,) = [e for e in rows(prof) if e.name == "copy bank:1 -> bank:0"]
    (home,) = [e for e in rows(prof) if e.name == "copy bank:0 -> cpu:0"]
    assert out.bytes == home.bytes == 50 * 40 * 4 and home.launched_by.name == "aten::copy_"
    end = home.launched_by.time_range.end  # which has waited for the bytes
    assert home.time_range.end <= end + 5000
    assert 0 <= min(e.time_range.start for e in rows(prof))
    for device in 0, 1:  # a stream does one thing at a time
        mine = [e.time_range for e in rows(prof) if e.device_index == device]
        assert all(a.end <= b.start for a, b in zip(mine, mine[1:]))

    sums = {row.key: row for row in prof.key_averages()}
    took = sums["delay"].device_time_total
    assert 27_000 <= took == sums["bank::delay"].self_device_time_total == sums["waiting"].device_time_total
    assert sums["waiting"].self_device_time_total == 0 == sums["delay"].cpu_time_total
    everything = sum(e.time_range.elapsed_us() for e in rows(prof))
    assert abs(sums["training"].device_time_total - everything) < 0.01
    assert abs(prof.key_averages().self_device_time_total - everything) < 0.01
    assert sums["ExpBackward0"].device_time_total > 0  # what a step of backward has launched
    by_name = {}
    for e in events:
        by_name.setdefault(e.name, e)
    (mul,) = [e for e in rows(prof) if e.launched_by.name == "aten::mul"]
    assert mul.launched_by.cpu_parent.name == "ExpBackward0"
    assert by_name["aten::exp"].sequence_nr == by_name["ExpBackward0"].sequence_nr > 0
    (tree,) = [e for e in events if e.name == "training"]
    assert abs(tree.device_time_total - everything) < 0.01 and len(by_name["bank::delay"].kernels) == 1

    text = prof.key_averages().table(sort_by="self_cuda_time_total", row_limit=2)
    head, _, first = text.splitlines()[1:4]
    for column in ("Self BANK", "Self BANK %", "BANK total", "BANK time avg"):
        assert column in head, head
    assert "delay" in first and "Self BANK time total" in text
    stacks = prof.key_averages(group_by_stack_n=1)
    assert [row.stack[0].endswith(": delay") for row in stacks if row.key == "delay"] == [True]
    prof.export_stacks("stacks", "self_device_time_total")
    assert any("aten" not in line and line.rpartition(" ")[0].endswith("bank::delay") for line in open("stacks"))
    assert lamella.profiler.supported_activities() == {ProfilerActivity.CPU, ProfilerActivity.PrivateUse1}
    prof.export_chrome_trace("t.json")
    prof.export_html("t.html")
    """)
    data = checked_trace(guest.folder / "t.json")["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in data if e["name"] == "process_name"}
    assert sorted(names.values()) == ["device bank:0", "device bank:1", "lamella"]
    host = {e["args"]["External id"]: e for e in data if e["ph"] == "X" and names[e["pid"]] == "lamella"}
    device = [e for e in data if e["ph"] == "X" and names[e["pid"]] != "lamella"]
    streams = {(e["pid"], e["tid"]): e["args"]["name"] for e in data if e["name"] == "thread_name"}
    assert all(streams[e["pid"], e["tid"]] == f"stream {e['args']['stream']}" for e in device)
    arrows = {(e["ph"], e["id"]): e for e in data if e.get("cat") == "ac2g"}
    for e in device:
        by = host[e["args"]["External id"]]
        assert e["args"]["Call stack"] == by["args"]["Call stack"]
        assert arrows["s", e["args"]["correlation"]]["ts"] == by["ts"]
        assert arrows["f", e["args"]["correlation"]]["ts"] == e["ts"]
    copies = [e for e in device if e["cat"] == "gpu_memcpy"]
    assert [(e["name"], e["args"]["bytes"]) for e in copies] == [
        ("copy bank:1 -> bank:0", 8000), ("copy bank:0 -> cpu:0", 8000)]  # fmt: skip
    (backward,) = [e for e in host.values() if e["name"] == "ExpBackward0"]
    (forward,) = [e for e in host.values() if e["name"] == "aten::exp"]
    flows = {(e["ph"], e["id"]): e for e in data if e.get("cat") == "fwdbwd"}
    number = backward["args"]["Sequence number"]
    assert forward["args"]["Sequence number"] == number and flows["s", number]["ts"] == forward["ts"]
    assert (flows["f", number]["ts"], flows["f", number]["tid"]) == (backward["ts"], backward["tid"])
    counters = [e for e in data if e["ph"] == "C"]
    assert {names[e["pid"]] for e in counters} == {"device bank:0", "device bank:1"}
    assert all(e["args"]["launched"] >= 0 for e in counters)
    assert "bank:1 stream" in (guest.folder / "t.html").read_text()


def test_a_device_without_times(child):
    child("""
    import warnings
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with profile(activities=["cpu", "numpy"]) as prof:
            lamella.ones(2, device="numpy")
    (note,) = [str(w.message) for w in told]
    assert "device 'numpy': it cannot be timed" in note and "device_trace.numpy" in note
    assert not rows(prof)
    """)


def test_a_device_that_comes_without_times(child):
    """A trace does not load the devices that it names."""
    child("""
    from lamella.plugins.profiler import _python
    trace = _python._Trace(0, 0, 1 << 20, "numpy,bank")
    lamella.ones(2, device="numpy")
    trace.stop()
    (note,) = trace.notes()
    assert "device 'numpy': it was loaded while the profile ran, without the interface device_trace.numpy" in note
    """)  # bank was neither used nor loaded, so no note mentions it


def test_memory_of_devices_and_of_the_host(child):
    child("""
    with profile(profile_memory=True) as prof:
        x = lamella.ones(1024, device="bank:0")
        y = lamella.ones(1000)
    (row,) = [row for row in prof.key_averages() if row.key == "aten::ones"]
    assert (row.cpu_memory_usage, row.device_memory_usage) == (4000, 4096)
    head = prof.key_averages().table(sort_by="self_cuda_memory_usage").splitlines()[1]
    for column in ("CPU Mem", "Self CPU Mem", "BANK Mem", "Self BANK Mem"):
        assert column in head, head
    """)


def test_gaps_and_the_queue(child):
    """Tasks wait for a long one, and a stream is idle while the host sleeps."""
    child("""
    x = lamella.ones(4, device="bank:0")
    with profile(activities=["bank"]) as prof:
        delay(x, 30)
        for _ in range(9):
            x + 1
        lamella.bank.synchronize("bank:0")
        time.sleep(0.03)
        delay(x, 1)
    assert all(e.is_device for e in prof.events()) and len(prof.events()) == 11  # nothing of the host was asked for
    (stream,) = prof.device_streams()
    assert (stream.device, len(stream.work)) == ("bank:0", 11)
    assert max(n for _, n in stream.queue) == 10 and stream.queue[-1][1] == 0
    longest = max(stream.gaps, key=lambda gap: gap[1] - gap[0])
    assert longest[1] - longest[0] >= 27_000 and longest[1] == stream.work[-1][1]
    assert stream.idle >= 27_000 and stream.busy >= 27_900
    assert abs(stream.busy + stream.idle - (stream.work[-1][2] - stream.work[0][1])) < 0.01
    """)


def test_streams_that_come_and_go(child):
    """A stream is destroyed while its work waits; a profile ends while work is queued; an error is reported late."""
    child("""
    x = lamella.ones(4, device="bank:0")
    with profile() as prof:
        s = lamella.bank.Stream("bank:0")
        with lamella.bank.stream(s):
            delay(x, 20)
            x + 1
        del s
        t = lamella.bank.Stream("bank:0")
        with lamella.bank.stream(t):
            x * 2
        lamella.ones(3, device="bank:0").gather(0, lamella.full((1,), 7, dtype=lamella.int64, device="bank:0"))
        delay(x, 20)
    kinds = [(e.name, e.device_resource_id) for e in rows(prof)]
    assert sum(name == "delay" for name, _ in kinds) == 2, kinds  # the profile has waited for what was queued
    usual = max(rows(prof), key=lambda e: e.launched_at).device_resource_id
    (own,) = {stream for name, stream in kinds if name == "delay"} - {usual}
    assert [name for name, stream in kinds if stream == own] == ["delay", "pointwise", "pointwise"]
    assert all(stream.queue[-1][1] == 0 for stream in prof.device_streams())
    with fails(IndexError, "out of range"):
        lamella.bank.synchronize("bank:0")  # the error is still the program's
    """)


def test_threads_and_profiles_that_begin_and_end(child):
    """Threads launch work while profiles, also nested ones, begin and end; each profile is complete."""
    child("""
    stop, failures = threading.Event(), []

    def work(device):
        try:
            x = lamella.ones(8, device=device)
            while not stop.is_set():
                x = x * 1 + 0
                time.sleep(0.0005)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"bank:{i % 2}",)) for i in range(3)]
    for t in threads:
        t.start()
    mine = lamella.ones(2, device="bank:0")
    try:
        for _ in range(3):
            with profile() as outer:
                with profile(activities=[ProfilerActivity.PrivateUse1]) as inner:
                    delay(mine, 1)
                delay(mine, 1)
            assert [sum(e.name == "delay" for e in rows(p)) for p in (outer, inner)] == [2, 1]
            assert all(e.launched_by is not None for e in rows(outer) if e.name == "delay")
    finally:
        stop.set()
        for t in threads:
            t.join(60)
    assert not failures and not any(t.is_alive() for t in threads)
    """)


def test_fork(child):
    """A forked child ends the open profile with its rows so far, and can make its own; the parent's continues."""
    child("""
    x = lamella.ones(4, device="bank:0")
    prof = profile()
    prof.start()
    delay(x, 1)
    lamella.bank.synchronize("bank:0")
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            x + 1
            prof.stop()
            names = [e.name for e in rows(prof)]
            assert names == ["delay"], names
            prof.export_chrome_trace("child.json")
            with profile() as own:
                delay(x, 1)
            assert [e.name for e in rows(own)] == ["delay"] and rows(own)[0].launched_by.name == "bank::delay"
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    x + 1
    prof.stop()
    assert [e.name for e in rows(prof)] == ["delay", "pointwise"]
    """)
