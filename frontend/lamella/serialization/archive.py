"""Archive and ArchiveWriter: the zip file of a checkpoint. The parsing is native, and trusts nothing in the file."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lamella import _C
from lamella._devices import host
from lamella._storage import UntypedStorage
from lamella.serialization.atomic import OwnFile
from lamella.serialization.errors import CheckpointError, EmptyFileError


def shown(f: Any) -> str:
    """Returns a path or a file object as text for messages."""
    if isinstance(f, (str, bytes, os.PathLike)):
        return repr(os.fsdecode(f))
    return repr(name) if isinstance(name := getattr(f, "name", None), str) else f"a {type(f).__name__}"


def fault_of(f: Any, fault: Exception) -> CheckpointError:
    """Returns the error for a fault that the native reader found; it names the file."""
    return CheckpointError(f"load: {shown(f)} is damaged or no checkpoint: {fault}")


@contextmanager
def faults_of(f: Any) -> Iterator[None]:
    """Turns faults of the native reader into errors that name the file."""
    try:
        yield
    except _C._ArchiveFault as fault:
        raise fault_of(f, fault) from None


def descriptor(f: Any) -> tuple[int, int] | None:
    """Returns the descriptor and the position of a file object over a plain file, after a flush if it can be written
    to; None for any other object."""
    if not isinstance(f, (io.FileIO, io.BufferedReader, io.BufferedRandom)):
        return None
    raw = f if isinstance(f, io.FileIO) else f.raw
    if type(raw) not in (io.FileIO, OwnFile) or not stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
        return None
    if f.writable():
        f.flush()
    return raw.fileno(), f.tell()


class Archive:
    """A zip of stored members, from a path or from a binary file object that can seek.

    Args:
        plain: refuses a path of anything but a plain file, since a pipe may never end

    Raises:
        CheckpointError: the file is no archive (the error says what it seems to be), is damaged or, with ``plain``, is
            no plain file
        OSError: the file cannot be opened or read
        TypeError: ``f`` is neither a path nor a binary file object with read(), seek() and tell()
    """

    def __init__(self, f: Any, plain: bool = False):
        self.file = f
        if not isinstance(f, (str, bytes, os.PathLike)):
            self._of_object(f)
            return
        fd = os.open(f, os.O_RDONLY | os.O_CLOEXEC | (os.O_NONBLOCK if plain else 0))
        try:
            kind = os.fstat(fd).st_mode
            if stat.S_ISDIR(kind):
                raise IsADirectoryError(21, "Is a directory; load_sharded reads a folder of shards", os.fspath(f))
            if stat.S_ISREG(kind):
                with open(fd, "rb", closefd=False) as file:
                    self._native = self._opened(file, fd)
            elif plain:
                raise CheckpointError(f"load: {shown(f)} is no plain file")
            else:
                with open(fd, "rb", closefd=False) as stream:  # a pipe can be read only once
                    content = io.BytesIO(stream.read())
                self._native = self._opened(content, content)
        finally:
            os.close(fd)

    def _of_object(self, f: Any) -> None:
        for name in ("read", "seek", "tell"):
            if not hasattr(f, name):
                raise TypeError(
                    f"load: argument 'f' must be a path or a file object, got {type(f).__name__}: no {name}()"
                )
        if isinstance(f, io.TextIOBase):
            raise TypeError("load: argument 'f' is a file of text; open it with 'rb'")
        self._native = self._opened(f, *(descriptor(f) or (f,)))

    def _opened(self, file: Any, *source: Any) -> Any:
        """Returns the native reader of ``source``. ``file`` is over the same bytes, at the beginning of the archive; if
        the reader finds a fault, the error says what ``file`` seems to be."""
        start = file.tell()
        try:
            return _C._Archive(*source)
        except _C._ArchiveFault as fault:
            file.seek(start)
            raise not_an_archive(file, shown(self.file), fault_of(self.file, fault)) from None

    @property
    def names(self) -> list[str]:
        """The names of the members, in the order of the directory."""
        return self._native.names()

    def place(self, name: str) -> tuple[int, int]:
        """Returns the offset of a member's bytes in the file, and their number."""
        try:
            return self._native.place(name)
        except _C._ArchiveFault as fault:
            raise fault_of(self.file, fault) from None

    def offset(self, name: str) -> int:
        """Returns the offset of a member's bytes in the file."""
        return self.place(name)[0]

    def size(self, name: str) -> int:
        """Returns the number of a member's bytes."""
        return self.place(name)[1]

    def read(self, name: str) -> bytes:
        """Returns a member's bytes, verified by its CRC-32."""
        with faults_of(self.file):
            return self._native.read(name)

    def flat(self, name: str, mmap: bool = False, aligned: int = 64) -> _C.Tensor:
        """Returns a member as a tensor of uint8 in host memory, verified unless it is mapped.

        A member that is to be mapped, but is not at a multiple of ``aligned`` bytes, is read instead.
        """
        try:
            return self._native.storage(name, mmap, aligned)
        except _C._ArchiveFault as fault:
            raise fault_of(self.file, fault) from None

    def storage(self, name: str, mmap: bool = False, aligned: int = 64) -> UntypedStorage:
        """Returns a member as a storage; see ``flat``."""
        return UntypedStorage(self.flat(name, mmap, aligned))

    def verify(self, name: str) -> None:
        """Raises CheckpointError if the checksum of a member's bytes does not match."""
        with faults_of(self.file):
            self._native.verify(name)


class ArchiveWriter:
    """Writes a zip file of stored members, each aligned to 64 bytes, into the file that ``atomic.replacing`` gives.

    ``expected`` is the approximate sum of the members' bytes.
    """

    def __init__(self, sink: Any, expected: int = 0):
        self.host = str(host())  # the device whose memory is written directly
        self._native = _C._ArchiveWriter(sink.fileno() if isinstance(sink, OwnFile) else sink, expected)

    def add(self, name: str, data: Any) -> None:
        """Adds a member: bytes, the bytes of a storage, or all bytes of a tensor's storage, in the host's memory."""
        self._native.add(name, data._bytes if isinstance(data, UntypedStorage) else data)

    def add_all(self, prefix: str, first: int, data: list[Any]) -> None:
        """Adds members named by a prefix and a number, from ``first`` on; each is data as for ``add``."""
        self._native.add_all(prefix, first, data)

    def finish(self) -> None:
        """Writes the directory; afterwards no member can be added."""
        self._native.finish()


def not_an_archive(file: Any, name: str, fault: CheckpointError) -> CheckpointError:
    """Returns the error for a file that the native reader refused: it names the known format that the file seems to
    have; otherwise it is ``fault``."""
    start = file.tell()
    first = file.read(16)
    file.seek(start)
    if not first:
        return EmptyFileError(f"load: {name} is empty")
    if first[:1] == b"\x80":
        return CheckpointError(
            f"load: {name} is a pickle, which could run any code, and is not read; save it again by a torch of "
            "version 1.6 or later, with torch.save(torch.load(...), ...)"
        )
    if first[8:9] == b"{" and int.from_bytes(first[:8], "little") < 2**32:
        return CheckpointError(
            f"load: {name} seems to be a file of safetensors; read it by lamella.serialization.load_safetensors"
        )
    return fault
