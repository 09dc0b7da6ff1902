"""The engine ``wire``, for tests: the engine ``mpi`` behind a wire that is slow, loses calls, or ends a process.

The environment variable ``LAMELLA_WIRE`` says what the wire does, as ``latency=0.001,bandwidth=1e8``: ``latency``
(seconds a call), ``bandwidth`` (bytes a second), ``drop=N`` (the N-th call of a process never ends), ``kill=N``
(SIGKILL at the N-th call), and ``rank=R`` (drop and kill at rank R of a group alone). Calls count from 1.
"""

from __future__ import annotations

from pathlib import Path

import lamella

from .. import find


def load() -> None:
    """Loads the engine, and the engine ``mpi`` before it."""
    find.load("mpi")
    lamella.ops.load_library(Path(__file__).with_name("liblamella_wire.so"))
