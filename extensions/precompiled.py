"""Precompiled headers for g++, in the user's cache: a background process makes them after a build.

A source uses a precompiled header, if there is one, if it begins with an include of one of ``UMBRELLAS``, or with
``compat`` of ``OF_TORCH``; sources of ``load_inline`` always do. The compiler itself compares the flags, and ignores a
precompiled header that was made with other flags.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .cache import Cache, describe, digest, unchanged, unlock
from .inputs import Search, read_depfile
from .steps import Step, run_steps
from .toolchain import Compiler, full

UMBRELLAS = ("lamella/extension.h", "lamella/library.h", "lamella/pybind.h")
# Further such headers for sources with ``compat``; they include Lamella's own.
OF_TORCH = ("torch/extension.h", "torch/library.h", "torch/all.h", "torch/torch.h", "ATen/ATen.h")
# A program that imports this file without the package above it, so that the framework is not imported.
MAKER = """
import importlib.util, sys
from pathlib import Path
here = Path(sys.argv[1])
spec = importlib.util.spec_from_file_location("helper", here / "__init__.py", submodule_search_locations=[str(here)])
sys.modules["helper"] = importlib.util.module_from_spec(spec)
from helper.precompiled import make
make(*sys.argv[2:])
"""
BEFORE = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/|#\s*pragma\s+once)*", re.DOTALL)


def umbrella(source: str, compat: str | None = None) -> str | None:
    """Returns the public header that a source begins with, or None; with ``compat`` it may have one of torch's names.

    >>> umbrella("// ours\\n#include <lamella/extension.h>\\n")
    'lamella/extension.h'
    """
    begun = BEFORE.match(source)
    found = re.compile(r"#\s*include\s*<([\w./]+)>").match(source, begun.end() if begun else 0)
    known = (*UMBRELLAS, *OF_TORCH) if compat else UMBRELLAS
    return found[1] if found and found[1] in known else None


class Precompiled:
    """One header, precompiled with given flags."""

    def __init__(self, cache: Cache, compiler: Compiler, flags: Sequence[str], header: str):
        self.cache, self.compiler, self.flags, self.header = cache, compiler, tuple(flags), header
        self.key = digest("precompiled", compiler.identity, self.flags, header)
        self.folder = cache.folder / "precompiled" / self.key

    def entry(self) -> dict[str, Any] | None:
        """Returns the contents of entry.json; None if there is no precompiled header or its inputs have changed."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            entry = json.loads((self.folder / "entry.json").read_text())
            made = self.folder / (self.header + ".gch")
            if made.stat().st_size == entry["size"] and unchanged(entry["headers"], entry["absent"]):
                self.cache.touch(self.folder / "entry.json")
                return entry
        return None

    def use(self) -> list[str]:
        """Returns a compiler's flag for the precompiled header, which must come before all other flags."""
        return [f"-I{self.folder}"]

    def order(self) -> None:
        """Starts a process that makes the precompiled header, unless it exists. The process has a low priority and may
        outlive this one."""
        if self.entry():
            return
        words = [sys.executable, "-I", "-c", MAKER, str(Path(__file__).parent), str(self.cache.folder), self.header]
        command = shlex.join([*words, self.compiler.identity, *self.compiler.command, "--", *self.flags])
        with suppress(OSError):  # builds work without the precompiled header
            nothing = subprocess.DEVNULL
            detached = ["sh", "-c", f"nice -n 10 {command} &"]
            subprocess.run(detached, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)

    def make(self) -> None:
        """Makes the precompiled header in this process, unless it exists or another process is making it."""
        self.cache.prepare()
        lock = self.cache.open_lock(self.cache.folder / "locks" / self.key, wait=False)
        if lock is None:
            return
        try:
            if not self.entry():
                with self.cache.workplace() as work:
                    run_steps([self.step(work)], work, jobs=1, ninja=None)
                    self.keep(work)
        finally:
            (self.cache.folder / "locks" / self.key).unlink(missing_ok=True)
            unlock(lock)

    def step(self, work: Path) -> Step:
        source = work / "precompiled.h"
        source.write_text(f"#include <{self.header}>\n")
        output = work / "precompiled" / (self.header + ".gch")
        depend = ("-MD", "-MF", str(work / "precompiled.d"))
        command = (*self.compiler.command, *self.flags, *depend, "-x", "c++-header", str(source), "-o", str(output))
        return Step(f"{self.header} does not compile", command, output, (source,))

    def keep(self, work: Path) -> None:
        """Moves the precompiled header from the workplace into the cache, and beside it a header of the same name.

        That header includes the real one. The compiler reads it if it rejects the precompiled header, or if a source
        includes the header again.
        """
        folder = work / "precompiled"
        headers = [h for h in map(full, read_depfile(work / "precompiled.d")) if not self.cache.holds(h)]
        headers, absent = Search(self.compiler, self.flags).of(work / "precompiled.h", "", headers)
        size = (folder / (self.header + ".gch")).stat().st_size
        absent = [f for f in absent if not self.cache.holds(f)]
        entry = {"size": size, "headers": describe(headers), "absent": absent}
        (folder / self.header).write_text(f"#include_next <{self.header}>\n")
        (folder / "entry.json").write_text(json.dumps(entry))
        shutil.rmtree(self.folder, ignore_errors=True)
        folder.rename(self.folder)
        self.cache.prune()

    def drop(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def make(cache: str, header: str, identity: str, *words: str) -> None:
    """Makes a precompiled header; called by MAKER. ``words`` are the compiler's command, ``--``, and the flags."""
    if not os.path.isdir(cache):  # the cache was a temporary folder, which has been removed
        return
    end = words.index("--")
    compiler = Compiler(words[:end], "gcc", (), identity)
    Precompiled(Cache(cache), compiler, words[end + 1 :], header).make()
