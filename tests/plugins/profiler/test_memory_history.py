"""The history of memory: blocks, counts and events against exact numbers of bytes; snapshots; peaks."""

import contextlib
import gc
import json
import os
import threading

import lamella
import numpy as np
import pytest
from heaps import Heap
from lamella.profiler import (
    dump_memory_snapshot,
    memory_snapshot,
    memory_stats,
    record_function,
    record_memory_history,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)
from observing import BACKWARD, observed
from threads import in_threads


@pytest.fixture(autouse=True)
def nothing_followed():
    gc.collect()
    yield
    record_memory_history(None)


@pytest.fixture
def bare():
    """Registers a device in Python whose allocator does not count."""
    library = lamella.library.register_backend("bare", Heap())
    yield "bare"
    library.close()


def blocks(device="cpu"):
    return [b for b in memory_snapshot()["blocks"] if b["device"] == device]


def events(*actions):
    return [e for e in memory_snapshot()["events"] if not actions or e["action"] in actions]


@pytest.mark.parametrize(
    "shape, dtype",
    [
        ((3, 5), "float32"),
        ((1000, 100), "float64"),
        ((7,), "bool"),
        ((2, 3, 4), "complex64"),
        ((), "int16"),
        ((1, 9), "int64"),
    ],
)
def test_a_block_has_the_bytes_of_its_tensor(shape, dtype):
    want = np.zeros(shape, dtype)
    with record_memory_history():
        x = lamella.zeros(shape, dtype=getattr(lamella, dtype))
        (block,) = blocks()
        assert block["bytes"] == want.nbytes and block["address"] == x.data_ptr()
        assert (block["operator"], block["dtype"], block["shape"]) == ("aten::zeros", dtype, list(shape))
        assert block["thread"] == threading.get_native_id()
        del x
        assert blocks() == []
    assert [e["bytes"] for e in events()] == []  # closing drops the events


def test_frames_are_the_lines_that_asked():
    def inner():
        return lamella.ones(100)  # here

    def outer():
        return inner()

    with record_memory_history():
        x = outer()
        frames = blocks()[0]["frames"]
    assert [f["name"] for f in frames[:3]] == ["inner", "outer", "test_frames_are_the_lines_that_asked"]
    assert {f["filename"] for f in frames[:3]} == {__file__}
    first = inner.__code__.co_firstlineno
    assert frames[0]["line"] == first + 1 and frames[1]["line"] == first + 4 and x.numel() == 100


def test_without_stacks():
    with record_memory_history(stacks=None):
        x = lamella.ones(100)
        assert blocks()[0]["frames"] == [] and blocks()[0]["operator"] == "aten::ones" and x.numel() == 100


def test_the_innermost_operator_is_named_and_results_keep_their_shape():
    x, y = lamella.ones(50, 20), lamella.ones(50, 20)
    with record_memory_history():
        kept = lamella.stack([x, y])
        (block,) = blocks()
        assert block["shape"] == [2, 50, 20] and block["bytes"] == 2 * 50 * 20 * 4 and kept.shape == (2, 50, 20)
        part = kept[0].transpose(0, 1)  # a view is not a block
        assert len(blocks()) == 1
        several = lamella.max(part, dim=0)
        assert sorted(b["dtype"] for b in blocks()[1:]) == ["float32", "int64"] and len(several) == 2


def test_blocks_of_a_named_block_and_of_none():
    with record_memory_history():
        with record_function("loading"):
            a = lamella.tensor([1.0] * 100)
        b = lamella.from_numpy(np.ones(100))  # foreign memory is not in the history
        makers = {block["operator"] for block in blocks()}
    assert makers and None not in makers and a.numel() == b.numel()


def test_names_of_blocks_go_with_what_they_made():
    """A service that names each request does not keep the names of finished requests."""
    name = "a request " * 50_000

    def resident():
        gc.collect()
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def request(n):
        with record_function(f"{name}{n}"):
            return lamella.tensor(3)  # this allocates outside of any operator

    with record_memory_history(max_entries=4, stacks=None):
        for n in range(10):
            request(n)
        before = resident()
        for n in range(80):  # each name takes half a megabyte
            request(n)
        assert resident() - before < 20e6
        kept = request("that stays")
        for n in range(10):
            request(n)
        (block,) = blocks()
        assert block["operator"] == f"{name}that stays" and block["bytes"] == kept.nbytes
        assert {e["operator"] for e in events("alloc")} <= {f"{name}{n}" for n in range(6, 10)}


@pytest.mark.needs("autograd")
def test_backward_names_its_operators():
    x = lamella.ones(1000, requires_grad=True)
    with record_memory_history():
        (x * x).sum().backward()
        gradient = next(b for b in blocks() if b["address"] == x.grad.data_ptr())
    assert gradient["bytes"] == 4000 and gradient["operator"] is not None


def test_memory_that_an_observer_asks_for_counts():
    """An observer's memory also counts in a step of backward, which is an event like the memory's."""
    kept = []

    def enter(r):
        kept.append(lamella.zeros(1000, dtype=lamella.float64))

    x = lamella.ones(2, requires_grad=True)
    loss = x.exp().sum()
    with record_memory_history(), observed(enter, scopes=(BACKWARD,)):
        loss.backward()
        large = [b for b in blocks() if b["bytes"] == 8000]
        assert len(large) == len(kept) >= 2
        kept.clear()
        assert [b for b in blocks() if b["bytes"] == 8000] == []
    assert x.grad is not None


def test_events_are_in_order_and_the_last_ones_are_kept():
    with record_memory_history(max_entries=4):
        for n in (10, 20, 30):
            lamella.zeros(n)
        kept = memory_snapshot()
        assert [(e["action"], e["bytes"]) for e in kept["events"]] == [
            ("alloc", 80), ("free", 80), ("alloc", 120), ("free", 120)
        ]  # fmt: skip
        assert kept["dropped_events"] == 2 and [e["number"] for e in kept["events"]] == [3, 4, 5, 6]
        times = [e["time"] for e in kept["events"]]
        assert times == sorted(times)
        record_memory_history(max_entries=2)
        assert memory_snapshot()["events"] == []  # the call begins a new list


def test_state_has_blocks_and_no_events():
    with record_memory_history("state"):
        x = lamella.zeros(10)
        assert [b["bytes"] for b in blocks()] == [40] and events() == [] and x.numel() == 10


def test_counts_are_exact():
    reset_peak_memory_stats("cpu")
    sizes = [400, 4000, 40]
    kept = [lamella.zeros(n // 4) for n in sizes]
    del kept[1]
    stats = memory_stats("cpu")
    want = {"current": 440, "peak": 4440, "allocated": 4440, "freed": 4000}
    assert {k: stats[f"requested_bytes.all.{k}"] for k in want} == want
    want = {"current": 2, "peak": 3, "allocated": 3, "freed": 1}
    assert {k: stats[f"allocation.all.{k}"] for k in want} == want
    assert stats["largest_block.current"] == 400 and stats["largest_block.peak"] == 4000
    reset_peak_memory_stats("cpu")
    reset_accumulated_memory_stats("cpu")
    stats = memory_stats("cpu")
    assert stats["requested_bytes.all.peak"] == stats["requested_bytes.all.current"] == 440
    assert stats["allocation.all.allocated"] == stats["allocation.all.freed"] == 0
    assert stats["largest_block.peak"] == 400 and stats["allocation.all.peak"] == 2


def test_what_the_allocator_counts_needs_nothing():
    before = memory_stats("cpu")
    assert not [k for k in before if k.startswith(("requested", "largest"))]
    x = lamella.zeros(1 << 20)
    after = memory_stats("cpu")
    assert after["allocated_bytes.all.current"] - before["allocated_bytes.all.current"] >= x.nbytes
    assert after == lamella.cpu.memory_stats() and memory_stats()["cpu"] == after
    assert "meta" not in memory_stats() and memory_stats("meta") == {}


def test_a_device_whose_allocator_does_not_count(bare):
    assert memory_stats(bare) == {}
    reset_peak_memory_stats(bare)
    x = lamella.zeros(1000, device=bare)
    stats = memory_stats(bare)
    assert stats["allocated_bytes.all.current"] == stats["allocated_bytes.all.peak"] == 4000
    assert memory_stats()[bare] == stats and memory_stats("cpu")["requested_bytes.all.current"] < 4000
    del x
    assert memory_stats(bare)["allocated_bytes.all.current"] == 0
    with record_memory_history():
        y = lamella.zeros(10, device=bare)
        assert [b["bytes"] for b in blocks(bare)] == [40] and y.device.type == bare


def test_memory_from_before_stays_unknown():
    old = lamella.zeros(1000)
    with record_memory_history():
        del old
        assert [(e["action"], e["bytes"]) for e in events()] == [("free", 4000)]
        stats = memory_stats("cpu")
        assert stats["requested_bytes.all.current"] == 0 and stats["allocation.all.freed"] == 0


def test_threads_and_blocks_that_end_elsewhere():
    made = []

    def work():
        made.extend(lamella.zeros(n) for n in range(1, 101))

    with record_memory_history():
        in_threads(*[work] * 4)
        assert sum(b["bytes"] for b in blocks()) == 4 * 4 * 5050 and len({b["thread"] for b in blocks()}) >= 1
        made.clear()
        assert blocks() == [] and memory_stats("cpu")["allocation.all.freed"] == 400


def test_two_switch_while_others_allocate():
    done = threading.Event()

    def work():
        while not done.is_set():
            lamella.zeros(30) + 1

    def switch():
        for _ in range(30):
            record_memory_history(max_entries=10)
            memory_snapshot()
            record_memory_history(None)

    workers = [threading.Thread(target=work) for _ in range(2)]
    switchers = [threading.Thread(target=switch) for _ in range(2)]
    for t in workers + switchers:
        t.start()
    for t in switchers:
        t.join(60)
    done.set()
    for t in workers:
        t.join(60)
    assert not any(t.is_alive() for t in workers + switchers)
    assert memory_snapshot()["blocks"] == []


def test_a_child_of_fork_has_a_history_of_its_own():
    with record_memory_history():
        x = lamella.zeros(100)
        pid = os.fork()
        if pid == 0:
            code = 1
            with contextlib.suppress(BaseException):
                y = lamella.zeros(200)
                code = 0 if [b["bytes"] for b in blocks()] == [400, 800] and y.numel() + x.numel() == 300 else 2
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert [b["bytes"] for b in blocks()] == [400]


def test_a_snapshot_is_json(tmp_path):
    file = tmp_path / "snapshot.json"
    with record_memory_history():
        x = lamella.ones(5)
        dump_memory_snapshot(file)
        read = json.loads(file.read_text())
        now = memory_snapshot()
        assert read["blocks"] == now["blocks"] and read["version"] == 1 and x.numel() == 5
        assert read["devices"]["cpu"]["allocation.all.current"] == 1
    assert os.listdir(tmp_path) == ["snapshot.json"]


def test_a_snapshot_is_of_one_moment():
    stop = threading.Event()

    def work():
        kept = []
        while not stop.wait(0.0002):
            kept.append(lamella.zeros(100))
            if len(kept) > 50:
                kept.clear()

    with record_memory_history(stacks=None, max_entries=10_000_000):
        threads = [threading.Thread(target=work) for _ in range(2)]
        for t in threads:
            t.start()
        try:
            for _ in range(20):
                now = memory_snapshot()
                alive = {}
                for event in now["events"]:
                    if event["action"] == "alloc":
                        alive[event["address"]] = event["number"]
                    else:
                        alive.pop(event["address"], None)
                assert alive == {block["address"]: block["number"] for block in now["blocks"]}
                assert now["devices"]["cpu"]["allocation.all.current"] == len(alive)
        finally:
            stop.set()
            for t in threads:
                t.join(60)


def test_a_full_disk_leaves_the_old_file(host, tmp_path):
    """A limit on the size of files makes the kernel refuse a part of a write, as a full disk does."""
    host.run(
        """
        import lamella, os, resource
        from pathlib import Path
        from lamella.profiler import dump_memory_snapshot, record_memory_history

        file = Path("snapshot.json")
        with record_memory_history():
            kept = lamella.ones(5)
            dump_memory_snapshot(file)
            before = file.read_text()
            more = [lamella.ones(5) for _ in range(100)]
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
            try:
                dump_memory_snapshot(file)
            except OSError as error:
                assert error.errno == 27, error  # EFBIG
            else:
                raise AssertionError("the file has more bytes than the limit allows")
            assert file.read_text() == before
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            dump_memory_snapshot(file)
        """
    )
    assert len(json.loads((tmp_path / "snapshot.json").read_text())["blocks"]) == 101
    assert [p for p in os.listdir(tmp_path) if "snapshot" in p] == ["snapshot.json"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"enabled": "some"}, "argument 'enabled' must be 'all', 'state' or None, got 'some'"),
        ({"stacks": "cpp"}, "argument 'stacks' must be 'python' or None, got 'cpp'"),
        ({"max_entries": -1}, "argument 'max_entries' must be an int and not negative, got -1"),
        ({"max_entries": 1.5}, "argument 'max_entries' must be an int and not negative, got 1.5"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        record_memory_history(**arguments)
    assert "requested_bytes.all.peak" not in memory_stats("cpu")
