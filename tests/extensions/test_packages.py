"""Extensions as packages: wheels for every Python or for one, built with the headers alone, installed into fresh
environments beside Lamella."""

import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import zipfile
from pathlib import Path

import lamella
import pytest
from building import library_operator
from children import clean_environment, run
from environments import PIP, build_wheel, fresh_environment

ROOT = Path(__file__).resolve().parents[2]
ABI = ".".join(map(str, lamella._C._abi_version))
SETUP = """
from {helper} import BuildExtension, CppExtension
from setuptools import setup

setup(
    name="mine",
    version="1.0",
    packages=["mine"],
    ext_modules=[CppExtension(name="mine.{name}", sources="{name}.cpp", extra_compile_args=["-O0"])],
    cmdclass={{"build_ext": BuildExtension}},
    entry_points={{"lamella.plugins": ["mine = mine"]}},
)
"""
PYPROJECT = """
[build-system]
requires = ["setuptools", "lamella-headers"]
build-backend = "setuptools.build_meta"
"""
HOOK = """
from pathlib import Path

from lamella.plugins import hookimpl


@hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("operators.so"))
"""
USE = "import lamella; print(lamella.ops.built.scaled(lamella.tensor([1, 2])).tolist())"
MODULE = """
#include <pybind11/pybind11.h>
int seven() { return 7; }
PYBIND11_MODULE(LAMELLA_EXTENSION_NAME, m) { m.def("seven", &seven); }
"""
OPTIMISED = """
#ifndef __OPTIMIZE__
#error the flags say otherwise
#endif
"""


def package(folder, *, name="operators", helper="lamella_headers", source=None, init=HOOK):
    (folder / "mine").mkdir(parents=True)
    (folder / "setup.py").write_text(SETUP.format(name=name, helper=helper))
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "mine/__init__.py").write_text(init)
    (folder / f"{name}.cpp").write_text(source or library_operator(1))
    return folder


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Builds the wheel of lamella-headers; returns its folder."""
    folder = tmp_path_factory.mktemp("wheels")
    build_wheel(ROOT / "extensions", folder)
    return folder


def without_lamella(folder, wheels):
    """Makes a Python with setuptools, the tools of these tests and lamella-headers, in which `import lamella` fails."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / "bin/python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    names = ("setuptools", "_distutils_hack", "pkg_resources", "wheel", "packaging", "build", "pyproject_hooks")
    names += ("ninja", "scikit_build_core", "pathspec", "cmake", "pybind11")
    for place in dict.fromkeys(p for p in sys.path if os.path.isdir(p) and p != sysconfig.get_path("stdlib")):
        for entry in os.scandir(place):
            if entry.name.partition("-")[0].removesuffix(".py") in names and not (site / entry.name).exists():
                (site / entry.name).symlink_to(entry.path)
    install = ("install", "-q", "--no-deps", "--no-index", "--find-links", wheels, "lamella-headers")
    run(*PIP, "--python", python, *install, cwd=folder)
    return python


@pytest.fixture(scope="module")
def builder(tmp_path_factory, wheels):
    python = without_lamella(tmp_path_factory.mktemp("builder") / "venv", wheels)
    absent = subprocess.run([python, "-c", "import lamella"], capture_output=True, text=True, env=clean_environment())
    assert "No module named 'lamella'" in absent.stderr
    return python


def build(python, folder, *options):
    """Builds with `python -m build`, in the environment of that Python."""
    run(python, "-m", "build", "-q", "--wheel", "--no-isolation", "--skip-dependency-check", *options, cwd=folder)
    [wheel] = (folder / "dist").glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def operators(tmp_path_factory, builder):
    """Builds the wheel of a package that only registers operators."""
    return build(builder, package(tmp_path_factory.mktemp("operators") / "mine-1.0"))


@pytest.mark.long
def test_a_wheel_carries_no_path_of_its_builder(operators, builder):
    """The library names its sources in messages, relative to the package."""
    with zipfile.ZipFile(operators) as wheel:
        texts = {name: wheel.read(name) for name in wheel.namelist()}
    assert b"operators.cpp" in texts["mine/operators.so"]
    folders = [str(folder).encode() for folder in (operators.parents[1], builder.parents[1], ROOT)]
    assert not [name for name, text in texts.items() for folder in folders if folder in text]


def test_lamella_headers_is_text_and_python_alone(wheels):
    [wheel] = wheels.glob("lamella_headers-*-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {Path(n).suffix for n in names if "dist-info" not in n} == {".py", ".h", ".hpp", ".cmake"}
    headers = {p.relative_to(ROOT / "extensions").as_posix() for p in (ROOT / "extensions/include").rglob("*.h")}
    assert {f"lamella_headers/{name}" for name in headers} <= set(names)


def test_the_two_packages_have_one_version():
    def version(file):
        return next(line for line in file.read_text().splitlines() if line.startswith("version = "))

    assert version(ROOT / "pyproject.toml") == version(ROOT / "extensions/pyproject.toml")


def test_operators_alone_make_one_wheel_for_every_python(operators):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert operators.name == f"mine-1.0-py3-none-{platform}.whl"
    names = zipfile.ZipFile(operators).namelist()
    assert "mine/operators.so" in names and not [n for n in names if "cpython" in n]
    text = zipfile.ZipFile(operators).read("mine-1.0.dist-info/WHEEL").decode()
    assert f"Tag: py3-none-{platform}" in text and "Root-Is-Purelib: false" in text


def test_the_wheel_works_beside_lamella(operators, tmp_path):
    python = fresh_environment(tmp_path / "venv")
    run(*PIP, "--python", python, "install", "-q", "--no-deps", "--no-index", operators, cwd=tmp_path)
    assert run(python, "-c", USE, cwd=tmp_path).strip() == "[2, 4]"
    table = run(python, "-m", "lamella.cli", "ops", "show", "built::scaled", cwd=tmp_path)
    assert "mine.operators" in table  # the owner of the registrations


def other_pythons():
    """Returns interpreters of other versions on this machine: 3.10 or newer, from PATH and pyenv."""
    found = {}
    places = [*os.environ.get("PATH", "").split(os.pathsep), *map(str, Path.home().glob(".pyenv/versions/*/bin"))]
    for place in places:
        for minor in range(10, 16):
            python = Path(place) / f"python3.{minor}"
            if minor != sys.version_info.minor and python.exists() and ".pyenv/shims" not in str(python):
                found.setdefault(minor, python)
    return found


def test_another_python_installs_the_wheel_and_opens_its_library(operators, tmp_path):
    """That Python has no Lamella, so the test only opens the library, which requires every symbol."""
    if not other_pythons():
        pytest.skip("no second Python (3.10 to 3.15) is installed in PATH or by pyenv")
    for minor, python in other_pythons().items():
        folder = tmp_path / str(minor)
        pip = (*PIP, "install", "-q", "--no-deps", "--no-index", "--target", folder, "--python-version", f"3.{minor}")
        run(*pip, "--only-binary", ":all:", operators, cwd=tmp_path)
        program = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW).lamella_plugin_init"
        run(python, "-c", program, folder / "mine/operators.so", cwd=tmp_path)


@pytest.mark.long
def test_an_extension_module_has_the_names_of_its_python(builder, tmp_path):
    folder = package(tmp_path / "mine-1.0", name="module", source=MODULE, init="")
    wheel = build(builder, folder)
    assert f"cp3{sys.version_info.minor}-cp3{sys.version_info.minor}" in wheel.name
    assert f"mine/module{sysconfig.get_config_var('EXT_SUFFIX')}" in zipfile.ZipFile(wheel).namelist()
    run(*PIP, "install", "-q", "--no-deps", "--no-index", "--target", tmp_path / "site", wheel, cwd=tmp_path)
    program = "import sys; sys.path.insert(0, 'site'); from mine import module; print(module.seven(), module.__name__)"
    assert run(sys.executable, "-c", program, cwd=tmp_path).strip() == "7 mine.module"


@pytest.mark.long
def test_the_framework_gives_the_same_helper(tmp_path):
    """lamella.utils.cpp_extension is the same helper; a second build compiles only files that are out of date."""
    folder = package(tmp_path / "mine-1.0", helper="lamella.utils.cpp_extension")
    command = (sys.executable, "setup.py", "-q", "build_ext", "--inplace")
    log = folder / "compiled"
    compiler = folder / "counting"
    compiler.write_text(f'#!/bin/sh\ncase " $* " in *" -c "*) echo once >> {log};; esac\nexec g++ "$@"\n')
    compiler.chmod(0o755)
    env = {"CXX": str(compiler), "CCACHE_DISABLE": "1"}
    run(*command, cwd=folder, **env)
    assert (folder / "mine/operators.so").exists()
    run(*command, cwd=folder, **env)
    assert len(log.read_text().split()) == 1
    (folder / "operators.cpp").write_text(library_operator(2))
    run(*command, cwd=folder, **env)
    assert len(log.read_text().split()) == 2
    program = f"import lamella; lamella._C._load_plugin({str(folder / 'mine/operators.so')!r}); " + USE
    assert run(sys.executable, "-c", program, cwd=tmp_path).strip() == "[3, 6]"


def test_a_failed_build_ends_with_the_first_error(tmp_path):
    source = "int broken() { return gone; }\n"
    folder = package(tmp_path / "mine-1.0", helper="lamella.utils.cpp_extension", source=source)
    command = (sys.executable, "setup.py", "-q", "build_ext", "--inplace")
    done = subprocess.run(command, cwd=folder, env=clean_environment(), capture_output=True, text=True)
    assert done.returncode == 1
    assert "error: operators.cpp does not compile: " in done.stderr and "gone" in done.stderr.split("command:")[0]
    assert "Traceback" not in done.stderr


def test_ninja_can_be_demanded(tmp_path):
    folder = package(tmp_path / "mine-1.0", helper="lamella.utils.cpp_extension")
    text = (folder / "setup.py").read_text()
    patch = "import sys, lamella.extensions.steps as s\n"
    patch += "s.shutil.which = lambda *a, **k: None\nsys.modules['ninja'] = None\n"
    demanded = text.replace('"build_ext": BuildExtension', '"build_ext": BuildExtension.with_options(use_ninja=True)')
    (folder / "setup.py").write_text(patch + demanded)
    command = (sys.executable, "setup.py", "-q", "build_ext", "--inplace")
    done = subprocess.run(command, cwd=folder, env=clean_environment(), capture_output=True, text=True)
    assert "MissingTool: use_ninja=True needs ninja, which is not installed: pip install ninja" in done.stderr


CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES CXX)
find_package(Lamella REQUIRED)
lamella_extension(mine mine.cpp)
lamella_extension(module PYTHON module.cpp)
"""


@pytest.mark.long
def test_the_cmake_package(builder, tmp_path):
    """CMake finds the package by the folder that the command line prints, with the headers or the framework."""
    (tmp_path / "mine.cpp").write_text(library_operator(3))
    (tmp_path / "module.cpp").write_text(MODULE)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    for number, tool in enumerate(
        ((builder, "-m", "lamella_headers"), (sys.executable, "-m", "lamella.cli", "config"))
    ):
        found = run(*tool, "--cmake", cwd=tmp_path).strip()
        pybind = run(sys.executable, "-m", "pybind11", "--cmakedir", cwd=tmp_path).strip()
        options = (f"-DLamella_DIR={found}", f"-Dpybind11_DIR={pybind}", f"-DPython_EXECUTABLE={sys.executable}")
        made = tmp_path / f"build{number}"
        run("cmake", "-S", tmp_path, "-B", made, *options, "-G", "Ninja", cwd=tmp_path)
        if number == 0:
            run("cmake", "--build", made, cwd=tmp_path)
    library = tmp_path / "build0/libmine.so"
    program = f"import lamella; lamella._C._load_plugin({str(library)!r}); " + USE
    assert run(sys.executable, "-c", program, cwd=tmp_path).strip() == "[4, 8]"
    program = "import sys; sys.path.insert(0, 'build0'); import module; print(module.seven())"
    assert run(sys.executable, "-c", program, cwd=tmp_path).strip() == "7"


FIND = """
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES NONE)
"""


def asks_for(version, cmake, folder):
    """Configures a project that requires a version of the ABI; it prints the version that it finds."""
    text = FIND + f'find_package(Lamella {version} REQUIRED)\nmessage(STATUS "found ${{Lamella_VERSION}}")\n'
    (folder / "CMakeLists.txt").write_text(text)
    command = ("cmake", "-S", folder, "-B", folder / "build", f"-DLamella_DIR={cmake}")
    return subprocess.run(command, capture_output=True, text=True, env=clean_environment())


@pytest.fixture(scope="module")
def cmake_folder(tmp_path_factory):
    return run(sys.executable, "-m", "lamella.cli", "config", "--cmake", cwd=tmp_path_factory.mktemp("config")).strip()


@pytest.mark.parametrize("version", ["", "1", "1.0", f"{ABI} EXACT"])
def test_cmake_finds_a_version_of_the_abi(version, cmake_folder, tmp_path):
    done = asks_for(version, cmake_folder, tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"found {ABI}" in done.stdout


@pytest.mark.parametrize("version", ["99.0", "1.99", "0.9", "0.9 EXACT", "2"])
def test_cmake_refuses_another_version_of_the_abi(version, cmake_folder, tmp_path):
    done = asks_for(version, cmake_folder, tmp_path)
    assert done.returncode and f'requested version "{version.split()[0]}"' in " ".join(done.stderr.split())
    assert f"version: {ABI}" in done.stderr


def test_cmake_says_that_headers_declare_no_version(cmake_folder, tmp_path):
    shutil.copytree(cmake_folder, tmp_path / "cmake")
    (tmp_path / "include/lamella").mkdir(parents=True)
    (tmp_path / "include/lamella/version.h").write_text("#define LAMELLA_ABI_MAJOR 1\n")
    done = asks_for("1.0", tmp_path / "cmake", tmp_path)
    assert done.returncode and "version.h does not define LAMELLA_ABI_MINOR" in " ".join(done.stderr.split())


@pytest.mark.parametrize("build_type, optimised", [("", True), ("Debug", False), ("Release", True)])
def test_cmake_optimises_where_no_build_type_is_set(build_type, optimised, cmake_folder, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.partition("lamella_extension(module")[0])
    (tmp_path / "mine.cpp").write_text(OPTIMISED if optimised else OPTIMISED.replace("ifndef", "ifdef"))
    options = (f"-DLamella_DIR={cmake_folder}", f"-DCMAKE_BUILD_TYPE={build_type}")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", *options, cwd=tmp_path)
    run("cmake", "--build", tmp_path / "build", cwd=tmp_path)


def test_the_flags_build_by_hand(builder, tmp_path):
    (tmp_path / "mine.cpp").write_text(OPTIMISED + library_operator(4))
    command = "g++ $({0} --cflags) mine.cpp $({0} --ldflags) -o mine.so".format(f"{builder} -m lamella_headers")
    run("sh", "-c", command, cwd=tmp_path)
    program = f"import lamella; lamella._C._load_plugin({str(tmp_path / 'mine.so')!r}); " + USE
    assert run(sys.executable, "-c", program, cwd=tmp_path).strip() == "[5, 10]"
    lines = run(sys.executable, "-m", "lamella.cli", "config", cwd=tmp_path).splitlines()
    assert [line.split()[0] for line in lines] == ["includes", "cflags", "ldflags", "cmake"]
    embed = run(sys.executable, "-m", "lamella.cli", "config", "--embed", "--ldflags", cwd=tmp_path)
    assert "-llamella" in embed
    done = subprocess.run([builder, "-m", "lamella_headers", "--embed", "--ldflags"], capture_output=True, text=True)
    assert done.returncode == 1 and "a program needs the package lamella itself" in done.stderr


def test_the_helper_imports_nothing_of_the_framework(builder, tmp_path):
    program = """
    import importlib, pkgutil, sys
    import lamella_headers
    for module in pkgutil.iter_modules(lamella_headers.__path__):
        importlib.import_module(f"lamella_headers.{module.name}")
    lamella_headers.CppExtension
    print([m for m in sys.modules if m.partition(".")[0] in ("lamella", "numpy")])
    """
    assert run(builder, "-c", textwrap.dedent(program), cwd=tmp_path).strip() == "[]"
