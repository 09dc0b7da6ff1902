"""The errors of building and loading an extension: every message says what was tried and what to do."""

from __future__ import annotations

import errno
from pathlib import Path


class BuildError(RuntimeError):
    """An extension cannot be built or loaded."""


class MissingTool(BuildError):
    """A compiler, a header or another tool is absent, or too old."""


class CompileError(BuildError):
    """A compiler or the linker refused; the message begins with its first error."""

    def __init__(self, what: str, command: str, log: str):
        self.command, self.log = command, log
        super().__init__(f"{what}: {first_error(log)}\n\ncommand: {command}\n\n{shortened(log)}")


class CacheError(BuildError):
    """The cache cannot be used: its folder is full, read-only, or belongs to another user."""


MARKS = (" error: ", ": error:", "fatal error:", "internal compiler error", "undefined reference", "ld: cannot find")
LAST = ("collect2:", "clang: error: linker", "clang++: error: linker")  # say only that there was an error


def first_error(log: str) -> str:
    """The first line of a compiler's output that is an error, else the last line.

    >>> first_error("In file included from a.h\\na.cpp:3:1: error: 'x' was not declared\\nmore")
    "a.cpp:3:1: error: 'x' was not declared"
    """
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for line in lines:
        if any(mark in line for mark in MARKS) and not line.startswith(LAST):
            return line
    return next((line for line in reversed(lines) if not line.startswith(LAST)), lines[-1] if lines else "no output")


def shortened(log: str, most: int = 300) -> str:
    """The log, without its middle where it is very long."""
    lines = log.rstrip().splitlines()
    if len(lines) <= most:
        return "\n".join(lines)
    return "\n".join([*lines[: most - 20], f"... {len(lines) - most} lines ...", *lines[-20:]])


def cache_error(error: OSError, folder: Path) -> CacheError:
    """Turns a failure of the file system into a CacheError that tells the caller of ``load`` what to do."""
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
