"""``lamella.save`` and ``lamella.load``, which import ``lamella.serialization`` when they are first called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lamella._usage_log import log_once

usual_format = "lamella"


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: Any = None,
    _use_new_zipfile_serialization: bool = True,
    *,
    format: str | None = None,
    durable: bool = True,
) -> None:
    """Writes tensors, and plain containers of them, into a file that ``load`` reads.

    A file is replaced in one step: a reader finds either the old file or the new one, even if the writer is killed.
    Memory that several tensors share is saved once, and the loaded tensors share it again. A view saves all of its
    storage, so save ``x.clone()`` for a small part of a large tensor. Each numpy array is saved on its own, so views
    of one array do not share memory after loading. Saving the same object again writes the same bytes.

    Args:
        obj: None, bool, int, float, complex, str, bytes, bytearray; tensors, parameters, storages; list, tuple, dict,
            set, frozenset, ``collections``' OrderedDict, defaultdict, Counter and deque, argparse.Namespace; dtypes,
            layouts, memory formats, devices, sizes, generators; numbers and arrays of numpy; modules without hooks,
            whose class is saved by its name, and whose attributes are such objects and functions of
            ``lamella.nn.functional``. For an optimizer, save its ``state_dict()``.
        f: a path, or a binary file object, which is written from its current position
        pickle_module: ignored, as are the next two arguments, since pickle is not used
        format: "lamella" (docs/checkpoint_format.md), or "torch", which torch can read. None stands for "torch" in a
            program that ``lamella run`` runs, else for "lamella"
        durable: True waits until the file is on the disk, so that it survives a loss of power. False still replaces the
            file in one step for every process, but a loss of power within the next half minute may leave a file that
            ``load`` refuses, in place of the old one.

    Raises:
        TypeError: a part of ``obj`` has another type; the message says where it is, and nothing is written
        ValueError: the format is unknown, or the object is nested too deeply
        OSError: the file cannot be written; the old file is unchanged

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.save({"step": 3, "weight": lamella.ones(2)}, file)
    >>> file.seek(0)
    0
    >>> lamella.load(file)
    {'step': 3, 'weight': tensor([1., 1.])}
    """
    import lamella.serialization.saving as saving

    log_once("python.save")
    saving.write(obj, f, usual_format if format is None else format, durable)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    tensors: Iterable[str] | None = None,
    verify: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Reads a file that ``save`` or torch wrote.

    A file cannot make ``load`` run code, except that of classes and functions that the program has passed to
    ``add_safe_globals``. A whole module is built of such classes, by their ``__new__`` and ``__setstate__``.

    A file that is truncated, changed, or built to do harm is refused: ``load`` checks every size and offset in it
    against the file before using it, and takes no more memory than the file has bytes, times a small factor for its
    index.

    Args:
        f: a path, or a binary file object that can seek, which is read from its current position to its end
        map_location: where to put tensors: a device for all; a dict from saved devices to others; or a function of a
            storage in host memory and the name of its saved device, which returns the storage to use, or None for the
            saved device. None puts each tensor on its saved device
        pickle_module: ignored, as are further keywords, since pickle is not used
        weights_only: False imports the classes of modules that the program has not passed to ``add_safe_globals`` by
            the names in the file, which runs the code of the files that define them. No pickle runs code with either
            value
        mmap: maps the file into memory, private to this process, so that bytes are read only when they are used.
            ``save`` replaces the file and leaves the mapped bytes unchanged; if a program truncates the mapped file
            itself, the next use of the lost bytes ends this process by SIGBUS
        tensors: the names of some tensors, keys joined by dots as in "model.layer.weight". Only these are read, and
            returned as a dict by name
        verify: with ``mmap``, True compares the mapped bytes with their checksums, for which all of them are read; it
            has no effect on files of torch. Bytes that are read and not mapped are always compared

    Raises:
        CheckpointError: the file is not a checkpoint or is damaged, its device, dtype or plugin is missing, or a class
            in it is not allowed; the message has the line that allows it
        KeyError: a name in ``tensors`` belongs to no tensor, or to two
        OSError: the file does not exist, or cannot be read
        TypeError: ``f`` or ``map_location`` is of a type that is not listed above
        ValueError: ``tensors`` is given for a file of torch

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.save({"model": {"weight": lamella.ones(2), "bias": lamella.zeros(1)}}, file)
    >>> file.seek(0)
    0
    >>> lamella.load(file, tensors=["model.bias"])
    {'model.bias': tensor([0.])}
    >>> file = io.BytesIO()
    >>> lamella.save(lamella.nn.Linear(2, 3), file)
    >>> file.seek(0)
    0
    >>> with lamella.serialization.safe_globals([lamella.nn.Linear]):
    ...     lamella.load(file)
    Linear(in_features=2, out_features=3, bias=True)
    """
    import lamella.serialization.loading as loading

    log_once("python.load")
    return loading.read(f, map_location, bool(mmap), tensors, verify, weights_only is False)
