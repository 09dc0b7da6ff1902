"""Builds small libraries and programs for tests of the C ABI, by the system's compilers against a folder of headers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
STRICT = ("-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers")


def installed() -> Path:
    """Returns the folder of liblamella.so and of the headers."""
    import lamella

    return Path(lamella._C.__file__).parent


def include() -> Path:
    return installed() / "include"


def compiles(*command) -> subprocess.CompletedProcess:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed: apt-get install gcc g++ clang")
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def compiled(*command) -> None:
    done = compiles(*command)
    assert done.returncode == 0, done.stderr


def library(source: str, out: Path, *flags, headers: Path | None = None, compiler: str = "gcc") -> Path:
    """Builds a shared library of this text; the compiler's name decides the language."""
    text = out.with_suffix(".cpp" if compiler.endswith("++") else ".c")
    text.write_text(source)
    compiled(compiler, "-shared", "-fPIC", "-I", headers or include(), *flags, text, "-o", out)
    return out


def linked(source: Path, out: Path, *flags, compiler: str = "gcc") -> Path:
    """Builds a program that is linked with liblamella.so."""
    own = installed()
    link = (own / "liblamella.so", f"-Wl,-rpath,{own}", "-pthread")
    compiled(compiler, "-I", include(), *flags, source, *link, "-o", out)
    return out


def output(*command) -> str:
    """Runs a program without Python, which must succeed, and returns its output."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LAMELLA_", "PYTHON"))}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
