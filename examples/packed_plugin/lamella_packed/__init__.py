"""Weights of four bits: ``x.pack_int4()`` gives an opaque tensor that only the layer ``packed`` can read.

>>> import lamella, lamella_packed
>>> w = lamella.ones(2, 64).pack_int4()
>>> w.is_opaque, w.shape, w.dtype
(True, lamella.Size([2, 64]), lamella.float32)
>>> lamella.nn.functional.linear(lamella.ones(1, 64), w)
tensor([[64., 64.]])

Operators without a kernel of this package raise, unless they may unpack:

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
    """``lamella_packed`` of src/packed.h."""

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
    """The tensor as integers from -7 to 7 with a scale per 64 elements of a row: an opaque tensor of 4.5 bits each.

    ``self`` is a float32 matrix. The result has its shape and dtype, and its values to within half a scale. The
    gradient passes through to ``self`` unchanged.

    Raises:
        RuntimeError: not a float32 matrix, one without columns, or one that is packed already
    """
    return lamella.ops.packed.pack_int4(self)


def unpack_int4(self):
    """The values of a tensor that ``pack_int4`` gave, as a plain tensor.

    Raises:
        RuntimeError: the tensor is not packed
    """
    return lamella.ops.packed.unpack_int4(self)


@contextmanager
def unpacking():
    """Within the block, on this thread, operators that this package has no kernel for unpack; each call is counted."""
    before = interface().allow(1)
    try:
        yield
    finally:
        interface().allow(before)


def unpacked() -> dict[str, int]:
    """How many calls of each operator have unpacked, in this process."""
    table = interface()
    return {table.name(i).decode(): table.count(i) for i in range(table.entries())}
