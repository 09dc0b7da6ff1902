"""Datasets for the tests of loaders, at module level so that spawned workers can import them."""

import os
import signal
import time

import lamella
import numpy as np
from lamella.utils.data import Dataset, IterableDataset, get_worker_info


class Drawn(Dataset):
    """Each sample draws a number from the default generator."""

    def __init__(self, size=23):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return {"n": index, "drawn": lamella.rand(2), "text": str(index), "array": np.full(3, index, np.float32)}


class Stream(IterableDataset):
    """The numbers below a bound, divided among the workers, each with a random number."""

    def __init__(self, size=23):
        self.size = size

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for k in range(first, self.size, step):
            yield k, lamella.rand(())


class Counter(IterableDataset):
    """A stream with a state of its own, which counts the requests for samples."""

    def __init__(self, size=23):
        self.size = size
        self.at = 0

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        while first + self.at * step < self.size:
            self.at += 1
            yield first + (self.at - 1) * step, lamella.rand(())
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


class Faulty(Dataset):
    """Sample 5 has the given fault."""

    def __init__(self, fault):
        self.fault = fault

    def __len__(self):
        return 12

    def __getitem__(self, index):
        if index == 5:
            FAULTS[self.fault]()
        return index


def raise_key_error():
    raise KeyError("no such key")


def raise_structured():
    raise UnicodeDecodeError("utf-8", b"x", 0, 1, "made up")


def raise_local():
    class Local(Exception):
        pass

    raise Local("only here")


FAULTS = {
    "KeyError": raise_key_error,
    "UnicodeDecodeError": raise_structured,
    "Local": raise_local,
    "StopIteration": lambda: next(iter(())),
    "exit 0": lambda: os._exit(0),
    "exit 3": lambda: os._exit(3),
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "SIGSEGV": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "SIGINT": lambda: os.kill(os.getpid(), signal.SIGINT),
    "hang": lambda: time.sleep(1000),
}


def plain(batches):
    """Returns the batches as nested lists, whose floats compare bit for bit."""
    return [_plain(batch) for batch in batches]


def _plain(part):
    if isinstance(part, lamella.Tensor):
        return part.tolist()
    if isinstance(part, dict):
        return {name: _plain(value) for name, value in part.items()}
    return [_plain(value) for value in part] if isinstance(part, (list, tuple)) else part
