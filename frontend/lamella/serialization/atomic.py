"""Replaces files in one step: writes a new file beside the old one, and renames the new file to the old one's name.

Note [Atomic files]  The new file is written under a name of its own in the folder of the old one,
  ``.NAME.RANDOM.lamella-part``. Its writer holds a lock on it (``flock``) until it is renamed or removed. The system
  releases the lock when the process ends in any way, so a part without a lock was left by a dead writer, and the next
  save of the same file removes it. A file without a name (``O_TMPFILE``) would leave nothing behind, but ``rename``,
  which alone replaces a file, needs a name; and not every file system has it. Two writers of one file have two parts;
  the one that is renamed last stays.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

SUFFIX = ".lamella-part"


class OwnFile(io.FileIO):
    """A file that was empty when it was opened, and that has no other writer."""


def stem(name: str) -> str:
    """Returns the prefix of the names of a file's parts. It has a digest in place of a file's name that is so long that
    the name of a part would be too long."""
    if len(os.fsencode(name)) > 180:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return f".{name}."


def same_file(fd: int, path: str) -> bool:
    """Returns whether a path names the file that is open as ``fd``."""
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    here = os.fstat(fd)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def open_part(folder: str, name: str) -> tuple[OwnFile, str]:
    """Makes a new part, locked; returns it and its path."""
    while True:
        path = os.path.join(folder, stem(name) + os.urandom(4).hex() + SUFFIX)
        try:
            part = OwnFile(path, "x+b")
        except FileExistsError:
            continue
        with suppress(OSError):  # a file system without locks, where remove_unlocked() removes no part
            fcntl.flock(part.fileno(), fcntl.LOCK_EX)
        if same_file(part.fileno(), path):
            return part, path
        part.close()  # another save removed it before it was locked


def remove_stale(folder: str, name: str) -> None:
    """Removes the parts of a file that dead writers have left."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX) and entry.name.startswith(stem(name)):
                with suppress(OSError):
                    remove_unlocked(entry.path)


def remove_unlocked(path: str) -> None:
    """Removes a part whose writer is dead; raises OSError if the writer is alive."""
    fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if its writer is alive
        if same_file(fd, path):
            os.unlink(path)
    finally:
        os.close(fd)


def sync_folder(folder: str) -> None:
    """Makes the names of a folder durable; some file systems refuse that, and do not need it."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            os.fsync(fd)
    finally:
        os.close(fd)


def _keep_mode(part: OwnFile, old: os.stat_result) -> None:
    """Gives a new file the mode of the file that it replaces, and the owner if the system allows that."""
    new = os.fstat(part.fileno())
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):
            os.fchown(part.fileno(), old.st_uid, old.st_gid)
    if stat.S_IMODE(new.st_mode) != stat.S_IMODE(old.st_mode):
        os.fchmod(part.fileno(), stat.S_IMODE(old.st_mode))


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
    old = None
    with suppress(FileNotFoundError):
        old = os.stat(path)
    folder, name = os.path.split(path)
    remove_stale(folder, name)
    try:
        part, part_path = open_part(folder, name)
    except OSError as error:
        error.filename = os.fspath(f)
        raise
    with part:
        try:
            if old is not None:
                _keep_mode(part, old)
            yield part
            if durable:
                os.fsync(part.fileno())
            os.rename(part_path, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(part_path)
            raise
    if durable:
        sync_folder(folder)
