"""A zip of raw members as a reader and a writer of checkpoints use it; the native reader does the parsing."""

from __future__ import annotations

from typing import Any


class Archive:
    """A zip of stored members in a path or a file object that can seek. Raises CheckpointError where it is none."""

    def __init__(self, f: Any): ...

    names: list[str]  # in the order of the central directory

    def size(self, name: str) -> int:
        """The bytes of a member."""
        raise NotImplementedError

    def read(self, name: str) -> bytes:
        """A member, verified against its CRC-32."""
        raise NotImplementedError

    def storage(self, name: str, mmap: bool = False) -> Any:
        """A member as an UntypedStorage on "cpu", verified unless it is mapped."""
        raise NotImplementedError


class ArchiveWriter:
    """Writes a zip of stored members, each aligned to 64 bytes, into what ``atomic.replacing`` gives."""

    def __init__(self, sink: Any): ...

    def add(self, name: str, data: Any) -> None:
        """Adds a member: bytes, or an UntypedStorage on a device that the host reads."""

    def finish(self) -> None:
        """Writes the central directory."""
