"""Workers that fail, die, hang or are interrupted: each error names its place, nothing hangs, nothing is left."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import lamella
import pytest
from children import clean_environment
from lamella.utils.data import DataLoader, IterableDataset
from loaders import Faulty, plain

pytestmark = pytest.mark.usefixtures("nothing_left")


def taken(loader):
    """Returns the batches of a pass before it raises, and the exception."""
    batches = []
    try:
        for batch in loader:
            batches.append(batch)
    except Exception as error:
        return plain(batches), error
    return plain(batches), None


@pytest.mark.parametrize(
    "fault, kind", [("KeyError", KeyError), ("UnicodeDecodeError", RuntimeError), ("Local", RuntimeError)]
)
def test_exceptions(fault, kind):
    batches, error = taken(DataLoader(Faulty(fault), 2, num_workers=2))
    assert batches == [[0, 1], [2, 3]] and type(error) is kind
    assert "in DataLoader worker process 0, at sample 5 (number 1 of batch 2)" in str(error)
    assert f"Caught {fault}" in str(error) or fault == "Local"
    assert "in __getitem__\n" in str(error) and "loaders.py" in str(error)


def test_the_batches_after_an_exception():
    batches = iter(DataLoader(Faulty("KeyError"), 2, num_workers=2))
    assert plain([next(batches), next(batches)]) == [[0, 1], [2, 3]]
    with pytest.raises(KeyError):
        next(batches)
    assert plain(batches) == [[6, 7], [8, 9], [10, 11]]


@pytest.mark.parametrize("workers", [0, 1])
def test_stop_iteration_does_not_end_a_table(workers):
    batches, error = taken(DataLoader(Faulty("StopIteration"), 2, num_workers=workers))
    assert batches == [[0, 1], [2, 3]] and type(error) is RuntimeError and "StopIteration" in str(error)


@pytest.mark.parametrize(
    "fault, text",
    [
        ("exit 0", "worker 1 ended with exit code 0"),
        ("exit 3", "worker 1 ended with exit code 3"),
        ("SIGKILL", "worker 1 was killed by SIGKILL"),
        ("SIGINT", "worker 1 was interrupted by SIGINT"),
        ("SIGSEGV", "worker 1 was killed by SIGSEGV"),
    ],
)
def test_deaths(fault, text):
    loader = DataLoader(Faulty(fault), 1, sampler=[0, 1, 2, 5, 3, 4], num_workers=2)
    batches, error = taken(loader)
    assert batches == [[0], [1], [2]] and type(error) is RuntimeError
    assert f"exited unexpectedly: {text}" in str(error) and "at sample 5 (number 0 of batch 3)" in str(error)
    if fault == "SIGSEGV":
        assert "loaders.py" in str(error)


def test_after_a_death_the_iterator_says_so():
    batches = iter(DataLoader(Faulty("exit 0"), 6, num_workers=1))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="worker"):
            next(batches)


def test_a_worker_that_hangs():
    start = time.monotonic()
    batches, error = taken(DataLoader(Faulty("hang"), 2, num_workers=2, timeout=0.3))
    assert batches == [[0, 1], [2, 3]] and "timed out after 0.3 seconds: worker 0" in str(error)
    assert "at sample 5 (number 1 of batch 2)" in str(error) and "loaders.py" in str(error)
    assert time.monotonic() - start < 30


def test_an_idle_worker_that_is_killed():
    loader = DataLoader(range(8), 1, num_workers=2, prefetch_factor=1)
    batches = iter(loader)
    next(batches)
    victim = batches._pool.workers[1]
    os.kill(victim.pid, signal.SIGKILL)
    victim.process.join(20)
    with pytest.raises(RuntimeError, match="worker 1 was killed by SIGKILL"):
        list(batches)
    del batches, victim


class Broken(IterableDataset):
    def __init__(self, at):
        self.at = at

    def __iter__(self):
        if self.at < 0:
            raise OSError("no stream")
        return self.numbers()

    def numbers(self):
        for k in range(6):
            if k == self.at:
                raise OSError("torn")
            yield k


@pytest.mark.parametrize("at, place", [(-1, "at the beginning of the epoch"), (3, "at number 1 of batch")])
def test_streams_that_fail(at, place):
    loader = DataLoader(Broken(at), 2, num_workers=1)
    batches = iter(loader)
    got, error = taken(batches)
    assert got == ([[0, 1]] if at > 0 else []) and type(error) is OSError and place in str(error)
    assert list(batches) == []
    del batches


def test_what_cannot_be_sent():
    _, error = taken(DataLoader(range(2), 1, num_workers=1, collate_fn=lambda batch: lambda: batch))
    assert "sending batch 0" in str(error) and isinstance(error, (AttributeError, pickle.PicklingError, TypeError))
    with pytest.raises((AttributeError, pickle.PicklingError)):
        iter(DataLoader(range(2), num_workers=1, collate_fn=lambda b: b, multiprocessing_context="spawn"))


PROGRAM = """
    import os, signal, sys, threading, time
    from lamella.utils.data import DataLoader

    class Slow:
        def __len__(self):
            return 1000
        def __getitem__(self, index):
            if index == 4 and {hang}:
                time.sleep(1000)
            time.sleep(0.001)
            return index

    batches = iter(DataLoader(Slow(), 2, num_workers=2))
    if {pin}:
        batches._start_pinning(lambda data: data)
    next(batches)
    try:
        print(*(w.pid for w in batches._workers), flush=True)
        for batch in batches:
            pass
    except KeyboardInterrupt:
        del batches
        print("interrupted", threading.active_count(), flush=True)
        sys.exit(7)
"""


def started(**options):
    """Starts a program with a loader, in its own process group; returns it with the workers' process ids."""
    text = textwrap.dedent(PROGRAM).format(**options)
    program = (
        subprocess.Popen(
            [sys.executable, "-c", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
            env=clean_environment(),
        )
        if sys.version_info >= (3, 11)
        else subprocess.Popen(
            [sys.executable, "-c", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=clean_environment(),
        )
    )
    return program, [int(pid) for pid in program.stdout.readline().split()]


def gone(pid, seconds=20):
    """Returns whether the process ends in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("pin", [False, True])
@pytest.mark.parametrize("whole_group", [False, True])
def test_ctrl_c(pin, whole_group):
    program, workers = started(hang=whole_group, pin=pin)
    (os.killpg if whole_group else os.kill)(program.pid, signal.SIGINT)
    out, err = program.communicate(timeout=40)
    assert (out, program.returncode) == ("interrupted 1\n", 7), err
    assert "Traceback" not in err and all(gone(pid) for pid in workers)


def test_workers_end_with_a_main_process_that_is_killed():
    program, workers = started(hang=False, pin=False)
    assert len(workers) == 2
    program.kill()
    program.communicate(timeout=40)
    assert all(gone(pid) for pid in workers)


def test_a_loader_that_is_left_in_the_middle():
    for batch in DataLoader(range(1000), 2, num_workers=2):
        assert lamella.equal(batch, lamella.tensor([0, 1]))
        break
