"""Runs programs in child processes, in the tests' environment or a fresh one, with a clean set of variables."""

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from importlib.metadata import distribution
from pathlib import Path

import pytest

GROUPS = ("lamella.backends", "lamella.plugins")
# Lamella's own plugins, as a value of LAMELLA_PLUGINS, for tests that other installed plugins would disturb.
OWN_PLUGINS = ",".join(e.name for e in distribution("lamella").entry_points if e.group in GROUPS)


def clean_environment(**changes):
    """Returns a child's variables: none of Lamella's except the given ones; PATH has the tools of this Python."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LAMELLA_", "CCACHE_")) and k != "PYTHONPATH"}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    return env | changes


def run(*command, cwd, timeout=300, **env):
    try:
        done = subprocess.run(
            command, cwd=cwd, env=clean_environment(**env), capture_output=True, text=True, timeout=timeout
        )
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"the child hangs: {timeout} s were not enough\n{late.stdout}\n{late.stderr}", pytrace=False)
    if done.returncode != 0:
        pytest.fail(f"the child ended with {done.returncode}\n{done.stdout}\n{done.stderr}", pytrace=False)
    return done.stdout


# `with fails(KIND, *WORDS):` is a block that must raise an error of that kind with these words in its text. A program
# that uses it gets this source at its beginning.
FAILS = """
class fails:
    def __init__(self, kind, *words):
        self.kind, self.words = kind, words

    def __enter__(self):
        return self

    def __exit__(self, _, error, trace):
        assert error is not None, f"no error: {self.kind}, {self.words}"
        self.type, self.text = type(error), str(error)
        missing = [word for word in self.words if word not in self.text]
        assert not isinstance(error, self.kind) or not missing, (missing, self.text)
        return isinstance(error, self.kind)

    def __str__(self):
        return self.text
"""


@dataclass
class Guest:
    """A Python with its packages; it runs programs in child processes in its own folder."""

    python: str
    folder: Path
    env: dict = field(default_factory=dict)

    def run(self, program, *arguments, **env):
        """Runs a program, which must succeed; returns its output. Keywords other than ``timeout`` set variables."""
        program = textwrap.dedent(program)
        if "with fails(" in program:
            program = FAILS + program
        return run(self.python, "-c", program, *arguments, cwd=self.folder, **(self.env | env))

    def table(self, **env):
        """Returns the output of `lamella plugins`."""
        return run(self.python, "-m", "lamella.cli", "plugins", cwd=self.folder, **(self.env | env))


def holders(inode):
    """Returns the processes that have a file of shared memory open."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            for fd in (process / "fd").iterdir():
                if "memfd:lamella" in os.readlink(fd) and os.stat(fd).st_ino == inode:
                    found.add(int(process.name))
        except OSError:
            pass
    return found
