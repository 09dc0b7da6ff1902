"""Files of other kinds in the zip of a checkpoint: an index with entries of the kind's own, objects of a type of its
own, and members beside the storages. Plugins that save more than tensors use this.

A file has one object, as a checkpoint has. Its index lists the other members under ``members``, with their SHA-256;
``signature.json``, which no entry lists, holds a signature of the index.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

from lamella import _C
from lamella._devices import host
from lamella.serialization.archive import Archive, ArchiveWriter, shown
from lamella.serialization.atomic import replacing
from lamella.serialization.errors import CheckpointError
from lamella.serialization.index import DATA, NAME, Indexer, compact, refusals, tables_of
from lamella.serialization.loading import Checkpoint
from lamella.serialization.locations import META, Locations
from lamella.serialization.saving import add_storages, check_target

__all__ = ["CheckpointError", "Kind", "KindFile", "write_kind"]

SIGNATURE = "signature.json"
HASH = "sha256"


class Kind(NamedTuple):
    """A kind of file."""

    name: str
    """The entry ``format`` of the index."""
    version: int
    """The newest version, which files are written in."""
    objects: type
    """The type of the objects that the files hold beside what checkpoints hold."""
    parts: Callable[[Any], tuple[str, dict[str, Any]]]
    """Returns the name of an object's class, and its attributes."""


def write_kind(
    f: Any,
    kind: Kind,
    obj: Any,
    entries: Callable[[Indexer], dict[str, Any]],
    members: dict[str, bytes],
    *,
    hashes: bool = False,
    sign: Callable[[bytes], bytes] | None = None,
    durable: bool = True,
) -> None:
    """Writes a file of a kind.

    Args:
        f: a path, which is replaced in one step, or a binary file object.
        obj: the object of the file.
        entries: returns the entries of the index that are the kind's own. It gets the encoder of the index, whose
            ``alone`` encodes a value, after the object is encoded.
        members: the bytes of the members besides the index and the storages, by name.
        hashes: whether the index has the SHA-256 of storages, too.
        sign: returns the text of the signature of the index; implies ``hashes``.
        durable: whether to wait for the disk.

    Raises:
        TypeError: a part of the object is of a type that no file holds; the message says where.
        ValueError: the object is nested too deeply.
    """
    check_target(f)
    indexer = Indexer((kind.objects, kind.parts))
    with refusals():
        root = compact(indexer.encode(obj))
        own = entries(indexer)
    listed: dict[str, Any] = {name: {HASH: hashlib.sha256(data).hexdigest()} for name, data in members.items()}
    if hashes or sign:
        for number, (data, nbytes, device) in enumerate(indexer.storages):
            if device != META:
                listed[f"{DATA}{number}"] = {HASH: _hash_of(data, nbytes, device)}
    head = compact({"format": kind.name, "version": kind.version, **own, "members": listed})
    text = f'{head[:-1]},{tables_of(indexer)},"object":{root}}}'.encode()
    with replacing(f, durable) as file:
        size = sum(nbytes for _, nbytes, _ in indexer.storages) + sum(map(len, members.values()))
        writer = ArchiveWriter(file, size + len(text))
        writer.add(NAME, text)
        for name, data in members.items():
            writer.add(name, data)
        add_storages(writer, 0, indexer.storages)
        if sign:
            writer.add(SIGNATURE, sign(text))
        writer.finish()


def _hash_of(data: Any, nbytes: int, device: str) -> str:
    if device == "" or not isinstance(data, _C.Tensor):  # an array of numpy
        return hashlib.sha256(data).hexdigest()
    flat = _C._storage_view(data, _C.uint8, (nbytes,), (1,), 0).detach()
    return hashlib.sha256(memoryview(flat.to(str(host()))) if nbytes else b"").hexdigest()


class KindFile(Checkpoint):
    """An open file of a kind: its index, compared with the members, and the object made from it.

    Args:
        f: a path or a binary file object that can seek.
        kind: the kind that the file has to have.
        make: makes an object from the name of its class and its attributes.
        map_location: where storages are put, as for ``lamella.load``.
        mmap: whether storages in host memory are mapped.
        verify: whether the SHA-256 of every member is compared, which the index must have.
        check: is called with the bytes of the index and of the signature, or None if the file has none, before any part
            of the index is used; it raises if the signature is wrong.

    Raises:
        CheckpointError: the file is of another kind, is damaged, or has a version that is too new.
        OSError: the file cannot be read.
    """

    def __init__(
        self,
        f: Any,
        kind: Kind,
        make: Callable[[str, dict[str, Any]], Any],
        map_location: Any = None,
        mmap: bool = False,
        verify: bool = False,
        check: Callable[[bytes, bytes | None], None] | None = None,
    ):
        self.kind, self.newest, self.objects = kind.name, kind.version, (kind.objects, make)
        archive = Archive(f)
        if NAME not in archive.names:
            raise CheckpointError(f"load: {shown(f)} is an archive of something else: it has no {NAME}")
        text = archive.read(NAME)
        if check is not None:
            check(text, archive.read(SIGNATURE) if SIGNATURE in archive.names else None)
        self.hashed = verify
        super().__init__(archive, Locations(map_location), mmap, verify, text=text)
        if verify:
            self._verify_all()

    @property
    def name(self) -> str:
        """The file, as messages show it."""
        return shown(self.archive.file)

    def find(self, module: Any, name: Any) -> Any:
        raise ValueError("it has a module of Python, as checkpoints alone have")

    def other_members(self) -> set[str]:
        members = self.index["members"]
        if type(members) is not dict or not all(type(m) is dict for m in members.values()):
            raise ValueError("'members' has to be an object of objects")
        if NAME in members or SIGNATURE in members:
            raise ValueError("'members' has the index or the signature")
        for name in members:
            if name not in self.archive.names:
                raise ValueError(f"it describes the member {name!r}, which is not there")
        own = {name for name in members if not name.startswith(DATA)}
        return own | ({SIGNATURE} & set(self.archive.names))

    def member(self, name: str) -> bytes:
        """Returns the bytes of a member, whose SHA-256 is compared with the index.

        Raises:
            CheckpointError: the bytes are not those that were written
        """
        with self.damages():
            listed = self.index["members"]
            if name not in listed:
                raise ValueError(f"'members' has no {name!r}")
            data = self.archive.read(name)
            self._compare_hash(name, data)
        return data

    def _compare_hash(self, name: str, data: Any) -> None:
        found = self.index["members"].get(name, {}).get(HASH)
        if type(found) is not str:
            raise CheckpointError(
                f"load: the index of {self.name} has no SHA-256 of the member {name!r}; save it with hashes=True to "
                "verify it"
            )
        if hashlib.sha256(data).hexdigest() != found:
            raise CheckpointError(f"load: the member {name!r} of {self.name} has another SHA-256 than its index says")

    def _verify_all(self) -> None:
        with self.damages():
            for name in sorted(self.other_members() - {SIGNATURE}):
                self._compare_hash(name, self.archive.read(name))

    def _read(self, number: int) -> Any:
        flat = super()._read(number)
        if self.hashed:
            self._compare_hash(f"{DATA}{number}", memoryview(flat) if self.storages[number][0] else b"")
        return flat

    def value(self, node: Any) -> Any:
        """Returns the value of an entry that the encoder's ``alone`` made."""
        with self.damages():
            return self.rebuilder.alone(node)
