"""Follows docs/embed.md: builds and runs its program by its commands, and by its CMake file."""

import re
import shlex
import shutil
import subprocess
import sys

import pytest
from children import clean_environment, run
from native import installed, output
from pages import ROOT, blocks

PAGE = "docs/embed.md"


@pytest.fixture
def folder(tmp_path):
    [source] = blocks(PAGE, "cpp")
    (tmp_path / "squares.cpp").write_text(source)
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "lamella").write_text(f'#!/bin/sh\nexec {sys.executable} -m lamella "$@"\n')
    (commands / "lamella").chmod(0o755)
    return tmp_path


@pytest.mark.needs("autograd")
@pytest.mark.long
def test_the_commands_print_what_the_page_says(folder):
    [commands], [said] = blocks(PAGE, "sh"), blocks(PAGE, "text")
    path = f"{folder / 'bin'}:{clean_environment()['PATH']}"
    assert run("sh", "-ec", commands, cwd=folder, PATH=path) == said


@pytest.mark.sweep
@pytest.mark.needs("autograd")
def test_with_cmake(folder):
    [text] = blocks(PAGE, "cmake")
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(squares LANGUAGES CXX)\n{text}"
    )
    run("cmake", "-S", ".", "-B", "build", f"-DLamella_DIR={installed() / 'cmake'}", cwd=folder)
    run("cmake", "--build", "build", cwd=folder)
    assert output(folder / "build/squares") == blocks(PAGE, "text")[0]


def test_the_flags_are_flags_alone():
    """Every word is a flag, in one line, so that a shell can put it into a command."""
    command = [sys.executable, "-m", "lamella", "config", "--embed"]
    whole, compiling, linking = (
        subprocess.run([*command, *more], capture_output=True, text=True, check=True).stdout
        for more in ([], ["--cflags"], ["--ldflags"])
    )
    assert whole.count("\n") == 1 and shlex.split(whole) == shlex.split(compiling) + shlex.split(linking)
    assert all(word.startswith("-") for word in shlex.split(whole)) and "-llamella" in linking


PROGRAM = """
#include <lamella/program.h>
#include <stdio.h>
int main(void) {
  const lamella_api* api = lamella_get_api(LAMELLA_TARGET_VERSION);
  int32_t cpu, times = 2;
  while (times--)
    if (lamella_load_default()) return printf("%s\\n", api->error_message()), 0;
  printf("%d %d\\n", (int)api->find_backend("cpu", &cpu), api->find_operator("autograd::backward", "") != 0);
  return 0;
}
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.c").write_text(PROGRAM)
    runs = [f"-Wl,-rpath,{folder}" for folder in ("$ORIGIN/moved", installed())]
    linked = [str(installed() / "liblamella.so"), *runs]
    run("gcc", "-std=c99", f"-I{installed() / 'include'}", "program.c", *linked, "-o", "program", cwd=tmp_path)
    return tmp_path / "program"


@pytest.mark.needs("autograd")
def test_a_second_call_does_nothing(program):
    assert output(program).split()[0] == "0"


def test_a_library_without_its_folder_is_an_error_that_names_it(program, tmp_path):
    (tmp_path / "moved").mkdir()
    shutil.copy(installed() / "liblamella.so", tmp_path / "moved")
    said = output(program)
    assert re.search(rf"lamella_load_default: there is no backend of the host in {tmp_path}/moved/backends", said), said


def test_a_backend_that_is_not_the_hosts_is_not_loaded(program, tmp_path):
    """The folder beside the library decides: of two backends, the one whose manifest says that it is the host's."""
    moved = tmp_path / "moved"
    shutil.copytree(installed() / "backends" / "cpu", moved / "backends" / "cpu", symlinks=True)
    shutil.copy(installed() / "liblamella.so", moved)
    (moved / "backends/broken").mkdir()
    (moved / "backends/broken/liblamella_broken.so").write_text("no library")
    (moved / "backends/broken/lamella.json").write_text("{}")
    assert output(program).split()[0] == "0"
    (moved / "backends/broken/lamella.json").write_text('{"host" : true}')
    assert "liblamella_broken.so" in output(program)


def test_the_page_names_the_functions_of_the_header():
    header = (ROOT / "extensions/include/lamella/program.h").read_text()
    named = set(re.findall(r"\| `(lamella_\w+)\(", (ROOT / PAGE).read_text()))
    assert named == set(re.findall(r"(lamella_\w+)\(", header.partition('extern "C"')[2])) - {"lamella_abi_version"}
