"""Extensions in packages, with setuptools: ``CppExtension``, ``CUDAExtension`` and the command ``BuildExtension``.

An extension that only registers operators does not use Python: its library is ``NAME.so`` for every version of Python,
and a package without other compiled parts has one wheel, ``py3-none-PLATFORM``. An extension module has the usual name.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from setuptools import Extension, errors
from setuptools.command.build_ext import build_ext

from .build import Source, find_ccache
from .errors import BuildError
from .inputs import absolute
from .paths import header_path
from .steps import Step, find_ninja, job_limit, run_steps
from .toolchain import compat_paths, compile_flags, defines, find_compiler, flags_for, is_python_source, link_flags


class CppExtension(Extension):
    """A C++ extension for ``ext_modules``.

    Args:
        name: dotted, such as ``package.mine``; the macro LAMELLA_EXTENSION_NAME is its last part
        sources: one file, or several
        extra_compile_args: for the compiler, or ``{"cxx": [...], "nvcc": [...]}``
        cpp_std: the C++ standard
        sanitizers: any of address, leak, thread, undefined
        is_python_module: whether it is an extension module of Python; by default the sources decide
        compat: "torch" for sources written for torch's C++: they then include Lamella's headers by torch's names
    """

    with_cuda = False

    def __init__(
        self,
        name: str,
        sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *args: Any,
        extra_compile_args: Sequence[str] | Mapping[str, Sequence[str]] = (),
        cpp_std: str = "c++17",
        sanitizers: Sequence[str] = (),
        is_python_module: bool | None = None,
        compat: str | None = None,
        **kwargs: Any,
    ):
        files = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
        if not files:
            raise ValueError(f"extension {name!r}: there are no sources")
        defines(name)
        self.std, self.sanitizers, self.python = cpp_std, sanitizers, is_python_module
        self.compat = compat
        compat_paths(compat)
        super().__init__(name, [os.fspath(f) for f in files], *args, **kwargs)
        by_tool = isinstance(extra_compile_args, Mapping)
        if unknown := [key for key in extra_compile_args if key not in ("cxx", "nvcc")] if by_tool else []:
            expected = "argument 'extra_compile_args': expected the keys 'cxx' and 'nvcc'"
            raise ValueError(f"extension {name!r}: {expected}, got {unknown[0]!r}")
        self.extra_compile_args: Any = extra_compile_args if by_tool else list(extra_compile_args)
        self.language = "c++"

    def flags(self, tool: str) -> list[str]:
        """Returns the current ``extra_compile_args`` for "cxx" or "nvcc", to which other commands may have added."""
        given = self.extra_compile_args
        return list(given.get(tool) or ()) if isinstance(given, Mapping) else list(given) if tool == "cxx" else []

    def is_python_module(self) -> bool:
        if self.python is None:
            self.python = any(is_python_source(Source.file(s).text) for s in self.sources)
        return self.python


def relative_places() -> list[str]:
    """Returns flags by which the places of the sources, which messages name, are relative to the package and to the
    headers: a wheel does not carry the paths of the machine that built it."""
    folders = (os.getcwd(), header_path())
    return [f"-ffile-prefix-map={folder}/=" for folder in folders if "," not in folder]  # nvcc splits flags at commas


class CUDAExtension(CppExtension):
    """A CppExtension with CUDA's headers and runtime; sources ending in ``.cu`` are compiled by nvcc."""

    with_cuda = True


class BuildExtension(build_ext):
    """Builds CppExtensions, the sources of each in parallel (``MAX_JOBS``), with ninja only sources that are out of
    date; builds other extensions as setuptools does."""

    required_ninja: bool | None = None
    plain_names = False

    @classmethod
    def with_options(cls, *, use_ninja: bool | None = None, no_python_abi_suffix: bool = False) -> type[BuildExtension]:
        """Returns a command that requires ninja (True) or avoids it (False), and with ``no_python_abi_suffix`` names an
        extension module ``NAME.so``."""
        return type(cls.__name__, (cls,), {"required_ninja": use_ninja, "plain_names": no_python_abi_suffix})

    def run(self) -> None:
        self.name_wheel()
        super().run()

    def name_wheel(self) -> None:
        """Sets the wheel's tag to py3-none-PLATFORM if no extension uses Python. Setuptools does not do that."""
        wheel: Any = self.distribution.get_command_obj("bdist_wheel", create=False)
        mine = all(isinstance(e, CppExtension) and not e.is_python_module() for e in self.extensions)
        if wheel is not None and mine:
            usual = wheel.get_tag
            wheel.get_tag = lambda: ("py3", "none", usual()[2])

    def get_ext_filename(self, fullname: str) -> str:
        extension = self.ext_map.get(fullname) if hasattr(self, "ext_map") else None
        if isinstance(extension, CppExtension) and (self.plain_names or not extension.is_python_module()):
            return os.path.join(*fullname.split(".")) + ".so"
        return super().get_ext_filename(fullname)

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return ext.export_symbols

    def build_extension(self, ext: Extension) -> None:
        if not isinstance(ext, CppExtension):
            super().build_extension(ext)
            return
        work = Path(self.build_temp).absolute() / ext.name
        work.mkdir(parents=True, exist_ok=True)
        ninja = None if self.required_ninja is False else find_ninja(required=bool(self.required_ninja))
        try:
            steps = self.steps(ext, work, Path(self.get_ext_fullpath(ext.name)).absolute())
            run_steps(steps, work, jobs=job_limit(), ninja=ninja, verbose=bool(self.verbose > 1), warn=True)
        except BuildError as error:
            # Flushes the output so far, so that the error comes last. setuptools catches this exception, and goes on if
            # the extension is optional.
            sys.stdout.flush()
            raise errors.CompileError(str(error)) from None

    def steps(self, ext: CppExtension, work: Path, output: Path) -> list[Step]:
        compiler = find_compiler()
        compiler.check_standard(ext.std)
        # Adds the command's own options, such as build_ext -I, but not the folders of Python's headers: setuptools adds
        # them to every command, and few extensions need them.
        python = {sysconfig.get_path("include"), sysconfig.get_path("platinclude"), f"{sys.exec_prefix}/include"}
        include = [*ext.include_dirs, *(d for d in self.include_dirs or () if d not in python)]
        link = [f"-L{d}" for d in (*ext.library_dirs, *(self.library_dirs or ()))]
        link += [f"-l{name}" for name in (*ext.libraries, *(self.libraries or ()))]
        link += [f"-Wl,-rpath,{d}" for d in (*ext.runtime_library_dirs, *(self.rpath or ()))]
        if ext.with_cuda:
            from .cuda import Cuda

            cuda = Cuda.find()
            include += cuda.include_paths
            link += cuda.link_flags()
        defined = (*ext.define_macros, *(self.define or ()))
        macros = [f"-D{n}" if v is None else f"-D{n}={v}" for n, v in defined]
        macros += [f"-U{name}" for name in (*ext.undef_macros, *(self.undef or ()))]
        flags = compile_flags(
            compiler,
            python=ext.is_python_module(),
            std=ext.std,
            sanitizers=ext.sanitizers,
            include=include,
            compat=ext.compat,
            extra=[*relative_places(), *macros, *ext.flags("cxx")],
        )
        flags = absolute([*flags, *defines(ext.name), f'-DLAMELLA_PLUGIN_NAME="{ext.name}"'])
        steps = []
        for number, name in enumerate(ext.sources):
            source, made = Path(name).absolute(), work / f"{number}-{Path(name).stem}.o"
            if source.suffix == ".cu":
                if not ext.with_cuda:
                    raise BuildError(f"extension {ext.name!r}: {name} is a CUDA source; use CUDAExtension")
                command = [cuda.nvcc, *cuda.compile_flags(compiler, flags, ext.std, ext.flags("nvcc"))]
            else:
                command = [*find_ccache(), *compiler.command, *flags_for(source, flags)]
            command += ["-MD", "-MF", f"{made}.d", "-c", str(source), "-o", str(made)]
            inputs = (source, *(Path(d).absolute() for d in ext.depends))
            steps.append(Step(f"{name} does not compile", tuple(command), made, inputs, Path(f"{made}.d")))
        objects = [*(s.output for s in steps), *(Path(o).absolute() for o in ext.extra_objects)]
        link = absolute(link_flags(compiler, sanitizers=ext.sanitizers, extra=[*link, *ext.extra_link_args]))
        command = [*compiler.command, "-shared", *map(str, objects), *link, "-o", str(output)]
        return [*steps, Step(f"{ext.name} does not link", tuple(command), output, tuple(objects))]
