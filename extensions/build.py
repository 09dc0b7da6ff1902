"""Builds an extension into the user's cache and returns the path of its library, for ``load`` and ``load_inline``.

An object is found in the cache by its source, the flags, the compiler, the environment variables that compilers read,
and the headers that its compilation read; a library by its objects, the linker's flags, the compiler and the same
variables. A result in the cache is not built again by any process.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cache import Cache, digest, size_limit
from .errors import CompileError, error_line
from .inputs import Search, absolute, given, read_depfile
from .paths import cache_folder
from .precompiled import Precompiled, umbrella
from .steps import Step, find_ninja, job_limit, run_steps
from .toolchain import (
    compile_flags,
    defines,
    environment,
    find_compiler,
    flags_for,
    full,
    is_python_source,
    link_flags,
)

CUDA = (".cu",)


@dataclass(frozen=True)
class Source:
    """A file to compile, or a text to compile, which is written to a file in the cache."""

    path: Path
    text: str
    written: bool  # whether make() writes the text to the path, which is in the cache

    @staticmethod
    def file(path: str | os.PathLike[str]) -> Source:
        full = Path(path).expanduser().absolute()
        try:
            return Source(full, full.read_text(errors="surrogateescape"), False)
        except OSError as error:
            raise FileNotFoundError(f"source {os.fspath(path)!r} cannot be read: {error.strerror}") from None

    @staticmethod
    def inline(cache: Cache, name: str, text: str) -> Source:
        return Source(cache.folder / "sources" / digest("source", text) / name, text, True)

    @property
    def is_cuda(self) -> bool:
        return self.path.suffix in CUDA


@dataclass
class Unit:
    """One source with the command that compiles it."""

    source: Source
    compiler: tuple[str, ...]
    flags: tuple[str, ...]
    key: str
    precompiled: Precompiled | None = None
    object: str | None = None  # the digest of the object file; None until it is found or compiled
    used: Sequence[str] = ()  # the headers inside the precompiled header, if the last step() uses it

    def step(self, work: Path, number: int, launcher: Sequence[str], precompiled: bool) -> Step:
        output = work / f"{number}.o"
        before: list[str] = []
        self.used = ()
        if precompiled and self.precompiled and (entry := self.precompiled.entry()):
            before, launcher, self.used = self.precompiled.use(), (), entry["headers"]
        depend = ("-MD", "-MF", str(work / f"{number}.d"))
        command = (*launcher, *self.compiler, *before, *self.flags, *depend, "-c", str(self.source.path))
        what = f"{self.source.path.name} does not compile"
        return Step(what, (*command, "-o", str(output)), output, (self.source.path,))

    def headers(self, work: Path, number: int) -> list[str]:
        """Returns the files that the compiler read: the source, and headers, also those inside a precompiled header."""
        return list(dict.fromkeys([*map(full, read_depfile(work / f"{number}.d")), *self.used]))


class Build:
    """One extension: a name, sources and flags. ``library()`` returns its library, and builds it if necessary."""

    def __init__(
        self,
        name: str,
        sources: Sequence[Source],
        *,
        cache: Cache | None = None,
        python: bool | None = None,
        cflags: Sequence[str] = (),
        cuda_cflags: Sequence[str] = (),
        ldflags: Sequence[str] = (),
        include: Sequence[str] = (),
        with_cuda: bool | None = None,
        std: str = "c++17",
        sanitizers: Sequence[str] = (),
        compat: str | None = None,
        implicit: bool = False,  # each C++ source is compiled as if it began with the public header
        verbose: bool = False,
        keep: bool = False,
    ):
        if not sources:
            raise ValueError(f"extension {name!r}: there are no sources")
        self.name, self.verbose, self.keep = name, verbose, keep
        self.define = defines(name)
        self.python = any(is_python_source(s.text) for s in sources) if python is None else python
        self.cache = cache or Cache(cache_folder())
        self.compiler = find_compiler(self.cache)
        self.compiler.check_standard(std)
        self.cuda = any(s.is_cuda for s in sources) if with_cuda is None else with_cuda
        include = [full(p) for p in include]
        if self.cuda:
            from .cuda import Cuda

            include += Cuda.find().include_paths
            ldflags = [*ldflags, *Cuda.find().link_flags()]
        how: dict[str, Any] = {"python": self.python, "std": std, "include": include, "extra": cflags, "compat": compat}
        self.flags = absolute(compile_flags(self.compiler, sanitizers=sanitizers, **how))
        self.link = absolute(link_flags(self.compiler, sanitizers=sanitizers, extra=ldflags))
        header = "lamella/pybind.h" if self.python else "lamella/extension.h"
        self.implicit = ("torch/extension.h" if compat else header) if implicit else None
        self.compat = compat
        self.cuda_cflags, self.std = tuple(cuda_cflags), std
        self.units = [self.unit(source) for source in sources]
        self.link_key = [self.compiler.identity, self.define, given(self.link), environment()]
        self.key = digest("build", [u.key for u in self.units], self.link_key)

    def unit(self, source: Source) -> Unit:
        if source.is_cuda:
            from .cuda import Cuda

            cuda = Cuda.find()
            flags = (*cuda.compile_flags(self.compiler, self.flags, self.std, self.cuda_cflags), *self.define)
            identity = cuda.identity(self.compiler)
            key = digest("object", identity, given(flags), str(source.path), source.text, environment())
            return Unit(source, (cuda.nvcc,), flags, key)
        header = self.implicit or umbrella(source.text, self.compat)
        # Messages name a registration by its __FILE__; for a file in the cache, the name alone is enough.
        mapped = [f"-fmacro-prefix-map={source.path.parent}/="] if source.written else []
        implicit = ["-include", self.implicit] if self.implicit else []
        flags = (*flags_for(source.path, self.flags), *self.define, *mapped, *implicit)
        key = digest("object", self.compiler.identity, given(flags), str(source.path), source.text, environment())
        precompiled = Precompiled(self.cache, self.compiler, self.flags, header) if header else None
        usable = precompiled if self.compiler.kind == "gcc" else None
        return Unit(source, self.compiler.command, flags, key, usable)

    def library(self) -> Path:
        """Returns the shared library in the cache, and builds it if it is not there.

        Raises:
            CompileError: the compiler or the linker failed
            CacheError: the cache cannot be written, is no folder, or another user owns it or can write to it
            ValueError: ``MAX_JOBS`` or ``LAMELLA_EXTENSIONS_MAX_MB`` is not a number
        """
        self.cache.check()
        if found := self.find():
            return found
        with self.cache.lock(self.key):
            return self.find() or self.make()

    def find(self) -> Path | None:
        for unit in self.units:
            unit.object = self.cache.find_object(unit.key)
        return self.cache.find_library(self.library_key()) if all(u.object for u in self.units) else None

    def library_key(self) -> str:
        return digest("library", [u.object for u in self.units], self.link_key)

    def make(self) -> Path:
        size_limit()  # raises for an invalid LAMELLA_EXTENSIONS_MAX_MB before the build, not after it
        for unit in self.units:
            if unit.source.written:
                with self.cache.words_for_failures():
                    self.cache.write(unit.source.path, unit.source.text)
        with self.cache.workplace(self.keep) as work:
            if self.verbose:
                print(f"building {self.name} in {work}", flush=True)
            try:
                made = self.run(work)
            except CompileError as error:
                if "ccache: error" in error.log:  # for example if ccache has no folder that it can write to
                    made = self.run(work, launcher=())
                elif blamed := self.blamed(error):
                    made = self.run_without(blamed, work)
                else:
                    raise
            except OSError as error:
                with self.cache.words_for_failures():
                    raise error
        self.cache.prune()
        return made

    def run(self, work: Path, launcher: Sequence[str] | None = None, precompiled: bool = True) -> Path:
        """Compiles the missing objects, links, and moves the results into the cache.

        With more than one job, then starts processes that make the precompiled headers of the compiled sources.
        """
        jobs, begun = job_limit(), work.stat().st_ctime_ns
        launcher = find_ccache() if launcher is None else launcher
        ready = [self.cache.object_file(u.object) if u.object else None for u in self.units]
        stale = [n for n, file in enumerate(ready) if file is None]
        steps = [self.units[n].step(work, n, launcher, precompiled) for n in stale]
        output = work / "library" / (self.name.rpartition(".")[2] + ".so")
        objects = [file or work / f"{n}.o" for n, file in enumerate(ready)]
        command = (*self.compiler.command, "-shared", *map(str, objects), *self.link, "-o", str(output))
        link = Step(f"{self.name} does not link", command, output, tuple(objects))
        run_steps([*steps, link], work, jobs=jobs, ninja=find_ninja(), verbose=self.verbose)
        for n in stale:
            unit = self.units[n]
            search = Search(self.compiler, unit.flags)
            found = search.of(unit.source.path, unit.source.text, unit.headers(work, n))
            files, absent = ([f for f in names if not self.cache.holds(f)] for names in found)
            unit.object = self.cache.keep_object(unit.key, work / f"{n}.o", files, absent, begun)
        if jobs > 1:
            wanted = {u.precompiled.key: u.precompiled for n in stale if (u := self.units[n]).precompiled}
            for header in wanted.values():
                header.order()
        return self.cache.keep_library(self.library_key(), output)

    def run_without(self, blamed: Sequence[Precompiled], work: Path) -> Path:
        """Builds again without precompiled headers, and drops the blamed ones if that succeeds."""
        try:
            made = self.run(work, precompiled=False)
        except CompileError as error:
            raise error from None  # the error does not depend on precompiled headers
        for precompiled in blamed:
            precompiled.drop()
        return made

    def blamed(self, error: CompileError) -> list[Precompiled]:
        """Returns the precompiled headers that may have caused an error.

        If the log mentions precompiled headers or an internal compiler error, these are all that were used; else those
        that contain the header with the first error.
        """
        used = [u for u in self.units if u.precompiled and u.used]
        lines = error.log.splitlines()
        number = error_line(lines)
        file = lines[number].strip().partition(":")[0] if number is not None else ""
        suspect = any(mark in error.log for mark in (".gch", "internal compiler error", "PCH"))
        return [u.precompiled for u in used if u.precompiled and (suspect or full(file) in u.used)]


def find_ccache() -> list[str]:
    """Returns the command of ccache, to put before the compiler; empty if it is absent or ``CCACHE_DISABLE`` is set."""
    found = shutil.which("ccache")
    return [found] if found and not os.environ.get("CCACHE_DISABLE") else []


def build_library(name: str, sources: Sequence[str | os.PathLike[str]], **options) -> Path:
    """Builds an extension from files, in the cache; returns the library. The options are those of :class:`Build`."""
    return Build(name, [Source.file(s) for s in sources], **options).library()
