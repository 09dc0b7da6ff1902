"""Programs in C and C++ without Python: they load the library, the CPU backend and an extension, and call operators."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from native import STRICT, TOP, compiled, compiles, include, installed, library, linked, output

EXAMPLE = TOP / "examples" / "c_program"
CPP_TESTS = TOP / "tests" / "cpp"


@pytest.fixture(scope="session")
def twice(tmp_path_factory):
    """Builds the example's extension as C99 with strict warnings."""
    source = (EXAMPLE / "twice.c").read_text()
    return library(source, tmp_path_factory.mktemp("twice") / "twice.so", "-std=c99", *STRICT)


def cpu():
    return installed() / "backends" / "cpu" / "liblamella_cpu.so"


@pytest.mark.parametrize("compiler, standard", [("gcc", "c99"), ("gcc", "c11"), ("clang", "c99")])
def test_a_c_program(compiler, standard, twice, tmp_path):
    program = linked(EXAMPLE / "program.c", tmp_path / "program", f"-std={standard}", *STRICT, compiler=compiler)
    lines = output(program, cpu(), twice).splitlines()
    assert lines[0].split() == ["0", "3", "6", "9", "12", "15"]
    assert "matmul" in lines[1] and "error 2" in lines[1]


def test_the_page_of_the_c_program_holds(tmp_path):
    """Runs the commands of its README as they are."""
    text = (EXAMPLE / "README.md").read_text()
    commands = text.split("```sh\n")[1].split("```")[0]
    for name in ("program.c", "twice.c"):
        (tmp_path / name).write_text((EXAMPLE / name).read_text())
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(["sh", "-ec", commands], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0 3 6 9 12 15")


def test_an_error_of_the_extension_reaches_the_program(twice, tmp_path):
    program = linked(EXAMPLE / "program.c", tmp_path / "program")
    done = subprocess.run([program, cpu(), tmp_path / "missing.so"], capture_output=True, text=True)
    assert done.returncode == 1 and "No such file" in done.stderr


def test_a_cpp_program_that_opens_the_library_at_run_time(twice, tmp_path):
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", include())
    source = TOP / "tests" / "extensions" / "program.cpp"
    compiled("g++", *flags, source, "-ldl", "-o", tmp_path / "program")
    lines = output(tmp_path / "program", installed() / "liblamella.so", cpu(), twice).split()
    assert lines == ["200000"] * 4


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["door", "dtypes", "entries", "kernels", "stamp", "tensors", "threads", "values"])
def test_the_table_as_a_stranger_meets_it(name, twice, tmp_path):
    """The C++ tests that the sanitizers run, against the installed library."""
    small = installed() / "plugins/profiler/liblamella_profiler.so"  # a small file: the test copies it for each defect
    arguments = {"threads": (cpu(), twice), "stamp": (small,)}.get(name, (cpu(),))
    program = linked(CPP_TESTS / f"{name}.cpp", tmp_path / name, "-std=c++20", "-O1", compiler="g++")
    assert output(program, *arguments).startswith("ok  ")


def test_every_entry_of_the_table_is_called_by_a_program():
    header = (TOP / "extensions" / "include" / "lamella" / "c_api.h").read_text()
    table = header[header.index("struct lamella_api {") : header.index("here ends version")]
    entries = re.findall(r"^  \S.*?\(\*(\w+)\)\(", table, re.MULTILINE)
    programs = "".join(f.read_text() for f in CPP_TESTS.glob("*.cpp"))
    assert len(entries) > 60 and not [e for e in entries if f"api->{e}(" not in programs]


def test_the_headers_are_plain_c(tmp_path):
    """Every public C header by itself, in C99 and in C11, with two compilers."""
    for name in ("version", "types", "c_api", "program", "autograd", "dlpack"):
        source = tmp_path / f"{name}.c"
        source.write_text(f"#include <lamella/{name}.h>\nint unused;\n")
        for compiler in ("gcc", "clang"):
            for standard in ("c99", "c11"):
                compiled(compiler, f"-std={standard}", *STRICT, "-I", include(), "-fsyntax-only", source)


@pytest.mark.parametrize("name", ["c_api", "program", "autograd"])
def test_no_public_struct_has_a_hole(name, tmp_path):
    """Padding cannot become a field of a later version, since no caller sets it to zero."""
    source = tmp_path / "holes.c"
    source.write_text(f"#include <lamella/{name}.h>\nint unused;\n")
    flags = ("-std=c11", "-Wpadded", "-Werror", "-I", include(), "-fsyntax-only", source)
    compiled("gcc", *flags)
    source.write_text(source.read_text() + "struct planted { char letter; void* pointer; } planted;\n")
    planted = compiles("gcc", *flags)
    assert planted.returncode and "padding struct to align" in planted.stderr
