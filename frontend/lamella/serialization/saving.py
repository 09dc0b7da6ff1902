"""Implements ``lamella.save``: writes an object into a file, which is replaced in one step."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella.serialization.archive import ArchiveWriter
from lamella.serialization.atomic import replacing
from lamella.serialization.index import DATA, NAME, indexed
from lamella.serialization.locations import META
from lamella.serialization.options import empty_bytes, skips_data

FORMATS = ("lamella", "torch")


def write(obj: Any, f: Any, format: str, durable: bool) -> None:
    """Does the work of ``lamella.save``, whose other arguments have no effect."""
    if format not in FORMATS:
        raise ValueError(f"save: argument 'format' must be one of {', '.join(FORMATS)}, got {format!r}")
    check_target(f)
    if format == "torch":
        from lamella._torch.files import archive as torch_files

        with replacing(f, durable) as file:
            torch_files.write(obj, file)
        return
    text, storages = indexed(obj)
    with replacing(f, durable) as file:
        write_members(file, text, storages)


def write_members(file: Any, text: bytes, storages: list[tuple[Any, int, str]]) -> None:
    """Writes an index, and the storages that it describes."""
    writer = ArchiveWriter(file, sum(nbytes for _, nbytes, _ in storages))
    writer.add(NAME, text)
    add_storages(writer, 0, storages)
    writer.finish()


def add_storages(writer: ArchiveWriter, first: int, storages: list[tuple[Any, int, str]]) -> None:
    """Writes storages of any device under their numbers; a storage without memory is in the index only."""
    here = ("",) if skips_data() else ("", writer.host)
    run: list[Any] = []  # consecutive storages in host memory
    for number, (data, nbytes, device) in enumerate(storages, first):
        if device in here:
            run.append(data)
            continue
        writer.add_all(DATA, number - len(run), run)
        run.clear()
        if device != META:
            view = _C._storage_view(data, _C.uint8, (nbytes,), (1,), 0)
            writer.add(f"{DATA}{number}", empty_bytes(nbytes) if skips_data() else view.to(writer.host))
    writer.add_all(DATA, first + len(storages) - len(run), run)


def check_target(f: Any) -> None:
    """Raises TypeError if ``f`` is neither a path nor a binary file object to write to."""
    import io
    import os

    if isinstance(f, (str, bytes, os.PathLike)):
        return
    if not hasattr(f, "write"):
        raise TypeError(f"save: argument 'f' must be a path or a file object, got {type(f).__name__}: no write()")
    if isinstance(f, io.TextIOBase):
        raise TypeError("save: argument 'f' is a file of text; open it with 'wb'")
