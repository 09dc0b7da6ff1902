"""Two vendors whose devices have one DLPack type: an import names both, as the owner of the memory is not known."""

import ctypes

import lamella
import pytest
from lamella.library import Library


def registered(name):
    """A device over the host's memory, with the DLPack type of all extension devices."""
    kept = {}

    def alloc(nbytes, index):
        memory = ctypes.create_string_buffer(max(nbytes, 1) + 15)
        address = (ctypes.addressof(memory) + 15) // 16 * 16
        kept[address] = memory
        return address

    def free(address, nbytes, index):
        del kept[address]

    def copy(to, source, nbytes, index):
        ctypes.memmove(to, source, nbytes)

    lib = Library(f"vendor_{name}", "FRAGMENT", owner=f"the vendor of {name}")
    lib.register_backend(name, alloc=alloc, free=free, copy_from_host=copy, copy_to_host=copy)
    return lib


def test_an_import_does_not_guess():
    first = registered("first_vendor")
    try:
        x = lamella.arange(3).to("first_vendor")
        assert lamella.from_dlpack(x).device == x.device
        second = registered("second_vendor")
        try:
            both = "'first_vendor' and 'second_vendor' both have DLPack's device type 12"
            with pytest.raises(BufferError, match=both):
                lamella.from_dlpack(x)
            assert x.cpu().tolist() == [0, 1, 2]
        finally:
            second.close()
        y = lamella.from_dlpack(x)  # the other one is gone
        assert y.device == x.device and y.cpu().tolist() == [0, 1, 2]
        del x, y
    finally:
        first.close()
