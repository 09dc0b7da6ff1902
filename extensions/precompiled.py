"""Precompiled headers for g++, in the user's cache: made beside a build if a processor is free, and used from then on.

A source takes part if its first include is one of ``UMBRELLAS``, as that of ``load_inline`` always is. The compiler
itself checks that the flags are the same, and passes over one that does not fit.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .cache import Cache, describe, digest, unchanged
from .steps import Step
from .toolchain import Compiler

UMBRELLAS = ("lattis/extension.h", "lattis/pybind.h", "pybind11/pybind11.h")
BEFORE = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/|#\s*pragma\s+once)*", re.DOTALL)


def umbrella(source: str) -> str | None:
    """The public header that a source begins with.

    >>> umbrella("// ours\\n#include <lattis/extension.h>\\n")
    'lattis/extension.h'
    """
    begun = BEFORE.match(source)
    found = re.compile(r"#\s*include\s*<([\w./]+)>").match(source, begun.end() if begun else 0)
    return found[1] if found and found[1] in UMBRELLAS else None


class Precompiled:
    """One header, precompiled with given flags."""

    def __init__(self, cache: Cache, compiler: Compiler, flags: Sequence[str], header: str):
        self.cache, self.compiler, self.flags, self.header = cache, compiler, tuple(flags), header
        self.key = digest("precompiled", compiler.identity, self.flags, header)
        self.folder = cache.folder / "precompiled" / self.key

    def entry(self) -> dict[str, Any] | None:
        """Its record, if it is there and everything that it was made of is unchanged."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            entry = json.loads((self.folder / "entry.json").read_text())
            made = self.folder / (self.header + ".gch")
            if made.stat().st_size == entry["size"] and unchanged(entry["headers"]):
                self.cache.touch(self.folder / "entry.json")
                return entry
        return None

    def use(self) -> list[str]:
        """The flag that goes before all others."""
        return [f"-I{self.folder}"]

    def step(self, work: Path) -> Step:
        """What makes it, in a workplace."""
        source = work / "precompiled.h"
        source.write_text(f"#include <{self.header}>\n")
        output = work / "precompiled" / (self.header + ".gch")
        depfile = work / "precompiled.d"
        command = (*self.compiler.command, *self.flags, "-MD", "-MF", str(depfile), "-x", "c++-header", str(source))
        return Step("", (*command, "-o", str(output)), output, (source,), optional=True)

    def keep(self, work: Path) -> None:
        """Takes it over from the workplace. Beside it stands a header that passes on to the real one: the compiler
        opens that when the header is included again, or when it passes over what is here."""
        folder = work / "precompiled"
        with suppress(OSError):
            own = str(self.cache.folder)
            headers = [h for h in read_depfile(work / "precompiled.d") if not h.startswith(own)]
            entry = {"size": (folder / (self.header + ".gch")).stat().st_size, "headers": describe(headers)}
            (folder / self.header).write_text(f"#include_next <{self.header}>\n")
            (folder / "entry.json").write_text(json.dumps(entry))
            shutil.rmtree(self.folder, ignore_errors=True)
            folder.rename(self.folder)

    def drop(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def read_depfile(file: Path) -> list[str]:
    """The files that a compiler says it read.

    Raises:
        OSError: there is no such file
    """
    text = file.read_text(errors="surrogateescape").replace("\\\n", " ")
    _, _, rest = text.partition(": ")
    words = re.findall(r"(?:\\.|[^\s\\])+", rest)
    return list(dict.fromkeys(re.sub(r"\\(.)", r"\1", w).replace("$$", "$") for w in words))


