"""Runs a program as python does, with the same ``__main__``, ``sys.argv``, ``sys.path``, tracebacks and exit status."""

from __future__ import annotations

import os
import signal
import sys
import zipfile
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

import lamella._torch.run.names as names
from lamella._torch.run.names import stand_in


@dataclass
class Program:
    """A program to run: a script, or a module with its spec."""

    path: str  # sys.argv[0]
    folder: str  # the first entry of sys.path
    spec: ModuleSpec | None = None

    @property
    def file(self) -> str:
        """The value of ``__file__``: the absolute path, not normalized, as in python."""
        return os.path.join(os.getcwd(), self.path)

    def code(self) -> CodeType:
        """Returns the compiled program."""
        if self.spec is None:
            with open(self.file, "rb") as file:
                return compile(file.read(), self.file, "exec", dont_inherit=True)
        loader: Any = self.spec.loader
        return loader.get_code(self.spec.name)

    def module(self) -> ModuleType:
        """Makes the module ``__main__`` of the program."""
        main: Any = ModuleType("__main__")
        main.__builtins__ = sys.modules["builtins"]
        main.__annotations__ = {}
        main.__spec__ = self.spec
        main.__cached__ = None
        if self.spec is None:
            main.__file__ = self.file
            main.__loader__ = SourceFileLoader("__main__", self.file)
        else:
            main.__file__ = self.spec.origin
            main.__loader__, main.__package__ = self.spec.loader, self.spec.parent
            main.__cached__ = self.spec.cached
        return main


def find_script(path: str) -> Program | str:
    """Returns the program of a file, a folder or a zip; or python's error text as a str."""
    if os.path.isdir(path) or (os.path.isfile(path) and zipfile.is_zipfile(path)):
        found = PathFinder.find_spec("__main__", [os.path.abspath(path)])
        return Program(path, os.path.abspath(path), found) if found else f"can't find '__main__' module in {path!r}"
    if not os.path.isfile(path):
        return f"can't open file {os.path.abspath(path)!r}: [Errno 2] No such file or directory"
    return Program(path, str(Path(path).resolve().parent))


def _find_unrun(name: str) -> ModuleSpec | None:
    """Returns the spec of a module without importing the packages around it."""
    path: Any = None
    spec = None
    parts = name.split(".")
    for i in range(len(parts)):
        spec = PathFinder.find_spec(".".join(parts[: i + 1]), path)
        if spec is None or (spec.submodule_search_locations is None and i + 1 < len(parts)):
            return None
        path = spec.submodule_search_locations
    return spec


def find_module(name: str, imports: bool = True) -> Program | str:
    """Returns the program of ``-m``; or python's error text as a str.

    As in python, the packages around the module are imported; with ``imports=False`` no code of the program runs.
    """
    folder = os.getcwd()
    _first_on_path(folder)
    stand_in()  # a package around the module may import torch
    find = find_spec if imports else _find_unrun
    try:
        spec = find(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            inner = find(name)
            if inner is None:
                return f"No module named {name}; {name[:-9]!r} is a package and cannot be directly executed"
            spec = inner
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        return f"Error while finding module specification for {name!r} ({type(error).__name__}: {error})"
    if spec is None:
        return f"No module named {name}"
    if spec.loader is None or not hasattr(spec.loader, "get_code"):
        return f"No code object available for {name}"
    return Program(spec.origin or name, folder, spec)


def _first_on_path(folder: str) -> None:
    """Makes a folder the first entry of ``sys.path``, in place of the folder of the command ``lamella``."""
    if getattr(sys.flags, "safe_path", False):
        return
    here = {os.path.realpath(p) for p in (os.getcwd(), os.path.dirname(sys.argv[0]) or ".")}
    if sys.path and (sys.path[0] == "" or os.path.realpath(sys.path[0]) in here):
        sys.path[0] = folder
    else:
        sys.path.insert(0, folder)


def run(program: Program, arguments: list[str]) -> int:
    """Runs a program with Lamella as torch; returns the exit status. SystemExit is not caught."""
    stand_in()
    code: CodeType | None = None
    try:
        code = program.code()
        _first_on_path(program.folder)
        sys.argv = [program.path, *arguments]
        main = program.module()
        sys.modules["__main__"] = main
        exec(code, vars(main))
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is not code:
            trace = trace.tb_next
        error.__traceback__ = trace
        _without_finders(trace)
        sys.excepthook(type(error), error, trace)
        if isinstance(error, KeyboardInterrupt):  # the parent process must see a death by SIGINT
            sys.stdout.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        return 1
    return 0


def _without_finders(trace: TracebackType | None) -> None:
    """Removes the frames of ``names.py``, which the import system called, from the end of a traceback."""
    while trace is not None and trace.tb_next is not None:
        if trace.tb_next.tb_frame.f_code.co_filename == names.__file__:
            trace.tb_next = None
        trace = trace.tb_next
