"""The engine "wire", whose calls are late, are lost, or end a process; and what stands above it."""

import os
import time

import lamella
import lamella.distributed as dist
import numpy as np
import pytest
from ranks import run


@pytest.fixture
def wire(monkeypatch):
    """Sets what the wire of this test does."""
    return lambda text: monkeypatch.setenv("LAMELLA_WIRE", text)


def values(rank, size):
    assert dist.get_backend() == "wire"
    for n in (3, 1000):
        x = lamella.arange(float(n)) * (rank + 1)
        begin = time.monotonic()
        dist.all_reduce(x)
        assert time.monotonic() - begin >= 0.01  # the wire's, of which the comparison has a part of its own
        np.testing.assert_array_equal(x.numpy(), np.arange(float(n)) * sum(range(1, size + 1)))
    out = lamella.zeros(size)
    dist.all_gather_into_tensor(out, lamella.tensor([float(rank)]))
    assert out.tolist() == list(range(size))
    part = dist.new_group([1, 0])
    x = lamella.ones(2)
    if rank < 2:
        dist.all_reduce(x, group=part)
        assert x.tolist() == [2.0, 2.0]


def test_values(wire, tmp_path):
    wire("latency=0.01")
    run(values, tmp_path, 3, engine="wire").check()


def lost_call(rank, size):
    dist.all_reduce(lamella.ones(3))
    begin = time.monotonic()
    try:
        dist.all_reduce(lamella.ones(4))
    except dist.DistBackendError as e:
        assert "all_reduce(float32[4], sum)" in str(e) and f"on rank {rank} of 2" in str(e), e
        assert "timed out" in str(e) or "has left the group" in str(e), e
    else:
        raise AssertionError("no error")
    assert 0.5 < time.monotonic() - begin < 20
    os._exit(0)


def test_a_lost_call(wire, tmp_path):
    wire("drop=4,rank=1")  # the first call and its comparison are 1 and 2
    run(lost_call, tmp_path, 2, engine="wire", limit=1).check()


def killed(rank, size):
    try:
        for _ in range(9):
            dist.all_reduce(lamella.ones(3))
    except dist.DistBackendError as e:
        assert "rank 1 (process" in str(e), e
        os._exit(0)


def test_a_process_that_the_wire_ends(wire, tmp_path):
    wire("kill=9,rank=1")
    outcome = run(killed, tmp_path, 2, engine="wire", limit=60)
    assert outcome.statuses == [0, -9] and outcome.seconds < 40, outcome.errors


def overlapped(rank, size):
    from lamella import nn
    from lamella.distributed import flight

    layers = [nn.Linear(64, 64) for _ in range(6)]
    ddp = nn.parallel.DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=0.001)
    computed = []
    for layer in layers:
        layer.weight.register_post_accumulate_grad_hook(lambda p: computed.append(time.time_ns()))

    def slow(g):  # computing takes time, too
        time.sleep(0.02)

    for layer in layers[:-1]:
        layer.bias.register_hook(slow)
    for _ in range(2):
        computed.clear()
        ddp(lamella.ones(2, 64)).sum().backward()
    dist.barrier()
    (record,) = [r for r in flight.read_all(os.environ[flight.VARIABLE]) if r.rank == rank]
    buckets = [c for c in record.calls if c.kind == "all_reduce" and c.reduction == "avg"]
    first, last = buckets[-12 if len(buckets) >= 24 else -len(buckets) // 2], buckets[-1]
    assert first.queued < first.ended < computed[-1] < last.ended, "the first reduction did not end during backward"


def test_reductions_go_on_beside_backward(wire, tmp_path, monkeypatch):
    wire("latency=0.001")
    monkeypatch.setenv("LAMELLA_FLIGHT_DIR", str(tmp_path / "flight"))
    run(overlapped, tmp_path, 2, engine="wire").check()


def test_settings_that_are_wrong(wire, tmp_path):
    wire("speed=3")
    outcome = run(values, tmp_path, 1, engine="wire")
    assert outcome.statuses == [1] and "LAMELLA_WIRE: expected latency, bandwidth" in outcome.errors[0]
