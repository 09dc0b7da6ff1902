"""Exports of sampled times: counts, files of JSON lines, other packages' exporters, and wrong arguments."""

import asyncio
import contextlib
import json
import math
import threading

import lamella
import pytest
from lamella.profiler import exporters

WAIT = 30


class Keeper(exporters.Exporter):
    """Keeps all batches."""

    def __init__(self):
        self.batches = []
        self.closed = 0

    def export(self, batch):
        self.batches.append(batch)

    def close(self):
        self.closed += 1

    def series(self):
        return {(s.scope, s.name, s.dtype, s.values): s for s in self.batches[-1].series}

    def spans(self):
        return [s for batch in self.batches for s in batch.spans]


def kept(**options):
    keeper = Keeper()
    return keeper, exporters.export(lambda: keeper, **{"sampling": 1.0, "timeout": WAIT} | options)


def test_histograms_of_all_calls():
    keeper, handle = kept()
    with handle:
        for _ in range(5):
            x = lamella.ones(3, dtype=lamella.float64)
            x + 1
    assert keeper.closed == 1 and handle.closed and handle.counts.recorded == 10
    for name in "aten::ones", "aten::add":
        s = keeper.series()["function", name, "float64", ()]
        assert s.backend == "cpu" and s.count == sum(s.buckets) == 5
        assert 0 < s.min <= s.sum / 5 <= s.max < 10 and s.sum <= 5 * s.max
        assert len(s.buckets) == len(keeper.batches[-1].bounds) + 1
        least = next(i for i, n in enumerate(s.buckets) if n)
        assert least == 0 or keeper.batches[-1].bounds[least - 1] < s.min
    lamella.ones(2)
    assert handle.counts.recorded == 10 and handle.counts.unsent == 0


def test_a_tenth_is_sampled():
    keeper, handle = kept(sampling=0.1, queue=1 << 14)
    x = lamella.ones(2)
    with handle:
        for _ in range(20_000):
            x.neg()
    n = keeper.series()["function", "aten::neg", "float32", ()].count
    assert abs(n - 2000) < 6 * math.sqrt(20_000 * 0.1 * 0.9)
    assert keeper.batches[-1].sampling == 0.1


@pytest.mark.needs("autograd")
def test_backward_and_blocks():
    keeper, handle = kept(spans=True)
    with handle:
        w = lamella.ones(2, requires_grad=True)
        with lamella.profiler.record_function("step"):
            (w * 2).sum().backward()
    scopes = {(s.scope, s.name) for s in keeper.batches[-1].series}
    assert {("user_scope", "step"), ("function", "aten::mul"), ("backward_function", "MulBackward0")} <= scopes
    all_spans = sorted(keeper.spans(), key=lambda s: -s.begin)  # the first span of each name wins below
    spans = {s.name: s for s in all_spans}
    step, mul = spans["step"], spans["aten::mul"]
    [inner] = [s for s in all_spans if s.parent == spans["MulBackward0"].id and s.name == "aten::mul"]
    assert inner.root == step.id
    assert mul.parent == mul.root == step.id and step.parent == 0 and step.root == step.id
    assert step.begin <= mul.begin and mul.begin + mul.duration <= step.begin + step.duration
    assert abs(step.begin / 1e9 - keeper.batches[-1].time) < 60


def around(keeper):
    """Returns (name, parent, root) of each span, in order of their begins."""
    spans = sorted(keeper.spans(), key=lambda s: s.begin)
    names = {s.id: s.name for s in spans} | {0: None}
    return [(s.name, names[s.parent], names[s.root]) for s in spans]


def test_tasks_that_take_turns_are_not_within_one_another():
    """A task that is made within a block is inside it, and so is a thread of ``to_thread``."""

    async def request(name, turns):
        with lamella.profiler.record_function(name):
            for _ in range(turns):
                await asyncio.sleep(0)
                lamella.ones(1)
            await asyncio.gather(part(f"{name} part"), asyncio.to_thread(lamella.zeros, 1))

    async def part(name):
        with lamella.profiler.record_function(name):
            await asyncio.sleep(0)
            lamella.full((1,), 2)

    async def requests():
        await asyncio.gather(*(request(name, 2 + i) for i, name in enumerate("abc")))

    keeper, handle = kept(spans=True)
    with handle:
        asyncio.run(requests())
        lamella.arange(2)
    found = around(keeper)
    for i, name in enumerate("abc"):
        within = f"{name} part"
        own = [("aten::ones", name, name)] * (2 + i) + [("aten::zeros", name, name)]
        own += [(name, None, name), (within, name, name), ("aten::full", within, name)]
        assert sorted(map(str, own)) == sorted(str(f) for f in found if f[2] == name)
    assert len({s.root for s in keeper.spans()}) == 4 and ("aten::arange", None, "aten::arange") in found


def test_a_chain_of_tasks_keeps_what_is_open():
    """Each task begins the next within its block, and ends; each, also the last, has one enclosing block."""

    async def link(n):
        with lamella.profiler.record_function("link"):
            following = asyncio.create_task(link(n - 1)) if n else None
            await asyncio.sleep(0)
        return following

    async def chain(n):
        task = asyncio.create_task(link(n))
        while task:
            task = await task

    keeper, handle = kept(spans=True)
    with handle:
        asyncio.run(chain(50))
    spans = {s.id: s for s in keeper.spans()}
    assert len(spans) == 51 and all(s.parent in spans for s in spans.values() if s.parent)


def test_a_block_that_ends_on_another_thread_is_not_around_what_follows():
    keeper, handle = kept(spans=True)
    with handle:
        with lamella.profiler.record_function("outer"):
            moved = lamella.profiler.record_function("moved")
            moved.__enter__()
            lamella.zeros(1)
            thread = threading.Thread(target=moved.__exit__, args=(None, None, None))
            thread.start()
            thread.join(WAIT)
            lamella.ones(1)
        with lamella.profiler.record_function("later"):
            lamella.full((1,), 2)
    assert around(keeper) == [
        ("outer", None, "outer"),
        ("moved", "outer", "outer"),
        ("aten::zeros", "moved", "outer"),
        ("aten::ones", "outer", "outer"),
        ("later", None, "later"),
        ("aten::full", "later", "later"),
    ]


def test_two_exports_have_parents_of_their_own():
    """The second export begins inside a block that it has not recorded."""
    one, first = kept(spans=True)
    with first, lamella.profiler.record_function("outer"):
        other, second = kept(spans=True)
        with second, lamella.profiler.record_function("inner"):
            lamella.ones(1)
    assert around(one)[1:] == [("inner", "outer", "outer"), ("aten::ones", "inner", "outer")]
    assert around(other) == [("inner", None, "inner"), ("aten::ones", "inner", "inner")]


def test_blocks_alone():
    keeper, handle = kept(sampling=0.0)
    with handle, lamella.profiler.record_function("block"):
        lamella.ones(2)
    assert [s.name for s in keeper.batches[-1].series] == ["block"]


def test_debug_information():
    keeper, handle = kept(attributes=["model"], span_attributes=["request"], spans=True)
    with handle:
        for request, model in enumerate(("é" * 200, "b", 7, 0.5, True, object())):
            with lamella.profiler.debug_info("model", model), lamella.profiler.debug_info("request", f"r{request}"):
                lamella.ones(1)
        lamella.ones(1)
    values = {values[0] for _, name, _, values in keeper.series() if name == "aten::ones"}
    [long] = [v for v in values if v and v.startswith("é")]
    assert values - {long} == {None, "b", "7", "0.5", "true", "(an object)"}
    assert long == "é" * 31, "64 bytes for each of two kinds, 2 of them taken"
    spans = [keeper.batches[-1].attributes(s.values) for s in keeper.spans()]
    assert {"model": "b", "request": "r1"} in spans and {} in spans


def test_a_full_queue_drops_and_counts():
    x = lamella.ones(1)
    keeper, handle = kept(queue=16)
    with handle:
        for _ in range(3000):
            x.neg()
    counts = handle.counts
    assert counts.recorded + counts.queue == 3000 and counts.queue > 0 and counts.recorded >= 16
    assert keeper.series()["function", "aten::neg", "float32", ()].count == counts.recorded


@pytest.mark.parametrize("kinds", [1, 3, 8])
def test_a_values_room_is_the_same_beside_each_name(kinds):
    names = [f"kind{i}" for i in range(kinds)]
    text = "0123456789" * 15
    keeper, handle = kept(attributes=names)
    with handle, contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(lamella.profiler.debug_info(name, text))
        lamella.ones(1, dtype=lamella.complex128).neg()
        with lamella.profiler.record_function("a request of the ranking service " * 8):
            pass
    assert len(keeper.batches[-1].series) == 3
    for s in keeper.batches[-1].series:
        assert s.values == (text[: 128 // kinds - 2],) * kinds
        assert len(s.name) == 95 or s.scope == "function"


@pytest.mark.parametrize("text", ["x" * 125 + "é", "x" * 124 + "Ωß", "x" * 123 + "\N{GRINNING FACE}y"])
def test_values_are_cut_between_characters(text):
    keeper, handle = kept(attributes=["model"])
    with handle, lamella.profiler.debug_info("model", text):
        lamella.ones(1)
    [values] = {s.values for s in keeper.batches[-1].series}
    assert values == (text.encode()[:126].decode(errors="ignore"),)


def test_a_queue_for_one():
    """The queue has room for two: each sample is exported, or counted as dropped."""
    x = lamella.ones(1)
    keeper, handle = kept(queue=1)
    with handle:
        for _ in range(5):
            for _ in range(10):
                x.neg()
            assert handle.flush()
    counts = handle.counts
    assert counts.recorded + counts.queue == 50 and counts.recorded >= 10
    assert keeper.series()["function", "aten::neg", "float32", ()].count == counts.recorded


def test_too_many_series_are_dropped_and_counted():
    keeper, handle = kept(attributes=["request"], max_series=3)
    with handle:
        for i in range(10):
            with lamella.profiler.debug_info("request", i):
                lamella.ones(1)
    assert len(keeper.batches[-1].series) == 3 and handle.counts.dropped == {"queue": 0, "series": 7, "spans": 0}


def test_threads_while_exports_come_and_go():
    stop = threading.Event()
    x = lamella.ones(4)

    def work():
        while not stop.is_set():
            x.neg()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    try:
        for _ in range(4):
            keeper, handle = kept(interval=0.01, spans=True)
            assert handle.flush()
            handle.close()
            counts = handle.counts
            # A thread inside an operator when the sampling ended may record a sample after the last batch.
            gathered, sent = sum(s.count for s in keeper.batches[-1].series), len(keeper.spans())
            assert counts.recorded - len(threads) <= gathered + counts.series <= counts.recorded
            assert counts.recorded - len(threads) <= sent + counts.spans <= counts.recorded
            assert gathered > 0
    finally:
        stop.set()
        for t in threads:
            t.join(WAIT)


def test_two_exports_at_once():
    (one, first), (other, second) = kept(), kept(attributes=["model"])
    with first, lamella.profiler.debug_info("model", "m"):
        with second:
            lamella.ones(1)
        lamella.ones(1)
    assert one.series()["function", "aten::ones", "float32", ()].count == 2
    assert other.series()["function", "aten::ones", "float32", ("m",)].count == 1


# ---- lines of JSON -------------------------------------------------------------------------------------------------


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_lines_of_json(tmp_path):
    path = tmp_path / "times"
    with exporters.export("jsonl", path=path, sampling=1.0, attributes=["model"], spans=True, timeout=WAIT) as handle:
        with lamella.profiler.debug_info("model", "m"):
            lamella.ones(2)
        assert handle.flush() and handle.flush()
        before = path.read_text()
        assert handle.flush() and path.read_text() == before, "nothing has changed: nothing is written"
        lamella.zeros(2)
        assert handle.flush()
    start, *rest = rows(path)
    assert start["kind"] == "start" and start["sampling"] == 1.0 and len(start["bounds"]) == 22
    series = [r for r in rest if r["kind"] == "series"]
    assert [(r["name"], r["attributes"], r["count"]) for r in series] == [
        ("aten::ones", {"model": "m"}, 1),
        ("aten::zeros", {}, 1),
    ]
    spans = [r for r in rest if r["kind"] == "span"]
    assert [s["name"] for s in spans] == ["aten::ones", "aten::zeros"] and spans[0]["attributes"] == {"model": "m"}
    assert rest[-1]["kind"] == "counts" and rest[-1]["recorded"] == 2


def test_lines_of_json_where_only_counts_change(tmp_path):
    path = tmp_path / "times"
    with exporters.export("jsonl", path=path, sampling=1.0, max_series=1, timeout=WAIT) as handle:
        lamella.ones(2)
        assert handle.flush()
        lamella.zeros(2)
        assert handle.flush()
        assert [r["kind"] for r in rows(path)] == ["start", "series", "counts", "counts"]
        assert rows(path)[-1]["series"] == 1 and rows(path)[-1]["recorded"] == 2
        lamella.zeros(2)
    assert [r["series"] for r in rows(path)[2:]] == [0, 1, 2], "also by the last export"


def test_a_second_export_continues_the_file(tmp_path):
    path = tmp_path / "times"
    for _ in range(2):
        with exporters.export("jsonl", path=path, sampling=1.0, timeout=WAIT):
            lamella.ones(2)
    assert [r["kind"] for r in rows(path)] == ["start", "series", "counts"] * 2


def test_one_export_a_file(tmp_path):
    with exporters.export("jsonl", path=tmp_path / "times"):
        with pytest.raises(BlockingIOError, match="another export writes to it"):
            exporters.export("jsonl", path=tmp_path / "times")


# ---- names and arguments -------------------------------------------------------------------------------------------


def test_a_third_partys_exporter(host, packages):
    code = """
        from lamella.profiler.exporters import Exporter

        class Lines(Exporter):
            def __init__(self, prefix):
                self.prefix = prefix

            def export(self, batch):
                print(self.prefix, *sorted(s.name for s in batch.series))
    """
    package = packages("lines", code, group="lamella.exporters")
    info = next(package.parent.glob("*.dist-info"))
    (info / "entry_points.txt").write_text("[lamella.exporters]\nlines = tiny_lines:Lines\njsonl = tiny_lines:Lines\n")
    said = host.run("""
        import lamella
        from lamella.profiler import exporters

        assert {"jsonl", "lines", "otlp", "prometheus"} <= set(exporters.exporter_names())
        with exporters.export("lines", prefix=">", sampling=1.0):
            lamella.ones(2)
        with exporters.export("jsonl", path="times"):  # Lamella's own keeps its name
            pass
    """)
    assert said == "> aten::ones\n"


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"to": "nowhere"}, ValueError, "no exporter 'nowhere'; installed are jsonl, otlp, prometheus"),
        ({"sampling": 1.5}, ValueError, "'sampling' must be 0 to 1, got 1.5"),
        ({"block_sampling": -1}, ValueError, "'block_sampling' must be 0 to 1"),
        ({"interval": 0}, ValueError, "'interval' must be above 0 seconds"),
        ({"timeout": math.nan}, ValueError, "'timeout' must be above 0 seconds"),
        ({"queue": 0}, ValueError, "'queue' must be 1 to 1048576, got 0"),
        ({"max_series": 0}, ValueError, "'max_series' must be 1 to"),
        ({"buckets": [1, 1]}, ValueError, "'buckets' must be ascending"),
        ({"attributes": "model"}, TypeError, "'attributes' must be a list"),
        ({"attributes": ["a"], "span_attributes": ["a"]}, ValueError, "at most 8 kinds, each once"),
        ({"attributes": list("abcdefghi")}, ValueError, "at most 8 kinds, each once"),
        ({"colour": "red"}, TypeError, "colour"),
    ],
)
def test_wrong_arguments(options, error, words):
    with pytest.raises(error, match=words):
        exporters.export(**{"to": Keeper} | options)


def test_an_exporter_that_does_not_start():
    class Bad(Keeper):
        def start(self, source):
            raise LookupError("no")

    bad = Bad()
    with pytest.raises(LookupError):
        exporters.export(lambda: bad)
    assert bad.closed == 1


def test_an_export_that_does_not_begin_lets_go_of_its_file(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        exporters.export("jsonl", path=tmp_path / "times", attributes=["\udcff"])
    exporters.export("jsonl", path=tmp_path / "times").close()


@pytest.mark.parametrize("timeout", [math.inf, 1e10])
def test_a_long_timeout(timeout):
    keeper, handle = kept(timeout=timeout, interval=math.inf)
    lamella.ones(1)
    assert handle.flush() and handle.flush(timeout=timeout)
    handle.close(timeout=timeout)
    assert keeper.closed == 1
