"""The loader checks a library's stamp before any of its code runs, and then the result of its init function."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import lamella
import pytest
from lamella import _C
from native import include, installed, library, output

# The note's bytes for version 1.0: sizes of name and content, type, name, version. Loaders read only this form.
STAMP = bytes.fromhex("08000000 08000000 01000000 4c616d656c6c6100 01000000 00000000")

# A constructor that creates the file TRACE: a library that is refused before dlopen leaves no such file.
RUNS = """
#include <stdio.h>
__attribute__((constructor)) static void runs(void) { fclose(fopen(TRACE, "w")); }
"""
SMALL = """
#include <lamella/extension.h>
static lamella_status twice(lamella_frame*, const lamella_value*, lamella_value*) { return LAMELLA_OK; }
LAMELLA_LIBRARY(stamped, m) { m.define("twice(Tensor self) -> Tensor").impl("twice", "cpu", twice); }
"""
INIT = """
#define DEF(ns, owner) (lamella_library_def){sizeof(lamella_library_def), LAMELLA_TARGET_VERSION, ns, owner, 0, 0}
#define OPEN(ns, owner) api->library_open(&DEF(ns, owner), &l)
#include <lamella/c_api.h>
lamella_status lamella_plugin_init(const lamella_api* api) {
  (void)api;
  BODY
}
"""


@pytest.fixture
def build(tmp_path):
    """Returns ``build(source)``, which returns a library and a function that says whether its code has run."""

    def make(source, *flags, **how):
        trace = tmp_path / "trace"
        path = library(source + RUNS, tmp_path / "lib.so", f'-DTRACE="{trace}"', *flags, **how)
        return path, trace.exists

    return make


def refused(path, *words):
    with pytest.raises(RuntimeError) as error:
        _C._load_plugin(str(path))
    for word in words:
        assert word in str(error.value), str(error.value)
    return str(error.value)


def init(body):
    return INIT.replace("BODY", body)


def section(path, name, folder):
    output("objcopy", "-O", "binary", f"--only-section={name}", path, folder / "section")
    return (folder / "section").read_bytes()


def names_of(namespace):
    return [name for name, _ in _C._operator_names() if name.startswith(namespace + "::")]


def test_an_extension_with_its_stamp_is_loaded(build):
    new, ran = build(SMALL, "-std=c++17", compiler="g++")
    assert _C._plugin_stamp(str(new)) == _C._abi_version
    _C._load_plugin(str(new))
    assert ran() and names_of("stamped") == ["stamped::twice"]
    _C._load_plugin(str(new))  # a second load does nothing


def aged(tmp_path, major, minor):
    """Returns a copy of the headers that states another version."""
    shutil.copytree(include(), tmp_path / "other")
    version = tmp_path / "other" / "lamella" / "version.h"
    text = re.sub(r"_MAJOR \d+", f"_MAJOR {major}", version.read_text())
    version.write_text(re.sub(r"_MINOR \d+", f"_MINOR {minor}", text))
    return tmp_path / "other"


@pytest.mark.parametrize(
    "major, minor, words",
    [
        (2, 0, ("built for C ABI 2.0", "has 1.0", "Install a newer lamella")),
        (1, 7, ("built for C ABI 1.7", "Install a newer lamella", "-DLAMELLA_TARGET_VERSION=0x10000")),
        (0, 9, ("built for C ABI 0.9", "Build it again")),
    ],
)
def test_another_version_is_refused_before_it_is_opened(major, minor, words, build, tmp_path):
    path, ran = build(init("return 0;"), headers=aged(tmp_path, major, minor))
    assert _C._plugin_stamp(str(path)) == (major, minor)
    refused(path, *words, lamella.__version__)
    assert not ran()


def test_the_stamp_says_the_target_version(build, tmp_path):
    target = "-DLAMELLA_TARGET_VERSION=LAMELLA_MAKE_VERSION(1,0)"
    path, ran = build(init("return 0;"), target, headers=aged(tmp_path, 1, 3))
    assert _C._plugin_stamp(str(path)) == (1, 0)
    _C._load_plugin(str(path))
    assert ran()


def test_files_that_are_no_library(build, tmp_path):
    text = tmp_path / "text.so"
    text.write_text("#!/bin/sh\n")
    refused(text, "no ELF file")
    refused(tmp_path / "missing.so", "No such file", "missing.so")
    refused(tmp_path, "no ELF file")
    plain = library("int nothing;", tmp_path / "plain.so", "-I.", headers=tmp_path)
    refused(plain, "no stamp", "without Lamella's headers")


def test_objects_of_two_versions_in_one_library(tmp_path):
    old = library(SMALL, tmp_path / "old.o", "-c", "-std=c++17", headers=aged(tmp_path, 0, 9), compiler="g++")
    new = library(init("return 0;"), tmp_path / "new.o", "-c")
    mixed = library("", tmp_path / "mixed.so", old, new)
    refused(mixed, "objects for C ABI 0.9 and for 1.0", "headers of one version")


def test_a_tool_may_have_removed_the_stamp(build):
    path, ran = build(init("return 0;"))
    output("strip", "-R", ".note*", path)
    refused(path, "no stamp", "a tool has removed the note")
    assert not ran()


def test_a_pipe_is_no_library(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "no ELF file")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_stamp_is_one_note_whatever_the_sanitizer(compiler, tmp_path):
    """The section holds exactly these bytes, which the readers of all versions look for."""
    made = library(init("return 0;"), tmp_path / "made.o", "-c", "-fsanitize=address", compiler=compiler)
    path = library("", tmp_path / "made.so", made, compiler=compiler)
    assert _C._plugin_stamp(str(path)) == _C._abi_version
    assert section(path, ".note.lamella", tmp_path) == STAMP


def test_the_stamp_among_other_notes(build):
    """-fcf-protection adds a note with another alignment."""
    path, _ = build(init("return 0;"), "-fcf-protection", "-Wl,-z,ibt", "-Wl,--build-id")
    assert _C._plugin_stamp(str(path)) == _C._abi_version


def test_a_library_without_an_init_function(build):
    path, _ = build("#include <lamella/c_api.h>\n")
    refused(path, "no lamella_plugin_init", "LAMELLA_LIBRARY")


def test_the_init_function_of_a_library_that_it_needs_is_not_its_own(tmp_path):
    """dlsym would find the other library's function. An init function runs once, for its own file."""
    body = 'lamella_library* l; lamella_operator_def d = {sizeof d}; d.schema = "one() -> Tensor"; '
    body += 'return OPEN("needed", "me") || api->define(l, &d, NULL);'
    needed = library(init(body), tmp_path / "libneeded.so", "-Wl,-soname,libneeded.so")
    needs = ("-Wl,--no-as-needed", needed, f"-Wl,-rpath,{tmp_path}")
    without = library("#include <lamella/c_api.h>\n", tmp_path / "without.so", *needs)
    for _ in range(2):
        refused(without, "without.so has no lamella_plugin_init of its own", "depends on", "libneeded.so")
        assert names_of("needed") == []
    _C._load_plugin(str(needed))
    assert names_of("needed") == ["needed::one"]
    _C._load_plugin(str(library(init("return 0;"), tmp_path / "with.so", *needs)))
    refused(without, "of its own")
    assert names_of("needed") == ["needed::one"]


NEEDS_PYTHON = """
  extern int PyGILState_Ensure(void);
  extern void PyGILState_Release(int);
  extern int usleep(unsigned);
  fclose(fopen(INSIDE, "w"));
  usleep(500000);  // until the interpreter's thread waits for its turn to load
  PyGILState_Release(PyGILState_Ensure());
  return 0;
"""
TWO_AT_ONCE = """
import ctypes, os, sys, threading, time
from lamella import _C
liblamella, first, second, inside = sys.argv[1:]
load = ctypes.CDLL(liblamella).lamella_load_plugin
thread = threading.Thread(target=load, args=[first.encode()])
thread.start()
while not os.path.exists(inside):
    time.sleep(0.01)
_C._load_plugin(second)
thread.join()
print("both")
"""


def test_who_waits_for_the_loader_does_not_hold_the_interpreter(tmp_path):
    inside = tmp_path / "inside"
    text = "#include <stdio.h>\n" + init(NEEDS_PYTHON)
    first = library(text, tmp_path / "first.so", f'-DINSIDE="{inside}"')
    second = library(init("return 0;"), tmp_path / "second.so")
    command = (sys.executable, "-c", TWO_AT_ONCE, installed() / "liblamella.so", first, second, inside)
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "both\n"), done.stderr


def test_a_missing_symbol_is_named(build):
    path, ran = build(init("extern int nonesuch(void); return nonesuch();"))
    refused(path, "undefined symbol: nonesuch")
    assert not ran()


def test_an_init_function_that_returns_a_status(build):
    path, _ = build(init('return api->raise(LAMELLA_RUNTIME_ERROR, "not on a Tuesday");'))
    refused(path, "not on a Tuesday", "lamella_plugin_init of " + str(path))


def test_an_init_function_that_returns_a_status_and_says_nothing(build):
    refused(build(init("return 7;"))[0], "returned 7", "does not say why")


def test_an_init_function_that_throws(build):
    source = init('throw std::runtime_error("thrown by init");')
    source = source.replace("lamella_status lamella_plugin_init", 'extern "C" lamella_status lamella_plugin_init')
    refused(build("#include <stdexcept>\n" + source, compiler="g++")[0], "thrown by init")


HALF_WAY = """
  lamella_library* l;
  lamella_operator_def d = {sizeof(lamella_operator_def)};
  lamella_layer layer = {sizeof(lamella_layer)};
  layer.name = "half_way";
  layer.flags = LAMELLA_LAYER_FALLTHROUGH;
  d.schema = "half(Tensor self) -> Tensor";
  if (OPEN("half_way", "half way") || api->define(l, &d, NULL)) return 99;
  if (api->layer(l, &layer, NULL, NULL) || api->publish_interface(l, "half.way", 1, l, NULL)) return 98;
  d.schema = "aten::add.Tensor(Tensor self, Tensor other) -> Tensor";
  return api->define(l, &d, NULL);
"""


def test_an_init_function_that_fails_half_way_leaves_nothing(build):
    path, _ = build(init(HALF_WAY))
    for _ in range(2):  # the first try has left nothing
        refused(path, "add.Tensor is already defined by lamella; half way cannot", "lamella_plugin_init")
        assert names_of("half_way") == []


def test_one_file_by_several_paths_is_loaded_once(build, tmp_path, monkeypatch):
    body = 'lamella_library* l; lamella_operator_def d = {sizeof d}; d.schema = "once() -> Tensor"; '
    body += 'return OPEN("two_paths", "me") || api->define(l, &d, NULL);'
    path, _ = build(init(body))
    link = tmp_path / "link.so"
    link.symlink_to(path)
    monkeypatch.chdir(tmp_path)
    for name in (path, link, "./lib.so", "lib.so"):
        _C._load_plugin(str(name))
    assert names_of("two_paths") == ["two_paths::once"]


def test_eight_threads_load_one_file(build):
    body = 'lamella_library* l; lamella_operator_def d = {sizeof d}; d.schema = "only() -> Tensor"; '
    body += 'return OPEN("eight_threads", "me") || api->define(l, &d, NULL);'
    path, _ = build(init(body))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(_C._load_plugin, [str(path)] * 8))
    assert names_of("eight_threads") == ["eight_threads::only"]


def test_first_party_libraries_carry_the_stamp():
    for name in sorted(include().parent.rglob("liblamella_*.so")):
        assert _C._plugin_stamp(str(name)) == _C._abi_version


def test_the_stamp_outlives_strip(build):
    path, _ = build(init("return 0;"), "-s", "-ffunction-sections", "-Wl,--gc-sections")
    assert _C._plugin_stamp(str(path)) == _C._abi_version
    assert "Lamella" in output("readelf", "-nW", path)
