"""The Python side of the native layer: loads the library, and reads the counts through its C interface.

>>> from lamella_flops import native
>>> with native.on():
...     _ = lamella.ones(2, 3) @ lamella.ones(3, 4)
>>> native.counts()
{'aten::mm': 48}
>>> native.reset()
"""

import ctypes
from functools import cache
from pathlib import Path

from lamella.library import Layer
from lamella.plugins import hookimpl

from lamella_flops.switch import Switch

LIBRARY = Path(__file__).with_name("liblamella_flops.so")


class Interface(ctypes.Structure):
    """Mirrors the struct ``lamella_flops`` of src/flops.h."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("layer", ctypes.c_int32),
        ("enable", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)),
        ("enable_process", ctypes.CFUNCTYPE(None, ctypes.c_int32)),
        ("entries", ctypes.CFUNCTYPE(ctypes.c_int32)),
        ("name", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int32)),
        ("flops", ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int32)),
        ("reset", ctypes.CFUNCTYPE(None)),
    ]


@hookimpl
def register(ctx):
    ctx.load_library(LIBRARY)


@cache
def interface() -> Interface:
    table = ctypes.CDLL(str(LIBRARY)).lamella_flops_table
    table.restype = ctypes.POINTER(Interface)
    found = table().contents
    if found.layer < 0:
        raise RuntimeError("lamella_flops.native: the layer is not registered; `lamella plugins` says why")
    return found


@cache
def layer() -> Layer:
    """Returns the native layer as a ``Layer``. The native library registered it, so this object does not remove it."""
    return Layer("flops", interface().layer, 0, None)


switch = Switch(layer, lambda on: interface().enable_process(on))
on, off, enable = switch.on, switch.off, switch.enable


def counts() -> dict[str, int]:
    """Returns the operations of all threads since the last reset, by operator; without operators that have none."""
    table = interface()
    found = {table.name(i).decode(): table.flops(i) for i in range(table.entries())}
    return {name: flops for name, flops in sorted(found.items()) if flops}


def total() -> int:
    """Returns the number of all operations since the last reset."""
    return sum(counts().values())


def reset() -> None:
    """Sets every count to zero."""
    interface().reset()
