"""The C++ compiler: chooses it, reads its version, and makes the flags of an extension."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .cache import Cache, digest, mark_of
from .errors import MissingTool
from .paths import header_path, python_include_paths

# The oldest compilers for each standard: tested ones; for C++23, which has no tests, the first that support it well.
NEEDED = {"17": {"gcc": 12, "clang": 14}, "20": {"gcc": 12, "clang": 14}, "23": {"gcc": 13, "clang": 17}}
SANITIZERS = {"address": "asan", "leak": "lsan", "thread": "tsan", "undefined": "ubsan"}
PRELOADED = re.compile(r"/lib(?:[atl]|ub)san\.so|/libclang_rt\.")  # the sanitizers' runtimes in LD_PRELOAD
COMMENT_OR_TEXT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL)
# Environment variables that change what a compiler reads or writes: FOLDERS are lists of paths, WORDS are not.
FOLDERS = ("CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "LD_RUN_PATH")
WORDS = ("GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler. ``identity`` is different for different compilers, versions and configurations."""

    command: tuple[str, ...]
    kind: str  # gcc, clang or another
    version: tuple[int, ...]
    identity: str

    @property
    def name(self) -> str:
        return " ".join(self.command)

    def check_standard(self, standard: str) -> None:
        """Raises MissingTool if the compiler is too old for a standard, such as "c++17"."""
        needed = NEEDED.get(standard.removeprefix("c++").removeprefix("gnu++"), {}).get(self.kind)
        if needed and self.version and self.version[0] < needed:
            shown = ".".join(map(str, self.version))
            raise MissingTool(
                f"{self.name} is {self.kind} {shown}, and {standard} needs {self.kind} {needed} or newer."
                " Set CXX to a newer compiler; on Debian: apt-get install g++"
            )


def find_compiler(cache: Cache | None = None) -> Compiler:
    """Returns the compiler that ``CXX`` names; if it is not set, the first of c++, g++, clang++ on PATH.

    ``cache`` may hold the output of the compiler's ``-v``, which is then not run.
    """
    chosen, folder = os.environ.get("CXX", "").strip(), cache.folder if cache else None
    path = os.environ.get("PATH", os.defpath)
    if chosen:
        return inspect(tuple(shlex.split(chosen)), path, folder)
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name, path=path):
            return inspect((name,), path, folder)
    raise MissingTool(
        "an extension is compiled, and there is no C++ compiler: no c++, g++ or clang++ on PATH, and CXX is not set."
        " On Debian: apt-get install g++"
    )


def tool_environment() -> dict[str, str]:
    """Returns the environment for compilers: messages in English, and no preloaded sanitizer.

    A preloaded sanitizer would report leaks of the compilers, which do not free their memory.
    """
    preloaded = [p for p in re.split(r"[\s:]+", os.environ.get("LD_PRELOAD", "")) if not PRELOADED.search(p)]
    return {**os.environ, "LC_ALL": "C", "LD_PRELOAD": ":".join(preloaded)}


def ask(command: Sequence[str], *words: str, without: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Runs a compiler and returns the finished process, with its output."""
    given = {name: text for name, text in tool_environment().items() if name not in without}
    return subprocess.run([*command, *words], capture_output=True, text=True, errors="replace", env=given)


@cache
def inspect(command: tuple[str, ...], path: str, folder: Path | None) -> Compiler:
    """Reads a compiler's kind and version from its output, which may be in the cache."""
    program = shutil.which(command[0], path=path)
    if program is None:
        raise MissingTool(f"CXX is {command[0]!r}, which is no program on PATH")
    file = os.path.realpath(program)
    status = os.stat(file)  # part of the key, since the program may be a script that changes
    key = digest("compiler", program, command, file, mark_of(status), environment())
    kept = Cache(folder) if folder and is_gcc(file) else None
    text = kept and kept.find_answer(key)
    if not text:
        text = about((program, *command[1:]))
        if kept:
            kept.keep_answer(key, text)
    found = re.search(r"\b(gcc|clang) version (\d+(?:\.\d+)*)", text)
    kind, number = found.groups() if found else ("another", "")
    version = tuple(int(part) for part in number.split(".") if part)
    itself = f"{file} {status.st_size} {status.st_mtime_ns} {command[1:]}"
    return Compiler((program, *command[1:]), kind, version, f"{itself}\n{text}")


def is_gcc(file: str) -> bool:
    """Returns whether a program is g++ itself, not a script, which may call another compiler later."""
    if not re.search(r"g\+\+(-[\d.]+)?$", file):
        return False
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"


def about(command: tuple[str, ...]) -> str:
    """Returns the output of a compiler's ``-v``: version, target and configuration."""
    try:
        run = ask(command, "-v")
    except OSError as error:
        raise MissingTool(f"{command[0]} does not run: {error}") from None
    text = run.stdout + run.stderr
    if run.returncode:
        raise MissingTool(f"{shlex.join(command)} -v ends with status {run.returncode}: {text.strip()[-500:]}")
    return text


@cache
def default_folders(command: tuple[str, ...], flags: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the folders that a compiler searches for headers after the folders of its flags."""
    chosen = [f for f in flags if f.startswith(("--sysroot", "-isysroot", "-nostdinc", "-stdlib=", "-m"))]
    said = ask((*command, *chosen), "-v", "-E", "-x", "c++", os.devnull, without=FOLDERS[:3]).stderr
    found = re.search(r"#include <\.\.\.> search starts here:\n(.*?)End of search list", said, re.DOTALL)
    return tuple(line.strip() for line in found[1].splitlines()) if found else ()


def full(path: str | os.PathLike[str]) -> str:
    """Returns an absolute path. It may contain ``..``, since the folder before that may be a link."""
    return os.path.join(os.getcwd(), os.fspath(path))


def environment() -> dict[str, str]:
    """Returns the environment variables for a build's key, with absolute paths. An empty path in a list becomes the
    current folder."""
    given = {name: os.environ[name] for name in (*FOLDERS, *WORDS) if name in os.environ}
    return {name: ":".join(map(full, text.split(":"))) if name in FOLDERS else text for name, text in given.items()}


def processor() -> str:
    """Returns a description of the processor, on which ``-march=native`` depends."""
    try:
        with open("/proc/cpuinfo") as f:
            lines = f.read().partition("\n\n")[0].splitlines()
    except OSError:
        return ""
    return "\n".join(line for line in lines if line.startswith(("model", "flags", "Features", "CPU ")))


def check_name(name: str) -> str:
    """Checks that an extension's name is an identifier, or dotted if it lies in a package; returns the last part."""
    if not isinstance(name, str) or not all(re.fullmatch(r"[A-Za-z_]\w*", p, re.ASCII) for p in name.split(".")):
        raise ValueError(f"an extension's name must be an identifier such as 'mine' or 'package.mine', got {name!r}")
    return name.rpartition(".")[2]


@cache
def sanitizer_runtime(compiler: Compiler, sanitizer: str) -> str:
    """Returns the shared library that a process must load before it loads an extension built with a sanitizer.

    Raises:
        MissingTool: the compiler has none
    """
    names = [f"lib{SANITIZERS[sanitizer]}.so"]
    package = f"libgcc-{compiler.version[0]}-dev" if compiler.version else "libgcc-dev"
    if compiler.kind == "clang":
        base = "libclang_rt." + SANITIZERS[sanitizer].replace("ubsan", "ubsan_standalone")
        names = [f"{base}-{os.uname().machine}.so", f"{base}.so"]
        package = f"libclang-rt-{compiler.version[0]}-dev"
    for name in names:
        file = ask(compiler.command, f"-print-file-name={name}").stdout.strip()
        if os.path.isabs(file):
            return file
    raise MissingTool(
        f"{compiler.name} has no {names[0]}, which the sanitizer {sanitizer!r} needs: apt-get install {package} on"
        " Debian" + (", or set CXX=g++" if compiler.kind == "clang" else "")
    )


def sanitizer_flags(compiler: Compiler, sanitizers: Sequence[str]) -> list[str]:
    unknown = [s for s in sanitizers if s not in SANITIZERS]
    if unknown:
        raise ValueError(f"argument 'sanitizers': expected some of {', '.join(SANITIZERS)}, got {unknown[0]!r}")
    for sanitizer in sanitizers:
        sanitizer_runtime(compiler, sanitizer)
    shared = ["-shared-libsan"] if compiler.kind == "clang" else []
    return [f"-fsanitize={','.join(sanitizers)}", *shared, "-fno-omit-frame-pointer", "-g"] if sanitizers else []


def defines(name: str) -> list[str]:
    """Returns the macros with an extension's name. Precompiled headers lack them, so that extensions share one."""
    return [f"-D{known}_EXTENSION_NAME={check_name(name)}" for known in ("LAMELLA", "TORCH")]


def compile_flags(
    compiler: Compiler,
    *,
    python: bool,
    std: str = "c++17",
    sanitizers: Sequence[str] = (),
    include: Sequence[str] = (),
    compat: str | None = None,
    extra: Sequence[str] = (),
) -> list[str]:
    """Returns the flags of the C++ compiler. The caller's ``extra`` flags come last and so take precedence."""
    if not re.fullmatch(r"(c|gnu)\+\+\d[\da-z]", std):
        raise ValueError(f"argument 'cpp_std': expected a standard such as 'c++17', got {std!r}")
    folders = [*include, *[header_path()], *compat_paths(compat), *(python_include_paths() if python else [])]
    return [
        f"-std={std}",
        "-O2",
        "-fPIC",
        # The module's PyInit_ function must be visible, and sources for torch do not declare it so.
        "-fvisibility=default" if compat and python else "-fvisibility=hidden",
        "-fvisibility-inlines-hidden",
        *sanitizer_flags(compiler, sanitizers),
        *(f"-I{folder}" for folder in folders),
        *(["-DLAMELLA_COMPAT_PYTHON"] if compat and python else []),
        *shlex.split(os.environ.get("CPPFLAGS", "")),
        *shlex.split(os.environ.get("CXXFLAGS", "")),
        *extra,
    ]


def compat_paths(compat: str | None) -> list[str]:
    """Returns the folders of Lamella's headers with the names of torch's, for ``compat="torch"``; [] for None."""
    if compat is None:
        return []
    if compat != "torch":
        raise ValueError(f"argument 'compat': expected 'torch' or None, got {compat!r}")
    return [f"{header_path()}/lamella/compat/include"]


def flags_for(source: Path, flags: Sequence[str]) -> list[str]:
    """Returns the flags for one source. For a C source, flags that only C++ has are removed."""
    if source.suffix != ".c":
        return list(flags)
    plain = [f for f in flags if not f.startswith(("-std=c++", "-std=gnu++")) and f != "-fvisibility-inlines-hidden"]
    return ["-x", "c", *plain]


def link_flags(compiler: Compiler, *, sanitizers: Sequence[str] = (), extra: Sequence[str] = ()) -> list[str]:
    """Returns the linker's flags, which come after the objects."""
    flags = sanitizer_flags(compiler, sanitizers)
    if compiler.kind == "clang":  # clang's runtimes are in a folder of its own
        flags += [f"-Wl,-rpath,{os.path.dirname(sanitizer_runtime(compiler, s))}" for s in sanitizers]
    return [*flags, *shlex.split(os.environ.get("LDFLAGS", "")), *extra]


def without_comments(text: str) -> str:
    """Returns C++ source without its comments.

    >>> without_comments('auto url = "http://a"; // a place')
    'auto url = "http://a";  '
    """
    return COMMENT_OR_TEXT.sub(lambda found: " " if found[0].startswith("/") else found[0], text)


def is_python_source(text: str) -> bool:
    """Returns whether C++ source defines an extension module of Python; other sources register operators without it.

    >>> is_python_source("PYBIND11_MODULE(LAMELLA_EXTENSION_NAME, m) {}"), is_python_source("LAMELLA_LIBRARY(a, m) {}")
    (True, False)
    """
    marks = r'\bPYBIND11_MODULE\b|\bPyInit_|[<"](?:pybind11/|lamella/pybind\.h|Python\.h)'
    return re.search(marks, without_comments(text)) is not None


def own_namespace(text: str) -> str:
    """Returns the namespace of C++ source: the first that it defines; else one that it adds to or has kernels for.

    >>> own_namespace("LAMELLA_LIBRARY_IMPL(aten, cpu, m) {} LAMELLA_LIBRARY( mine, m) {} LAMELLA_LIBRARY(yours, m) {}")
    'mine'
    """
    text = without_comments(text)
    for kind in ("", "_FRAGMENT", "_IMPL"):
        if found := re.search(rf"\b(?:LAMELLA|TORCH)_LIBRARY{kind}\s*\(\s*(\w+)", text):
            return found[1]
    return ""
