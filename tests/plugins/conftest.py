"""Fixtures: tiny packages with faults, and libraries that are plugins."""

import importlib.machinery
import importlib.util
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest
from children import Guest
from compiled import compile_library

HERE = Path(__file__).resolve().parent


@pytest.fixture
def host(tmp_path):
    """Returns a guest that uses the Python of the tests, in an empty folder."""
    return Guest(sys.executable, tmp_path)


@pytest.fixture
def packages(host, tmp_path):
    """Makes tiny packages: ``packages(name, code)`` puts one, entry point included, where ``host`` can import it."""

    def make(name, code, *, group="lamella.plugins", manifest=None):
        module = "tiny_" + name.replace("-", "_")
        package = tmp_path / "packages" / module
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(textwrap.dedent(code))
        if manifest is not None:
            (package / "lamella.json").write_text(manifest)
        info = package.with_name(f"{module}-1.2.dist-info")
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tiny-{name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}\n")
        host.env["PYTHONPATH"] = str(package.parent)
        return package

    return make


@pytest.fixture(scope="session")
def stranger_library(tmp_path_factory):
    """Builds stranger.cpp as a library, with the compiler and the installed headers alone."""
    return compile_library(tmp_path_factory, HERE / "stranger.cpp")


@pytest.fixture(scope="session")
def failing_library(tmp_path_factory):
    """Builds the same library with another block, which fails after others have registered."""
    return compile_library(tmp_path_factory, HERE / "stranger.cpp", "-DFAILS")


@pytest.fixture(scope="session")
def face_library(tmp_path_factory):
    """Builds face.cpp as an extension module, with the installed headers and Python's."""
    include = "-I" + sysconfig.get_path("include")
    return compile_library(tmp_path_factory, HERE / "face.cpp", include, "-pthread")


@pytest.fixture(scope="session")
def face(face_library):
    loader = importlib.machinery.ExtensionFileLoader("face", str(face_library))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("face", loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def stranger(host, packages, stranger_library):
    """Returns ``host`` with that library installed as a plugin; programs import it as ``tiny_stranger.native``."""
    packages(
        "stranger",
        f"""
        import ctypes
        from lamella.plugins import hookimpl

        native = None

        @hookimpl
        def register(ctx):
            global native
            ctx.load_library({str(stranger_library)!r})
            native = ctypes.CDLL({str(stranger_library)!r})
            native.add.restype = ctypes.c_float
            native.add.argtypes = [ctypes.c_float, ctypes.c_float]
            native.error.restype = ctypes.c_char_p
            native.called.restype = native.layer_calls.restype = ctypes.c_int64
            native.include.argtypes = [ctypes.c_uint64]
        """,
    )
    return host
