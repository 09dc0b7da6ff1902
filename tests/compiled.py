"""Compiles libraries of one C++ source against the installed headers, once for all processes of a run of the tests."""

import contextlib
import fcntl
import functools
import hashlib
import os
import subprocess
from pathlib import Path

import lamella
import pytest

INCLUDE = Path(lamella._C.__file__).parent / "include"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
FOLDER = "LAMELLA_TEST_COMPILED"  # set by the first process for its child processes
# The environment may add flags for a sanitizer.
FLAGS = ("-std=c++17", "-O0", "-shared", "-fPIC", *os.environ.get("LAMELLA_TEST_CXXFLAGS", "").split())


@functools.cache
def headers():
    """Returns a digest of the installed headers: when these change, libraries are compiled again."""
    files = sorted(f for f in INCLUDE.rglob("*") if f.is_file())
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


def shared_folder(factory):
    """Returns a folder for all processes of a run, beside the workers' folders; pytest removes all of them."""
    if FOLDER not in os.environ:
        base = factory.getbasetemp()
        os.environ[FOLDER] = str((base.parent if base.name.startswith("popen-") else base) / "compiled")
    folder = Path(os.environ[FOLDER])
    folder.mkdir(exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(file):
    """Runs the block while no other process of the run holds the lock."""
    with open(file, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compile_library(factory, source, *flags, compiler="g++"):
    """Compiles ``source``, a file or text; returns the library's path. ``factory`` is pytest's tmp_path_factory."""
    text = source.read_text() if isinstance(source, Path) else source
    libraries = [f for f in flags if f.startswith("-l")]
    command = (compiler, *FLAGS, "-I", str(INCLUDE), *(f for f in flags if f not in libraries))
    folder = shared_folder(factory)
    identity = repr((text, command, libraries, headers()))
    made = folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:16]}.so"
    with locked(made.with_suffix(".lock")):
        if not made.exists():
            if not isinstance(source, Path):
                source = made.with_suffix(".cpp")
                source.write_text(text)
            unfinished = made.with_suffix(".part")
            plain = {**os.environ, "LD_PRELOAD": ""}  # the compiler must not load a sanitizer of this process
            done = subprocess.run(
                [*command, source, "-o", unfinished, *libraries], capture_output=True, text=True, env=plain
            )
            if done.returncode:
                pytest.fail(f"{' '.join(command)}\n{done.stderr}", pytrace=False)
            unfinished.rename(made)
    return made


def load(path):
    lamella._C._load_plugin(str(path))
