"""Tests of loaders have a time limit, and must leave no process and no descriptor."""

import gc
import multiprocessing
import os
import signal
from multiprocessing import forkserver, resource_tracker

import lamella
import pytest

SECONDS = 60


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def _late(number, frame):
    raise TimeoutError(f"the test hangs: {SECONDS} s were not enough")


@pytest.fixture(autouse=True)
def bounded():
    before = signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def nothing_left():
    """Checks that workers of the test are gone afterwards."""
    kept = lamella.get_rng_state()
    resource_tracker.ensure_running()  # spawned processes would start these two, which stay
    forkserver.ensure_running()
    lamella.zeros(1).share_memory_()  # this makes the file for small shared tensors, which stays
    gc.collect()
    count = descriptors()
    yield
    gc.collect()
    assert multiprocessing.active_children() == []
    assert descriptors() <= count
    lamella.set_rng_state(kept)
