"""Runs a function on several processes that are ranks of one group."""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
import time

PRELUDE = """
import os, signal, sys, time
from datetime import timedelta
import numpy as np
import lamella
import lamella.distributed as dist

rank, size, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
settings = {settings!r}
limit = timedelta(seconds=settings.pop("limit", 60))
method = settings.pop("method", "file://" + store)
engine = settings.pop("engine", "mpi")
dist.init_process_group(engine, init_method=method, rank=rank, world_size=size, timeout=limit, **settings)
"""


class Outcome:
    """How each rank has ended: its status, and what it printed."""

    def __init__(self, statuses, outputs, errors, seconds):
        self.statuses, self.outputs, self.errors, self.seconds = statuses, outputs, errors, seconds

    def check(self):
        for rank, status in enumerate(self.statuses):
            assert status == 0, f"rank {rank} ended with {status}: {self.outputs[rank]}{self.errors[rank]}"
        return self


def start(body, folder, size, **settings):
    """Starts the ranks, and returns their processes. ``body(rank, size)`` runs on each, with np, lamella and dist."""
    source = PRELUDE.format(settings=settings) + textwrap.dedent(inspect.getsource(body))
    file = folder / f"{body.__name__}.py"
    file.write_text(source + f"\n{body.__name__}(rank, size)\ndist.destroy_process_group()\n")
    store = folder / f"{body.__name__}.store"
    command = [sys.executable, str(file)]
    return [
        subprocess.Popen(
            [*command, str(r), str(size), str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for r in range(size)
    ]


def finish(processes, timeout=120):
    """Waits for the ranks; those that are not done at the limit are killed, which is a failure."""
    begin = time.monotonic()
    outputs, errors = [], []
    for rank, p in enumerate(processes):
        try:
            out, err = p.communicate(timeout=max(begin + timeout - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            for other in processes:
                other.kill()
            out, err = p.communicate()
            err += f"\nrank {rank} was not done after {timeout} seconds"
        outputs.append(out)
        errors.append(err)
    return Outcome([p.returncode for p in processes], outputs, errors, time.monotonic() - begin)


def run(body, folder, size=2, **settings):
    return finish(start(body, folder, size, **settings))
