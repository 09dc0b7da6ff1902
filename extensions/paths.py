"""The paths of the headers, of the CMake package, of the libraries, and of the user's cache.

These files are installed twice: as package ``lamella.extensions``, with the headers in the package around it, and as
package ``lamella_headers``, with the headers in the same folder.
"""

from __future__ import annotations

import importlib.util
import os
import sysconfig
from functools import cache
from pathlib import Path

from .errors import CacheError, MissingTool


@cache
def root() -> Path:
    """Returns the folder that holds ``include`` and ``cmake``."""
    here = Path(__file__).resolve().parent
    for folder in (here.parent, here):
        if (folder / "include" / "lamella" / "c_api.h").exists():
            return folder
    spec = importlib.util.find_spec("lamella")  # an editable install has the compiled package in another folder
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (Path(place) / "include" / "lamella" / "c_api.h").exists():
            return Path(place)
    raise MissingTool(f"there are no headers near {here}: install lamella-headers, or lamella again")


def header_path() -> str:
    """Returns the folder that holds ``lamella/extension.h``."""
    return str(root() / "include")


def cmake_path() -> str:
    """Returns the folder of LamellaConfig.cmake, for ``-DLamella_DIR=``."""
    return str(root() / "cmake")


def python_include_paths() -> list[str]:
    """Returns the folders of Python's and pybind11's headers, for extension modules."""
    python = sysconfig.get_path("include")
    if not (Path(python) / "Python.h").exists():
        raise MissingTool(f"there is no Python.h in {python}. On Debian: apt-get install python3-dev")
    paths = [python]
    spec = importlib.util.find_spec("pybind11")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / "include" / "pybind11" / "pybind11.h").exists():
            return [*paths, str(Path(folder) / "include")]
    if any((Path(p) / "pybind11" / "pybind11.h").exists() for p in (python, "/usr/include", "/usr/local/include")):
        return paths
    raise MissingTool("an extension module needs pybind11, which is not installed: pip install pybind11")


def cache_folder() -> Path:
    """Returns ``LAMELLA_EXTENSIONS_DIR``; if it is not set, ``lamella/extensions`` in the user's cache."""
    if chosen := os.environ.get("LAMELLA_EXTENSIONS_DIR"):
        return Path(chosen).expanduser().absolute()
    if (xdg := os.environ.get("XDG_CACHE_HOME")) and os.path.isabs(xdg):
        return Path(xdg) / "lamella" / "extensions"
    home = os.path.expanduser("~")
    if home == "~":
        raise CacheError("this user has no home, so there is no place for a cache: set LAMELLA_EXTENSIONS_DIR")
    return Path(home) / ".cache" / "lamella" / "extensions"
