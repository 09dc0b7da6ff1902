"""Devices that report wrong records of their work, or fail during a profile: a note in the profile says so, and the
rest of it is complete. The hook is a library that the programs control by ctypes."""

from pathlib import Path

import pytest
from children import Guest
from compiled import compile_library
from trace_format import checked_trace

HERE = Path(__file__).parent

PROLOGUE = """
    import ctypes, sys, threading, warnings
    import lamella
    from lamella.profiler import profile, record_function

    lamella.ops.load_library(sys.argv[1])
    hook = ctypes.CDLL(sys.argv[1])
    hook.launch.restype = ctypes.c_uint64
    hook.time_now.restype = ctypes.c_int64
    hook.done.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_int32] + [ctypes.c_int64] * 3
    KERNEL, COPY, FILL = 0, 1, 2

    def done(number, name=b"work", kind=KERNEL, index=0, begin=None, took=1000, bytes=0):
        begin = hook.time_now() if begin is None else begin
        hook.done(number, name, kind, index, begin, begin + took, bytes)

    def profiled(run, **options):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with profile(**options) as prof:
                run()
        return prof, [str(w.message) for w in told]

    def rows(prof):
        return [e for e in prof.events() if e.is_device]
"""


@pytest.fixture
def child(host, tmp_path_factory):
    path = compile_library(tmp_path_factory, HERE / "device_hook.cpp", "-pthread")
    return lambda program: Guest.run(host, PROLOGUE + program, path, PYTHONPATH=str(HERE.parents[1]))


def test_a_hook_that_fails(child):
    """The hook fails at its start, its end, or in its clock: the host's rows are there, a warning gives the reason."""
    child("""
    def run():
        with record_function("block"):
            done(hook.launch())

    prof, told = profiled(run)
    assert [e.name for e in rows(prof)] == ["work"] and rows(prof)[0].launched_by.name == "block" and not told
    for what, words, kept in (
        (b"start", "'cpu': its work cannot be recorded: start is broken", 0),
        (b"flush", "'cpu': a part of its work was not recorded: flush is broken", 1),
        (b"clock", "1 activities of devices whose clock cannot be read", 0),
    ):
        hook.break_(what)
        prof, told = profiled(run)
        assert len(told) == 1 and words in told[0], told
        assert {row.key for row in prof.key_averages() if not row.is_device} == {"block"}
        assert len(rows(prof)) == kept, what
        prof.export_chrome_trace("t.json"), prof.export_html("t.html")
    hook.break_(b"")
    prof, told = profiled(run)
    assert len(rows(prof)) == 1 and not told
    assert hook.count(b"starts") == hook.count(b"stops") == 4
    """)


def test_a_device_that_tells_nonsense(child):
    child("""
    def run():
        done(hook.launch(), took=-5)
        done(hook.launch(), index=99)
        done(hook.launch(), kind=17)
        done(hook.launch(), b"\\xff\\xfe \\"quoted\\"")
        done(hook.launch(), None, COPY, bytes=64)
        done(hook.launch(), None, FILL, bytes=32)
        done(10**9)  # a number that nobody gave
        done(0, b"its own")

    prof, told = profiled(run)
    assert len(told) == 1 and "3 activities of devices had an end before their begin" in told[0], told
    assert len(rows(prof)) == 5 and all(e.launched_by is None for e in rows(prof))
    sums = {row.key: row for row in prof.key_averages() if row.is_device}
    assert sums["copy cpu:0 -> cpu:0"].bytes == 64 and sums["fill cpu:0"].bytes == 32 and sums["its own"].count == 1
    prof.export_chrome_trace("t.json")
    """)


def test_kernels_are_known_by_what_launched_them(child, host):
    """Records may be late, out of order, from another thread, of an earlier profile, or beyond the limit."""
    child("""
    early = []

    def run():
        with record_function("outer"):
            with record_function("first"):
                a = hook.launch()
            with record_function("second"):
                b = hook.launch()
            c = hook.launch()
        begin = hook.time_now()

        def tell():
            for number, name, at in (c, b"c", 3), (a, b"a", 1), (b, b"b", 2):
                done(number, name, begin=begin + at * 10_000_000, took=1_000_000)
            for number in early:
                done(number, b"early")

        teller = threading.Thread(target=tell)
        teller.start()
        teller.join()
        early.append(a)

    for _ in range(2):
        prof, told = profiled(run, with_stack=True)
        assert [(e.name, e.launched_by.name) for e in rows(prof)] == [("a", "first"), ("b", "second"), ("c", "outer")]
        assert rows(prof)[0].stack == rows(prof)[0].launched_by.stack != []
        sums = {row.key: row for row in prof.key_averages()}
        first, outer = sums["first"], sums["outer"]
        assert 900 < first.device_time_total < 1100 and first.self_device_time_total == first.device_time_total
        assert 2700 < outer.device_time_total < 3300 and 900 < outer.self_device_time_total < 1100
        (stream,) = prof.device_streams()
        assert len(stream.gaps) == 2 and all(8000 < end - begin < 10_000 for begin, end in stream.gaps)
        assert max(n for _, n in stream.queue) == 3 and stream.queue[-1][1] == 0
        prof.export_chrome_trace("t.json")
    many, told = profiled(lambda: [done(hook.launch()) for _ in range(20)], max_events=6)
    assert len(rows(many)) == 6 and many.dropped() == 14
    """)
    spans = {e["name"]: e for e in checked_trace(host.folder / "t.json")["traceEvents"] if e["ph"] == "X"}
    for kernel, block in (("a", "first"), ("b", "second"), ("c", "outer")):
        assert spans[kernel]["args"]["External id"] == spans[block]["args"]["External id"]
        assert spans[kernel]["pid"] != spans[block]["pid"]


def test_profiles_side_by_side(child):
    """Two profiles share a hook; each has the work that was launched while it ran."""
    child("""
    outer = profile()
    outer.start()
    done(hook.launch(), b"first")
    with profile() as inner:
        done(hook.launch(), b"second")
    waiting = hook.launch()
    with profile(activities=["cpu"]) as host:
        done(hook.launch(), b"third")
    done(waiting, b"waiting")
    outer.stop()
    assert [e.name for e in rows(inner)] == ["second"] and not rows(host)
    assert [e.name for e in rows(outer)] == ["first", "second", "third", "waiting"]
    assert (hook.count(b"starts"), hook.count(b"stops"), hook.count(b"flushes")) == (1, 1, 2)
    assert hook.launch() == 0
    """)


def test_a_device_without_a_hook_is_timed_by_its_events(child):
    child("""
    x = lamella.ones(3, device="evented")

    def run():
        with record_function("block"):
            lamella.ops.evented.rest(x, 20_000)
        (x + 1).cpu()

    prof, told = profiled(run)
    assert not rows(prof)  # nobody asked for that device
    prof, told = profiled(run, activities=["cpu", "evented"])
    assert not told and hook.count(b"events") == 0, told
    (rest,) = [e for e in rows(prof) if e.name == "evented::rest"]
    assert rest.self_device_time_total >= 18_000 and rest.device_type == "evented"
    assert rest.launched_by.name == "evented::rest" and rest.launched_by.cpu_parent.name == "block"
    block = next(e for e in prof.events() if e.name == "block").time_range
    assert block.start - 5000 <= rest.time_range.start < rest.time_range.end <= block.end + 5000
    hook.break_(b"event_elapsed")
    prof, told = profiled(run, activities=["cpu", "evented"])
    assert len(told) == 1 and "could not be timed by events: event_elapsed is broken" in told[0], told
    hook.break_(b"event_create")
    prof, told = profiled(run, activities=["cpu", "evented"])
    assert not rows(prof) and {row.key for row in prof.key_averages()} > {"block", "evented::rest"}
    assert hook.count(b"events") == 0
    """)


def test_a_device_that_tells_nothing_is_said_to(child):
    child("""
    from heaps import Heap

    library = lamella.library.register_backend("heap", Heap())
    prof, told = profiled(lambda: lamella.ones(2).to("heap"), activities=["cpu", "heap"])
    assert len(told) == 1 and "device 'heap': it cannot be timed" in told[0], told
    assert "aten::to" in {row.key for row in prof.key_averages()}
    prof, told = profiled(lambda: lamella.ones(2), activities=["cpu", "absent"])
    assert len(told) == 1 and "ABSENT cannot be recorded" in told[0], told
    with fails(TypeError, "'activities'"):
        profile(activities=[3])
    """)
