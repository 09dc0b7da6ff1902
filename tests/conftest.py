"""Settings of all tests: hypothesis without deadlines, process-wide settings restored after each test, a handler for
Ctrl-C, only Lamella's own plugins, and no tests of a plugin that ``LAMELLA_PLUGINS`` switches off. Fixtures: a fresh
environment with the example packages, installed with pip."""

import datetime
import functools
import os
import signal
from pathlib import Path

import pytest
from children import OWN_PLUGINS, Guest, run
from environments import PIP, build_wheel, fresh_environment
from hypothesis import HealthCheck, settings
from shares import DAY, LONG_PARTS, in_turn, share

settings.register_profile(
    "lamella",
    deadline=None,
    derandomize=True,
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("lamella")

# Programs that tests compile run only for a moment. CMake appends its own flags to these, and would optimize.
os.environ.setdefault("CXXFLAGS", "-O0")
os.environ.setdefault("SKBUILD_CMAKE_DEFINE", "CMAKE_CXX_FLAGS_RELEASE=-DNDEBUG")
os.environ.setdefault("LAMELLA_PLUGINS", OWN_PLUGINS)  # other plugins may be installed; a child process may set its own

PLUGINS = Path(__file__).resolve().parent / "plugins"


def pytest_configure(config):
    config.addinivalue_line("markers", "needs(plugin): the test is about that plugin too")
    config.addinivalue_line("markers", "sweep: with LAMELLA_SWEEP=turn a tenth of the test's parameters, by the day")
    config.addinivalue_line("markers", "long: with LAMELLA_SWEEP=turn one of four such tests runs, by the day")
    if in_turn():
        os.environ.setdefault(DAY, str(datetime.date.today().toordinal()))  # inherited by all processes of the run
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell ignores SIGINT for background processes
        signal.signal(signal.SIGINT, signal.default_int_handler)


@functools.cache
def denied(plugin):
    """Returns whether the plugin is switched off and no other plugin contributes the names of its manifest."""
    import lamella

    off = [p for p in lamella.plugins.status() if p.name == plugin and p.state == "denied"]
    return any(not hasattr(lamella, name) for p in off for name in p.manifest["contributions"]["lamella"])


def pytest_ignore_collect(collection_path):
    """Ignores the folder tests/plugins/NAME if the plugin NAME is switched off."""
    if PLUGINS in collection_path.parents and denied(collection_path.relative_to(PLUGINS).parts[0]):
        return True


def pytest_collection_modifyitems(config, items):
    sweeps = {}
    long = [item for item in items if item.get_closest_marker("long")]
    for item in items:
        if item.get_closest_marker("sweep"):
            sweeps.setdefault(item.nodeid.partition("[")[0], []).append(item)
    without = {i for i in items if any(denied(m.args[0]) for m in i.iter_markers("needs"))}
    if len(long) < len(items):  # a run of a file that has only long tests runs them
        without |= set(long).difference(share(long, parts=LONG_PARTS))
    without |= {i for sweep in sweeps.values() for i in set(sweep).difference(share(sweep))}
    config.hook.pytest_deselected(items=[i for i in items if i in without])
    items[:] = [i for i in items if i not in without]


@pytest.fixture(autouse=True)
def settings_put_back():
    """Restores default dtype, default device, number of threads and seed after each test."""
    import lamella

    dtype, threads, seed = lamella.get_default_dtype(), lamella.get_num_threads(), lamella.initial_seed()
    yield
    lamella.set_default_dtype(dtype)
    lamella.set_default_device(None)
    lamella.set_num_threads(threads)
    lamella.manual_seed(seed)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """Builds the wheels of the example packages once for all processes of the run; returns their folder."""
    from compiled import locked, shared_folder  # imports lamella, which reads the variables above

    folder = shared_folder(tmp_path_factory) / "wheels"
    with locked(folder.with_suffix(".lock")):
        if not folder.exists():
            unfinished = folder.with_suffix(".part")
            unfinished.mkdir(exist_ok=True)  # remains of a process that failed
            for package in ("layer_plugin", "backend_plugin", "numpy_backend", "packed_plugin", "nf4", "fp8_blocks"):
                build_wheel(package, unfinished)
            unfinished.rename(folder)
    return folder


@pytest.fixture(scope="session")
def guest(tmp_path_factory, wheels):
    """Makes an environment with the example packages installed."""
    root = tmp_path_factory.mktemp("guest")
    python = fresh_environment(root / "venv")
    names = ("lamella-flops", "lamella-bank", "lamella-numpy", "lamella-packed")
    install = ("install", "-q", "--no-deps", "--no-index", "--force-reinstall", "--find-links", wheels, *names)
    run(*PIP, "--python", python, *install, cwd=root)
    return Guest(python, root)
