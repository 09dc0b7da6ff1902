"""Runs checks in a forked child, since the searched fault may kill the process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable


def faults_in_child(name: str, find: Callable[[], Iterable[str]]) -> list[str]:
    """Returns the faults that ``find()`` yields in a child, one line each; its death or exception is one more."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            for fault in find():
                os.write(write, f"{fault}\n".encode())
            code = 0
        except BaseException as error:
            os.write(write, f"{name}: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)
    os.close(write)
    with open(read) as pipe:
        found = pipe.read().splitlines()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return found + ([f"{name}: died by {signal.Signals(-code).name}"] if code < 0 else [])
