"""`lamella config` and `python -m lamella_headers`: print flags and folders, for builds without Python's tools."""

from __future__ import annotations

import argparse
import shlex

from .locations import include_paths, library_paths
from .paths import cmake_path, root


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cflags", action="store_true", help="flags that compile an extension")
    parser.add_argument("--ldflags", action="store_true", help="flags that link it; with --embed, a program")
    parser.add_argument("--includes", action="store_true", help="the folders of the headers, as -I")
    parser.add_argument("--cmake", action="store_true", help="the folder of LamellaConfig.cmake")
    parser.add_argument("--run", action="store_true", help="with --embed: for a program that runs files of jit.save")
    parser.add_argument(
        "--embed", action="store_true", help="flags of a program without Python that runs liblamella.so"
    )


def config(args: argparse.Namespace) -> str:
    """Returns a line for each value that the arguments choose. Without a choice these are, of an extension, all values
    with their names, and of a program (``--embed``) the flags of the compiler and the linker in one line.

    Raises:
        LookupError: a program needs liblamella.so, and only the headers are installed
    """
    includes = [f"-I{path}" for path in include_paths()]
    cflags = [*includes, "-std=c++17", "-O2", *([] if args.embed else ["-fPIC", "-fvisibility=hidden"])]
    ldflags = ["-shared"]
    if args.embed:
        folders = library_paths()
        if not folders:
            raise LookupError(f"there is no liblamella.so in {root()}: a program needs the package lamella itself")
        ldflags = [word for folder in folders for word in (f"-L{folder}", f"-Wl,-rpath,{folder}")] + ["-llamella"]
        if args.run:
            ldflags.append("-llamella_run")
    values = {"includes": includes, "cflags": cflags, "ldflags": ldflags, "cmake": [cmake_path()]}
    chosen = [name for name in values if getattr(args, name)]
    if args.embed and not chosen:
        return shlex.join([*cflags, *ldflags])
    lines = [shlex.join(values[name]) for name in chosen]
    return "\n".join(lines or [f"{name:9} {shlex.join(words)}" for name, words in values.items()])
