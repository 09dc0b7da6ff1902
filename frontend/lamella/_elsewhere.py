"""Arrays of other libraries that lie on a device: backends read them, and look at memory that DLPack has given."""

from __future__ import annotations

import sys

HOST = 1  # DLPack's number


def load_backends(obj) -> None:
    """Loads backends that know objects of this type, by their manifests."""
    from lamella.plugins.manager import manager

    manager.load_readers(obj)


def read(obj):
    """A tensor over the memory of an array on a device, or None where no backend knows the object."""
    contributions = sys.modules.get("lamella.plugins.contributions")
    if contributions is None:  # lamella itself is half imported
        return None
    load_backends(obj)
    for reader in contributions.readers:
        if (made := reader(obj)) is not None:
            return made
    return None


def checked(tensor):
    """The tensor, when no backend refuses its memory."""
    contributions = sys.modules.get("lamella.plugins.contributions")
    for check in contributions.import_checks if contributions else ():
        check(tensor)
    return tensor
