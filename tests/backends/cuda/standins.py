"""Device ``cuda`` without a GPU: a Python whose libcuda.so.1 and libnvrtc.so.13 are the stand-ins of ``standin/``."""

import subprocess
import sys
from pathlib import Path

import pytest
from children import Guest
from compiled import locked, shared_folder

HERE = Path(__file__).resolve().parent


def make(factory):
    """The stand-ins, built once for all processes of a run; the kernels that they compile are shared, too."""
    folder = shared_folder(factory) / "cuda_standin"
    folder.mkdir(exist_ok=True)
    with locked(folder / "lock"):
        if not (folder / "made").exists():
            done = subprocess.run(["sh", HERE / "standin/build.sh", folder], capture_output=True, text=True)
            if done.returncode:
                pytest.fail(done.stderr, pytrace=False)
            (folder / "record").mkdir()
            (folder / "made").touch()
    return folder


def guest(factory, **env):
    folder = make(factory)
    usual = {
        "LD_LIBRARY_PATH": str(folder),
        "LAMELLA_CUDA_CACHE": str(folder / "kernels"),
        "STANDIN_RECORD": str(folder / "record"),
    }
    return Guest(sys.executable, factory.mktemp("cuda"), usual | env)
