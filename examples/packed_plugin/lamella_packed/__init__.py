"""Weights of four bits: ``x.pack_int4()`` returns an opaque tensor that only the layer ``packed`` can read.

>>> import lamella, lamella_packed
>>> w = lamella.ones(2, 64).pack_int4()
>>> w.is_opaque, w.shape, w.dtype
(True, lamella.Size([2, 64]), lamella.float32)
>>> lamella.nn.functional.linear(lamella.ones(1, 64), w)
tensor([[64., 64.]])

Operators without a kernel of this package raise, except in a block in which they unpack:

>>> with lamella_packed.unpacking():
...     (w + 1).sum()
tensor(256.)
>>> lamella_packed.unpacked()
{'aten::add': 1}
"""

import ctypes
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import lamella
from lamella.plugins import hookimpl

LIBRARY = Path(__file__).with_name("liblamella_packed.so")


class Interface(ctypes.Structure):
    """Mirrors the struct ``lamella_packed`` of src/packed.h."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("layer", ctypes.c_int32),
        ("allow", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)),
        ("entries", ctypes.CFUNCTYPE(ctypes.c_int32)),
        ("name", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int32)),
        ("count", ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int32)),
    ]


@hookimpl
def register(ctx):
    ctx.load_library(LIBRARY)
    ctx.contribute("Tensor", {"pack_int4": pack_int4, "unpack_int4": unpack_int4})


@cache
def interface() -> Interface:
    table = ctypes.CDLL(str(LIBRARY)).lamella_packed_table
    table.restype = ctypes.POINTER(Interface)
    return table().contents


def pack_int4(self):
    """Packs a float32 matrix to integers from -7 to 7 with a scale for 64 elements of a row, which is 4.5 bits each.

    The result is opaque. It has the shape and dtype of ``self``, and its values up to half a scale. The gradient passes
    through to ``self`` unchanged.

    Raises:
        RuntimeError: ``self`` is not a float32 matrix, has no columns, or is packed already
    """
    return lamella.ops.packed.pack_int4(self)


def unpack_int4(self):
    """Returns the values of a packed tensor as a plain tensor.

    Raises:
        RuntimeError: the tensor is not packed
    """
    return lamella.ops.packed.unpack_int4(self)


@contextmanager
def unpacking():
    """Lets operators without a kernel of this package unpack their arguments, within the block and on this thread."""
    before = interface().allow(1)
    try:
        yield
    finally:
        interface().allow(before)


def unpacked() -> dict[str, int]:
    """Returns the number of calls that have unpacked arguments in this process, by operator."""
    table = interface()
    return {table.name(i).decode(): table.count(i) for i in range(table.entries())}
