"""The zip of a program that torch saved: members are stored or deflated, and reading is bounded by the file's size."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import lamella
from lamella.serialization.archive import shown
from lamella.serialization.errors import CheckpointError

FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, struct.error, RuntimeError)
SPARE, RATIO = 2**18, 8  # the bytes that deflated members may become: 256 KiB, and 8 for each byte of the file
# The bytes that code and JSON may become, and the forms in them, since each form takes some hundred bytes of memory:
# the numbers for any file, and those for each byte that they have in the file.
TEXT_SPARE, TEXT_RATIO = 2**17, 12
FORMS_SPARE, FORMS_RATIO = 40_000, 2
CHUNK = 2**20
OPERATORS = 10  # the newest version of torch's operators, which files of torch 2.13 have


def opened(f: Any, start: int = 0) -> TorchZip | None:
    """Returns the archive of a program of torch; None for any other file.

    Args:
        f: a path or a binary file object that can seek.
        start: the position in a file object where the archive begins.
    """
    if hasattr(f, "seek"):
        f.seek(start)
    try:
        archive = zipfile.ZipFile(f)
    except (*FAULTS, OSError):
        return None
    made = TorchZip(f, archive)
    if made.kind:
        return made
    archive.close()
    return None


class TorchZip:
    """An archive whose members are all in one folder, the prefix.

    Args:
        f: the path or the file object, for messages.
        archive: the zip.
    """

    def __init__(self, f: Any, archive: zipfile.ZipFile):
        self.file, self._zip = f, archive
        self._members: dict[str, zipfile.ZipInfo] = {}
        self.prefix = next(iter(archive.namelist()), "").partition("/")[0] + "/"
        for info in archive.infolist():
            if info.filename.startswith(self.prefix):
                self._members.setdefault(info.filename[len(self.prefix) :], info)
        self.kind = self._kind()
        self._left, self._text, self._forms = SPARE, TEXT_SPARE, FORMS_SPARE
        self._was_read: set[str] = set()

    def _kind(self) -> str:
        """Returns "pt" or "pt2"; empty for another archive."""
        if "constants.pkl" in self._members and any(name.startswith("code/") for name in self._members):
            return "pt"
        return "pt2" if "archive_format" in self._members or "models/model.json" in self._members else ""

    def check(self) -> None:
        """Raises CheckpointError unless the members are listed once, and have room in the file."""
        file = self._zip.fp
        assert file is not None
        file.seek(0, os.SEEK_END)
        size = file.tell()
        self._left += RATIO * size
        infos = self._zip.infolist()
        if len({info.filename for info in infos}) != len(infos):
            raise self.damage("a member is listed twice")
        if sum(info.compress_size for info in infos) > size:
            raise self.damage("its members have more bytes than the file")
        for name, info in self._members.items():
            if info.flag_bits & 1:
                raise self.damage(f"the member {name!r} is encrypted")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self.damage(f"the member {name!r} is neither stored nor deflated")
            if info.compress_type == zipfile.ZIP_STORED and info.compress_size != info.file_size:
                raise self.damage(f"the member {name!r} is stored with {info.compress_size} bytes of {info.file_size}")
        if "byteorder" in self._members and self.read("byteorder") != b"little":
            raise CheckpointError(
                f"load: {self.name} was written on a machine with big-endian numbers; save it again on one with "
                "little-endian numbers"
            )

    @property
    def name(self) -> str:
        """The file, as messages show it."""
        return shown(self.file)

    @property
    def names(self) -> list[str]:
        """The names of the members, without the prefix."""
        return list(self._members)

    def check_version(self, found: Any) -> int:
        """Returns the version of torch's operators that a file says. Raises CheckpointError for one that is too new."""
        try:
            version = int(found)
        except (TypeError, ValueError):
            raise self.damage(f"the version of its operators is {found!r}") from None
        if version > OPERATORS:
            raise CheckpointError(
                f"load: {self.name} has version {version} of torch's operators; version {OPERATORS} is the newest that "
                "is read here"
            )
        return version

    def damage(self, why: str) -> CheckpointError:
        """Returns the error for a fault of the file."""
        return CheckpointError(f"load: {self.name} is damaged: {why}")

    def size(self, name: str) -> int:
        """Returns the number of a member's bytes."""
        return self._info(name).file_size

    def read(self, name: str) -> bytes:
        """Returns a member's bytes, which are compared with their CRC-32."""
        with self._faults(name), self._zip.open(self._allowed(name)) as file:
            found = file.read()
        if len(found) != self.size(name):
            raise self.damage(f"the member {name!r} has {len(found)} bytes, not {self.size(name)}")
        return found

    def text(self, name: str) -> bytes:
        """Returns the bytes of a member that is code or JSON."""
        info = self._info(name)
        self._text += TEXT_RATIO * info.compress_size - info.file_size
        self._forms += FORMS_RATIO * info.compress_size
        if self._text < 0:
            raise self.damage(
                f"the member {name!r} would have {info.file_size} bytes, too many for its size in the file"
            )
        return self.read(name)

    def check_forms(self, name: str, count: int) -> None:
        """Raises CheckpointError if code or JSON has more forms than its size in the file allows."""
        self._forms -= count
        if self._forms < 0:
            raise self.damage(
                f"the member {name!r} has {count} expressions or parts, too many for its size in the file"
            )

    def flat(self, name: str, mmap: bool = False) -> Any:
        """Returns a member as a tensor of uint8 in host memory."""
        info = self._allowed(name)
        found = lamella.empty(info.file_size, dtype=lamella.uint8)
        at, memory = 0, memoryview(found) if info.file_size else memoryview(b"")  # type: ignore[arg-type]
        with self._faults(name), self._zip.open(info) as file:
            while part := file.read(CHUNK):
                if at + len(part) > info.file_size:
                    raise self.damage(f"the member {name!r} has more than {info.file_size} bytes")
                memory[at : at + len(part)] = part
                at += len(part)
        if at != info.file_size:
            raise self.damage(f"the member {name!r} has {at} bytes, not {info.file_size}")
        return found

    def _info(self, name: str) -> zipfile.ZipInfo:
        if name not in self._members:
            raise self.damage(f"it has no member {name!r}")
        return self._members[name]

    def _allowed(self, name: str) -> zipfile.ZipInfo:
        """Returns a member, after a check that one that is deflated, or read again, has a sane size."""
        info = self._info(name)
        if info.compress_type == zipfile.ZIP_DEFLATED or name in self._was_read:
            self._left -= info.file_size
            if self._left < 0:
                raise self.damage(f"the member {name!r} would have {info.file_size} bytes, too many for the file")
        self._was_read.add(name)
        return info

    @contextmanager
    def _faults(self, name: str) -> Iterator[None]:
        try:
            yield
        except CheckpointError:
            raise
        except FAULTS as error:
            raise self.damage(f"the member {name!r} cannot be read: {error}") from None

    def close(self) -> None:
        """Closes the file, if it was given as a path."""
        self._zip.close()
