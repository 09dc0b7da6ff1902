"""Replaces files in one step: writes a new file beside the old one, and renames the new file to the old one's name.

Note [Atomic files] in core/archive/replacement.h says how; that code makes, locks, renames and removes the new files.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lamella import _C

SUFFIX: str = _C._part_suffix()  # of the names of new files


class OwnFile(io.FileIO):
    """A file that was empty when it was opened, and that has no other writer."""


def remove_unlocked(path: str) -> None:
    """Removes a part whose writer is dead; raises OSError if the writer is alive."""
    _C._remove_unlocked(os.fsencode(path))


def sync_folder(folder: str) -> None:
    """Makes the names of a folder durable; some file systems refuse that, and do not need it."""
    _C._sync_folder(os.fsencode(folder))


def open_through(f: Any) -> Any:
    """Opens a path to write through it, if it names no file that can be replaced: a device, a FIFO, or an open file of
    a process, such as /dev/stdout, which this process continues at its position. Returns None for other paths."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(f).st_mode):
            return open(f, "wb")
    path = os.fsdecode(f)
    while os.path.islink(path):
        folder, name = os.path.split(path)
        if found := re.fullmatch(r"/proc/(\d+)(/task/\d+)?/fd", os.path.realpath(folder)):
            return open(os.dup(int(name)) if int(found[1]) == os.getpid() else f, "wb")
        path = os.path.join(folder, os.readlink(path))
    return None


@contextmanager
def replacing(f: Any, durable: bool = True) -> Iterator[Any]:
    """Opens a binary file to write into. A path is replaced at the end of the block, and is unchanged after an
    exception.

    Args:
        f: a path; or a file object, which is yielded unchanged. The target of a link is replaced. A device, a pipe, and
            a file that a path such as /dev/stdout names by its descriptor, are written to directly.
        durable: waits until the file and its name are on the disk, so that they outlive a loss of power
    """
    if not isinstance(f, (str, bytes, os.PathLike)):
        yield f
        return
    if (through := open_through(f)) is not None:
        with through:
            yield through
        return
    path = os.path.realpath(os.fsdecode(f))  # a link is kept, and its target replaced
    try:
        part = _C._Replacement(os.fsencode(path))
    except OSError as error:
        error.filename = os.fspath(f)
        raise
    try:
        with OwnFile(part.fileno(), "r+b", closefd=False) as file:
            yield file
            part.commit(durable)
    finally:
        part.discard()  # does nothing after a commit
    if durable:
        sync_folder(os.path.dirname(path))
