"""Builds in unusual circumstances: strange folder names, threads, forks, signals, tools that fail."""

import os
import signal
import subprocess
import sys
import time

import pytest
from building import LOAD, end_group, library_operator, operator, wait_for
from lamella.extensions import Cache
from lamella.extensions.errors import first_error

MODULE = """
#include <lamella/pybind.h>
struct A {};
PYBIND11_MODULE(LAMELLA_EXTENSION_NAME, m) {
  pybind11::module_::import("xmlrpc.client");
  pybind11::class_<A>(m, "A");
  m.attr("name") = pybind11::str(NAME(TORCH_EXTENSION_NAME));
}
""".replace("NAME(", "TEXT(").replace("struct A", "#define TEXT(x) TEXT_(x)\n#define TEXT_(x) #x\nstruct A")


@pytest.mark.parametrize("name", ["a b", "a$b", "a|b", "a'b", 'a"b', "ä", "a\nb", "a:b", "a#b", "$HOME"])
def test_folders_with_odd_names(name, bench):
    """ninja's file escapes names for ninja's own language and for the shell that ninja calls."""
    folder = bench.folder / name
    folder.mkdir()
    (folder / "built.cpp").write_text(operator("FACTOR"))
    program = """
    import sys, lamella
    from lamella.utils.cpp_extension import load
    flags = ["-DFACTOR=1", sys.argv[2]]
    mine = load("built", [sys.argv[1] + "/built.cpp"], flags, build_directory=sys.argv[1] + "/cache")
    print(mine.scaled(lamella.tensor([1, 2])).tolist())
    """
    if name == "a:b":  # a list of folders, with colons between them, cannot contain this name
        (folder / "cache").mkdir(mode=0o700)
    assert bench.run(program, str(folder), "-DTEXT=a$b\nc|d").strip() == "[2, 4]"
    assert sorted(p.name for p in bench.folder.iterdir()) == [name] and not os.listdir(folder / "cache" / "builds")


def test_operators_under_the_name_of_the_extension(bench):
    program = """
    import sys, lamella
    from lamella.utils.cpp_extension import load_inline
    for known in ("LAMELLA", "TORCH"):
        text = sys.argv[1].replace("LIBRARY(built", f"LIBRARY({known}_EXTENSION_NAME")
        print(load_inline(known.lower(), text, no_implicit_headers=True) is getattr(lamella.ops, known.lower()))
    """
    assert bench.run(program, library_operator(1)).split() == ["True", "True"]


def test_a_source_in_c(bench):
    (bench.folder / "number.c").write_text("int number(void) { int new = 1; return new; }\n")
    (bench.folder / "built.cpp").write_text('extern "C" int number();\n' + operator("number()"))
    program = """
    import lamella
    from lamella.utils.cpp_extension import load
    print(load("built", ["built.cpp", "number.c"], "-Wall -Werror").scaled(lamella.tensor([1, 2])).tolist())
    """
    assert bench.run(program).strip() == "[2, 4]"


@pytest.mark.long
def test_threads_that_load_one_module(module_bench):
    program = """
    import sys, threading
    from lamella.utils.cpp_extension import load_inline
    together, made = threading.Barrier(4), []
    def work():
        together.wait()
        made.append(load_inline("moduled", sys.argv[1], cuda_sources=None))
    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    print(len(made), len(set(map(id, made))), made[0].name)
    """
    assert module_bench.run(program, MODULE).split() == ["4", "1", "moduled"]


def test_documentation_in_any_script(module_bench):
    program = """
    from lamella.utils.cpp_extension import load_inline
    doc = 'says "é" and 😀'
    mine = load_inline("spoken", "int one() { return 1; }", functions={"one": doc}, cuda_sources="")
    assert mine.one() == 1 and doc in mine.one.__doc__
    """
    module_bench.run(program)


def test_a_lock_is_not_inherited(tmp_path):
    """A worker that is forked while the lock is held does not keep the lock."""
    cache = Cache(tmp_path)
    with cache.lock("key"):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    begun = time.monotonic()
    try:
        with cache.lock("key"):
            assert time.monotonic() - begun < 5
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    holder = "import os, sys, time\nfrom lamella.extensions import Cache\nwith Cache(sys.argv[1]).lock('key'):\n"
    holder += "    print(os.fork() or 'child', flush=True)\n    time.sleep(30)\n"
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout
        said = {process.stdout.readline().strip() for _ in range(2)}
        os.kill(process.pid, signal.SIGKILL)  # the forked worker still runs
        begun = time.monotonic()
        with cache.lock("key"):
            assert time.monotonic() - begun < 5 and "child" in "".join(said)
        os.killpg(process.pid, signal.SIGKILL)


def test_workplaces_of_many_builds(tmp_path):
    """Each build has its own folder, and the folders of killed builds are removed."""
    work = "import sys, time\nfrom lamella.extensions import Cache\ncache, end = Cache(sys.argv[1]), time.time() + 2\n"
    work += "cache.prepare()\nwhile time.time() < end:\n    with cache.workplace() as p:\n        assert p.is_dir()\n"
    words = [sys.executable, "-c", work, str(tmp_path)]
    processes = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [(p.communicate()[1], p.returncode) for p in processes] == [("", 0)] * 3
    dead = tmp_path / "builds" / "lamella-dead"
    dead.mkdir()
    dead.with_name("lamella-dead.lock").touch()
    part = tmp_path / "builds" / "lamella-x.part"
    part.touch()
    os.utime(part, (1, 1))
    with Cache(tmp_path).workplace():
        assert not dead.exists() and not part.exists()


def test_the_same_library_from_two_builds(bench):
    """The flags differ but the objects are equal, so the second build uses the library of the first."""
    program = LOAD.replace("True)", "True, extra_cflags=sys.argv[2])")
    barrier = bench.compiler("waiting", "sleep 0.5")
    processes = [bench.start(program, operator(1), flag, CXX=barrier) for flag in ("-DA", "-DB", "-DC")]
    assert [p.communicate(timeout=60)[0].strip() for p in processes] == ["[2, 4]"] * 3
    assert bench.is_tidy()


@pytest.mark.parametrize("ninja", [True, False])
def test_an_interrupt_ends_the_compilers(ninja, bench):
    started = bench.folder / "started"
    compiler = bench.compiler("slow", f"echo $$ > {started}; exec sleep 60")
    hidden = "" if ninja else "import lamella.extensions.build as b\nb.find_ninja = lambda *a: None\n"
    process = bench.start(hidden + LOAD, operator(1), CXX=compiler)
    try:
        wait_for(lambda: started.exists() and started.read_text().strip(), "the compiler")
        begun, pid = time.monotonic(), int(started.read_text())
        process.send_signal(signal.SIGINT)  # the signal goes to Python, not to the compiler
        assert "KeyboardInterrupt" in process.communicate(timeout=30)[1] and time.monotonic() - begun < 20
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the compiler's end")
        assert bench.is_tidy()
    finally:
        end_group(process)


@pytest.mark.parametrize("ninja", [True, False])
def test_an_interrupt_while_a_compiler_begins(ninja, bench):
    """The interrupt arrives inside Popen, before its caller has the process; the compiler is ended all the same."""
    hidden = "" if ninja else "import lamella.extensions.build as b\nb.find_ninja = lambda *a: None\n"
    program = """
import os, signal, subprocess
class Interrupted(subprocess.Popen):
    def __init__(self, words, **options):
        super().__init__(words, **options)
        if "-c" in words or "-j" in words:
            open("begun", "w").write(str(self.pid))
            os.kill(os.getpid(), signal.SIGINT)
import lamella.extensions.steps as steps
steps.subprocess.Popen = Interrupted
"""
    compiler = bench.compiler("slow", "exec sleep 60")
    process = bench.start(hidden + program + LOAD, operator(1), CXX=compiler)
    try:
        assert "KeyboardInterrupt" in process.communicate(timeout=30)[1]
        pid = int((bench.folder / "begun").read_text())
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the compiler's end")
        assert bench.is_tidy()
    finally:
        end_group(process)


def test_a_library_that_is_not_there(bench):
    program = LOAD.replace("True)", 'True, extra_ldflags="-lnosuch")')
    text = bench.fails(program, operator(1))
    assert "built does not link: " in text and "cannot find -lnosuch" in text.split("\n\n")[0]
    assert first_error("a.o: in f\ncollect2: error: ld returned 1 exit status") == "a.o: in f"


def test_a_compiler_cache_that_fails(bench):
    tools = bench.folder / "tools"
    tools.mkdir()
    (tools / "ccache").write_text("#!/bin/sh\necho 'ccache: error: Failed to create directory' >&2\nexit 1\n")
    (tools / "ccache").chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    assert bench.run(LOAD, operator(1), PATH=path, CCACHE_DISABLE="").strip() == "[2, 4]"


def test_the_current_folder_is_no_place_for_modules(bench):
    """The process that precompiles the header does not execute modules of the current folder."""
    (bench.folder / "tempfile.py").write_text("open('executed', 'w')\n")
    program = "import sys\nsys.path = [p for p in sys.path if p]\n" + LOAD
    assert bench.run(program, library_operator(1), MAX_JOBS="2").strip() == "[2, 4]"
    wait_for(lambda: bench.files("precompiled/*/entry.json"), "the precompiled header", 60)
    assert not (bench.folder / "executed").exists()


def test_a_cache_that_was_for_a_moment_only(bench):
    from lamella.extensions.precompiled import make

    make(str(bench.cache), "lamella/library.h", "identity", "g++", "--")
    assert not bench.cache.exists()
