"""``load`` and ``load_inline``: the modules they return, the files they build again, and their error messages."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from building import LOAD, operator
from children import run
from lamella.extensions.toolchain import is_python_source, own_namespace
from lamella.utils import cpp_extension

MODULE = """
int add(int a, int b) { return a + b; }
"""


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_load_builds_files_and_returns_their_namespace(bench):
    (bench.folder / "scale.h").write_text("static const long factor = 2;\n")
    source = '#include "scale.h"\n' + operator("factor")
    (bench.folder / "mine.cpp").write_text(source)
    (bench.folder / "other.cpp").write_text("int unused() { return 1; }\n")
    program = """
    import lamella
    from lamella.utils.cpp_extension import load
    mine = load("mine", sources=["mine.cpp", "other.cpp"])
    assert mine is load("mine", sources=["mine.cpp", "other.cpp"]) is lamella.ops.built
    print(mine, mine.scaled(lamella.tensor([1, 2])).tolist())
    """
    compiler, count = bench.counting()
    assert bench.run(program, CXX=compiler).strip() == "<operators of built> [3, 6]"
    assert count() == 2
    assert bench.run(program, CXX=compiler).strip() == "<operators of built> [3, 6]"
    assert count() == 2
    # A header counts by its content: writing the same text again is no change.
    (bench.folder / "scale.h").write_text("static const long factor = 2;\n")
    bench.run(program, CXX=compiler)
    assert count() == 2
    (bench.folder / "scale.h").write_text("static const long factor = 3;\n")
    assert bench.run(program, CXX=compiler).strip() == "<operators of built> [4, 8]"
    assert count() == 3  # only the source that includes it
    (bench.folder / "scale.h").write_text("static const long factor = 2;\n")
    assert bench.run(program, CXX=compiler).strip() == "<operators of built> [3, 6]"
    assert count() == 3


def test_what_a_user_builds_is_optimised(bench):
    """Without the tests' own CXXFLAGS, a build is optimized."""
    source = "#ifndef __OPTIMIZE__\n#error\n#endif\n" + operator(1)
    assert bench.run(LOAD, source, CXXFLAGS="").strip() == "[2, 4]"


def test_what_is_part_of_the_key(bench):
    """The key includes flags, definitions, the compiler, and the variables that it reads."""
    program = """
    import json, sys, lamella
    from lamella.utils.cpp_extension import load_inline
    options = {"no_implicit_headers": True} | json.loads(sys.argv[2])
    print(load_inline("built", sys.argv[1], **options).scaled(lamella.tensor([1])).tolist())
    """
    compiler, count = bench.counting()
    source = "#ifndef BY\n#define BY 1\n#endif\n" + operator("BY")
    assert bench.run(program, source, "{}", CXX=compiler).strip() == "[2]"
    assert bench.run(program, source, '{"extra_cflags": ["-DBY=4"]}', CXX=compiler).strip() == "[5]"
    assert bench.run(program, source, '{"extra_cflags": "-DBY=5"}', CXX=compiler).strip() == "[6]"
    assert bench.run(program, source, "{}", CXX=compiler, CXXFLAGS="-DBY=6").strip() == "[7]"
    assert bench.run(program, source, '{"cpp_std": "c++20"}', CXX=compiler).strip() == "[2]"
    assert bench.run(program, source, "{}", CXX=compiler, CPATH=str(bench.folder)).strip() == "[2]"
    assert count() == 6
    assert bench.run(program, source, "{}", CXX=f"{compiler} -O1").strip() == "[2]"
    assert count() == 7
    bench.run(program, source, "{}", CXX=compiler)
    assert count() == 7


def test_a_folder_of_ones_own_and_what_is_kept(bench):
    program = """
    import sys, lamella
    from lamella.utils.cpp_extension import load_inline
    options = {"build_directory": "own", "keep_intermediates": True, "verbose": True, "no_implicit_headers": True}
    print(load_inline("built", sys.argv[1], **options).scaled(lamella.tensor([1])).tolist())
    """
    assert bench.run(program, operator(1)).splitlines()[-1] == "[2]"
    assert not bench.cache.exists()
    [library] = bench.folder.glob("own/libraries/*/built.so")
    assert [p.name for p in bench.folder.glob("own/builds/*/build.ninja")] == ["build.ninja"]


@pytest.mark.long
def test_functions_are_bound_into_a_module(module_bench):
    program = """
    import sys
    from lamella.utils.cpp_extension import load_inline
    mine = load_inline("bound", [sys.argv[1], "int twice(int a) { return add(a, a); }"],
                       functions={"add": 'adds "two"', "twice": ""})
    print(mine.__name__, mine.add(1, 2), mine.twice(4), mine.add.__doc__.splitlines()[-1])
    try:
        mine.add("x", 1)
    except TypeError as error:
        print("TypeError")
    """
    expected = ["bound", "3", "8", "adds", '"two"', "TypeError"]
    compiler, count = module_bench.counting()
    assert module_bench.run(program, MODULE, CXX=compiler).split() == expected
    assert module_bench.run(program, MODULE, CXX=compiler).split() == expected
    assert count() == 1


@pytest.mark.long
def test_a_module_by_its_own_words_and_operators_beside(module_bench):
    source = """
    #include <pybind11/pybind11.h>
    PYBIND11_MODULE(LAMELLA_EXTENSION_NAME, m) { m.def("seven", [] { return 7; }); }
    """
    (module_bench.folder / "both.cpp").write_text(source + operator(1))
    program = """
    import lamella
    from lamella.utils.cpp_extension import load
    both = load("both", "both.cpp")
    print(both.seven(), lamella.ops.built.scaled(lamella.tensor([1])).tolist())
    """
    assert module_bench.run(program).strip() == "7 [2]"


KINDS = {
    "// like PYBIND11_MODULE but without\n": False,
    "/* PYBIND11_MODULE\n#include <Python.h>\n*/": False,
    'const char* glob = "/*"; PYBIND11_MODULE(a, m) {} // */': True,
    "char quote = '\"'; // PYBIND11_MODULE(a, m) {}": False,
    'const char* url = "http://a"; PYBIND11_MODULE(a, m) {}': True,
    '#include "lamella/pybind.h"\n': True,
    "extern C PyObject* PyInit_mine() {}": True,
}


@pytest.mark.parametrize("text", KINDS)
def test_comments_make_no_module(text):
    assert is_python_source(text) is KINDS[text]
    assert own_namespace("// LAMELLA_LIBRARY(yours, m) {}\nLAMELLA_LIBRARY(mine, m) {}") == "mine"


def test_a_kind_that_the_sources_do_not_show(bench):
    """Error messages name the argument that selects the kind."""
    text = bench.fails(LOAD.replace("True)", "True, is_python_module=True)"), operator(1))
    assert "BuildError: extension 'built' was built as an extension module of Python, and it has no" in text
    assert "PYBIND11_MODULE(LAMELLA_EXTENSION_NAME, m): pass is_python_module=False" in text
    (bench.folder / "built.cpp").write_text('#include "module.h"\n')
    program = "from lamella.utils.cpp_extension import load\nload('built', 'built.cpp')\n"
    for header in ("pybind11/pybind11.h", "Python.h"):
        (bench.folder / "module.h").write_text(f"#include <{header}>\n")
        text = bench.fails(program)
        assert "built.cpp does not compile" in text and "fatal error: " in text
        assert "an extension module of Python whose sources do not show it needs is_python_module=True" in text


BROKEN = """
#include <lamella/library.h>
int fine() { return 1; }
int broken() { return missing; }
int again() { return missing_too; }
"""


def test_a_failed_compilation_begins_with_its_first_error(bench):
    text = bench.fails(LOAD, BROKEN)
    message = text[text.index("CompileError: ") :].splitlines()
    first = message[0]
    assert "built.cpp does not compile: " in first
    assert "built.cpp:4:" in first and "error: ‘missing’ was not declared" in first.replace("'missing'", "‘missing’")
    assert message[2].startswith("command: ") and " -c " in message[2]
    assert any("missing_too" in line for line in message[3:])
    assert bench.is_tidy()


def test_of_many_failures_one_is_the_first(bench):
    for name in ("one", "two"):
        (bench.folder / f"{name}.cpp").write_text(f"int {name}() {{ return nothing_{name}; }}\n")
    program = """
    from lamella.utils.cpp_extension import load
    load("many", ["one.cpp", "two.cpp"], is_python_module=False)
    """
    assert "CompileError: one.cpp does not compile" in bench.fails(program, MAX_JOBS="2")


def test_a_failed_link_names_the_symbol(bench):
    text = bench.fails(LOAD.replace("sys.argv[1], ", "sys.argv[1], extra_ldflags=['-lnonesuch'], "), operator(1))
    assert "CompileError: built does not link: " in text and "nonesuch" in text


def test_a_missing_symbol_is_named_as_in_cpp(bench):
    source = "namespace far { long away(double); }" + operator("far::away(1.0)")
    text = bench.fails(LOAD, source)
    assert "BuildError: extension 'built' cannot be loaded: it wants far::away(double) (_ZN3far4awayEd)" in text
    assert "extra_ldflags" in text


def test_a_library_of_another_abi_is_not_opened(bench):
    """The library was built with headers of version 2; its constructor would end the process."""
    headers = bench.folder / "headers"
    shutil.copytree(Path(__file__).parents[2] / "extensions" / "include", headers)
    version = headers / "lamella" / "version.h"
    version.write_text(version.read_text().replace("LAMELLA_ABI_MAJOR 1", "LAMELLA_ABI_MAJOR 2"))
    (bench.folder / "old.cpp").write_text("""
#include <lamella/extension.h>
__attribute__((constructor)) static void opened() { __builtin_trap(); }
LAMELLA_LIBRARY(built, m) { m.define("scaled(Tensor self) -> Tensor"); }
""")
    program = f"""
    from lamella.utils.cpp_extension import load
    load("old", "old.cpp", extra_include_paths={str(headers)!r})
    """
    text = bench.fails(program)
    assert "RuntimeError" in text and "C ABI 2.0" in text and "has 1.0" in text


def test_a_library_linked_by_a_flag_counts_by_its_content(bench):
    def helper(number):
        (bench.folder / "help.cpp").write_text(f"long help() {{ return {number}; }}\n")
        os.system(f"cd {bench.folder} && g++ -fPIC -c help.cpp && rm -f libhelp.a && ar rc libhelp.a help.o")

    program = LOAD.replace("sys.argv[1], ", "sys.argv[1], extra_ldflags=['-L.', '-lhelp'], ")
    source = "long help();" + operator("int64_t(help())")
    helper(1)
    assert bench.run(program, source).strip() == "[2, 4]"
    helper(4)
    assert bench.run(program, source).strip() == "[5, 10]"


def test_no_compiler(bench):
    empty = bench.folder / "empty"
    empty.mkdir()
    text = bench.fails(f"import os\nos.environ['PATH'] = {str(empty)!r}\n{LOAD}", operator(1))
    assert "MissingTool: an extension is compiled, and there is no C++ compiler" in text
    assert "apt-get install g++" in text
    text = bench.fails(LOAD, operator(1), CXX="nonesuch-c++")
    assert "MissingTool: CXX is 'nonesuch-c++', which is no program on PATH" in text
    broken = script(bench.folder / "broken", "echo no licence; exit 3")
    text = bench.fails(LOAD, operator(1), CXX=broken)
    assert "MissingTool" in text and "ends with status 3: no licence" in text


def test_a_compiler_too_old(bench):
    old = script(bench.folder / "old", "echo 'gcc version 11.4.0 (Ancient)' >&2")
    text = bench.fails(LOAD, operator(1), CXX=old)
    assert "MissingTool" in text and "is gcc 11.4.0, and c++17 needs gcc 12 or newer" in text
    old = script(bench.folder / "old", "echo 'clang version 13.0.1'")
    text = bench.fails(LOAD, operator(1), CXX=old)
    assert "is clang 13.0.1, and c++17 needs clang 14 or newer" in text


@pytest.mark.long
def test_a_module_that_was_edited_is_another(module_bench):
    program = """
    from lamella.utils.cpp_extension import load_inline
    def edited(source, *functions):
        return load_inline("edited", source, functions=functions)
    one = edited("int f(int a) { return a + 1; }", "f")
    two = edited("int f(int a) { return a + 2; } int g(int a) { return a; }", "f", "g")
    print(one.f(1), two.f(1), two.g(1), one.__name__, two.__name__)
    """
    assert module_bench.run(program).split() == ["2", "3", "1", "edited", "edited"]


def test_a_missing_pybind11_and_a_missing_python(bench):
    program = """
    import sys, lamella
    import importlib.util, sysconfig
    find = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *rest: None if name == "pybind11" else find(name, *rest)
    from lamella.utils.cpp_extension import load_inline
    load_inline("bound", "", functions="f")
    """
    text = bench.fails(program)
    assert "MissingTool: an extension module needs pybind11, which is not installed: pip install" in text
    program = program.replace("find =", "sysconfig.get_path = lambda name: '/nonesuch'\n    find =")
    text = bench.fails(program)
    assert "MissingTool: there is no Python.h in /nonesuch. On Debian: apt-get install python3-dev" in text


WRONG = [
    ("load_inline('a b', 'x')", "ValueError: an extension's name must be an identifier"),
    ("load_inline(3, 'x')", "ValueError: an extension's name must be an identifier"),
    ("load('a', [])", "ValueError: extension 'a': there are no sources"),
    ("load('a', 'nonesuch.cpp')", "FileNotFoundError: source 'nonesuch.cpp' cannot be read: No such file"),
    ("load_inline('a', 'x', cpp_std='17')", "ValueError: argument 'cpp_std': expected a standard such as 'c++17'"),
    ("load_inline('a', 'x', sanitizers=['acid'])", "ValueError: argument 'sanitizers': expected some of address"),
    ("load_inline('a', 'x', functions='f(); g')", "ValueError: load_inline: argument 'functions': expected names"),
    ("load_inline('a', 'x', functions='f', is_python_module=False)", "ValueError: load_inline: 'functions' are bound"),
    ("load_inline('a', 'x', extra_cflags=[3])", "TypeError: argument 'extra_cflags': expected strings, got int"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[c for c, _ in WRONG])
def test_wrong_arguments(call, message):
    with pytest.raises((ValueError, TypeError, FileNotFoundError)) as caught:
        eval(call, vars(cpp_extension))
    assert f"{caught.type.__name__}: {caught.value}".startswith(message)


def test_bad_variables(bench):
    text = bench.fails(LOAD, operator(1), MAX_JOBS="many")
    assert "ValueError: MAX_JOBS: expected a positive number, got 'many'" in text
    text = bench.fails(LOAD, operator(1), LAMELLA_EXTENSIONS_MAX_MB="-1")
    assert "ValueError: LAMELLA_EXTENSIONS_MAX_MB: expected a whole number of megabytes" in text


def test_undefined_behaviour_is_reported(bench):
    source = operator("[] { volatile int n = __INT_MAX__; n = n + 1; return 1; }()")
    program = LOAD.replace("sys.argv[1], ", "sys.argv[1], sanitizers='undefined', ")
    process = bench.start(program, source)
    out, errors = process.communicate(timeout=60)
    assert out.strip() == "[2, 4]" and "runtime error: signed integer overflow" in errors


def test_a_sanitizer_that_must_come_first_says_so(bench):
    text = bench.fails(LOAD.replace("sys.argv[1], ", "sys.argv[1], sanitizers=['address'], "), operator(1))
    assert "BuildError" in text and "LD_PRELOAD=$(" in text and "-print-file-name=libasan.so)" in text
    assert "ASAN_OPTIONS=detect_leaks=0" in text


def test_a_read_behind_a_block_is_reported(bench):
    """The process has the variables that the error message suggests; its compilers do not inherit the sanitizer."""
    runtime = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(runtime):
        pytest.skip("libasan is not installed: apt-get install libasan8")
    source = "static volatile int place = PLACE;\n"
    source += operator("[] { int* p = new int[4](); int n = p[place]; delete[] p; return int64_t(n + 1); }()")
    program = LOAD.replace("sys.argv[1], ", "sys.argv[1], sanitizers='address', ")
    env = {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0", "CXX": "g++"}
    assert bench.run(program, source.replace("PLACE", "3"), **env).strip() == "[2, 4]"
    process = bench.start(program, source.replace("PLACE", "4"), **env | {"ASAN_OPTIONS": ""})
    out, errors = process.communicate(timeout=60)
    assert process.returncode != 0 and not out
    assert "ERROR: AddressSanitizer: heap-buffer-overflow" in errors and "built.cpp:" in errors


def test_a_compiler_without_the_runtime(bench):
    program = LOAD.replace("sys.argv[1], ", "sys.argv[1], sanitizers=['address'], ")
    bare = script(bench.folder / "bare", 'case "$*" in -print-file-name=*) echo none;; *) exec g++ "$@";; esac')
    text = bench.fails(program, operator(1), CXX=bare)
    assert f"MissingTool: {bare} has no libasan.so, which the sanitizer 'address' needs: apt-get install" in text
    says = "-v) echo 'clang version 17.0.1';; -print-file-name=*) echo none;;"
    clang = script(bench.folder / "clang++", f'case "$*" in {says} *) exec g++ "$@";; esac')
    text = bench.fails(program, operator(1), CXX=clang)
    assert "has no libclang_rt.asan" in text and "apt-get install libclang-rt-17-dev" in text and "CXX=g++" in text


def test_a_clang_with_the_runtime(bench):
    """A script imitates clang, whose flags and runtime have other names."""
    (bench.folder / "libclang_rt.asan-x86_64.so").symlink_to("nowhere")
    clang = script(
        bench.folder / "clang++",
        f"""case "$*" in
-v) echo 'clang version 17.0.1';;
-print-file-name=libclang_rt.asan-x86_64.so) echo {bench.folder}/libclang_rt.asan-x86_64.so;;
-print-file-name=*) echo none;;
*) echo "$*" >> {bench.folder}/said
   for word; do shift; case $word in -shared-libsan|-fsanitize=*) ;; *) set -- "$@" "$word";; esac; done
   exec g++ "$@";; esac""",
    )
    program = LOAD.replace("sys.argv[1], ", "sys.argv[1], sanitizers=['address'], ")
    text = bench.fails(program, operator(1), CXX=clang)
    assert f"LD_PRELOAD=$({clang} -print-file-name=libclang_rt.asan-x86_64.so)" in text
    said = (bench.folder / "said").read_text().splitlines()
    assert ["-fsanitize=address -shared-libsan" in line for line in said if " -o " in line] == [True, True]
    assert f"-Wl,-rpath,{bench.folder}" in "".join(line for line in said if " -c " not in line)
    assert "MissingTool" in bench.fails(program.replace("address", "leak"), operator(1), CXX=clang)


def test_max_jobs_is_the_cap(bench):
    """Each compilation writes the number of compilations that run then."""
    running = bench.folder / "running"
    running.mkdir()
    note = f"touch {running}/$$; ls {running} | wc -l >> {bench.folder}/seen; sleep 0.1; rm {running}/$$"
    compiler = bench.compiler("noting", note)
    for n in range(6):
        (bench.folder / f"s{n}.cpp").write_text(f"int f{n}() {{ return {n}; }}\n")
    program = """
    from lamella.utils.cpp_extension import load
    load("several", [f"s{n}.cpp" for n in range(6)], is_python_module=False)
    """
    for jobs in ("1", "3"):
        shutil.rmtree(bench.cache, ignore_errors=True)
        (bench.folder / "seen").write_text("")
        assert "without Lamella's headers" in bench.fails(program, CXX=compiler, MAX_JOBS=jobs)
        most = max(int(line) for line in (bench.folder / "seen").read_text().split())
        assert most == 1 if jobs == "1" else 1 < most <= 3


def test_without_ninja_it_builds_too(bench):
    program = "import lamella.extensions.build as b\nb.find_ninja = lambda: None\n" + LOAD
    assert bench.run(program, operator(1)).strip() == "[2, 4]"
    assert not bench.files("builds/*")


def test_ccache_serves_a_second_cache(bench):
    """ccache serves files only: load_inline writes its text into the cache, so two caches have different paths."""
    if not shutil.which("ccache"):
        pytest.skip("ccache is not installed: apt-get install ccache")
    bench.env["CCACHE_DIR"] = str(bench.folder / "ccache")
    del bench.env["CCACHE_DISABLE"]
    (bench.folder / "built.cpp").write_text(operator(1))
    program = """
    import lamella, sys
    from lamella.utils.cpp_extension import load
    print(load("built", "built.cpp", build_directory=sys.argv[1]).scaled(lamella.tensor([1, 2])).tolist())
    """
    for folder, hits in (("one", 0), ("two", 1)):
        assert bench.run(program, folder).strip() == "[2, 4]"
        assert len(list(bench.folder.glob(f"{folder}/objects/*.o"))) == 1
        counts = run("ccache", "--print-stats", cwd=bench.folder, **bench.env)
        found = re.findall(r"^(?:direct|preprocessed)_cache_hit\t(\d+)$", counts, re.MULTILINE)
        assert sum(map(int, found)) == hits and re.search(r"^cache_miss\t1$", counts, re.MULTILINE), counts


def test_folders_for_compilers(bench):
    """The folders of include_paths() and library_paths() suffice to build a program."""
    (bench.folder / "main.c").write_text("""
#include <lamella/program.h>
#include <stdio.h>
int main(void) { return printf("%d\\n", lamella_abi_version() == LAMELLA_ABI_VERSION) < 0; }
""")
    [headers], [libraries] = cpp_extension.include_paths(), cpp_extension.library_paths()
    flags = ["-I", headers, "-L", libraries, f"-Wl,-rpath,{libraries}"]
    run("gcc", *flags, "main.c", "-llamella", "-o", "main", cwd=bench.folder)
    assert run("./main", cwd=bench.folder).strip() == "1"


def test_folders_for_cuda(bench):
    """The toolkit is a script that prints its folder as nvcc does, and empty files."""
    home = bench.folder / "cuda"
    for part in ("include/cuda_runtime.h", "include/crt/host_config.h", "nvvm/bin/cicc", "lib64/libcudart_static.a"):
        (home / part).parent.mkdir(parents=True, exist_ok=True)
        (home / part).touch()
    (home / "bin").mkdir()
    script(home / "bin/nvcc", f"echo '#$ TOP={home}'")
    program = """
    from lamella.utils.cpp_extension import include_paths, library_paths
    print(include_paths("cuda"), library_paths("cuda"), include_paths("cpu"), library_paths("cpu"))
    """
    own, library = cpp_extension.include_paths(), cpp_extension.library_paths()
    expected = [[*own, f"{home}/include"], [*library, f"{home}/lib64"], own, library]
    assert bench.run(program, CUDA_HOME=str(home)).strip() == " ".join(map(str, expected))
    assert "MissingTool: CUDA_HOME is /nonesuch" in bench.fails(program, CUDA_HOME="/nonesuch")


def test_the_documentation_of_the_module_runs(bench):
    program = """
    import doctest
    from lamella.utils import cpp_extension
    from lamella.extensions import cache, config, cuda, errors, inputs, paths, precompiled, toolchain
    for module in (cpp_extension, cache, config, cuda, errors, inputs, paths, precompiled, toolchain):
        print(doctest.testmod(module).failed, end=" ")
    """
    assert bench.run(program).split() == ["0"] * 9


def test_a_warm_load_imports_little(bench):
    bench.run(LOAD, operator(1))
    program = LOAD + "print([m for m in ('setuptools', 'pybind11', 'concurrent.futures', 'ninja') if m in sys.modules])"
    assert bench.run(program, operator(1)).splitlines() == ["[2, 4]", "[]"]


OPENMP = """
#include <lamella/extension.h>
static lamella::Tensor total(const lamella::Tensor& self) {
  const int64_t* from = self.data<int64_t>();
  int64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int64_t i = 0; i < self.numel(); i++) sum += from[i];
  return lamella::full({}, sum, self.options());
}
LAMELLA_LIBRARY(with_openmp, m) { m.def("total(Tensor self) -> Tensor", total); }
"""


def test_openmp_without_its_flag_for_the_linker(bench):
    """A library with OpenMP's symbols that is not linked with it is an error that names both flags."""
    (bench.folder / "omp.cpp").write_text(OPENMP)
    program = """
    import lamella
    from lamella.extensions import build_library
    from lamella.utils.cpp_extension import BuildError, load
    flags = dict(extra_cflags=["-fopenmp"])
    by_path = lambda: lamella.ops.load_library(build_library("omp", ["omp.cpp"], cflags=["-fopenmp"]))
    for attempt in (lambda: load("omp", "omp.cpp", **flags), by_path):
        try:
            attempt()
        except RuntimeError as error:
            print(error)
    print(load("omp", "omp.cpp", extra_ldflags=["-fopenmp"], **flags).total(lamella.arange(1001)).item())
    """
    by_load, by_path, total = bench.run(program).strip().splitlines()
    assert (
        "pass both extra_cflags=['-fopenmp'] and extra_ldflags=['-fopenmp']" in by_load
        and "it uses OpenMP (" in by_load
    )
    assert "uses OpenMP and is linked without it: pass -fopenmp to the compiler and to the linker" in by_path
    assert total == str(sum(range(1001)))
