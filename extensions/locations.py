"""The folders for compilers and linkers: those of Lamella, and for device cuda those of CUDA."""

from __future__ import annotations

from .cuda import Cuda
from .paths import header_path, root


def include_paths(device_type: str = "cpu") -> list[str]:
    """Returns the folders for ``-I``: that of Lamella's headers; for "cuda" also CUDA's.

    >>> len(include_paths())
    1
    """
    paths = [header_path()]
    if device_type == "cuda":
        paths += Cuda.find().include_paths
    return paths


def library_paths(device_type: str = "cpu") -> list[str]:
    """Returns the folders for ``-L``: that of liblamella.so, which programs without Python link, but not extensions.

    If only ``lamella-headers`` is installed, there is no such folder. For "cuda", adds CUDA's folders.
    """
    paths = [str(root())] if (root() / "liblamella.so").exists() else []
    if device_type == "cuda":
        paths += Cuda.find().library_paths
    return paths
