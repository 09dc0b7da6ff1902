"""The build helper for custom operators: compilers, the cache of built extensions, setuptools, CMake.

The build helper imports the standard library, for packages also setuptools, and nothing of the framework: the same
files are the package ``lamella_headers``, which suffices to build a package. ``lamella.utils.cpp_extension`` exports
most of these names, too, and adds ``load`` and ``load_inline``.
"""

from __future__ import annotations

from typing import Any

from .build import Build, Source, build_library
from .cache import Cache
from .errors import BuildError, CacheError, CompileError, MissingTool
from .locations import include_paths, library_paths
from .paths import cache_folder, cmake_path
from .steps import is_ninja_available

__all__ = [
    "Build",
    "BuildError",
    "BuildExtension",
    "CUDAExtension",
    "Cache",
    "CacheError",
    "CompileError",
    "CppExtension",
    "MissingTool",
    "Source",
    "build_library",
    "cache_folder",
    "cmake_path",
    "include_paths",
    "is_ninja_available",
    "library_paths",
]


def __getattr__(name: str) -> Any:
    """Imports the classes for setuptools on first use, since the import takes 0.3 s and only packages need them."""
    if name in ("BuildExtension", "CUDAExtension", "CppExtension"):
        from . import packaging

        return getattr(packaging, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
