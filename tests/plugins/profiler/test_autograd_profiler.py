"""``lamella.autograd.profiler``, the older names, agrees with ``lamella.profiler``."""

import subprocess
import sys

import lamella
import pytest
from lamella.autograd.profiler import EventList, FunctionEvent, profile, record_function
from lamella.autograd.profiler_util import FunctionEventAvg, Interval, Kernel
from trace_format import checked_trace


def work():
    with record_function("block"):
        lamella.ones(2, 3) @ lamella.ones(3, 4)


def test_the_same_names():
    assert lamella.autograd.profiler.record_function is lamella.profiler.record_function
    assert sys.modules["lamella.autograd.profiler"] is lamella.autograd.profiler
    assert Interval(1.0, 3.5).elapsed_us() == 2.5 and Kernel("k", 0, 2.0).name == "k"
    for module, name in (
        (lamella.autograd.profiler, "load_nvprof"),
        (lamella.autograd.profiler_util, "StringTable"),
        (lamella.profiler, "itt"),
    ):
        with pytest.raises(AttributeError, match=f"{module.__name__.rpartition('.')[2]}' has no attribute '{name}'"):
            getattr(module, name)


def test_it_says_what_the_newer_one_says(tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as old:
        work()
    with lamella.profiler.profile(activities=["cpu"], record_shapes=True) as new:
        work()
    assert [(e.key, e.count) for e in old.key_averages()] == [(e.key, e.count) for e in new.key_averages()]
    events = old.function_events
    assert isinstance(events, EventList) and all(isinstance(e, FunctionEvent) for e in events)
    assert [e.name for e in events] == ["block", "aten::ones", "aten::ones", "aten::matmul", "aten::mm"]
    assert "Total MFLOPs" in old.table(sort_by="cpu_time_total", row_limit=1, header="Head").splitlines()[2]
    shapes = {e.key: e.input_shapes for e in old.key_averages(group_by_input_shape=True)}
    assert shapes["aten::mm"] == [(2, 3), (3, 4)]
    old.export_chrome_trace(tmp_path / "t.json")
    assert len([e for e in checked_trace(tmp_path / "t.json")["traceEvents"] if e["ph"] == "X"]) == 5
    assert old.self_cpu_time_total == pytest.approx(events[0].cpu_time_total, abs=0.01)  # the block contains all calls


def test_sums_of_events_are_those_of_the_profile():
    with profile(record_shapes=True, with_stack=True) as prof:
        for n in 2, 2, 3:
            lamella.ones(n) + 1
    for options in {}, {"group_by_stack_n": 1}:
        rows = prof.function_events.key_averages(**options)
        wanted = {(e.key, tuple(e.stack)): e for e in prof.key_averages(**options)}
        assert len(rows) == len(wanted) and all(isinstance(row, FunctionEventAvg) for row in rows)
        for row in rows:
            one = wanted[row.key, tuple(row.stack)]
            assert row.count == one.count and row.cpu_time_total == pytest.approx(one.cpu_time_total, abs=1e-6)
    shapes = prof.function_events.key_averages(group_by_input_shapes=True)
    assert [(row.key, row.count, row.input_shapes[0]) for row in shapes if row.key == "aten::add"] == [
        ("aten::add", 2, (2,)), ("aten::add", 1, (3,))]  # fmt: skip
    total = prof.total_average()
    assert (total.key, total.count) == ("Total", 6)
    assert total.self_cpu_time_total == pytest.approx(prof.self_cpu_time_total)


def test_bad_input():
    with profile(enabled=False) as prof:
        work()
    assert prof is None
    idle = profile()
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        idle.key_averages()
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        profile(enabled=False).table()
    with idle, pytest.raises(RuntimeError, match="entered already"):
        idle.__enter__()
    with pytest.raises(ValueError, match="use_cpu"):
        profile(use_cpu=False)
    with pytest.warns(UserWarning, match="XYZ"):
        profile(use_device="xyz")


def test_without_the_plugin():
    out = subprocess.run(
        [sys.executable, "-c", "import lamella; lamella.autograd.profiler.profile"],
        env={"LAMELLA_PLUGINS": "-profiler"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "lamella.profiler is brought by plugin 'profiler'" in out.stderr
