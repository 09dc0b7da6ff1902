"""``lamella.save`` and ``lamella.load``, which bring in ``lamella.serialization`` when they are first called."""

from __future__ import annotations

from typing import Any


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
    """Writes tensors, and plain containers of them, into a file that ``load`` reads: ``serialization.save``.

    Of modules and optimizers save ``state_dict()``. The file is replaced in one step, and contains no code.

    Raises:
        TypeError: a part of ``obj`` is no plain value; the message says where it is. Nothing is written then.
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

    saving.save(obj, f, format=format, durable=durable)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    tensors: Any = None,
    verify: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Reads what ``save`` wrote, or a file of torch: ``serialization.load``. Nothing in a file can run code.

    Args:
        f: a path, or a binary file object that can seek
        map_location: where tensors shall lie: a device, a dict from saved devices to others, or a function
        mmap: maps the file into memory in place of reading it
        tensors: the names of some tensors, as in "model.layer.weight", which alone are read; they come as a dict

    Raises:
        lamella.serialization.CheckpointError: the file is no checkpoint or damaged
        OSError: the file is not there, or cannot be read

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.save([lamella.zeros(1), lamella.ones(2)], file)
    >>> file.seek(0)
    0
    >>> lamella.load(file, tensors=["1"])
    {'1': tensor([1., 1.])}
    """
    from lamella.serialization import loading

    return loading.load(f, map_location, mmap=mmap, tensors=tensors, verify=verify)
