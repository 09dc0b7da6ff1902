"""Arrays of other libraries: backends read those of their devices, and look at memory that DLPack has given."""

from __future__ import annotations

from lamella.plugins import contributions

HOST = 1  # DLPack's number


def load_backends(obj) -> None:
    """Loads backends that know objects of this type, by their manifests."""
    from lamella.plugins.manager import manager

    manager.load_readers(obj)


def read(obj):
    """A tensor over the memory of another library's array, by a backend's reader or by DLPack; None for other objects,
    and for numpy's arrays, which are read elsewhere."""
    load_backends(obj)
    for reader in contributions.place("reader").objects:
        if (made := reader(obj)) is not None:
            return made
    if not callable(getattr(obj, "__dlpack__", None)) or hasattr(obj, "__array_interface__"):
        return None
    from lamella._functions import from_dlpack

    try:
        return from_dlpack(obj)
    except (BufferError, TypeError):
        if obj.__dlpack_device__()[0] != HOST:
            raise
        return None  # it refuses, and may be readable as a sequence


def checked(tensor):
    """The tensor, when no backend refuses its memory."""
    for check in contributions.place("import").objects:
        check(tensor)
    return tensor
