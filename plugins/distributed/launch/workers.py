"""The processes of a job on one machine: they are started, watched, and ended."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .options import Options

GRACE = 30.0  # seconds between SIGTERM and SIGKILL
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


def end_with_parent() -> None:
    """Runs in a new process: it gets SIGTERM if the launcher ends, even by SIGKILL."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass
class Failure:
    """A process that has ended with a status other than 0."""

    rank: int
    local_rank: int
    pid: int
    status: int  # negative: the signal that ended it

    def __str__(self) -> str:
        how = f"exit status {self.status}"
        if self.status < 0:
            how = f"signal {signal.Signals(-self.status).name}"
        return f"rank {self.rank} (local rank {self.local_rank}, process {self.pid}) has ended with {how}"


class Workers:
    """The processes of this machine in one attempt.

    Args:
        options: the job
        environments: the environment of each process
        logs: the folder for the files of this attempt, or None
    """

    def __init__(self, options: Options, environments: list[dict[str, str]], logs: Path | None):
        self.options, self.environments, self.logs = options, environments, logs
        self.processes: list[subprocess.Popen[bytes]] = []
        self.readers: list[threading.Thread] = []
        self.files: list[Any] = []

    def start(self) -> None:
        """Starts the processes.

        Raises:
            RuntimeError: the program cannot be started
        """
        try:
            if self.options.mpiexec:
                self._start_by_mpiexec()
            else:
                for local_rank, environment in enumerate(self.environments):
                    self._start_one(self.options.command, local_rank, environment)
        except OSError as error:
            self.stop()
            raise RuntimeError(f"{self.options.command[0]}: {error.strerror}") from None

    def _start_one(self, command: list[str], local_rank: int, environment: dict[str, str]) -> None:
        streams = {name: self._stream(name, local_rank) for name in ("stdout", "stderr")}
        process = subprocess.Popen(command, env=environment, preexec_fn=end_with_parent, **streams)
        self.processes.append(process)
        for name in streams:
            if (pipe := getattr(process, name)) is not None:
                self._follow(pipe, name, local_rank, int(environment["RANK"]))

    def _start_by_mpiexec(self) -> None:
        start = [sys.executable, "-m", "lamella.distributed.launch.start", *self.options.command]
        command = [self.options.mpiexec, "-n", str(len(self.environments))]
        if os.geteuid() == 0:  # Open MPI's refuses root otherwise
            os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
            os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        environment = {**self.environments[0], **{k: v for k, v in os.environ.items() if k.startswith("OMPI_")}}
        for name in ("RANK", "LOCAL_RANK", "ROLE_RANK"):
            environment.pop(name)
        self.processes.append(subprocess.Popen([*command, *start], env=environment, preexec_fn=end_with_parent))

    def _of_rank(self, kinds: dict[int, frozenset[str]], local_rank: int) -> frozenset[str]:
        return kinds.get(local_rank, kinds.get(-1, frozenset()))

    def _path(self, name: str, local_rank: int) -> Path:
        assert self.logs is not None
        path = self.logs / str(local_rank) / f"{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _stream(self, name: str, local_rank: int) -> Any:
        """Returns where a process writes: the launcher's own output, a file, or a pipe."""
        hidden = self.options.shown and local_rank not in self.options.shown
        if name in self._of_rank(self.options.tee, local_rank):
            return subprocess.PIPE
        if self.logs and name in self._of_rank(self.options.redirects, local_rank):
            self.files.append(self._path(name, local_rank).open("wb"))
            return self.files[-1]
        return subprocess.DEVNULL if hidden else None

    def _follow(self, pipe: Any, name: str, local_rank: int, rank: int) -> None:
        """Copies what a process writes to a file, and with the process's name to the launcher's output."""
        to = getattr(sys, name).buffer
        hidden = self.options.shown and local_rank not in self.options.shown
        file = self._path(name, local_rank).open("wb") if self.logs else None
        prefix = f"[{self.options.role}{rank}]:".encode()

        def copy() -> None:
            for line in pipe:
                if file:
                    file.write(line)
                    file.flush()
                if not hidden:
                    to.write(prefix + line)
                    to.flush()
            if file:
                file.close()

        self.readers.append(threading.Thread(target=copy, daemon=True))
        self.readers[-1].start()

    def failures(self) -> list[Failure]:
        """Returns the processes that have failed. Those that were killed come first, since others fail as they wait for
        them, and those that were ended by SIGTERM last."""
        found = []
        for local_rank, process in enumerate(self.processes):
            if process.poll():
                rank = int(self.environments[local_rank]["RANK"])
                found.append(Failure(rank, local_rank, process.pid, process.returncode))
        return sorted(found, key=lambda f: 2 if f.status == -signal.SIGTERM else int(f.status > 0))

    def all_done(self) -> bool:
        """Returns whether every process has ended."""
        return all([process.poll() is not None for process in self.processes])

    def stop(self, by: int = signal.SIGTERM, grace: float = GRACE) -> None:
        """Ends the processes that run: by a signal, and those that are left after some seconds by SIGKILL."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(by)
                process.send_signal(signal.SIGCONT)  # one that is stopped sees the signal then
        until = time.monotonic() + grace
        while not self.all_done() and time.monotonic() < until:
            time.sleep(0.02)
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.close()

    def close(self) -> None:
        """Waits for the output of processes that have ended."""
        for reader in self.readers:
            reader.join(5)
        for file in self.files:
            file.close()
