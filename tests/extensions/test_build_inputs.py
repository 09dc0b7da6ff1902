"""The inputs of a build: the next process notices a change of any input, and a build changes no other files."""

import json
import os
import re
import shutil
import time

import pytest
from building import LOAD, library_operator, operator, wait_for
from children import run
from lamella.extensions import include_paths
from lamella.extensions.inputs import expanded, given

PROGRAM = """
import json, os, sys, lamella
from lamella.utils.cpp_extension import load
print(load("built", "built.cpp", **json.loads(sys.argv[1])).scaled(lamella.tensor([1, 2])).tolist())
"""
INCLUDES = '#include "config.h"\n' + operator("FACTOR")


def built(bench, **options):
    env = options.pop("env", {})
    return json.loads(bench.run(PROGRAM, json.dumps(options), **env))


def write(folder, name, text):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def archive(folder, factor):
    """Makes a static library that contains a number."""
    source = write(folder, "number.cpp", f"extern const int number; const int number = {factor};\n")
    run("g++", "-fPIC", "-c", str(source), "-o", "number.o", cwd=folder)
    (folder / "libnumber.a").unlink(missing_ok=True)
    run("ar", "rc", "libnumber.a", "number.o", cwd=folder)


@pytest.mark.parametrize("place", ["there", "beside", "environment"])
def test_a_header_that_is_found_earlier(place, bench):
    write(bench.folder, "late/config.h", "#define FACTOR 1\n")
    write(bench.folder, "built.cpp", INCLUDES)
    (bench.folder / "early").mkdir()
    options = {"extra_include_paths": ["early", "late"]}
    if place == "environment":
        options = {"env": {"CPATH": "early:late"}}
    assert built(bench, **options) == [2, 4] == built(bench, **options)
    write(bench.folder, "config.h" if place == "beside" else "early/config.h", "#define FACTOR 7\n")
    assert built(bench, **options) == [8, 16]


def test_a_header_beside_the_header_that_asks(bench):
    write(bench.folder, "sub/x.h", '#include "config.h"\n')
    write(bench.folder, "a/config.h", "#define FACTOR 1\n")
    write(bench.folder, "built.cpp", '#include "sub/x.h"\n' + operator("FACTOR"))
    options = {"extra_include_paths": ["a"]}
    assert built(bench, **options) == [2, 4]
    write(bench.folder, "sub/config.h", "#define FACTOR 7\n")
    assert built(bench, **options) == [8, 16]


def test_a_header_in_place_of_the_systems(bench):
    (bench.folder / "b").mkdir()
    write(bench.folder, "built.cpp", "#include <sys/eventfd.h>\n" + operator("EFD_SEMAPHORE"))
    options = {"extra_include_paths": ["b"]}
    assert built(bench, **options) == [2, 4]
    write(bench.folder, "b/sys/eventfd.h", "#define EFD_SEMAPHORE 7\n")
    assert built(bench, **options) == [8, 16]


@pytest.mark.parametrize("asks", ['"opt.h"', "<opt.h>"])
@pytest.mark.parametrize("where", ["source", "header"])
def test_a_header_that_is_asked_for(where, asks, bench):
    """The existence of a header changes the result, though its content is not read."""
    (bench.folder / "b").mkdir()
    text = f"#if __has_include({asks})\n#define FACTOR 7\n#else\n#define FACTOR 1\n#endif\n"
    if where == "header":
        write(bench.folder, "sub/config.h", text)
        text = '#include "sub/config.h"\n'
    write(bench.folder, "built.cpp", text + operator("FACTOR"))
    options = {"extra_include_paths": ["b"]}
    for _ in range(2):
        assert built(bench, **options) == [2, 4]
        there = write(bench.folder, "b/opt.h", "")
        assert built(bench, **options) == [8, 16]
        there.unlink()


def test_a_compiler_cache_does_not_see_less(bench):
    """By default ccache checks only the headers that were read, so it must not serve this build."""
    if not shutil.which("ccache"):
        pytest.skip("ccache is not installed: apt-get install ccache")
    bench.env["CCACHE_DIR"] = str(bench.folder / "ccache")
    (bench.folder / "early").mkdir()
    write(bench.folder, "late/config.h", "#define FACTOR 1\n")
    write(bench.folder, "built.cpp", INCLUDES)
    del bench.env["CCACHE_DISABLE"]
    assert built(bench, extra_include_paths=["early", "late"]) == [2, 4]
    write(bench.folder, "early/config.h", "#define FACTOR 7\n")
    assert built(bench, extra_include_paths=["early", "late"]) == [8, 16]


def test_a_precompiled_header_whose_headers_are_found_earlier(bench):
    (bench.folder / "early").mkdir()
    shutil.copytree(include_paths()[0], bench.folder / "late")
    header = bench.folder / "late/lamella/library.h"
    header.write_text(header.read_text() + "\n#include <factor.h>\n")
    write(bench.folder, "late/factor.h", "#define FACTOR 1\n")
    write(bench.folder, "built.cpp", library_operator("FACTOR"))
    assert built(bench, extra_include_paths=["early", "late"], env={"MAX_JOBS": "2"}) == [2, 4]
    wait_for(lambda: bench.files("precompiled/*/entry.json"), "the precompiled header", 60)
    write(bench.folder, "early/factor.h", "#define FACTOR 7\n")
    assert built(bench, extra_include_paths=["early", "late"], env={"MAX_JOBS": "2"}) == [8, 16]


def test_the_version_of_the_abi(bench):
    """The same source against the headers of another version is another library, and both are kept."""
    shutil.copytree(include_paths()[0], bench.folder / "headers")
    version = bench.folder / "headers/lamella/version.h"
    mine = version.read_text()
    write(bench.folder, "built.cpp", operator(1))
    options = {"extra_include_paths": ["headers"]}
    compiler, count = bench.counting()
    assert built(bench, env={"CXX": compiler}, **options) == [2, 4]
    version.write_text(re.sub(r"(#define LAMELLA_ABI_MINOR) \d+", r"\1 55", mine))
    text = bench.fails(PROGRAM, json.dumps(options), CXX=compiler)
    assert "was built for C ABI 1.55" in text and len(bench.files("libraries/*/built.so")) == 2
    version.write_text(mine)
    assert built(bench, env={"CXX": compiler}, **options) == [2, 4] and count() == 2


def test_a_relative_folder_of_the_environment(bench):
    write(bench.folder, "built.cpp", INCLUDES)
    for n in (1, 7):
        write(bench.folder, f"w{n}/inc/config.h", f"#define FACTOR {n}\n")
        program = f"import os; os.chdir('w{n}')\n" + PROGRAM.replace('"built.cpp"', '"../built.cpp"')
        assert json.loads(bench.run(program, "{}", CPATH="inc")) == [1 + n, 2 + 2 * n]


@pytest.mark.parametrize("flag", ["@flags", "@outer"])
def test_a_response_file(flag, bench):
    """A response file may name another one, which is looked for in the current folder."""
    write(bench.folder, "built.cpp", operator("FACTOR"))
    write(bench.folder, "outer", "-O1 @flags\n")
    for n in (1, 7):
        write(bench.folder, "flags", f"-DFACTOR={n}\n")
        assert built(bench, extra_cflags=[flag]) == [1 + n, 2 + 2 * n]


def test_response_files_that_name_each_other(tmp_path):
    for name, other in (("one", "two"), ("two", "one")):
        write(tmp_path, name, f"-D{name} -I 'a b' @{tmp_path}/{other}")
    assert [f for f in expanded([f"@{tmp_path}/one"]) if f.startswith("-D")] == ["-Done", "-Dtwo"]
    write(tmp_path, "two", "it's")
    assert expanded([f"@{tmp_path}/two"])[1:] == ["it's"]


def test_a_compiler_that_is_edited(bench):
    write(bench.folder, "built.cpp", operator("FACTOR"))
    for n in (1, 7):
        compiler = write(bench.folder, "wrapper", f'#!/bin/sh\nexec g++ -DFACTOR={n} "$@"\n')
        compiler.chmod(0o755)
        assert built(bench, env={"CXX": str(compiler)}) == [1 + n, 2 + 2 * n]


ASKED = """
import lamella.extensions.toolchain as toolchain
about = toolchain.about
toolchain.about = lambda command: print("asked") or about(command)
"""


def test_a_compiler_is_asked_once(bench):
    """g++'s description of itself is cached until its file changes; a script's is not, as it may call another one."""
    program, said = ASKED + LOAD, "[2, 4]"
    compiler = bench.folder / "g++"
    shutil.copy(os.path.realpath(shutil.which("g++")), compiler)
    places = run("g++", "-print-search-dirs", cwd=bench.folder)
    prefix = re.search(r"^install: (.*/)[^/]+/[^/]+/$", places, re.MULTILINE)[1]  # a copied g++ lacks this folder

    def lines():
        return bench.run(program, operator(1), CXX=str(compiler), GCC_EXEC_PREFIX=prefix).split("\n")[:-1]

    assert lines() == ["asked", said] == lines() and lines() == [said] == lines()
    os.utime(compiler, (1, 1))
    assert lines() == ["asked", said] and lines() == [said]
    for spoil in (lambda text: "", lambda text: text[:-9], lambda text: text.replace("gcc version", "gcc vers10n")):
        for record in bench.files("compilers/*"):
            record.write_text(spoil(record.read_text()))
        assert lines() == ["asked", said] and lines() == [said] and bench.is_tidy()
    compiler.unlink()
    write(bench.folder, "g++", '#!/bin/sh\nexec /usr/bin/env g++ "$@"\n').chmod(0o755)
    assert lines() == ["asked", said] == lines()


@pytest.mark.parametrize(
    "flags",
    [
        ["-L", "libs", "-lnumber"],
        ["-Llibs", "-l:libnumber.a"],
        ["-Wl,--whole-archive,libs/libnumber.a,--no-whole-archive"],
        ["libs/libnumber.a"],
    ],
)
def test_a_static_library(flags, bench):
    write(bench.folder, "built.cpp", "extern const int number;\n" + operator("number"))
    for n in (1, 7):
        (bench.folder / "libs").mkdir(exist_ok=True)
        archive(bench.folder / "libs", n)
        assert built(bench, extra_ldflags=flags) == [1 + n, 2 + 2 * n]


def test_headers_in_the_folder_of_the_cache(bench):
    """The build's folder contains the headers, or its name is the beginning of the headers' folder's name."""
    for build, headers in ((".", "."), (".", "sources"), ("cache", "cache-include")):
        for n in (1, 7):
            write(bench.folder, f"{headers}/config.h", f"#define FACTOR {n}\n")
            write(bench.folder, "built.cpp", INCLUDES)
            options = {"build_directory": build, "extra_include_paths": [headers]}
            assert built(bench, **options) == [1 + n, 2 + 2 * n]
        (bench.folder / headers / "config.h").unlink()


@pytest.mark.long
def test_a_precompiled_header_that_vanishes(bench):
    """The record of an object's headers outlives the precompiled header, so changes of them are noticed."""
    shutil.copytree(include_paths()[0], bench.folder / "headers")
    header = bench.folder / "headers" / "lamella" / "library.h"
    header.write_text(header.read_text() + "\n#define FACTOR 1\n")
    write(bench.folder, "built.cpp", library_operator("FACTOR"))
    options = {"extra_include_paths": ["headers"]}
    assert built(bench, env={"MAX_JOBS": "2"}, **options) == [2, 4]
    end = time.monotonic() + 60
    while not bench.files("precompiled/*/entry.json"):
        assert time.monotonic() < end
        time.sleep(0.1)
    end_of_it = f"rm -rf {bench.cache}/precompiled/*"
    compiler = bench.folder / "vanishing"
    compiler.write_text(f'#!/bin/sh\ng++ "$@"; status=$?\ncase " $* " in *" -c "*) {end_of_it};; esac\nexit $status\n')
    compiler.chmod(0o755)
    write(bench.folder, "built.cpp", library_operator("FACTOR") + "// edited\n")
    env = {"CXX": str(compiler)}
    assert built(bench, env=env | {"MAX_JOBS": "2"}, **options) == [2, 4]
    header.write_text(header.read_text().replace("FACTOR 1", "FACTOR 7"))
    assert built(bench, env=env, **options) == [8, 16]


def test_headers_above_a_link(bench):
    write(bench.folder, "real/other.h", "#define FACTOR 1\n")
    write(bench.folder, "real/inside/config.h", '#include "../other.h"\n')
    (bench.folder / "link").symlink_to("real/inside")
    write(bench.folder, "built.cpp", INCLUDES)
    options = {"extra_include_paths": ["link"]}
    assert built(bench, **options) == [2, 4]
    write(bench.folder, "real/other.h", "#define FACTOR 7\n")
    assert built(bench, **options) == [8, 16]


def test_the_processor_where_the_flags_ask_for_it():
    assert given(["-O2"])[2] == "" and "flags" in given(["-march=native"])[2]


def test_nothing_of_the_user_is_removed(bench):
    """A build in a folder that already has files with the cache's names, and pruning and emptying it, keep them."""
    files = ["sources/mine/main.c", "builds/yarn/x", "builds/yarn.lock", "libraries/big.a", "objects/a.o", "locks/x"]
    for name in files:
        os.utime(write(bench.folder, name, "mine" * 1000), (1, 1))
    write(bench.folder, "built.cpp", operator(1))
    assert built(bench, build_directory=".", env={"LAMELLA_EXTENSIONS_MAX_MB": "0"}) == [2, 4]
    bench.run("from lamella.cli import main; main(['extensions', 'clear'])", LAMELLA_EXTENSIONS_DIR=str(bench.folder))
    assert [name for name in files if not (bench.folder / name).exists()] == []
    assert not bench.files("libraries/*")


def test_a_limit_smaller_than_what_is_made(bench):
    assert bench.run(LOAD, operator(1), LAMELLA_EXTENSIONS_MAX_MB="0").strip() == "[2, 4]"
    assert bench.run(LOAD, operator(2), LAMELLA_EXTENSIONS_MAX_MB="").strip() == "[3, 6]"
    text = bench.fails(LOAD, operator(3), LAMELLA_EXTENSIONS_MAX_MB="many", CXX=bench.compiler("never", "exit 1"))
    assert "LAMELLA_EXTENSIONS_MAX_MB: expected a whole number of megabytes, as in 1024, got 'many'" in text


def test_emptying_while_something_is_built(bench):
    started = bench.folder / "started"
    process = bench.start(LOAD, operator(1), CXX=bench.compiler("slow", f"touch {started}; sleep 1"))
    end = time.monotonic() + 30
    while not started.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    bench.run("from lamella.cli import main; main(['extensions', 'clear'])")
    output, errors = process.communicate(timeout=60)
    assert output.strip() == "[2, 4]", errors
