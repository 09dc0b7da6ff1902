"""Device ``cuda`` for tests: the GPU of this machine, or a Python whose libraries of CUDA are those of ``standin/``."""

import ctypes
import functools
import os
import subprocess
import sys
from pathlib import Path

import lamella
import pytest
from children import Guest
from compiled import locked, shared_folder

HERE = Path(__file__).resolve().parent
# Operators that may fall back where cuSOLVER is there: LDL of complex Hermitian matrices, drivers that determine ranks.
DECLINING = {"aten::_linalg_ldl", "aten::_linalg_ldl_solve", "aten::_linalg_lstsq"}


@functools.cache
def has_gpu():
    """Returns whether NVIDIA's driver is there and has a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def make(factory):
    """Builds the stand-ins once for all processes of a run, which also share kernels. Returns their folder."""
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


def on_standin(factory, *libraries, **env):
    """Returns a Python whose device is the stand-in, also on a machine with a GPU. `libraries` are folders of further
    stand-ins: "blas" for cuBLAS, "dnn" for cuDNN, "solver" and "old_solver" for cuSOLVER."""
    folder = make(factory)
    usual = {
        "LD_LIBRARY_PATH": ":".join(map(str, (folder, *(folder / each for each in libraries)))),
        "LAMELLA_CUDA_CACHE": str(folder / "kernels"),
        "STANDIN_RECORD": str(folder / "record"),
        "STANDIN_LAPACK": str(Path(lamella.__file__).parent / "backends/cpu/libscipy_openblas.so"),
    }
    return Guest(sys.executable, factory.mktemp("cuda"), usual | env)


def guest(factory, **env):
    """Returns a Python whose device is the GPU, or the stand-in if there is no GPU."""
    if not has_gpu():
        return on_standin(factory, **env)
    usual = {"PYTHONPATH": str(Path(lamella.__file__).parents[1])}
    if "LAMELLA_CUDA_CACHE" in os.environ:
        usual["LAMELLA_CUDA_CACHE"] = os.environ["LAMELLA_CUDA_CACHE"]
    return Guest(sys.executable, factory.mktemp("cuda"), usual | env)
