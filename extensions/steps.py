"""Commands that make files out of files, run in parallel: by ninja where it is there, else by a few threads.

With ninja a second run in the same folder does only what is out of date; without it everything is done again.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import CompileError, MissingTool, cache_error

# What tools say of the disk, in the language of LC_ALL=C.
DISK = {
    "No space left on device": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
    "File too large": errno.EFBIG,
    "File size limit exceeded": errno.EFBIG,
}


@dataclass(frozen=True)
class Step:
    """One command."""

    what: str  # for messages: "mine.cpp does not compile"
    command: tuple[str, ...]
    output: Path
    inputs: tuple[Path, ...]
    depfile: Path | None = None


@dataclass(frozen=True)
class Run:
    """One step of a run, with what its command says, and a file that is there if it failed."""

    step: Step
    log: Path
    failed: Path

    def text(self) -> str:
        try:
            return self.log.read_text(errors="replace")
        except OSError:
            return ""


def job_limit() -> int:
    """``MAX_JOBS``, else as many processors as this process may use."""
    text = os.environ.get("MAX_JOBS", "")
    if not text:
        return len(os.sched_getaffinity(0))
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"MAX_JOBS: expected a positive number, got {text!r}")
    return int(text)


def find_ninja(required: bool = False) -> str | None:
    """Ninja on PATH, beside this Python, or in the module from PyPI."""
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
        raise MissingTool("ninja is asked for and not there: pip install ninja, or leave out use_ninja=True")
    return None


def is_ninja_available() -> bool:
    """Whether builds are run by ninja; without it they run too, in threads."""
    return find_ninja() is not None


def run_steps(
    steps: Sequence[Step], folder: Path, *, jobs: int, ninja: str | None, verbose: bool = False, warn: bool = False
) -> None:
    """Runs steps, of which the last needs the outputs of the others.

    Temporary files stay in ``folder``. Relative paths are those of the caller.

    Raises:
        CompileError: a step failed; of several the first in the list is told
    """
    environment = {**os.environ, "TMPDIR": str(folder), "LC_ALL": "C"}
    runs = [Run(step, folder / f"step{n}.log", folder / f"step{n}.failed") for n, step in enumerate(steps)]
    for run in runs:
        run.step.output.parent.mkdir(parents=True, exist_ok=True)
        run.failed.unlink(missing_ok=True)
    if verbose:
        for step in steps:
            print(shlex.join(step.command), file=sys.stderr)
    complaint = run_ninja(runs, folder, jobs, ninja, environment) if ninja else run_threads(runs, jobs, environment)
    for run in runs:
        if run.failed.exists():
            raise failure(run.step.what, run.step.command, run.text(), folder)
    if complaint:
        raise failure("ninja fails", (str(ninja), "-f", str(folder / "build.ninja")), complaint, folder)
    for run in runs if verbose or warn else ():
        sys.stderr.write(run.text())


def failure(what: str, command: Sequence[str], log: str, folder: Path) -> Exception:
    """The error for a command that failed."""
    for said, number in DISK.items():
        if said in log:
            return cache_error(OSError(number, ""), folder)
    disk = os.statvfs(folder)
    if not log.strip() and disk.f_bavail * disk.f_frsize < 1 << 24:  # there was no room to say it
        return cache_error(OSError(errno.ENOSPC, ""), folder)
    if "unsupported GNU version" in log or "unsupported clang version" in log:
        what += " (set CXX to a g++ that this nvcc takes, or pass -allow-unsupported-compiler in extra_cuda_cflags)"
    return CompileError(what, shlex.join(command), log)


def run_ninja(runs: Sequence[Run], folder: Path, jobs: int, ninja: str, environment: dict[str, str]) -> str:
    """Writes build.ninja and runs it. Returns ninja's own complaint, which is empty where no step is to blame."""
    rules = [f"builddir = {folder}", ""]
    for number, run in enumerate(runs):
        step = run.step
        mark = f"{{ echo $$? > {shlex.quote(str(run.failed))}; false; }}"
        command = f"{shlex.join(step.command).replace('$', '$$')} > {shlex.quote(str(run.log))} 2>&1 || {mark}"
        rules += [f"rule step{number}", f"  command = {command}"]
        if step.depfile:
            rules += [f"  depfile = {step.depfile}", "  deps = gcc"]
        inputs = " ".join(escape(i) for i in step.inputs)
        rules += [f"build {escape(step.output)}: step{number} {inputs}", ""]
    rules.append("default " + " ".join(escape(run.step.output) for run in runs))
    file = folder / "build.ninja"
    file.write_text("\n".join(rules) + "\n")
    words = [ninja, "-f", str(file), "-j", str(jobs)]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", env=environment)
    if done.returncode == 0 or any(run.failed.exists() for run in runs):
        return ""
    return done.stdout + done.stderr or f"status {done.returncode}"


def escape(path: Path) -> str:
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def run_threads(runs: Sequence[Run], jobs: int, environment: dict[str, str]) -> str:
    """Every step but the last at once, then the last unless one failed."""
    from concurrent.futures import ThreadPoolExecutor  # which brings much, and who loads from the cache needs none

    def work(run: Run) -> None:
        if any(other.failed.exists() for other in runs):
            return
        with open(run.log, "wb") as log:
            command = run.step.command
            status = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        if status:
            run.failed.write_text(f"{status}\n")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, runs[:-1]))
    work(runs[-1])
    return ""
