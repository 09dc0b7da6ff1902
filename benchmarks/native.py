"""Compiles the benchmarks' C++ against the installed package, and runs or loads it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FLAGS = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Wno-missing-field-initializers"]


@cache
def package() -> Path:
    """Returns the folder of the installed package's compiled files."""
    from lamella import _C

    return Path(_C.__file__).parent


@cache
def build_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="lamella-benchmarks-"))
    import atexit

    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def headers() -> Path:
    installed = package() / "include"
    return installed if installed.exists() else HERE.parent / "extensions" / "include"


def compile_cpp(source: str, target: str, *options: str) -> Path:
    out = build_folder() / target
    command = [os.environ.get("CXX", "g++"), *FLAGS, f"-I{headers()}", str(HERE / source), "-o", str(out), *options]
    subprocess.run(command, check=True)
    return out


@cache
def load_stranger():
    """Compiles and loads the plugin of stranger.cpp; returns its operators, ``lamella.ops.mine``."""
    import lamella
    from lamella import _C

    _C._load_plugin(str(compile_cpp("stranger.cpp", "libstranger.so", "-fPIC", "-shared")))
    return lamella.ops.mine


def run_call_path(rounds: int) -> dict[str, Any]:
    """Runs call_path.cpp, a program without Python; returns its measurements."""
    library = package() / "liblamella.so"
    program = compile_cpp("call_path.cpp", "call_path", str(library), f"-Wl,-rpath,{package()}")
    done = subprocess.run(
        [str(program), str(package() / "backends/cpu/liblamella_cpu.so"), str(rounds)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return json.loads(done.stdout)
