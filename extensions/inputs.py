"""The inputs of a compilation besides its source: files named by flags, headers that it read, and absent files, which
it would have read in place of a header if they had existed.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from .cache import digest_of
from .toolchain import Compiler, default_folders, environment, full, processor

FOLDER = ("-I", "-L", "-isystem", "-iquote", "-idirafter")
HEADER = ("-include", "-imacros")  # their values are paths or, if no such file exists, names of headers
# Pairs of an option and a variable whose folders a compiler searches for headers, in the order of the search.
SEARCHED = (("-iquote", ""), ("-I", "CPATH"), ("-isystem", "CPLUS_INCLUDE_PATH"))
QUOTED = re.compile(r'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*"([^"\n]+)"', re.MULTILINE)
ASKED = re.compile(r'__has_include(?:_next)?\s*\(\s*(?:"([^"\n]+)"|<([^>\n]+)>)')


def absolute(flags: Sequence[str]) -> list[str]:
    """Returns the flags with absolute paths, each path in one word with its option.

    >>> absolute(["-I", "/usr/include", "-L/usr/lib", "-O2"])
    ['-I/usr/include', '-L/usr/lib', '-O2']
    """
    made: list[str] = []
    words = iter(flags)
    for flag in words:
        option = next((o for o in (*FOLDER, *HEADER) if flag.startswith(o)), None)
        if option is None:
            made.append(flag)
            continue
        path = flag[len(option) :] or next(words, "")
        made.append(option + (full(path) if option in FOLDER or os.path.exists(path) else path))
    return made


def parts(flag: str) -> list[str]:
    """Returns the words that a flag passes to the linker; for another flag, the flag itself."""
    return flag.split(",")[1:] if flag.startswith(("-Wl,", "-Xlinker,")) else [flag]


def expanded(flags: Sequence[str], within: tuple[str, ...] = ()) -> list[str]:
    """Returns the flags. After a response file come the flags in it, also those in nested response files."""
    found: list[str] = []
    for flag in flags:
        found.append(flag)
        for file in (full(word[1:]) for word in parts(flag) if word.startswith("@")):
            if file not in within and os.path.isfile(file):
                text = Path(file).read_text(errors="surrogateescape")
                try:
                    words = shlex.split(text)
                except ValueError:  # the compiler will report unbalanced quotes
                    words = text.split()
                found += expanded(words, (*within, file))
    return found


def files_of(flags: Sequence[str]) -> list[str]:
    """Returns the files that flags name: by path, in a response file, for the linker, or by -l in a folder of -L or of
    ``LIBRARY_PATH``."""
    flags = expanded(flags)
    folders = [f[2:] for f in absolute(flags) if f.startswith("-L")] + environment().get("LIBRARY_PATH", "").split(":")
    found: list[str] = []
    for word in (word for flag in flags for word in parts(flag)):
        if word.startswith("-l"):
            name = word[2:]
            names = [name[1:]] if name.startswith(":") else [f"lib{name}.so", f"lib{name}.a"]
            found += [os.path.join(folder, n) for folder in folders for n in names]
        else:
            found += [word.removeprefix("@"), *([word.partition("=")[2]] if "=" in word else [])]
    return [full(f) for f in dict.fromkeys(found) if os.path.isfile(f)]


def given(flags: Sequence[str]) -> list:
    """Returns values for a key: the flags, the files that they name, and the processor if a flag depends on it."""
    native = any(f.startswith(("-march=native", "-mtune=native", "-mcpu=native")) for f in expanded(flags))
    return [list(flags), [[f, digest_of(f)] for f in files_of(flags)], processor() if native else ""]


def read_depfile(file: Path) -> list[str]:
    """Returns the files that a compiler has read, from its dependency file.

    Raises:
        OSError: there is no such file
    """
    text = file.read_text(errors="surrogateescape").replace("\\\n", " ")
    _, _, rest = text.partition(": ")
    words = re.findall(r"(?:\\.|[^\s\\])+", rest)
    return list(dict.fromkeys(re.sub(r"\\(.)", r"\1", w).replace("$$", "$") for w in words))


class Search:
    """The folders that a compiler searches for headers, in order, after the folder of the file that includes them."""

    def __init__(self, compiler: Compiler, flags: Sequence[str]):
        words = absolute(expanded(flags))
        self.own = [path for option, name in SEARCHED for path in self.named(words, option, name)]
        self.default = default_folders(compiler.command, tuple(words))
        self.folders = [*self.own, *self.default, *self.named(words, "-idirafter", "")]

    @staticmethod
    def named(words: Sequence[str], option: str, variable: str) -> list[str]:
        paths = [w[len(option) :].removeprefix("=") for w in words if w.startswith(option)]  # nvcc: -isystem=PATH
        return [p.rstrip("/") for p in (*paths, *environment().get(variable, "").split(":")) if p]

    def of(self, source: Path, text: str, headers: Sequence[str]) -> tuple[list[str], list[str]]:
        """Returns the inputs of a compilation that read these headers: existing files, and absent paths.

        An absent path ends at its first missing folder, which stands for all files inside it.
        """
        files, wanted = list(headers), [p for h in headers for p in self.before(h, str(source.parent))]
        system = tuple(f + "/" for f in self.default)
        texts = {str(source): text}
        for header in headers:
            with suppress(OSError):  # the header was removed; ``describe`` will raise for it
                if not header.startswith(system):
                    texts[header] = Path(header).read_text(errors="replace")
        for file, said in texts.items():
            beside = os.path.dirname(file)
            wanted += [os.path.join(beside, name) for name in QUOTED.findall(said)]
            for quoted, other in ASKED.findall(said):
                places = [beside] * bool(quoted) + self.folders
                candidates = [os.path.join(p, quoted or other) for p in places]
                there = next((n for n, c in enumerate(candidates) if os.path.exists(c)), len(candidates))
                wanted += candidates[:there]
                files += filter(os.path.isfile, candidates[there : there + 1])
        return list(dict.fromkeys(files)), missing(wanted)

    def before(self, header: str, beside: str) -> Iterator[str]:
        """Yields the paths that a compiler tried before it found a header, for each folder that may contain it."""
        folders = [beside, *self.folders]
        for n, folder in enumerate(folders):
            if header.startswith(folder + "/"):
                yield from (earlier + header[len(folder) :] for earlier in folders[:n])


def missing(paths: Sequence[str]) -> list[str]:
    """Returns the paths that do not exist, each shortened to its first missing folder."""
    exists = cache(os.path.exists)
    found: dict[str, None] = {}
    for path in dict.fromkeys(paths):
        if not exists(path):
            while not exists(above := os.path.dirname(path)):
                path = above
            found[path] = None
    return list(found)
