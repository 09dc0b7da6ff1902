"""Fixtures for tests of extensions: a cache and a namespace for each test, and objects that are closed at its end."""

import itertools
import os
import shutil

import pytest
from building import Bench
from compiled import locked, shared_folder
from lamella.extensions import Build, Source


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """With LAMELLA_TEST_COMPLETE, as in CI, a test that lacks only a Debian package fails; it is not skipped."""
    report = (yield).get_result()
    if report.skipped and os.environ.get("LAMELLA_TEST_COMPLETE") and "apt-get install" in call.excinfo.exconly():
        report.outcome, report.longrepr = "failed", f"{item.nodeid} is not run: {call.excinfo.value}"


@pytest.fixture
def bench(tmp_path):
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed: apt-get install g++")
    return Bench(tmp_path)


PRECOMPILE = """
from lamella.extensions import Build, Source
open("any.cpp", "w").write("#include <lamella/pybind.h>")
Build("any", [Source.file("any.cpp")], python=True).units[0].precompiled.make()
"""


@pytest.fixture
def module_bench(bench, tmp_path_factory):
    """Makes a bench whose cache has pybind11 precompiled, once a run: a module then compiles in half the time."""
    made = shared_folder(tmp_path_factory) / "pybind"
    with locked(made.with_suffix(".lock")):
        if not made.exists():
            bench.run(PRECOMPILE, LAMELLA_EXTENSIONS_DIR=str(made))
    shutil.copytree(made, bench.cache, copy_function=os.link)
    return bench


@pytest.fixture(scope="session")
def torch_precompiled(tmp_path_factory):
    """Precompiles torch's header in the user's cache: a source with compat="torch" then compiles in half the time."""
    folder = shared_folder(tmp_path_factory)
    with locked(folder / "torch.lock"):
        source = folder / "torch_extension.cpp"
        source.write_text("#include <torch/extension.h>\n")
        Build("any", [Source.file(source)], python=True, compat="torch").units[0].precompiled.make()


namespaces = itertools.count()


@pytest.fixture
def ns():
    """Returns a namespace that no other test has."""
    return f"ext{next(namespaces)}"


@pytest.fixture
def opened():
    """Returns a function that keeps an object and returns it; the fixture closes all of them after the test."""
    made = []
    yield lambda o: made.append(o) or o
    for o in reversed(made):
        o.close()
