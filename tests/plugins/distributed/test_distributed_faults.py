"""Faults of ranks: each ends in bounded time with an error that names the call and, where it is known, the rank."""

import os
import signal
import socket
import time
from datetime import timedelta

import lamella
import lamella.distributed as dist
import pytest
from ranks import finish, run, start


@pytest.fixture(params=[True, False], ids=["shared memory", "engine"])
def shared(request):
    """Whether data moves by shared memory, or by the engine alone."""
    return request.param


def errors_of(outcome, rank):
    return outcome.outputs[rank] + outcome.errors[rank]


def rank_ends(rank, size):
    dist.all_reduce(lamella.ones(1))
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(lamella.ones(4))


def rank_exits(rank, size):
    if rank == 1:
        os._exit(3)
    dist.broadcast(lamella.ones(4), 0)
    dist.barrier()


def rank_raises(rank, size):
    x = lamella.ones(3, requires_grad=True)
    y = lamella.ops.c10d.all_reduce(x, "sum", dist.group.WORLD.group_name)
    if rank == 1:
        y.register_hook(lambda grad: 1 / 0)
    y.sum().backward()


def started_work(rank, size):
    dist.barrier()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    work = dist.all_reduce(lamella.ones(4), async_op=True)
    work.wait()


@pytest.mark.parametrize("body", [rank_ends, rank_exits, rank_raises, started_work])
def test_a_rank_that_ends(body, tmp_path, shared):
    outcome = run(body, tmp_path, 3, limit=60, shared_memory=shared)
    assert outcome.seconds < 30, "the time limit was waited for"
    for rank in (0, 2):
        assert outcome.statuses[rank] == 1
        text = errors_of(outcome, rank)
        assert "DistBackendError" in text and "rank 1 (process" in text and "has ended" in text, text
        assert any(name in text for name in ("all_reduce(float32[", "broadcast(float32[4], root 0)")), text


def first_rank_ends(rank, size):
    dist.all_reduce(lamella.ones(1))
    if rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(lamella.ones(4))


def test_the_rank_of_the_store_ends(tmp_path, shared):
    """The store goes with the first rank; the others do not wait for its limit."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    outcome = run(first_rank_ends, tmp_path, 3, limit=60, method=f"tcp://127.0.0.1:{port}", shared_memory=shared)
    assert outcome.seconds < 30, "a time limit was waited for"
    for rank in (1, 2):
        text = errors_of(outcome, rank)
        assert outcome.statuses[rank] == 1 and "rank 0 (process" in text and "has ended" in text, text


def failed_work(rank, size):
    """A work that failed raises its error whenever it is waited for."""
    x = lamella.zeros(4 + rank)
    work = dist.all_reduce(x, async_op=True)
    for wait in (lambda: x + 1, work.wait, work.wait):
        try:
            wait()
        except dist.DistBackendError as e:
            assert "the ranks' calls differ" in str(e)
        else:
            raise AssertionError("no error")
    assert work.is_completed() and not work.is_success()
    x.fill_(1)  # the error was raised: the tensor is as it was


def test_a_work_that_failed(tmp_path, shared):
    run(failed_work, tmp_path, 2, shared_memory=shared).check()


def forked_beside_a_message(rank, size):
    x = lamella.zeros(3)
    if rank == 0:
        pending = dist.irecv(x, 1)
        if not (pid := os.fork()):
            try:
                x + 1
            except RuntimeError as e:
                os._exit(7 if "forked" in str(e) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        dist.barrier()
        pending.wait()
    else:
        dist.barrier()
        dist.send(x + 2, 0)


def test_a_fork_beside_a_message(tmp_path):
    run(forked_beside_a_message, tmp_path, 2).check()


def silent_rank(rank, size):
    dist.all_reduce(lamella.ones(1))
    if rank == 1:
        print("stops", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
    dist.all_reduce(lamella.ones(4))


def test_a_rank_that_is_stopped(tmp_path, shared):
    ranks = start(silent_rank, tmp_path, 2, limit=3, shared_memory=shared)
    try:
        out, err = ranks[0].communicate(timeout=60)
    finally:
        ranks[1].kill()
        finish(ranks[1:])
    assert ranks[0].returncode == 1 and "timed out: 3000 ms" in err and "all_reduce(float32[4], sum)" in err, err


def slow_rank(rank, size):
    if rank == 1:
        time.sleep(2)
    x = lamella.full((4,), float(rank))
    dist.all_reduce(x)
    assert x.tolist() == [1.0] * 4


def test_a_slow_rank_is_waited_for(tmp_path):
    run(slow_rank, tmp_path, 2).check()


def calls_that_differ(rank, size):
    """Each pair of calls differs in one thing. Afterwards the group goes on."""
    zeros = lamella.zeros
    pairs = {
        "shape": (lambda: dist.all_reduce(zeros(4)), lambda: dist.all_reduce(zeros(5))),
        "dtype": (lambda: dist.all_reduce(zeros(4)), lambda: dist.all_reduce(zeros(4, dtype=lamella.int64))),
        "reduction": (lambda: dist.all_reduce(zeros(4)), lambda: dist.all_reduce(zeros(4), dist.ReduceOp.MAX)),
        "root": (lambda: dist.broadcast(zeros(4), 0), lambda: dist.broadcast(zeros(4), 1)),
        "kind": (lambda: dist.all_reduce(zeros(4)), lambda: dist.broadcast(zeros(4), 0)),
        "barrier": (lambda: dist.barrier(), lambda: dist.all_reduce(zeros(4))),
    }
    for name, pair in pairs.items():
        try:
            pair[rank % 2]()
        except dist.DistBackendError as e:
            assert "the ranks' calls differ, and no data has moved: rank 0 calls" in str(e), (name, str(e))
            assert "and rank 1 calls" in str(e), (name, str(e))
        else:
            raise AssertionError(f"{name}: no error")
    x = lamella.ones(2)
    dist.all_reduce(x)
    assert x.tolist() == [size] * 2


def test_calls_that_differ(tmp_path, shared):
    run(calls_that_differ, tmp_path, 3, limit=20, shared_memory=shared).check()


def missing_rank(rank, size):
    pass


def test_a_rank_that_does_not_come(tmp_path):
    begin = time.monotonic()
    ranks = start(missing_rank, tmp_path, 3, limit=2)
    ranks[2].kill()
    outcome = finish(ranks)
    assert time.monotonic() - begin < 60
    for rank in (0, 1):
        text = errors_of(outcome, rank)
        assert "DistStoreError" in text and "peer/2" in text, text


def forked(rank, size):
    dist.all_reduce(lamella.ones(1))
    pid = os.fork()
    if not pid:
        try:
            dist.all_reduce(lamella.ones(1))
        except RuntimeError as e:
            os._exit(7 if "forked" in str(e) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    dist.all_reduce(lamella.ones(1))


def test_a_forked_child_has_no_group(tmp_path):
    run(forked, tmp_path, 2).check()


def leaves_early(rank, size):
    """A rank that has done its part and ended does not disturb the others."""
    if rank == 2:
        return
    time.sleep(1)
    x = lamella.full((3,), float(rank))
    dist.send(x, 1 - rank) if rank else dist.recv(x, 1)
    if not rank:
        assert x.tolist() == [1.0] * 3


def test_a_rank_that_leaves_early(tmp_path, shared):
    run(leaves_early, tmp_path, 3, shared_memory=shared).check()


def goes_on_after_a_limit(rank, size):
    """The memory of a call that failed stays, since the others may still write it."""
    part = dist.new_group(timeout=timedelta(seconds=1))
    if rank == 0:
        try:
            dist.all_reduce(lamella.ones(1000), group=part)
        except dist.DistBackendError as e:
            assert "timed out: 1000 ms" in str(e), str(e)
        else:
            raise AssertionError("no error")
        try:
            dist.all_reduce(lamella.ones(1), group=part)
        except dist.DistBackendError as e:
            assert "takes no more calls since one failed" in str(e), str(e)
    else:
        time.sleep(2)
        try:
            dist.all_reduce(lamella.ones(1000), group=part)
        except dist.DistBackendError:
            pass
    for i in range(100):
        x = lamella.full((1000,), float(i))
        dist.all_reduce(x)
        assert x.tolist() == [i * size] * 1000


def test_a_group_beside_one_that_failed(tmp_path, shared):
    run(goes_on_after_a_limit, tmp_path, 2, shared_memory=shared).check()


def interrupted(rank, size):
    import threading

    if rank == 0:
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            dist.all_reduce(lamella.ones(1))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        os._exit(0)
    time.sleep(2)
    os._exit(0)


def test_ctrl_c_ends_a_wait(tmp_path, shared):
    outcome = run(interrupted, tmp_path, 2, shared_memory=shared).check()
    assert outcome.outputs[0] == "interrupted\n" and outcome.seconds < 60


def closed_meanwhile(rank, size):
    import threading

    if rank == 0:
        got, errors = lamella.zeros(3), []

        def wait():
            try:
                dist.all_reduce(lamella.ones(1))
            except dist.DistBackendError as e:
                errors.append(str(e))

        pending = dist.irecv(got, 1)
        blocked = threading.Thread(target=wait)
        blocked.start()
        time.sleep(0.3)
        dist.destroy_process_group()
        blocked.join(30)
        assert len(errors) == 1 and "the group was closed" in errors[0], errors
        try:
            pending.wait()
        except dist.DistBackendError as e:
            assert "was closed before the call was done" in str(e)
        else:
            raise AssertionError("no error")
        os._exit(0)
    time.sleep(2)
    os._exit(0)


def test_a_group_that_is_closed_while_calls_wait(tmp_path, shared):
    run(closed_meanwhile, tmp_path, 2, shared_memory=shared).check()


def forked_and_ended(rank, size):
    """A child that was forked from a rank ends by itself, and takes nothing of the group with it."""
    dist.all_reduce(lamella.ones(1), async_op=True).wait()
    if not (pid := os.fork()):
        return  # the program goes on to its end
    for _ in range(1000):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.02)
    else:
        os.kill(pid, signal.SIGKILL)
        raise AssertionError("the child has not ended")
    dist.all_reduce(lamella.ones(1))


def test_a_forked_child_that_ends(tmp_path):
    outcome = run(forked_and_ended, tmp_path, 2)
    assert outcome.statuses == [0, 0], outcome.errors


def absent_from_a_part(rank, size):
    dist.barrier()
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.5)
    try:
        dist.new_group([0, 1, 2])
    except RuntimeError as e:
        assert "rank 2 (process" in str(e) and "has ended" in str(e), str(e)
    else:
        raise AssertionError("no error")


def raises_and_lingers(rank, size):
    """A rank that has closed its groups is seen to have left, also while its process goes on."""
    if rank == 1:
        dist.destroy_process_group()
        time.sleep(8)
        os._exit(0)
    begin = time.monotonic()
    try:
        dist.all_reduce(lamella.ones(1))
    except dist.DistBackendError as e:
        assert "rank 1 (process" in str(e) and "has left the group" in str(e), str(e)
    else:
        raise AssertionError("no error")
    assert time.monotonic() - begin < 6


def test_a_rank_that_lingers_after_it_has_left(tmp_path, shared):
    run(raises_and_lingers, tmp_path, 2, limit=60, shared_memory=shared).check()


def test_a_new_group_with_a_rank_that_has_ended(tmp_path):
    outcome = run(absent_from_a_part, tmp_path, 3, limit=60)
    assert outcome.statuses[:2] == [0, 0] and outcome.seconds < 30, outcome.errors


def counts_that_differ(rank, size):
    out = lamella.zeros(4 if rank else 3)
    try:
        dist.all_to_all_single(out, lamella.ones(4), [2, 2] if rank else [1, 2], [2, 2])
    except dist.DistBackendError as e:
        assert "all_to_all: rank 0 gives 2 elements to rank 0, which takes 1; no data has moved" in str(e), str(e)
    else:
        raise AssertionError("no error")
    dist.barrier()


def test_counts_of_all_to_all_that_differ(tmp_path, shared):
    run(counts_that_differ, tmp_path, 2, shared_memory=shared).check()


def bad_arguments(rank, size):
    def error(kind, words, call):
        try:
            call()
        except kind as e:
            assert words in str(e), str(e)
        else:
            raise AssertionError(words)

    x = lamella.ones(3)
    error(TypeError, "argument 'tensor' must be a Tensor, got list", lambda: dist.all_reduce([1]))
    error(TypeError, "argument 'op' must be one of ReduceOp", lambda: dist.all_reduce(x, "sum"))
    error(TypeError, "argument 'group' must be a ProcessGroup", lambda: dist.all_reduce(x, group=3))
    error(ValueError, "'avg' takes floating-point", lambda: dist.all_reduce(x.long(), dist.ReduceOp.AVG))
    error(ValueError, "'min' takes tensors whose elements", lambda: dist.all_reduce(x.cfloat(), dist.ReduceOp.MIN))
    error(ValueError, "'band' takes tensors of whole", lambda: dist.all_reduce(x, dist.ReduceOp.BAND))
    error(ValueError, "global rank 9 is not in group", lambda: dist.broadcast(x, 9))
    error(ValueError, "cannot send to itself", lambda: dist.send(x, rank))
    error(ValueError, "argument 'tag'", lambda: dist.send(x, 1 - rank, tag=-1))
    error(ValueError, "expected 2 tensors", lambda: dist.all_gather([x], x))
    error(ValueError, "expected shape (3,)", lambda: dist.all_gather([x, lamella.ones(2)], x))
    error(ValueError, "expected a contiguous tensor of 6", lambda: dist.all_gather_into_tensor(lamella.ones(5), x))
    error(ValueError, "stands twice", lambda: dist.new_group([0, 0]))
    error(ValueError, "expected ranks from 0 to 1", lambda: dist.new_group([0, 2]))
    error(ValueError, "twice", lambda: dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1))
    error(RuntimeError, "leaf", lambda: dist.all_reduce(lamella.ones(1, requires_grad=True)))
    error(ValueError, "there is no group 'x'", lambda: lamella.ops.c10d.all_reduce(x, "sum", "x"))
    error(ValueError, "expected sum, avg", lambda: lamella.ops.c10d.all_reduce(x, "mean", "0"))
    assert x.tolist() == [1.0] * 3


def test_bad_arguments(tmp_path):
    run(bad_arguments, tmp_path, 2).check()
