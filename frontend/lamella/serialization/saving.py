"""``save``: writes an object into a file, which is replaced whole."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella.serialization.archive import ArchiveWriter
from lamella.serialization.atomic import replacing
from lamella.serialization.index import DATA, NAME, indexed
from lamella.serialization.locations import META

FORMATS = ("lamella", "torch")


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: Any = None,
    _use_new_zipfile_serialization: bool = True,
    *,
    format: str = "lamella",
    durable: bool = True,
) -> None:
    """Writes tensors, and plain containers of them, into a file that ``load`` reads.

    A file is replaced in one step: whoever reads it, and whenever the writer is killed, finds the old one or the new
    one. Of tensors that share memory, the memory is saved once and goes on being shared; a view takes all of its
    storage along, so save ``x.clone()`` for a small part of a large one. Of numpy's arrays each is saved on its own:
    views of one array are arrays of their own when they are loaded. The same object gives the same bytes.

    Args:
        obj: None, bool, int, float, complex, str, bytes; tensors, parameters, storages; list, tuple, dict, set,
            ``collections``' OrderedDict, defaultdict, Counter and deque, argparse.Namespace; dtypes, devices, sizes,
            generators; numbers and arrays of numpy. Of modules and optimizers save ``state_dict()``.
        f: a path, or a binary file object, which is written from where it stands
        pickle_module: and the two arguments behind it are accepted and mean nothing: there is no pickle
        format: "lamella" (docs/checkpoint_format.md), or "torch", which torch reads
        durable: waits until the file is on the disk, so that it outlives a loss of power. Without it, it still is
            replaced in one step for every process; but a loss of power within the next half minute may leave a file
            that ``load`` refuses, and not the old one.

    Raises:
        TypeError: a part of ``obj`` is of another kind; the message says where it is. Nothing is written then.
        ValueError: the format is unknown, or the object is nested too deeply
        OSError: the file cannot be written. The old one is as it was.

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.save({"step": 3, "weight": lamella.ones(2)}, file)
    >>> file.seek(0)
    0
    >>> lamella.load(file)
    {'step': 3, 'weight': tensor([1., 1.])}
    """
    if format not in FORMATS:
        raise ValueError(f"save: argument 'format' must be one of {', '.join(FORMATS)}, got {format!r}")
    check_target(f)
    if format == "torch":
        from lamella.serialization import torch_files

        with replacing(f, durable) as file:
            torch_files.write(obj, file)
        return
    text, storages = indexed(obj)
    with replacing(f, durable) as file:
        write_members(file, text, storages)


def write_members(file: Any, text: bytes, storages: list[tuple[Any, int, str]]) -> None:
    """Writes an index, and the storages that it speaks of."""
    writer = ArchiveWriter(file, sum(nbytes for _, nbytes, _ in storages))
    writer.add(NAME, text)
    add_storages(writer, 0, storages)
    writer.finish()


def add_storages(writer: ArchiveWriter, first: int, storages: list[tuple[Any, int, str]]) -> None:
    """Writes storages under their numbers, from whichever device; those without memory are in the index alone."""
    here = ("", writer.host)
    run: list[Any] = []  # of those in the host's memory, one behind the other
    for number, (data, nbytes, device) in enumerate(storages, first):
        if device in here:
            run.append(data)
            continue
        writer.add_all(DATA, number - len(run), run)
        run.clear()
        if device != META:
            writer.add(f"{DATA}{number}", _C._storage_view(data, _C.uint8, (nbytes,), (1,), 0).to(writer.host))
    writer.add_all(DATA, first + len(storages) - len(run), run)


def check_target(f: Any) -> None:
    """Raises TypeError unless something can be written into a path or a file object."""
    import io
    import os

    if isinstance(f, (str, bytes, os.PathLike)):
        return
    if not hasattr(f, "write"):
        raise TypeError(f"save: argument 'f' must be a path or a file object, got {type(f).__name__}: no write()")
    if isinstance(f, io.TextIOBase):
        raise TypeError("save: argument 'f' is a file of text; open it with 'wb'")
