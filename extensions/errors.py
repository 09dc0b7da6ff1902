"""The errors of building and loading an extension. A message says what failed, and what to do about it, unless the
compiler's own error says that.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path


class BuildError(RuntimeError):
    """The base class: an extension cannot be built or loaded."""


class MissingTool(BuildError):
    """A compiler, a header or another tool is absent, or too old."""


class CompileError(BuildError):
    """A compiler or the linker failed; the message begins with its first error."""

    def __init__(self, what: str, command: str, log: str):
        self.command, self.log = command, log
        super().__init__(f"{what}: {first_error(log)}\n\ncommand: {command}\n\n{shortened(log)}")


class CacheError(BuildError):
    """The cache cannot be used: for example, its folder is full or read-only, or another user can write to it."""


MARKS = (" error: ", ": error:", "fatal error:", "internal compiler error", "undefined reference", "ld: cannot find")
HERE = "required from here"
LAST = ("collect2:", "clang: error: linker", "clang++: error: linker")  # beginnings of lines that do not name the error


def first_error(log: str) -> str:
    """Returns the first line of a compiler's output that is an error; without one, the last line.

    An error inside a template of an installed header is shown at the line that instantiates the template.

    >>> first_error("In file included from a.h\\na.cpp:3:1: error: 'x' was not declared\\nmore")
    "a.cpp:3:1: error: 'x' was not declared"
    >>> first_error("a.cpp:4:8:   required from here\\n/usr/include/b.h:45:25: error: static assertion failed\\n")
    'a.cpp:4:8: error: static assertion failed (/usr/include/b.h:45:25)'
    """
    lines = log.splitlines()
    found = error_line(lines)
    if found is None:
        said = [line.strip() for line in lines if line.strip()]
        return next((line for line in reversed(said) if not line.startswith(LAST)), said[-1] if said else "no output")
    line = lines[found].strip()
    where, mark, what = line.partition(": error: ")
    asked = asking_line(lines, found)
    return f"{asked}: error: {what} ({where})" if mark and asked and "/include/" in where else line


def error_line(lines: Sequence[str]) -> int | None:
    """Returns the number of the first line that is an error; None if there is none."""
    for number, line in enumerate(lines):
        if any(mark in line for mark in MARKS) and not line.strip().startswith(LAST):
            return number
    return None


def asking_line(lines: Sequence[str], found: int) -> str:
    """Returns the place, FILE:LINE:COLUMN, that instantiates the template with the error; "" without a template."""
    for line in reversed(lines[:found]):  # g++ prints the place before the error
        if HERE in line:
            return line.strip().removesuffix(HERE).rstrip(": ")
        if " error: " in line or " warning: " in line:
            break
    asked = ""
    for line in lines[found + 1 :]:  # clang++ prints it after the error, the outermost last
        if " error: " in line or " warning: " in line:
            break
        if ": note: in instantiation of" in line and line.rstrip().endswith("requested here"):
            asked = line.strip().partition(": note: ")[0]
    return asked


def shortened(log: str, most: int = 300) -> str:
    """Returns the log, without its middle if it is very long."""
    lines = log.rstrip().splitlines()
    if len(lines) <= most:
        return "\n".join(lines)
    return "\n".join([*lines[: most - 20], f"... {len(lines) - most} lines ...", *lines[-20:]])


def cache_error(error: OSError, folder: Path) -> CacheError:
    """Converts an error of the file system to a CacheError that says what to do."""
    reason = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the quota of the disk is used up",
        errno.EFBIG: "a file would be larger than this process may write",
        errno.EROFS: "it is read-only",
        errno.EACCES: "this user may not write there",
        errno.EPERM: "this user may not write there",
    }.get(error.errno or 0, str(error))
    return CacheError(
        f"the cache of extensions {folder} cannot be written: {reason}. Set LAMELLA_EXTENSIONS_DIR to a folder with"
        f" room, or empty it with `lamella extensions clear`"
    )
