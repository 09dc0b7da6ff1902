"""The flight recorder: what its files say of ranks that ended, wait or differ, and a disk that is full."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import lamella
import lamella.distributed as dist
import pytest
from lamella.distributed import flight
from ranks import finish, run, start


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the records of this test."""
    monkeypatch.setenv(flight.VARIABLE, str(tmp_path / "flight"))
    return tmp_path / "flight"


def absent_rank(rank, size):
    for _ in range(3):
        dist.all_reduce(lamella.ones(2, 3), dist.ReduceOp.MAX)
    if rank == 2:
        time.sleep(100)
    dist.broadcast(lamella.ones(4, dtype=lamella.float64), 1)


def test_a_rank_that_has_not_joined(folder, tmp_path):
    ranks = start(absent_rank, tmp_path, 3)
    until = time.monotonic() + 60
    while True:
        try:
            lines = flight.explain(flight.read_all(folder))
        except ValueError:
            lines = []
        if lines and lines[0].endswith("ranks 0, 1 wait"):
            break
        assert time.monotonic() < until, lines
        time.sleep(0.05)
    ranks[0].send_signal(signal.SIGKILL)
    for process in ranks:
        process.kill()
    finish(ranks)
    lines = flight.explain(flight.read_all(folder))  # the records outlive SIGKILL
    place = f"{tmp_path / 'absent_rank.py'}"[-79:]
    assert lines[0].startswith("group '0', collective #4: rank 2 has not joined broadcast(float64[4], root 1) ")
    assert f"{place}:" in lines[0] and lines[0].endswith("; ranks 0, 1 wait")
    assert lines[1].startswith("  rank 2 did #3 all_reduce(float32[2, 3], max) ")
    done = subprocess.run([sys.executable, "-m", "lamella", "flight", folder], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines()[:2] == lines, done.stderr
    assert "rank 0 (process" in done.stdout and ": 4 calls; the last, at " in done.stdout
    done = subprocess.run([sys.executable, "-m", "lamella", "flight", "--json", folder], capture_output=True, text=True)
    records = json.loads(done.stdout)
    assert [r["rank"] for r in records] == [0, 1, 2] and [len(r["entries"]) for r in records] == [4, 4, 3]
    entry = records[0]["entries"][0]
    assert entry["state"] == "completed" and entry["input_sizes"] == [[2, 3]] and entry["collective_seq_id"] == 1


def many_calls(rank, size):
    x = lamella.ones(2)
    for _ in range(5000):
        dist.all_reduce(x, dist.ReduceOp.MAX)
    works = [dist.all_reduce(lamella.ones(3), async_op=True) for _ in range(3)]
    for work in works:
        work.wait()
    if rank == 0:
        dist.send(x, 1)
    else:
        dist.recv(x, 0)
    part = dist.new_group([0, 1])
    dist.barrier(part)


def test_the_ring(folder, tmp_path):
    run(many_calls, tmp_path, 2).check()
    for record in flight.read_all(folder):
        assert record.written == 5005 and len(record.calls) == 4096 and record.size == 2
        assert {c.state for c in record.calls} == {"done"}
        assert [c.number for c in record.calls if c.group == "0" and c.number] == list(range(910, 5004))
        assert all(0 < c.ended - c.queued < 60e9 for c in record.calls)
        message = record.calls[-2]
        assert message.kind == ("recv" if record.rank else "send") and message.peer == 1 - record.rank
        assert (record.calls[-1].kind, record.calls[-1].group) == ("barrier", "1")
    assert flight.explain(flight.read_all(folder)) == [
        "group '0': all ranks have done 5003 collectives",
        "group '1': all ranks have done 1 collectives",
    ]


def calls_differ(rank, size):
    try:
        dist.all_reduce(lamella.ones(2 + rank))
    except RuntimeError:
        os._exit(1)


def test_calls_that_differ(folder, tmp_path):
    run(calls_differ, tmp_path, 2)
    (line,) = flight.explain(flight.read_all(folder))
    assert "#1: the calls differ: rank 0 calls all_reduce(float32[2], sum) " in line
    assert "rank 1 all_reduce(float32[3], sum) " in line


def without_room(rank, size):
    import resource
    import warnings

    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    dist.destroy_process_group()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    assert any("no flight record is kept: flight recorder: " in str(w.message) for w in caught), caught
    x = lamella.ones(2)
    dist.all_reduce(x)
    assert x.tolist() == [1.0, 1.0]


def test_a_disk_that_is_full(folder, tmp_path):
    run(without_room, tmp_path, 1).check()


def test_files_that_are_no_records(folder):
    with pytest.raises(ValueError, match="there is no flight record in"):
        flight.read_all(folder)
    folder.mkdir()
    for content in (b"", b"LAMFLT1\0", b"x" * 4096, b"LAMFLT1\0" + b"\xff" * 300):
        (folder / "rank_0.0.flight").write_bytes(content)
        with pytest.raises(ValueError, match="flight record"):
            flight.read_all(folder)
    assert Path(flight.__file__).exists() and dist.is_available()
