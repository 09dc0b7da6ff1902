"""Two vendors' devices share one DLPack type: an import is refused and names both, as the memory's owner is unknown."""

import ctypes

import lamella
import pytest
from heaps import Heap
from lamella.library import Library


def registered(name):
    """Registers a device over the host's memory, with the DLPack type of all extension devices."""

    class Vendor(Heap):
        def alloc(self, nbytes, index, stream):  # aligned to 16 bytes, as DLPack's consumers may expect
            memory = ctypes.create_string_buffer(nbytes + 15)
            address = (ctypes.addressof(memory) + 15) // 16 * 16
            self.blocks[address] = memory
            return address

    lib = Library(f"vendor_{name}", "FRAGMENT", owner=f"the vendor of {name}")
    lib.register_backend(name, Vendor())
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
        y = lamella.from_dlpack(x)  # the second vendor's device has been withdrawn
        assert y.device == x.device and y.cpu().tolist() == [0, 1, 2]
        del x, y
    finally:
        first.close()
