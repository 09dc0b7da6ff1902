"""The profiler's costs without observers, and with the plugin switched off."""

import subprocess
from pathlib import Path

import lamella
import pytest
from compiled import INCLUDE, shared_folder

HERE = Path(__file__).parent
PACKAGE = Path(lamella._C.__file__).parent


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Counts instructions of ten calls: no profiler, idle, observed, after that; recorded with 1 and 9 observers."""
    program = shared_folder(tmp_path_factory) / "counted"
    link = ("-L", PACKAGE, "-llamella", f"-Wl,-rpath,{PACKAGE}")
    command = ("g++", "-std=c++17", "-O1", "-I", INCLUDE, HERE / "counted.cpp", "-o", program, *link)
    subprocess.run([str(c) for c in command], check=True, timeout=300)
    libraries = [
        str(PACKAGE / path)
        for path in (
            "backends/cpu/liblamella_cpu.so",
            "plugins/profiler/liblamella_profiler.so",
            "plugins/autograd/liblamella_autograd.so",
        )
    ]
    done = subprocess.run([str(program), *libraries], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    if done.stdout == "forbidden\n":
        pytest.skip(
            "ptrace(2) may not single-step this user's processes: run as root, or set kernel.yama.ptrace_scope to 0"
        )
    return [int(n) for n in done.stdout.split()]


def test_idle_it_adds_no_instruction(counts):
    without, idle, observed, gone = counts[:4]
    assert without == idle == gone > 1000 and observed > idle + 1000


def test_a_recorded_call_is_numbered_once_for_all_observers(counts):
    one, nine = counts[4:]
    assert one > counts[0] and nine < one + 10 * 8 * 20  # for each of 8 more observers, in each of 10 calls


def test_import_brings_none_of_its_python(host):
    out = host.run("""
        import sys
        import lamella
        with lamella.no_grad():
            lamella.ones(1)
        print([m for m in sys.modules if m.startswith("lamella.plugins.profiler.")], "contextvars" in sys.modules)
    """)
    assert out.startswith("[] ")


def test_switched_off(host):
    host.run(
        """
        import lamella

        lamella.capture_state().run(lamella.ones, 1)
        import pickle
        assert pickle.loads(pickle.dumps(lamella.capture_state())).run(lamella.is_grad_enabled)
        for what in (lambda: lamella.profiler, lambda: __import__("lamella.profiler")):
            words = "plugin 'profiler' (lamella", "denied: LAMELLA_PLUGINS=-profiler"
            with fails((AttributeError, ImportError), *words):
                what()
        """,
        LAMELLA_PLUGINS="-profiler",
    )


def test_without_autograd(host):
    """Observers get calls, without autograd's numbers."""
    out = host.run(
        """
        import lamella
        from lamella import profiler

        heard = []
        every = profiler.RecordFunctionCallback(lambda r: heard.append((r.name, r.layer))).needs_ids()
        handle = profiler.add_global_callback(every.scopes(profiler.RecordScope))
        lamella.ones(1)
        profiler.remove_callback(handle)
        print(heard)
        """,
        LAMELLA_PLUGINS="-autograd",
    )
    assert out == "[('aten::ones', 'profiler'), ('aten::ones', 'profiler.kernels')]\n"
