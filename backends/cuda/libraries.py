"""Finds NVIDIA's libraries, also in wheels, and opens them, so that the native library can open them by their names."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

# Folders of NVIDIA's wheels below the package `nvidia`. The wheels of CUDA 13 share one folder for all libraries but
# cuDNN; those of CUDA 12 have a folder for each library.
FOLDERS = ("cu13/lib", "cuda_nvrtc/lib", "cu12/lib", "cublas/lib", "cudnn/lib", "cufft/lib", "cusolver/lib")


def folders() -> Iterator[Path]:
    """Returns the folders of installed wheels that may hold libraries of CUDA."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or []) if spec else []:
        for folder in FOLDERS:
            if (path := Path(root, folder)).is_dir():
                yield path


def open_library(name: str) -> bool:
    """Opens a library by its file name, "libnvrtc.so.13", and returns whether that succeeded. It tries the folders of
    LD_LIBRARY_PATH, then the wheels, which other packages of this Python use as well, then the system's libraries."""
    chosen = [Path(f, name) for f in os.environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    for path in (*map(str, filter(Path.exists, chosen)), *(str(folder / name) for folder in folders()), name):
        try:
            ctypes.CDLL(path)
        except OSError:
            continue
        return True
    return False


def open_nvrtc() -> None:
    """Opens the NVRTC of each CUDA from 12 to 14 that is installed. The native library opens the one that fits the
    driver again, by its name.
    """
    for major in (14, 13, 12):
        open_library(f"libnvrtc.so.{major}")


def open_blas() -> None:
    """Opens the newest cuBLAS that is installed, which brings its cuBLASLt along; without one, products are computed by
    kernels of this backend.
    """
    any(open_library(f"libcublas.so.{major}") for major in (13, 12))


def open_dnn() -> None:
    """Opens cuDNN, which finds its parts in its own folder; without it, convolutions are computed by kernels of this
    backend.
    """
    open_library("libcudnn.so.9")


def open_fft() -> None:
    """Opens the newest cuFFT that is installed, 12 of CUDA 13 or 11 of CUDA 12; without one, Fourier transforms are
    computed as products.
    """
    any(open_library(f"libcufft.so.{major}") for major in (12, 11))


def folders_of_solver() -> str:
    """Returns the folders in which the native library looks for cuSOLVER, separated by colons. It opens cuSOLVER at its
    first use, since that is large and needs further large libraries.
    """
    return ":".join([*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")), *map(str, folders())])
