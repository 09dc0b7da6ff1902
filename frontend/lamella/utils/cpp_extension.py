"""Operators and extension modules of one's own, in C++ and CUDA: built when they are loaded, or into packages.

>>> import lamella
>>> from lamella.utils.cpp_extension import load_inline
>>> mine = load_inline("example_thrice", '''
... lamella::Tensor thrice(const lamella::Tensor& x) { return x * 3; }
... LAMELLA_LIBRARY(example_thrice, m) {
...   m.def("thrice(Tensor self) -> Tensor", thrice);
... }
... ''')
>>> mine.thrice(lamella.tensor([1.0, 2.0]))
tensor([3., 6.])
"""

from __future__ import annotations

import os
import re
import shlex
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamella import _C, _namespace
from lamella._usage_log import log_once
from lamella.extensions import (
    Build,
    BuildError,
    Cache,
    CacheError,
    CompileError,
    MissingTool,
    Source,
    cache_folder,
    cmake_path,
    include_paths,
    is_ninja_available,
    library_paths,
)
from lamella.extensions.toolchain import own_namespace, sanitizer_runtime
from lamella.library._site import Site

if TYPE_CHECKING:
    from lamella.extensions.packaging import BuildExtension, CppExtension, CUDAExtension

__all__ = [
    "BuildError",
    "BuildExtension",
    "CUDAExtension",
    "CacheError",
    "CompileError",
    "CppExtension",
    "MissingTool",
    "cmake_path",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
]

Strings = str | Sequence[str] | None
Identity = tuple[str, ...]  # name and paths of the sources, which stay the same when the sources are edited
_loaded: dict[Path, Any] = {}  # results of loading, by library
_latest: dict[Identity, Path] = {}  # the last library of each extension
_loading = threading.RLock()  # each library is opened, and its module made, once


def _new_lock() -> None:
    """Makes a new lock in a child of fork, where no thread would release the old one."""
    global _loading
    _loading = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


def __getattr__(name: str) -> Any:
    """Returns the names that need setuptools, and ``CUDA_HOME``, the folder of the CUDA toolkit or None."""
    from lamella import extensions
    from lamella.extensions import cuda

    if name in ("BuildExtension", "CUDAExtension", "CppExtension"):
        return getattr(extensions, name)
    if name == "CUDA_HOME":
        try:
            return str(cuda.Cuda.find().home)
        except MissingTool:
            return None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(
    name: str,
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    extra_cflags: Strings = None,
    extra_cuda_cflags: Strings = None,
    extra_ldflags: Strings = None,
    extra_include_paths: Strings = None,
    build_directory: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    is_python_module: bool | None = None,
    *,
    cpp_std: str = "c++17",
    sanitizers: Strings = None,
    compat: str | None = None,
    keep_intermediates: bool = False,
) -> Any:
    """Builds C++ and CUDA sources, unless they have been built, and loads the result.

    Sources that were edited since they were loaded, or are loaded with other flags, replace their former registrations.
    To have both, give each a ``name`` of its own, and its operators a namespace.

    Args:
        name: the value of LAMELLA_EXTENSION_NAME in the sources
        sources: one file, or several; ``.cu`` is compiled by nvcc
        build_directory: a folder to use in place of the user's cache
        verbose: print the commands and the output of the compilers
        with_cuda: whether to add CUDA's headers and runtime; by default if there is a ``.cu`` file
        is_python_module: whether this is an extension module of Python; by default found from the sources
        sanitizers: any of address, leak, thread, undefined
        compat: "torch" for sources written for torch's C++: torch's headers are replaced by Lamella's
        keep_intermediates: keep the folder of the build, which ``verbose`` prints

    Returns:
        the module; for sources that only register operators their namespace, ``lamella.ops.NAMESPACE``, or a tuple of
        several; None if the sources define no operator

    Raises:
        CompileError: a compiler or the linker failed; the message begins with its first error
        MissingTool: there is no compiler, or it is too old, or a header is missing
        CacheError: the cache is full, read-only or another user's
        BuildError: the library needs a symbol that no library defines, or was built against another ABI
    """
    log_once("python.cpp_extension.load")
    files = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    cache = Cache(build_directory) if build_directory is not None else None
    build = Build(
        name,
        [Source.file(f) for f in files],
        cache=cache,
        python=is_python_module,
        cflags=_strings("extra_cflags", extra_cflags),
        cuda_cflags=_strings("extra_cuda_cflags", extra_cuda_cflags),
        ldflags=_strings("extra_ldflags", extra_ldflags),
        include=_strings("extra_include_paths", extra_include_paths),
        with_cuda=with_cuda,
        std=cpp_std,
        sanitizers=_strings("sanitizers", sanitizers),
        compat=compat,
        verbose=verbose,
        keep=keep_intermediates,
    )
    return _open(build, (name, *(str(unit.source.path) for unit in build.units)))


def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    cuda_sources: str | Sequence[str] | None = None,
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    extra_cflags: Strings = None,
    extra_cuda_cflags: Strings = None,
    extra_ldflags: Strings = None,
    extra_include_paths: Strings = None,
    build_directory: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    is_python_module: bool | None = None,
    *,
    cpp_std: str = "c++17",
    sanitizers: Strings = None,
    compat: str | None = None,
    keep_intermediates: bool = False,
    no_implicit_headers: bool = False,
) -> Any:
    """Does the same as ``load`` for sources given as text. A different text for the same name and namespace, in the
    same file of a program or in the same notebook, counts as an edit of that extension.

    Args:
        functions: C++ functions to bind by pybind11 into a module: names, or names with their documentation
        no_implicit_headers: leave out the include that the C++ begins with: ``<lamella/extension.h>``, in a module
            ``<lamella/pybind.h>``, with ``compat`` ``<torch/extension.h>``
    """
    log_once("python.cpp_extension.load_inline")
    cpp = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    cuda = [cuda_sources] if isinstance(cuda_sources, str) else list(cuda_sources or ())
    cuda = [text for text in cuda if text.strip()]
    cache = Cache(build_directory or cache_folder())
    text = "\n".join(cpp)
    if functions is not None:
        if is_python_module is False:
            raise ValueError("load_inline: 'functions' are bound into a module, but is_python_module is False")
        is_python_module = True
        text += _bindings(functions)
    build = Build(
        name,
        [
            Source.inline(cache, f"{name}.cpp", text),
            *([Source.inline(cache, f"{name}.cu", "\n".join(cuda))] if cuda else []),
        ],
        cache=cache,
        python=is_python_module,
        cflags=_strings("extra_cflags", extra_cflags),
        cuda_cflags=_strings("extra_cuda_cflags", extra_cuda_cflags),
        ldflags=_strings("extra_ldflags", extra_ldflags),
        include=_strings("extra_include_paths", extra_include_paths),
        with_cuda=with_cuda,
        std=cpp_std,
        sanitizers=_strings("sanitizers", sanitizers),
        compat=compat,
        implicit=not no_implicit_headers,
        verbose=verbose,
        keep=keep_intermediates,
    )
    return _open(build, (name, Site().place[0], own_namespace(text)))


def _strings(argument: str, given: Strings) -> list[str]:
    """Returns a list of flags; a single string is split as by a shell."""
    found = shlex.split(given) if isinstance(given, str) else list(given or ())
    for flag in found:
        if not isinstance(flag, (str, os.PathLike)):
            raise TypeError(f"argument '{argument}': expected strings, got {type(flag).__name__}")
    return [os.fspath(flag) for flag in found]


def _bindings(functions: str | Sequence[str] | Mapping[str, str]) -> str:
    import json

    named = {functions: ""} if isinstance(functions, str) else functions
    named = named if isinstance(named, Mapping) else dict.fromkeys(named, "")
    for function in named:
        if not isinstance(function, str) or not re.fullmatch(r"[A-Za-z_][\w:]*", function, re.ASCII):
            raise ValueError(f"load_inline: argument 'functions': expected names of C++ functions, got {function!r}")
    texts = {f: json.dumps(doc, ensure_ascii=False) for f, doc in named.items()}
    lines = [f'  m.def("{f.rpartition(":")[2]}", &{f}, {text});' for f, text in texts.items()]
    return "\n\nPYBIND11_MODULE(LAMELLA_EXTENSION_NAME, m) {\n" + "\n".join(lines) + "\n}\n"


def _open(build: Build, identity: Identity) -> Any:
    """Loads a build's library once, in place of the extension's former library."""
    file = build.library()
    with _loading:
        if file not in _loaded:
            _check_sanitizers(build)
            earlier = _latest.get(identity)
            alone = earlier is not None and list(_latest.values()).count(earlier) == 1
            edited = earlier if alone else None
            try:
                _loaded[file] = _given(build, file, edited, identity)
            except (ImportError, RuntimeError) as error:
                raise _explained(identity, error) from error
        _latest[identity] = file
        return _loaded[file]


def _given(build: Build, file: Path, edited: Path | None, identity: Identity) -> Any:
    defined: list[str] = []
    # The library's stamp is read before anything is opened, unless it is a module without Lamella's headers.
    if not build.python or _is_ours(file):
        defined = _C._load_plugin(str(file), replaces=str(edited or ""))
        _latest[identity] = file  # noted before the module is imported, which may fail
        if edited is not None:
            _loaded.pop(edited, None)
    return _module(build.name, file) if build.python else _namespace.namespaces(defined)


def _is_ours(file: Path) -> bool:
    """Returns whether a library was built with Lamella's headers: it has their stamp, or their init function."""
    content = file.read_bytes()
    return any(name in content for name in (b".note.lamella\0", b"\0lamella_plugin_init\0"))


def _module(name: str, file: Path) -> Any:
    from importlib.machinery import ExtensionFileLoader
    from importlib.util import module_from_spec, spec_from_file_location

    last = name.rpartition(".")[2]
    # pybind11 returns an existing module of the same name, so a build has a unique name until its module is made.
    own = f"{file.parent.name}.{last}"
    spec = spec_from_file_location(own, file, loader=ExtensionFileLoader(own, str(file)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    module.__name__ = last
    spec.loader.exec_module(module)
    return module


def _check_sanitizers(build: Build) -> None:
    """Raises a BuildError unless the process has loaded the runtimes of the build's sanitizers. A runtime that is
    loaded later would abort the process; "undefined" needs none from the start."""
    flags = [f for f in build.link if f.startswith("-fsanitize=")]
    maps = Path("/proc/self/maps").read_text() if flags else ""
    for sanitizer in ("address", "thread", "leak"):
        if not any(sanitizer in flag for flag in flags):
            continue
        library = os.path.basename(sanitizer_runtime(build.compiler, sanitizer))
        if library not in maps:
            leaks = "ASAN_OPTIONS=detect_leaks=0 " if sanitizer == "address" else ""
            raise BuildError(
                f"extension {build.name!r} is built with the sanitizer {sanitizer!r}, whose runtime must be in the"
                f" process from its start: {leaks}LD_PRELOAD=$({build.compiler.name} -print-file-name={library})"
                " python ..."
            )


def _explained(identity: Identity, error: Exception) -> Exception:
    """Explains an error: a missing symbol by its name in C++, another extension of the same name, or a library that is
    no module. Returns any other error unchanged."""
    name, found = identity[0], re.search(r"undefined symbol: (\w+)", str(error))
    if "does not define module export function" in str(error):
        return BuildError(
            f"extension {name!r} was built as an extension module of Python, and it has no"
            f" PYBIND11_MODULE(LAMELLA_EXTENSION_NAME, m): pass is_python_module=False if it only registers operators."
            f" ({error})"
        )
    if not found and identity not in _latest and any(name == other[0] for other in _latest):
        return BuildError(
            f"extension {name!r} was loaded in this process before, from elsewhere, and what that registered stays:"
            f" give the operators another namespace. ({error})"
        )
    if not found:
        return error
    if found[1].startswith(("GOMP_", "omp_", "__kmpc_")):
        return BuildError(
            f"extension {name!r} cannot be loaded: it uses OpenMP ({found[1]}) and is linked without it: pass both"
            f" extra_cflags=['-fopenmp'] and extra_ldflags=['-fopenmp']. ({str(error).partition(';')[0]})"
        )
    symbol = _demangled(found[1])
    return BuildError(
        f"extension {name!r} cannot be loaded: it wants {symbol}, which no library defines. Add the source that has it,"
        f" or the library by extra_ldflags=['-L...', '-l...']. ({error})"
    )


def _demangled(symbol: str) -> str:
    import ctypes

    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return symbol
    demangle.restype = ctypes.c_void_p
    text = demangle(symbol.encode(), None, None, None)
    if not text:
        return symbol
    shown = ctypes.string_at(text).decode(errors="replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(text))
    return f"{shown} ({symbol})"
