"""Libraries of one C++ source, compiled once for all processes that run the tests, with the installed headers alone."""

import fcntl
import hashlib
import os
import subprocess
from pathlib import Path

import lattis
import pytest

INCLUDE = Path(lattis._C.__file__).parent / "include"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
FLAGS = ("-std=c++17", "-O1", "-shared", "-fPIC")


def compile_library(factory, source, *flags, compiler="g++"):
    """The library's path. ``source`` is a file or text; ``factory`` is pytest's tmp_path_factory."""
    text = source.read_text() if isinstance(source, Path) else source
    libraries = [f for f in flags if f.startswith("-l")]
    command = (compiler, *FLAGS, "-I", str(INCLUDE), *(f for f in flags if f not in libraries))
    # One folder for the workers of one run: each has its own below.
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled"
    folder.mkdir(exist_ok=True)
    made = folder / f"{hashlib.sha256(repr((text, command, libraries)).encode()).hexdigest()[:16]}.so"
    with open(made.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            if not isinstance(source, Path):
                source = made.with_suffix(".cpp")
                source.write_text(text)
            done = subprocess.run([*command, source, "-o", made, *libraries], capture_output=True, text=True)
            if done.returncode:
                pytest.fail(f"{' '.join(command)}\n{done.stderr}", pytrace=False)
    return made


def load(path):
    lattis._C._load_plugin(str(path))
