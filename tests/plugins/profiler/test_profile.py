"""Profiles: their records, sums, trees, tables and files. The oracles are sums computed here, and the document of the
trace-event format."""

import os
import signal
import subprocess
import sys
import threading

import lamella
import pytest
from lamella.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)
from threads import in_threads
from trace_format import checked_trace


def counts(prof):
    return {e.key: e.count for e in prof.key_averages()}


def test_counts_and_the_tree():
    with profile() as prof:
        with record_function("outer"):
            for _ in range(3):
                lamella.ones(2, 3) @ lamella.ones(3, 4)
        lamella.zeros(1)
    assert counts(prof) == {"aten::ones": 6, "aten::matmul": 3, "aten::mm": 3, "aten::zeros": 1, "outer": 1}
    events = prof.events()
    by_name = {e.name: e for e in events}
    assert by_name["aten::mm"].cpu_parent is events[events.index(by_name["aten::mm"]) - 1]
    assert by_name["aten::mm"].cpu_parent.name == "aten::matmul"
    assert by_name["aten::matmul"].cpu_parent.name == "outer"
    assert by_name["aten::zeros"].cpu_parent is None and by_name["outer"].is_user_annotation
    assert [e.id for e in events] == list(range(len(events)))
    for e in events:  # a child's span lies within its parent's, and sums are the tree's
        assert e.cpu_time_total >= 0 and e.self_cpu_time_total >= 0
        for child in e.cpu_children:
            assert e.time_range.start <= child.time_range.start <= child.time_range.end <= e.time_range.end


def test_sums_are_those_of_the_events():
    with profile(record_shapes=True) as prof:
        for n in (2, 2, 3):
            lamella.ones(n, n) @ lamella.ones(n, n)
    events = prof.events()
    for grouped in (False, True):
        for row in prof.key_averages(group_by_input_shape=grouped):
            same = [e for e in events if e.name == row.key and (not grouped or e.input_shapes == row.input_shapes)]
            assert row.count == len(same)
            assert row.cpu_time_total == pytest.approx(sum(e.cpu_time_total for e in same), abs=1e-6)
            assert row.self_cpu_time_total == pytest.approx(sum(e.self_cpu_time_total for e in same), abs=1e-6)
            assert row.least == pytest.approx(min(e.cpu_time_total for e in same), abs=1e-6)
            assert row.most == pytest.approx(max(e.cpu_time_total for e in same), abs=1e-6)
    shapes = [row.input_shapes for row in prof.key_averages(True) if row.key == "aten::mm"]
    assert shapes == [[(2, 2), (2, 2)], [(3, 3), (3, 3)]]


def test_shapes_of_lists_scalars_and_absent_tensors():
    with profile(record_shapes=True) as prof:
        lamella.cat([lamella.ones(2, 3), lamella.ones(4, 3)])
        lamella.add(lamella.ones(5, dtype=lamella.float64), 1)
    by_name = {e.name: e for e in prof.events()}
    assert by_name["aten::cat"].input_shapes[0] == [(2, 3), (4, 3)]
    assert by_name["aten::add"].input_shapes[:2] == [(5,), ()]
    assert by_name["aten::add"].input_types[:2] == ["float64", "Scalar"]


def test_backward_belongs_to_its_forward():
    x = lamella.ones(3, requires_grad=True)
    with profile() as prof:
        y = (x * 2).exp()
        y.sum().backward()
    by_name = {}
    for e in prof.events():
        by_name.setdefault(e.name, e)
    for forward, backward in (
        ("aten::mul", "MulBackward0"),
        ("aten::exp", "ExpBackward0"),
        ("aten::sum", "SumBackward0"),
    ):
        assert by_name[forward].sequence_nr == by_name[backward].sequence_nr > 0
        assert by_name[backward].fwd_thread == by_name[forward].thread
    assert by_name["AccumulateGrad"].sequence_nr not in {e.sequence_nr for e in by_name.values() if e.scope == 0}


def test_threads_have_tracks_of_their_own():
    def work():
        for _ in range(50):
            lamella.ones(2)

    with profile() as prof:
        in_threads(*[work] * 4)
    assert counts(prof) == {"aten::ones": 200}
    assert len({e.thread for e in prof.events()}) in range(1, 5)  # a thread may have an ended thread's number


def test_profiles_nested_and_side_by_side():
    with profile() as outer:
        lamella.ones(1)
        with profile() as inner:
            lamella.zeros(1)
        lamella.ones(1)
    assert counts(inner) == {"aten::zeros": 1}
    assert counts(outer) == {"aten::ones": 2, "aten::zeros": 1}


def test_an_operator_that_fails_is_recorded_and_its_error_stays():
    with profile() as prof:
        with pytest.raises(RuntimeError, match="mm"):
            lamella.mm(lamella.ones(2, 3), lamella.ones(2, 3))
        lamella.ones(1)
    row = next(row for row in prof.key_averages() if row.key == "aten::mm")
    assert (row.count, row.failed) == (1, 1)


def test_memory_is_counted_where_it_is_got():
    with profile(profile_memory=True) as prof:
        kept = lamella.ones(1000)
        with record_function("block"):
            lamella.ones(500)
    rows = {row.key: row for row in prof.key_averages()}
    assert rows["aten::ones"].self_cpu_memory_usage == 6000
    assert rows["block"].cpu_memory_usage == 0  # memory allocated in the block is freed there
    timeline = prof.memory_timeline()
    assert [n for _, device, n, _ in timeline if device == "cpu:0"] == [4000, 2000, -2000]
    assert timeline[-1][3] == 4000 and kept.numel() == 1000
    with profile() as prof:
        lamella.ones(1)
    with pytest.raises(RuntimeError, match="profile_memory"):
        prof.memory_timeline()


def in_a_function():
    return lamella.ones(2)


def test_stacks_and_their_file(tmp_path):
    with profile(with_stack=True) as prof:
        for _ in range(200):
            in_a_function()
    event = prof.events()[0]
    assert event.stack[0].endswith(": in_a_function") and os.path.basename(__file__) in event.stack[0]
    assert event.stack[1].endswith(": test_stacks_and_their_file")
    row = prof.key_averages(group_by_stack_n=1)[0]
    assert (row.count, len(row.stack)) == (200, 1)
    path = tmp_path / "stacks.txt"
    prof.export_stacks(path)
    for line in path.read_text().splitlines():
        stack, time = line.rsplit(" ", 1)
        assert stack.endswith("in_a_function;aten::ones") and int(time) >= 1
    with pytest.raises(ValueError, match="metric"):
        prof.export_stacks(path, "weight")
    with profile() as prof:
        lamella.ones(1)
    with pytest.raises(RuntimeError, match="with_stack"):
        prof.export_stacks(path)


def test_flops_of_products():
    with profile(with_flops=True) as prof:
        lamella.ones(2, 3) @ lamella.ones(3, 4)
        lamella.ones(5, 2, 3).bmm(lamella.ones(5, 3, 4))
    rows = {row.key: row.flops for row in prof.key_averages()}
    assert rows["aten::mm"] == 2 * 2 * 3 * 4 and rows["aten::bmm"] == 5 * 2 * 2 * 3 * 4 and rows["aten::ones"] == 0


def test_modules_are_blocks():
    model = lamella.nn.Sequential(lamella.nn.Linear(2, 2), lamella.nn.ReLU())
    with profile(with_modules=True) as prof:
        model(lamella.ones(1, 2))
    names = {e.name: e for e in prof.events()}
    assert names["aten::relu"].cpu_parent.name == "nn.Module: ReLU"
    assert names["nn.Module: ReLU"].cpu_parent.name == "nn.Module: Sequential"
    with profile() as prof:
        model(lamella.ones(1, 2))
    assert "nn.Module: ReLU" not in counts(prof)


def test_modules_on_several_threads():
    class Sleeper(lamella.nn.Module):
        def forward(self, x):
            barrier.wait(60)
            return x + 1

    class Other(Sleeper):
        pass

    barrier = threading.Barrier(2)
    with profile(with_modules=True) as prof:
        in_threads(*[lambda m=m: m(lamella.ones(1)) for m in (Sleeper(), Other())])
    events = prof.events()
    assert sorted(e.cpu_parent.name for e in events if e.name == "aten::add") == [
        "nn.Module: Other",
        "nn.Module: Sleeper",
    ]


def test_blocks_that_overlap_keep_their_times():
    """Two tasks alternate on a thread: the tree cuts the second block short, but its time is its own."""
    import asyncio

    async def request(name, long):
        with record_function(name):
            await asyncio.sleep(long)

    async def both():
        await asyncio.gather(request("short", 0.05), request("long", 0.2))

    with profile() as prof:
        asyncio.run(both())
    rows = {row.key: row.cpu_time_total for row in prof.key_averages()}
    assert rows["long"] > rows["short"] >= 50_000 and rows["long"] >= 200_000


def test_flops_are_counted_once():
    with profile(with_flops=True) as prof:
        lamella.ones(8, 16) @ lamella.ones(16)
        lamella.ones(2, 3) @ lamella.ones(3, 4)
    assert sum(row.flops for row in prof.key_averages()) == 2 * 8 * 16 + 2 * 2 * 3 * 4


# ---- the trace-event format ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_chrome_trace(tmp_path, name):
    x = lamella.ones(2, 3, requires_grad=True)
    with profile(record_shapes=True, with_stack=True, profile_memory=True) as prof:
        with record_function('a "block"\n\\ of ünïcode'):
            (x * 2).sum().backward()
    prof.add_metadata("model", "small")
    prof.add_metadata_json("sizes", "[1, 2]")
    with pytest.raises(ValueError):
        prof.add_metadata_json("sizes", "[1, 2")
    prof.export_chrome_trace(tmp_path / name)
    data = checked_trace(tmp_path / name)
    assert data["metadata"] == {"model": "small", "sizes": [1, 2]}
    spans = {}
    for e in data["traceEvents"]:
        if e["ph"] == "X":
            spans.setdefault(e["name"], e)  # the first span of each name
    assert spans['a "block"\n\\ of ünïcode']["cat"] == "user_annotation"
    assert spans["aten::mul"]["args"]["Input Dims"] == [[2, 3], []]
    assert spans["aten::mul"]["args"]["Input type"] == ["float32", "Scalar"]
    assert os.path.basename(__file__) in spans["aten::mul"]["args"]["Call stack"]
    first = next(e for e in prof.events() if e.name == "aten::mul")  # the file and the events agree
    assert spans["aten::mul"]["ts"] == pytest.approx(first.time_range.start, abs=1e-6)
    assert spans["aten::mul"]["dur"] == pytest.approx(first.cpu_time_total, abs=1e-6)
    flows = [e for e in data["traceEvents"] if e["ph"] == "s"]
    assert {f["id"] for f in flows} == {spans["MulBackward0"]["args"]["Sequence number"],
                                        spans["SumBackward0"]["args"]["Sequence number"]}  # fmt: skip
    assert [f for f in flows if f["ts"] == spans["aten::mul"]["ts"]]
    assert any(e["ph"] == "C" and e["args"]["bytes"] > 0 for e in data["traceEvents"])
    assert os.listdir(tmp_path) == [name]


def test_a_long_trace_has_a_file_in_proportion(tmp_path):
    """The file has an equal stack once for each span, so it grows only linearly."""
    with profile(with_stack=True) as prof:
        for _ in range(2000):
            in_a_function()
    prof.export_chrome_trace(tmp_path / "t.json")
    texts = [e["args"]["Call stack"] for e in checked_trace(tmp_path / "t.json")["traceEvents"] if e["ph"] == "X"]
    assert len(texts) == 2000 and len(set(texts)) == 1


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    with profile() as prof:
        for _ in range(5000):
            lamella.ones(1)
    path = tmp_path / "t.json"
    path.write_text("old")
    script = """
import resource, signal, sys, lamella
from lamella.profiler import profile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with profile() as prof:
    for _ in range(5000):
        lamella.ones(1)
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
try:
    prof.export_chrome_trace(sys.argv[1])
except RuntimeError as error:
    print(error)
"""
    out = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=120)
    assert "File too large" in out.stdout, out
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["t.json"]
    with pytest.raises(FileNotFoundError, match="absent"):
        prof.export_chrome_trace(tmp_path / "absent" / "t.json")


# ---- schedules -------------------------------------------------------------------------------------------------------


def test_schedule_of_steps():
    plan = schedule(skip_first=2, wait=1, warmup=1, active=2, repeat=2)
    N, W, R, S = ProfilerAction
    assert [plan(i) for i in range(12)] == [N, N, N, W, R, S, N, W, R, S, N, N]
    assert [schedule(wait=2, warmup=0, active=1, skip_first_wait=1)(i) for i in range(5)] == [S, N, N, S, N]
    for wrong in {"wait": -1}, {"active": 0}, {"repeat": -1}:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            schedule(**{"wait": 1, "warmup": 1, "active": 1, **wrong})


@pytest.mark.parametrize("steps, cycles", [(4, 1), (8, 2), (12, 2), (3, 1), (1, 0)])
def test_cycles_are_handed_over(steps, cycles):
    got = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=plan, on_trace_ready=lambda p: got.append((p.step_num, counts(p)))) as prof:
        for _ in range(steps):
            lamella.ones(2)
            prof.step()
    assert len(got) == cycles
    full = [{k: v for k, v in c.items() if not k.startswith("ProfilerStep")} for _, c in got]
    whole = {"aten::ones": 2}
    assert full == [whole] * cycles if steps != 3 else full == [{"aten::ones": 1}]
    if steps == 8:
        assert [sorted(k for k in c if k.startswith("ProfilerStep")) for _, c in got] == [
            ["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#6", "ProfilerStep#7"]]  # fmt: skip


def test_handler_of_files(tmp_path):
    handler = tensorboard_trace_handler(str(tmp_path), use_gzip=True)
    with profile(on_trace_ready=handler):
        lamella.ones(1)
    (name,) = os.listdir(tmp_path)
    assert name.endswith(".pt.trace.json.gz")
    checked_trace(tmp_path / name)


# ---- bad input and faults --------------------------------------------------------------------------------------------


def test_bad_input():
    with pytest.raises(TypeError, match="schedule"):
        profile(schedule=3)
    with pytest.raises(ValueError, match="max_events"):
        profile(max_events=0)
    with pytest.raises(NotImplementedError, match="experimental_config"):
        profile(experimental_config=object())
    with pytest.warns(UserWarning, match="CUDA"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    prof = profile()
    for read in (prof.key_averages, prof.events, lambda: prof.export_chrome_trace("x")):
        with pytest.raises(RuntimeError, match="nothing was recorded"):
            read()
    with pytest.raises(RuntimeError, match="does not run"):
        prof.step()
    with prof:
        with pytest.raises(RuntimeError, match="still records"):
            prof.key_averages()
        with pytest.raises(RuntimeError, match="once"):
            prof.start()
    prof.stop()  # a second stop() does nothing
    with pytest.raises(ValueError, match="sort_by"):
        prof.key_averages().table(sort_by="colour")
    with pytest.raises(ValueError, match="group_by_stack_n"):
        prof.key_averages(group_by_stack_n=-1)


def test_events_beyond_the_limit_are_counted():
    with profile(max_events=10) as prof:
        for _ in range(25):
            lamella.ones(1)
    assert counts(prof) == {"aten::ones": 10} and prof.dropped() == 15


def test_table_has_the_columns():
    with profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True) as prof:
        lamella.ones(2, 3) @ lamella.ones(3, 4)
        lamella.ones(9)
    text = prof.key_averages(group_by_input_shape=True, group_by_stack_n=2).table(sort_by="count", row_limit=2)
    head = text.splitlines()[1]
    for column in (
        "Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "CPU Mem", "Self CPU Mem",
        "# of Calls", "Input Shapes", "Total MFLOPs", "Source Location",
    ):  # fmt: skip
        assert column in head
    assert "Self CPU time total" in text and text.count("aten::") == 2
    averages = prof.key_averages()
    shares = [float(cell.split("%")[0]) for cell in (line.split()[1] for line in averages.table().splitlines()[3:-2])]
    assert sum(shares) == pytest.approx(100, abs=0.01 * len(shares))


def test_exit_and_fork_while_a_profile_is_open():
    """A forked child ends the parent's profile, and may read it and open its own; the parent's profile goes on."""
    script = """
import os, lamella
from lamella.profiler import profile, record_function
def names(prof):
    return sorted(e.name for e in prof.events())
prof = profile(profile_memory=True, with_stack=True)
prof.start()
kept = lamella.ones(3)
with record_function("around"):
    pid = os.fork()
    if pid == 0:
        lamella.zeros(3)
        with profile() as own:
            lamella.full((3,), 2.0)
        prof.stop()
        assert names(own) == ["aten::full"], names(own)
        assert sum(e.cpu_memory_usage for e in prof.key_averages()) == kept.nbytes
        print("child", names(prof), flush=True)
        os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
lamella.zeros(3)
prof.stop()
print("parent", names(prof), flush=True)
prof = profile()
prof.start()
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert out.returncode == 0 and not out.stderr, out
    assert out.stdout == "child ['around', 'aten::ones']\nparent ['around', 'aten::ones', 'aten::zeros']\n"


def test_two_profiles_end_in_a_child_of_fork():
    with profile(profile_memory=True) as outer, profile() as inner:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                lamella.ones(1)
                outer.stop(), inner.stop()
                code = len(outer.events()) + len(inner.events())
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
        lamella.ones(1)
    assert counts(outer) == counts(inner) == {"aten::ones": 1}


def test_a_profile_that_stops_while_others_run():
    """Threads run operators while profiles begin and end; each profile is complete and readable."""
    done = threading.Event()
    failures = []

    def work():
        try:
            x = lamella.ones(4)
            while not done.is_set():
                (x + 1).sum()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    try:
        for _ in range(20):
            with profile(record_shapes=True, profile_memory=True) as prof:
                lamella.zeros(3)
            assert counts(prof)["aten::zeros"] == 1
            assert len(prof.events()) >= 1
    finally:
        done.set()
        for t in threads:
            t.join(60)
    assert not failures and not any(t.is_alive() for t in threads)


def test_interrupted_program_ends_with_its_profile():
    script = """
import os, signal, lamella
from lamella.profiler import profile
try:
    with profile() as prof:
        lamella.ones(2)
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            lamella.ones(2)
except KeyboardInterrupt:
    print(prof.key_averages()[0].count >= 1)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # fmt: skip
    assert out.stdout == "True\n", out
