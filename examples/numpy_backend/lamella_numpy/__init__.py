"""Device ``numpy``, with memory and kernels of numpy. Imported when a program first names the device.

>>> import lamella
>>> lamella.ones(2, device="numpy") + 1
tensor([2., 2.], device='numpy')
"""

import ctypes

import lamella
import numpy as np
from lamella.plugins import hookimpl


class Memory(lamella.library.Backend):
    """The device. Its memory is that of numpy's arrays; it is synchronous: a call returns when its work is done."""

    def __init__(self):
        self.blocks: dict[int, np.ndarray] = {}  # all allocated memory, by address

    def alloc(self, nbytes, index, stream):
        block = np.empty(max(nbytes, 1), np.uint8)
        self.blocks[block.ctypes.data] = block
        return block.ctypes.data

    def free(self, address, nbytes, index):
        del self.blocks[address]

    def copy_from_host(self, to, source, nbytes, index, non_blocking):
        ctypes.memmove(to, source, nbytes)

    copy_to_host = copy_from_host


def array(t):
    """Returns an array over the memory of a tensor, which is on this device or, if zero-dim, on the host."""
    dtype = np.dtype(str(t.dtype).removeprefix("lamella."))
    span = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)) if t.numel() else 0
    held = (ctypes.c_char * (span * dtype.itemsize)).from_address(t.data_ptr())
    return np.ndarray(tuple(t.shape), dtype, held, strides=[s * dtype.itemsize for s in t.stride()])


def values(t):
    """Returns an array of a tensor's values. Every byte but 0 of a bool is true; numpy's functions expect 0 or 1."""
    made = array(t)
    return made.view(np.uint8) != 0 if made.dtype == bool else made


def kernel(function):
    """Makes a kernel from a function of arrays and numbers, whose result becomes a tensor of this device."""

    def run(*args, **kwargs):
        def read(a):
            return values(a) if isinstance(a, lamella.Tensor) else a

        result = np.asarray(function(*map(read, args), **{k: read(v) for k, v in kwargs.items()}))
        out = lamella.empty(result.shape, dtype=getattr(lamella, result.dtype.name), device="numpy")
        array(out)[...] = result
        return out

    return run


def copy_(to, source, non_blocking=False):
    array(to)[...] = values(source)
    return to


def fill_(t, value):
    array(t)[...] = value
    return t


def scaled(function):
    return lambda x, y, *, alpha=1: function(x, y if alpha == 1 else np.multiply(y, alpha))


# The kernels, by operator: functions of numpy that compute in the dtype of their operands.
KERNELS = {
    "add.Tensor": scaled(np.add),
    "sub.Tensor": scaled(np.subtract),
    "mul.Tensor": np.multiply,
    "neg": np.negative,
    "exp": np.exp,
    "tanh": np.tanh,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "relu": lambda x: np.maximum(x, 0).astype(x.dtype),
    "lt.Tensor": np.less,
    "bmm": np.matmul,
}


@hookimpl
def register(ctx):
    library = ctx.library("aten")
    library.register_backend("numpy", Memory())
    library.impl("copy_", copy_, "numpy")
    library.impl("fill_.Scalar", fill_, "numpy")
    for name, function in KERNELS.items():
        library.impl(name, kernel(function), "numpy")
