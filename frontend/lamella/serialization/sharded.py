"""Checkpoints in a folder of several files. The index, which names the other files, is written last.

Note [Shards]  Every save gives its shards new names, so it changes no shard of the save before; the new index then
  replaces the old one. A save that is killed leaves the old checkpoint intact, and shards and parts of shards that no
  index names, which the next save removes. A save locks the folder (``flock``); another save waits.

After a reader has read the index, it opens the shards, up to MOST_OPEN, and maps or reads them later; an open file
stays readable after its removal. If a shard is gone already, the index has been replaced, and is read again.
"""

from __future__ import annotations

import bisect
import fcntl
import json
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lamella.serialization.archive import Archive, ArchiveWriter, shown
from lamella.serialization.atomic import SUFFIX, remove_unlocked, replacing
from lamella.serialization.errors import CheckpointError
from lamella.serialization.index import DATA, NAME, VERSION, indexed
from lamella.serialization.loading import Checkpoint
from lamella.serialization.locations import META, Locations
from lamella.serialization.saving import add_storages

INDEX = "index.lamella"
SHARD = re.compile(r"shard-([0-9a-f]{16})-\d{5,}-of-\d{5,}\.lamella")
MOST_OPEN = 200  # the most shards that a reader opens right after the index; others are opened at their first use
MOST_TURNS = 10  # the most attempts to read an index that is being replaced
PATIENCE = 600.0  # seconds to wait for other saves
UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def byte_count(size: int | str) -> int:
    """Returns a number of bytes; a text such as "5GB" uses powers of 1000, "5GiB" powers of 1024."""
    if isinstance(size, str) and (found := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)):
        if (unit := found[2].upper()) in UNITS:
            size = int(float(found[1]) * UNITS[unit])
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        raise ValueError(
            "save_sharded: argument 'max_shard_size' must be a number of bytes above 0, or a text such as "
            f"'5GB' or '5GiB', got {size!r}"
        )
    return size


def split(storages: list[tuple[Any, int, str]], most: int) -> list[range]:
    """Returns the numbers of the storages in runs, each of at most ``most`` bytes, or of one storage that is larger."""
    runs, start, held = [], 0, 0
    for number, (_, nbytes, device) in enumerate(storages):
        nbytes = 0 if device == META else nbytes
        if number > start and held + nbytes > most:
            runs.append(range(start, number))
            start, held = number, 0
        held += nbytes
    return [*runs, range(start, len(storages))] if start < len(storages) else runs


def save_sharded(obj: Any, folder: Any, max_shard_size: int | str = "5GB", *, durable: bool = True) -> list[str]:
    """Writes an object into a folder, in files of limited size; ``load_sharded`` reads it.

    The checkpoint that was in the folder is replaced in one step, when the new index replaces the old one; then the old
    shards are removed. A storage that is larger than the limit has a file of its own. A save waits for other saves into
    the same folder.

    Args:
        obj: an object as for ``lamella.save``
        folder: is made if it does not exist
        max_shard_size: the most bytes of tensors in a file, or a text such as "500MB" or "2GiB"
        durable: whether to wait until all is on the disk

    Returns:
        the names of the files, the index first

    Raises:
        TypeError, ValueError, OSError: as ``lamella.save``
        TimeoutError: another save into the folder did not end

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     names = lamella.serialization.save_sharded([lamella.ones(2), lamella.zeros(2)], folder, 8)
    ...     lamella.serialization.load_sharded(folder), len(names)
    ([tensor([1., 1.]), tensor([0., 0.])], 3)
    """
    most = byte_count(max_shard_size)
    text, storages = indexed(obj)
    folder = os.path.realpath(os.fsdecode(folder))
    os.makedirs(folder, exist_ok=True)
    with alone(folder):
        token = os.urandom(8).hex()
        runs = split(storages, most)
        names = [f"shard-{token}-{i:05}-of-{len(runs):05}.lamella" for i in range(1, len(runs) + 1)]
        made: list[str] = []
        try:
            for name, run in zip(names, runs, strict=True):
                made.append(name)
                with replacing(os.path.join(folder, name), durable) as file:
                    writer = ArchiveWriter(file, sum(nbytes for _, nbytes, _ in storages[run.start : run.stop]))
                    head = {"format": "lamella shard", "version": VERSION, "token": token}
                    writer.add(NAME, json.dumps(head).encode())
                    add_storages(writer, run.start, storages[run.start : run.stop])
                    writer.finish()
            index = {**json.loads(text), "shards": [[n, r.start, r.stop] for n, r in zip(names, runs, strict=True)]}
            with replacing(os.path.join(folder, INDEX), durable) as file:
                writer = ArchiveWriter(file)
                writer.add(NAME, json.dumps(index, separators=(",", ":"), allow_nan=False).encode())
                writer.finish()
        except BaseException:
            # A signal, or an error of the disk, may come just after the index was replaced.
            if not are_named(folder, names):
                for name in made:
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))
            raise
        remove_others(folder, names)
    return [INDEX, *names]


@contextmanager
def alone(folder: str) -> Iterator[None]:
    """Keeps other processes and threads from saving into a folder during the block; waits PATIENCE seconds for those
    that do, and then raises TimeoutError."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        end = time.monotonic() + PATIENCE
        while not locked(fd):
            if time.monotonic() > end:
                raise TimeoutError(f"save_sharded: another save into '{folder}' has not ended for {PATIENCE:.0f} s")
            time.sleep(0.02)
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)  # releases the copies that children of fork have, too
        os.close(fd)


def locked(fd: int) -> bool:
    """Locks the folder that is open as ``fd``; returns False if another save has locked it. On a file system without
    locks it does nothing and returns True."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


def are_named(folder: str, names: list[str]) -> bool:
    """Returns whether the present index names these shards."""
    try:
        index = json.loads(Archive(os.path.join(folder, INDEX)).read(NAME))
        return [name for name, _, _ in index["shards"]] == names
    except (OSError, CheckpointError, ValueError, TypeError, LookupError):
        return False


def remove_others(folder: str, names: list[str]) -> None:
    """Removes the shards of other saves, and parts of shards that dead writers have left."""
    for other in os.listdir(folder):
        path = os.path.join(folder, other)
        with suppress(OSError):
            if SHARD.fullmatch(other) and other not in names:
                os.unlink(path)
            elif other.endswith(SUFFIX) and SHARD.match(other, 1):
                remove_unlocked(path)


def opened(path: str, flags: int) -> int:
    """Opens a plain file, and returns its descriptor. Raises CheckpointError for another: a pipe may have no end."""
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise CheckpointError(f"load_sharded: {shown(path)} is no plain file")
    return fd


class Shards:
    """The files of a folder as one archive; each file is checked at the first use of one of its storages."""

    def __init__(self, folder: Any):
        self.folder = os.fsdecode(folder)
        self.file = os.path.join(self.folder, INDEX)
        self.names = [NAME]
        self._runs: list[tuple[int, int, str]] = []  # (begin, end, file) of the runs that are not empty, in their order
        self._files: dict[str, Any] = {}
        self._open: dict[str, Archive] = {}

    def read(self, name: str) -> bytes:
        """Returns the index, and opens the existing ones among the first MOST_OPEN shards that it names."""
        text = b""
        for _ in range(MOST_TURNS):
            before, text = text, Archive(self.file, plain=True).read(name)
            self._runs = self._read_runs(text)
            self.close()
            if self._hold() or text == before:  # if a shard is gone, the index was replaced: again
                break
        return text

    def _read_runs(self, text: bytes) -> list[tuple[int, int, str]]:
        runs = []
        try:
            for file, start, stop in json.loads(text)["shards"]:
                if not SHARD.fullmatch(file) or not 0 <= start <= stop:
                    raise ValueError(f"{file!r} is no shard")
                if start < stop:
                    runs.append((start, stop, file))
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise CheckpointError(f"load_sharded: the index {shown(self.file)} is damaged: {error}") from error
        return sorted(runs)

    def _hold(self) -> bool:
        """Opens the first MOST_OPEN files, so that a later save cannot make them unreadable; returns whether these
        exist."""
        whole = True
        for _, _, file in self._runs[:MOST_OPEN]:
            try:
                path = os.path.join(self.folder, file)
                self._files[file] = open(path, "rb", buffering=0, opener=opened)  # noqa: SIM115
            except FileNotFoundError:
                whole = False
        return whole

    def close(self) -> None:
        """Closes the files from which no storage was read."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _archive(self, name: str) -> Archive:
        number = int(name.removeprefix(DATA))
        at = bisect.bisect_right(self._runs, number, key=lambda run: run[0]) - 1
        if at < 0 or number >= self._runs[at][1]:
            raise CheckpointError(f"load_sharded: {shown(self.file)} has no file for storage {number}")
        file = self._runs[at][2]
        if file not in self._open:
            self._open[file] = self._checked(file)
        return self._open[file]

    def _checked(self, file: str) -> Archive:
        held = self._files.pop(file, None)
        path = os.path.join(self.folder, file)
        try:
            archive = Archive(path if held is None else held, plain=True)
        finally:
            if held is not None:
                held.close()
        archive.file = path
        try:
            token = json.loads(archive.read(NAME))["token"]
        except (ValueError, TypeError, LookupError, RecursionError):
            token = None
        if token != SHARD.fullmatch(file)[1]:  # type: ignore[index]
            raise CheckpointError(f"load_sharded: {shown(archive.file)} is the shard of another checkpoint")
        return archive

    def place(self, name: str) -> tuple[int, int]:
        return self._archive(name).place(name)

    def flat(self, name: str, mmap: bool = False) -> Any:
        return self._archive(name).flat(name, mmap)

    def verify(self, name: str) -> None:
        self._archive(name).verify(name)


class ShardedCheckpoint(Checkpoint):
    """A checkpoint whose storages are compared with the index only when their file is opened."""

    def _compare(self) -> None:
        self.check_storages()

    def _read(self, number: int) -> Any:
        self.check_member(number, self.storages[number][0])
        return super()._read(number)


def load_sharded(
    folder: Any,
    map_location: Any = None,
    *,
    mmap: bool | None = None,
    tensors: Iterable[str] | None = None,
    verify: bool | None = None,
    weights_only: bool | None = None,
) -> Any:
    """Reads a checkpoint of ``save_sharded``. The arguments are those of ``lamella.load``.

    With ``tensors``, only the files of these are read; the others need not exist.

    Raises:
        CheckpointError: a file is damaged, or belongs to another checkpoint
        FileNotFoundError: the folder has no index, or a shard is missing
    """
    shards = Shards(folder)
    try:
        checkpoint = ShardedCheckpoint(shards, Locations(map_location), bool(mmap), verify, weights_only is False)
        try:
            return checkpoint.object() if tensors is None else checkpoint.chosen(tensors)
        finally:
            checkpoint.close()
    finally:
        shards.close()
