"""Runs commands of a build in parallel: by ninja if it is installed, else as child processes.

With ninja a second run in the same folder runs only commands whose outputs are out of date; without it, all commands.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import CompileError, MissingTool, cache_error
from .toolchain import tool_environment

# Maps messages of tools about a full disk or a file's size, in English, to their errors.
DISK = {
    "No space left on device": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
    "File too large": errno.EFBIG,
    "File size limit exceeded": errno.EFBIG,
}


@dataclass(frozen=True)
class Step:
    """One command of a build, with its inputs and its output."""

    what: str  # for messages: "mine.cpp does not compile"
    command: tuple[str, ...]
    output: Path
    inputs: tuple[Path, ...]
    depfile: Path | None = None


@dataclass(frozen=True)
class Run:
    """A step that runs or ran: the log of its command, and a file that exists if the command failed."""

    step: Step
    log: Path
    failed: Path

    def text(self) -> str:
        try:
            return self.log.read_text(errors="replace")
        except OSError:
            return ""


def job_limit() -> int:
    """Returns ``MAX_JOBS``; if it is not set, the number of processors that this process may use."""
    text = os.environ.get("MAX_JOBS", "")
    if not text:
        return len(os.sched_getaffinity(0))
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"MAX_JOBS: expected a positive number, got {text!r}")
    return int(text)


def find_ninja(required: bool = False) -> str | None:
    """Returns the path of ninja: on PATH, beside this Python, or in the package of PyPI.

    If there is none, returns None, or raises MissingTool if it is ``required``.
    """
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    if found := shutil.which("ninja", path=path):
        return found
    try:
        import ninja  # type: ignore[import-not-found, unused-ignore]

        if found := shutil.which("ninja", path=ninja.BIN_DIR):
            return found
    except ImportError:
        pass
    if required:
        raise MissingTool("use_ninja=True needs ninja, which is not installed: pip install ninja, or leave it out")
    return None


def is_ninja_available() -> bool:
    """Returns whether builds are run by ninja; without it they run as child processes."""
    return find_ninja() is not None


def run_steps(
    steps: Sequence[Step], folder: Path, *, jobs: int, ninja: str | None, verbose: bool = False, warn: bool = False
) -> None:
    """Runs steps, the last of which needs the outputs of the others.

    Temporary files are made in ``folder``. Relative paths start at the current folder of this process.

    Raises:
        CompileError: a step failed; if several did, the error of the first one in the list
        CacheError: a step failed since the disk is full, or since a file would be larger than is allowed
    """
    # ccache's direct mode checks only headers that were read; it overlooks a new header in an earlier folder.
    environment = tool_environment() | {"TMPDIR": str(folder), "CCACHE_NODIRECT": "1"}
    runs = [Run(step, folder / f"step{n}.log", folder / f"step{n}.failed") for n, step in enumerate(steps)]
    for run in runs:
        run.step.output.parent.mkdir(parents=True, exist_ok=True)
        run.failed.unlink(missing_ok=True)
    if verbose:
        for step in steps:
            print(shlex.join(step.command), file=sys.stderr)
    if ninja and all(can_be_said(run) for run in runs):
        complaint = run_ninja(runs, folder, jobs, ninja, environment)
    else:
        complaint = run_processes(runs, jobs, environment)
    for run in runs:
        if run.failed.exists():
            raise failure(run.step.what, run.step.command, run.text(), folder)
    if complaint:
        raise failure("ninja fails", (str(ninja), "-f", str(folder / "build.ninja")), complaint, folder)
    for run in runs if verbose or warn else ():
        sys.stderr.write(run.text())


def failure(what: str, command: Sequence[str], log: str, folder: Path) -> Exception:
    """Returns the error for a command that failed."""
    for said, number in DISK.items():
        if said in log:
            return cache_error(OSError(number, ""), folder)
    disk = os.statvfs(folder)
    if not log.strip() and disk.f_bavail * disk.f_frsize < 1 << 24:  # no log, since the disk is full
        return cache_error(OSError(errno.ENOSPC, ""), folder)
    if "unsupported GNU version" in log or "unsupported clang version" in log:
        what += " (set CXX to a g++ that this nvcc takes, or pass -allow-unsupported-compiler in extra_cuda_cflags,"
        what += " for a CUDAExtension in extra_compile_args['nvcc'])"
    if re.search(r"fatal error: '?(?:Python\.h|pybind11/)", log):
        what += " (an extension module of Python whose sources do not show it needs is_python_module=True)"
    return CompileError(what, shlex.join(command), log)


def run_ninja(runs: Sequence[Run], folder: Path, jobs: int, ninja: str, environment: dict[str, str]) -> str:
    """Writes build.ninja and runs it. Returns its output if ninja itself failed; "" on success, or if a step failed."""
    rules = [f"builddir = {dollars(folder)}", ""]
    for number, run in enumerate(runs):
        step = run.step
        mark = f"{{ echo $? > {shlex.quote(str(run.failed))}; false; }}"
        command = f"{shlex.join(step.command)} > {shlex.quote(str(run.log))} 2>&1 || {mark}"
        rules += [f"rule step{number}", f"  command = {dollars(command)}"]
        if step.depfile:
            rules += [f"  depfile = {dollars(step.depfile)}", "  deps = gcc"]
        inputs = " ".join(escape(i) for i in step.inputs)
        rules += [f"build {escape(step.output)}: step{number} {inputs}", ""]
    rules.append("default " + " ".join(escape(run.step.output) for run in runs))
    file = folder / "build.ninja"
    file.write_text("\n".join(rules) + "\n")
    words = [ninja, "-f", str(file), "-j", str(jobs)]
    pipe, process = subprocess.PIPE, None
    try:
        with interrupts_later():
            process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, errors="replace", env=environment)
        said, complaint = process.communicate()
    except BaseException:
        if process:
            with process:
                process.terminate()  # ninja then ends the compilers
        raise
    if process.returncode == 0 or any(run.failed.exists() for run in runs):
        return ""
    return said + complaint or f"status {process.returncode}"


def can_be_said(run: Run) -> bool:
    """Returns whether a step can be written in ninja's syntax, and is short enough for the shell that ninja calls."""
    words, paths = (*run.step.command, str(run.log)), (run.step.output, *run.step.inputs)
    sayable = not any("\n" in w for w in words) and not any("|" in str(p) for p in paths)
    return sayable and sum(map(len, words)) < 100_000


def dollars(text: str | Path) -> str:
    return str(text).replace("$", "$$")


def escape(path: Path) -> str:
    return dollars(path).replace(" ", "$ ").replace(":", "$:")


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Delays Ctrl-C to the end of the block, which starts a process: an interrupt inside Popen would leave a process
    that nothing ends. Has no effect outside the main thread."""
    heard = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(heard):
        yield
        return
    came: list[Any] = []
    try:
        signal.signal(signal.SIGINT, lambda *at: came.append(at))
        yield
    finally:
        try:
            signal.signal(signal.SIGINT, heard)
        except BaseException:  # raised by the handler of another signal, which may run here
            signal.signal(signal.SIGINT, heard)
            raise
        if came:
            heard(*came[0])


def run_processes(runs: Sequence[Run], jobs: int, environment: dict[str, str]) -> str:
    """Runs every step except the last in parallel, then the last one; starts none after a step failed. Returns ""."""
    running: list[tuple[subprocess.Popen, Run]] = []
    waiting, last = list(runs[:-1]), list(runs[-1:])
    try:
        while waiting or running or last:
            if not waiting and not running:
                waiting, last = last, []
            while waiting and len(running) < jobs:
                run, nothing = waiting.pop(0), subprocess.DEVNULL
                with open(run.log, "wb") as log, interrupts_later():
                    process = subprocess.Popen(run.step.command, stdin=nothing, stdout=log, stderr=log, env=environment)
                    running.append((process, run))
            time.sleep(0.002)
            for process, run in [r for r in running if r[0].poll() is not None]:
                running.remove((process, run))
                if process.returncode:
                    run.failed.write_text(f"{process.returncode}\n")
                    waiting, last = [], []
    finally:  # after an interrupt, some processes may still run
        for process, _ in running:
            process.terminate()
        for process, _ in running:
            process.wait()
    return ""
