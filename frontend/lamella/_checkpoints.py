"""``lamella.save`` and ``lamella.load``, which bring in ``lamella.serialization`` when they are first called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lamella._usage_log import log_once


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
    from lamella.serialization import saving

    log_once("python.save")
    saving.write(obj, f, format, durable)


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
    """Reads what ``save`` wrote, or a file of torch. Nothing in a file can run code.

    A file that is truncated, changed, or built to do harm is refused: no number in it is used before it is compared
    with what is there, and no more memory is taken than the file has bytes, with a small factor for its index.

    Args:
        f: a path, or a binary file object that can seek, which is read from where it stands to its end
        map_location: where tensors shall lie: a device for all; a dict from saved devices to others; or a function
            of a storage in the host's memory and the device's name, which returns the storage, or None for the saved
            device. None: each where it was
        pickle_module: and further keywords for it are accepted and mean nothing: there is no pickle
        weights_only: accepted; code is run with neither value
        mmap: maps the file into memory, private to this process, in place of reading it: what is used is read then.
            Replacing the file by ``save`` leaves the mapped bytes as they are; a program that makes the file itself
            shorter ends this one by SIGBUS at the next use.
        tensors: the names of some tensors, keys joined by dots as in "model.layer.weight". Only these are read, and
            come as a dict by name
        verify: compares tensors with their checksums. None: unless they are mapped, as that reads all of them

    Raises:
        CheckpointError: the file is no checkpoint or damaged; or its device, dtype or plugin is not here
        KeyError: no tensor has one of the names, or two have
        OSError: the file is not there, or cannot be read

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.save({"model": {"weight": lamella.ones(2), "bias": lamella.zeros(1)}}, file)
    >>> file.seek(0)
    0
    >>> lamella.load(file, tensors=["model.bias"])
    {'model.bias': tensor([0.])}
    """
    from lamella.serialization import loading

    log_once("python.load")
    return loading.read(f, map_location, bool(mmap), tensors, verify)
