"""The folders for compilers and linkers: Lamella's folders, and for device cuda also CUDA's."""

from __future__ import annotations

from .cuda import Cuda
from .paths import header_path, root


def include_paths(device_type: str = "cpu") -> list[str]:
    """Returns the folders for ``-I``: the folder of Lamella's headers, and for "cuda" the folder of CUDA's headers.

    >>> len(include_paths())
    1
    """
    paths = [header_path()]
    if device_type == "cuda":
        paths += Cuda.find().include_paths
    return paths


def library_paths(device_type: str = "cpu") -> list[str]:
    """Returns the folders for ``-L``: the folder of liblamella.so, which programs without Python link, but not
    extensions, and for "cuda" the folder of CUDA's libraries.

    If only ``lamella-headers`` is installed, there is no liblamella.so, and its folder is left out.
    """
    paths = [str(root())] if (root() / "liblamella.so").exists() else []
    if device_type == "cuda":
        paths += Cuda.find().library_paths
    return paths
