"""Runs functions in several processes. A failure in one of them is raised in this process, with its traceback."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing import connection
from typing import Any

from lamella._settings import capture_state


class ProcessException(Exception):
    """Raised when a process failed; ``error_index`` is its rank, ``error_pid`` its process id."""

    def __init__(self, msg: str, error_index: int, error_pid: int):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, error_pid

    @property
    def error_pid(self) -> int:
        """The process id."""
        return self.pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """Raised when the function raised in a process; the message holds its traceback."""


class ProcessExitedException(ProcessException):
    """Raised when a process ended with a code other than 0, or by the signal ``signal_name``."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _end_with_parent(by_signal: bool) -> None:
    """Makes this process end by SIGTERM when its parent has ended, even if that was killed.

    ``by_signal`` requests the signal from the system, which sends it when the thread that started this process ends; so
    it must be given only for the parent's main thread. Otherwise a thread of this process waits for the parent.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if by_signal:
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        if os.getppid() != parent.pid:  # the parent ended before the signal was requested
            os.kill(os.getpid(), signal.SIGTERM)
    else:
        threading.Thread(target=_wait_for, args=(parent,), daemon=True).start()


def _wait_for(parent: Any) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _run(
    fn: Callable[..., Any], rank: int, args: tuple[Any, ...], error_file: str, state: Any, by_signal: bool = False
) -> None:
    _end_with_parent(by_signal)
    try:
        state.run(fn, rank, *args)
    except KeyboardInterrupt:
        pass  # the parent process got the interrupt, too
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """The processes that one call of ``start_processes`` has started."""

    def __init__(self, processes: list[Any], folder: Any):
        self.processes = processes
        self.sentinels = {p.sentinel: rank for rank, p in enumerate(processes)}
        self._folder = folder

    def pids(self) -> list[int]:
        """Returns the process ids."""
        return [int(p.pid) for p in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits until at least one process ends; returns whether all have ended. If one fails, ends the others.

        ``timeout`` is the longest wait, in seconds. After a failure the other processes have ``grace_period`` seconds
        to end, none by default; then they are terminated, and killed after as many seconds more, 30 by default.

        Raises:
            ProcessRaisedException: the function raised in a process
            ProcessExitedException: a process ended with an error
        """
        if not self.sentinels:
            return True
        failed = None
        for ready in connection.wait(list(self.sentinels), timeout):
            rank = self.sentinels.pop(ready)  # type: ignore[call-overload]
            self.processes[rank].join()
            if self.processes[rank].exitcode != 0:
                failed = rank
                break
        if failed is None:
            return not self.sentinels
        self._end(grace_period)
        raise self._error(failed)

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))

    def _end(self, grace: float | None) -> None:
        if grace is not None:
            self._wait(grace)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._wait(30 if grace is None else grace)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()

    def _error(self, rank: int) -> ProcessException:
        process = self.processes[rank]
        error_file = os.path.join(self._folder.name, str(rank))
        if os.path.exists(error_file):
            with open(error_file, "rb") as file:
                text = pickle.load(file)
            return ProcessRaisedException(f"process {rank} raised:\n\n{text}", rank, process.pid)
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(f"process {rank} ended with exit code {code}", rank, process.pid, code)
        known = -code in {s.value for s in signal.Signals}
        name = signal.Signals(-code).name if known else f"signal {-code}"
        return ProcessExitedException(f"process {rank} was ended by {name}", rank, process.pid, code, name)


SpawnContext = ProcessContext


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs ``fn(rank, *args)`` in ``nprocs`` processes, and waits for them, or returns them if ``join`` is False.

    The processes get a copy of this thread's state, by ``capture_state``. They end by SIGTERM when this process ends.

    Raises:
        ProcessRaisedException: a process raised; the others are terminated
        ProcessExitedException: a process ended with an error

    >>> def fill(rank, t):
    ...     t[rank] = rank + 1
    >>> t = lamella.zeros(2).share_memory_()
    >>> lamella.multiprocessing.start_processes(fill, (t,), nprocs=2, start_method="fork")
    >>> t
    tensor([1., 2.])
    """
    context = multiprocessing.get_context(start_method)
    folder = tempfile.TemporaryDirectory(prefix="lamella-spawn-")  # removed with the ProcessContext
    processes: list[Any] = []
    state = capture_state()
    by_signal = start_method != "forkserver" and threading.current_thread() is threading.main_thread()
    try:
        for rank in range(nprocs):
            each = (fn, rank, args, os.path.join(folder.name, str(rank)), state, by_signal)
            process = context.Process(target=_run, args=each, daemon=daemon)  # type: ignore[attr-defined]
            process.start()
            processes.append(process)
    except BaseException:
        for process in processes:
            process.kill()
            process.join()
        folder.cleanup()
        raise
    started = ProcessContext(processes, folder)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs ``fn(rank, *args)`` in new processes; calls ``start_processes`` with start_method="spawn".

    Raises:
        ValueError: ``start_method`` is not "spawn"; use ``start_processes``
        ProcessRaisedException: a process raised; the others are ended

    >>> lamella.multiprocessing.spawn(print, nprocs=0)
    """
    if start_method != "spawn":
        raise ValueError(
            f"spawn: argument 'start_method' must be 'spawn', got {start_method!r}; start_processes takes the others"
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method)
