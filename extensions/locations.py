"""The folders that compilers and linkers need, by device: Lamella's own, and CUDA's beside them."""

from __future__ import annotations

from .cuda import Cuda
from .paths import header_path, root


def include_paths(device_type: str = "cpu") -> list[str]:
    """Returns the folders for ``-I``: Lamella's headers; for "cuda" also CUDA's.

    >>> len(include_paths())
    1
    """
    paths = [header_path()]
    if device_type == "cuda":
        paths += Cuda.find().include_paths
    return paths


def library_paths(device_type: str = "cpu") -> list[str]:
    """Returns the folders for ``-L``: that of liblamella.so, for programs without Python; extensions do not link it.

    Empty with ``lamella-headers`` alone. For "cuda" also CUDA's.
    """
    paths = [str(root())] if (root() / "liblamella.so").exists() else []
    if device_type == "cuda":
        paths += Cuda.find().library_paths
    return paths
