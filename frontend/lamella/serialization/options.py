"""torch's switches for files, and its registry of functions that place storages on devices.

>>> lamella.serialization.location_tag(lamella.ones(1).untyped_storage())
'cpu'
"""

from __future__ import annotations

import enum
import mmap
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from lamella import _C
from lamella._devices import host

__all__ = [
    "LoadEndianness",
    "SourceChangeWarning",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "location_tag",
    "register_package",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]


class SourceChangeWarning(Warning):
    """A warning of torch about classes in old files, which Lamella never gives.

    >>> issubclass(lamella.serialization.SourceChangeWarning, Warning)
    True
    """


class LoadEndianness(enum.Enum):
    """The order of bytes in a file of torch that does not say its own.

    >>> lamella.serialization.LoadEndianness.LITTLE
    <LoadEndianness.LITTLE: 2>
    """

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class Package(NamedTuple):
    """The functions that one call of ``register_package`` has given."""

    priority: int
    tagger: Callable[[Any], str | None]
    deserializer: Callable[[Any, str], Any]


packages: list[Package] = []  # those of lower priority numbers are first
_endianness: LoadEndianness | None = None
_crc32 = True


def get_default_load_endianness() -> LoadEndianness | None:
    """Returns the order of bytes in files of torch that do not say theirs; None means that of this machine.

    >>> print(lamella.serialization.get_default_load_endianness())
    None
    """
    return _endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Sets the order of bytes in files of torch that do not say theirs, as those of torch before 2.1.

    Lamella reads files of little-endian machines; with BIG, ``load`` refuses a file that does not say its order.

    Raises:
        TypeError: the argument is neither a LoadEndianness nor None

    >>> lamella.serialization.set_default_load_endianness(lamella.serialization.LoadEndianness.LITTLE)
    >>> lamella.serialization.set_default_load_endianness(None)
    """
    global _endianness
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(
            "set_default_load_endianness: argument 'endianness' must be a LoadEndianness or None, got "
            f"{type(endianness).__name__}"
        )
    _endianness = endianness


def get_default_mmap_options() -> int:
    """Returns ``mmap.MAP_PRIVATE``: a mapped file is private to the process, and writes to tensors do not reach it.

    >>> import mmap
    >>> lamella.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    True
    """
    return mmap.MAP_PRIVATE


class set_default_mmap_options:
    """Takes ``mmap.MAP_PRIVATE``, the only way in which ``load(mmap=True)`` maps files; also as a context manager.

    Raises:
        ValueError: the flags are others; with MAP_SHARED, writes to tensors would change the file

    >>> import mmap
    >>> with lamella.serialization.set_default_mmap_options(mmap.MAP_PRIVATE):
    ...     pass
    """

    def __init__(self, flags: int):
        if flags != mmap.MAP_PRIVATE:
            raise ValueError(
                f"set_default_mmap_options: argument 'flags' must be mmap.MAP_PRIVATE, got {flags}; a file that is "
                "mapped otherwise would change with its tensors"
            )

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def get_crc32_options() -> bool:
    """Returns what ``set_crc32_options`` has set; True at first.

    >>> lamella.serialization.get_crc32_options()
    True
    """
    return _crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Takes the switch of torch, and changes nothing: ``save`` always writes checksums, which ``load`` compares.

    >>> lamella.serialization.set_crc32_options(True)
    """
    global _crc32
    _crc32 = bool(compute_crc32)


class _Skipping(threading.local):
    on = False


_skipping = _Skipping()


def skips_data() -> bool:
    """Returns whether this thread is in a block of ``skip_data``."""
    return _skipping.on


def empty_bytes(nbytes: int) -> Any:
    """Returns zeros in host memory, which takes no memory before it is written to."""
    return _C._packet("aten::zeros")((nbytes,), dtype=_C.uint8, device=host())


class skip_data:
    """In the block, ``save`` and ``load`` of this thread leave out the bytes of tensors.

    ``save`` writes zeros in their places, for a program that writes the bytes itself later; a checksum of such a member
    is one of zeros. ``load`` gives tensors of zeros with the shapes, strides and shared storages of the file, and reads
    none of their bytes. Arrays of numpy are saved and loaded whole.

    Args:
        materialize_fake_tensors: has no effect, since there are no fake tensors here; tensors on device "meta" are
            saved without bytes, always

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.save(lamella.ones(2), file)
    >>> with lamella.serialization.skip_data():
    ...     lamella.load(io.BytesIO(file.getvalue()))
    tensor([0., 0.])
    """

    def __init__(self, materialize_fake_tensors: bool = False):
        self.materialize_fake_tensors = materialize_fake_tensors
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_skipping.on)
        _skipping.on = True

    def __exit__(self, *error: object) -> None:
        _skipping.on = self._before.pop()


def register_package(
    priority: int, tagger: Callable[[Any], str | None], deserializer: Callable[[Any, str], Any]
) -> None:
    """Adds functions that place storages on devices.

    ``load`` without ``map_location`` calls the deserializers, those of low priority numbers first, for each storage
    that is not on device "meta", and uses the first result other than None. ``save`` writes the devices of tensors, and
    calls no tagger; ``location_tag`` does.

    Args:
        priority: a number; 10 for the first functions
        tagger: takes a storage, and returns the name of its place, or None
        deserializer: takes a storage in host memory and the name in the file, and returns a storage of as many bytes,
            or None

    >>> lamella.serialization.register_package(900, lambda storage: None, lambda storage, location: None)
    """
    packages.append(Package(priority, tagger, deserializer))
    packages.sort(key=lambda package: package.priority)


def location_tag(storage: Any) -> str:
    """Returns the name of a storage's place: the first result of a tagger other than None, else the name of its device.

    >>> lamella.serialization.location_tag(lamella.ones(1, device="meta").untyped_storage())
    'meta'
    """
    for package in packages:
        if (tag := package.tagger(storage)) is not None:
            return tag
    return str(storage.device)


def default_restore_location(storage: Any, location: str) -> Any:
    """Returns a storage in the place of a name: the first result of a deserializer, else a storage on that device.

    Raises:
        RuntimeError: there is no such device

    >>> storage = lamella.ones(1).untyped_storage()
    >>> lamella.serialization.default_restore_location(storage, "cpu") is storage
    True
    """
    found = restored(storage, location)
    if found is not None:
        return found
    if location in (host().type, str(storage.device)):
        return storage if str(storage.device) == location else storage.cpu()
    return storage.to(device=location)


def restored(storage: Any, location: str) -> Any:
    """Returns the first result of a deserializer that is not None; None if there is none.

    Raises:
        TypeError: the result is not a storage of as many bytes
    """
    for package in packages:
        found = package.deserializer(storage, location)
        if found is None:
            continue
        if not hasattr(found, "nbytes") or found.nbytes() != storage.nbytes():
            got = f"{found.nbytes()} bytes" if hasattr(found, "nbytes") else type(found).__name__
            raise TypeError(
                f"load: a deserializer of register_package must return None or a storage of {storage.nbytes()} bytes, "
                f"got {got}"
            )
        return found
    return None
