"""Functions that make tensors from numbers, sequences, buffers and arrays of other libraries; methods ``new_*()``."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from lamella import _C
from lamella._absent import unknown_keyword
from lamella._C import Tensor
from lamella._devices import host
from lamella.plugins import contributions
from lamella.plugins.manager import manager

PLAIN = frozenset((bool, int, float, complex, list, tuple))
_OF_A_TENSOR = (
    "tensor: argument 'data' is a tensor already; for a copy of it write data.detach().clone(), or "
    "data.detach().clone().requires_grad_()"
)
HOST = 1  # kDLCPU, DLPack's number for the host


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False, **keywords) -> Tensor:
    """Makes a tensor with a copy of ``data``: numbers, nested sequences, an array or a tensor.

    Without ``dtype``, arrays and tensors keep their dtype, and numbers give bool, int64, uint64 if one is above the
    range of int64, the default dtype, or a complex dtype. Further keywords are those that plugins contribute, as for
    ``lamella.zeros``. A tensor is copied without its history, with a warning: ``clone()`` says so.

    Raises:
        TypeError: the data holds an object that is not a number, or a keyword is unknown
        ValueError: nested sequences have different lengths, or are nested too deeply
        RuntimeError: a number does not fit the dtype, or 64 bits

    >>> lamella.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    foreign = None
    try:
        made, natural = _C._tensor_from(data, dtype)
    except TypeError:
        if isinstance(data, Tensor) or type(data) in PLAIN or (there := read(data)) is None:
            raise
        data = foreign = there  # a tensor over another library's array
        made, natural = _C._tensor_from(data, dtype)
    target = natural if dtype is None else dtype
    if device is None and not isinstance(data, Tensor):
        device = _C._get_default_device()
    copy = made is data or not isinstance(data, (list, tuple, int, float, complex, bool))
    if made is data:
        made = data.detach()  # the new tensor must not have the history of `data`
        if data is not foreign:
            by_method = sys._getframe(1).f_code is new_tensor.__code__
            warnings.warn(_OF_A_TENSOR, stacklevel=3 if by_method else 2)
    made = made.to(made.device if device is None else device, target, False, copy)
    if requires_grad:
        keywords["requires_grad"] = requires_grad
    if pin_memory and _C._is_claimed("pin_memory"):
        keywords["pin_memory"] = pin_memory
    elif pin_memory:
        made = made.pin_memory()
    return contributed("tensor", made, keywords) if keywords else made


def contributed(who: str, made: Tensor, keywords) -> Tensor:
    """Applies the keywords that plugins contribute: those without a layer, then those of inner layers before those of
    outer ones. ``who`` is the name of the calling function."""
    applied = _C._apply_keywords(made, keywords)
    if isinstance(applied, str):
        raise unknown_keyword(who, applied)
    return applied


def as_tensor(data, dtype=None, device=None) -> Tensor:
    """Returns ``data`` if it is a suitable tensor; else a tensor over its memory if possible, else a copy.

    Arrays of other libraries are read by a backend's reader or by DLPack. An array on a device stays there, unless
    ``device`` is given.

    Raises:
        TypeError, ValueError: as ``tensor`` raises them

    >>> t = lamella.ones(2)
    >>> lamella.as_tensor(t) is t, lamella.as_tensor([1, 2])
    (True, tensor([1, 2]))
    """
    writable = getattr(getattr(data, "flags", None), "writeable", isinstance(data, Tensor))
    if not writable:  # numbers, sequences, read-only arrays, and arrays of libraries other than numpy
        if type(data) not in PLAIN and (made := read(data)) is not None:
            stays = made.device if made.device.type != host().type else _C._get_default_device()
            return made.to(stays if device is None else device, made.dtype if dtype is None else dtype)
        return tensor(data, dtype=dtype, device=device)
    made, natural = _C._tensor_from(data, dtype)
    where = made.device if isinstance(data, Tensor) else _C._get_default_device()
    return made.to(where if device is None else device, natural if dtype is None else dtype)


def from_dlpack(ext_tensor, *, device=None, copy=None) -> Tensor:
    """Makes a tensor over the memory of ``ext_tensor``, an object with ``__dlpack__`` or a capsule of DLPack.

    It warns if the memory is read-only, since a tensor may be written to.

    Args:
        device: where the tensor is to be; another device than that of ``ext_tensor`` needs a copy
        copy: True always copies, False never does, None copies only if necessary

    Raises:
        TypeError: ``ext_tensor`` is neither
        ValueError: ``ext_tensor`` is a capsule, and ``device`` or ``copy`` is given
        BufferError: Lamella has no such element type, strides or device; or a copy is necessary, and ``copy`` is False

    >>> import numpy
    >>> lamella.from_dlpack(numpy.ones(2))
    tensor([1., 1.], dtype=lamella.float64)
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise ValueError(
                "from_dlpack: a capsule takes no 'device' and no 'copy'; pass its owner, or copy the tensor"
            )
        return checked(_C._from_dlpack(ext_tensor, "warn"))
    made = _over(ext_tensor, "take" if copy else "warn", {"copy": False} if copy is False else {})
    target = made.device if device is None else made.new_empty(0, device=device).device
    if copy is False and target != made.device:
        raise BufferError(f"from_dlpack: argument 'copy' is False, but a tensor on device '{target}' needs a copy")
    return made.to(target, made.dtype, False, True) if copy or target != made.device else made


def _over(obj, read_only, wishes) -> Tensor:
    """Makes a tensor over the memory of an object with ``__dlpack__``; ``wishes`` are keywords that it may not know."""
    where = obj.__dlpack_device__() if hasattr(obj, "__dlpack_device__") else None
    if where is not None and where[0] != HOST:
        manager.load_readers(obj)
    stream = None if where is None else _C._dlpack_stream(*map(int, where))
    keywords = {} if stream is None else {"stream": stream}  # the exporter makes this stream wait for its work
    try:
        capsule = obj.__dlpack__(max_version=(1, 0), **keywords, **wishes)
    except TypeError:  # an exporter older than DLPack 1.0
        capsule = obj.__dlpack__(**keywords)
    return checked(_C._from_dlpack(capsule, read_only))


def read(obj):
    """Makes a tensor over the memory of another library's array, by a backend's reader or by DLPack.

    Returns None for other objects, and for numpy arrays, which ``_C._tensor_from`` reads.
    """
    manager.load_readers(obj)
    for reader in contributions.place("reader").objects:
        if (made := reader(obj)) is not None:
            return made
    if not callable(getattr(obj, "__dlpack__", None)) or hasattr(obj, "__array_interface__"):
        return None
    try:
        return _over(obj, "refuse", {})
    except (BufferError, TypeError):
        if obj.__dlpack_device__()[0] != HOST:
            raise
        return None  # the exporter refused; the caller may read the object as a sequence


def checked(tensor):
    """Returns the tensor after the checks that backends contribute, which raise if they refuse its memory."""
    for check in contributions.place("import").objects:
        check(tensor)
    return tensor


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False) -> Tensor:
    """Makes a tensor from an object. Does not copy a tensor or a writable array if dtype and device allow that.

    Args:
        copy: True always copies, False never does, None copies only if necessary

    Raises:
        ValueError: a copy is necessary, and ``copy`` is False

    >>> t = lamella.ones(2)
    >>> lamella.asarray(t) is t, lamella.asarray([1, 2])
    (True, tensor([1, 2]))
    """
    if copy and not isinstance(obj, Tensor):
        return tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    made = as_tensor(obj.detach().clone() if copy else obj, dtype=dtype, device=device)
    if copy is False:
        shared = made is obj or (not isinstance(obj, Tensor) and _address(obj) == made.data_ptr())
        if not shared:
            what = f"a tensor of dtype {made.dtype} on device '{made.device}'"
            raise ValueError(f"asarray: argument 'copy' is False, but making {what} of 'obj' needs a copy")
    return made.requires_grad_() if requires_grad else made


def _address(obj):
    held = getattr(obj, "__array_interface__", None)
    if held:
        return held["data"][0]
    there = read(obj)
    return None if there is None else there.data_ptr()


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False, **keywords) -> Tensor:
    """Makes a vector over the memory of an object with Python's buffer protocol; writes are visible on both sides.

    Memory that is read-only, or not aligned for ``dtype``, is copied instead.

    Args:
        count: the number of elements; -1 takes all to the end of the buffer
        offset: the position of the first element, in bytes
        keywords: those that plugins contribute, such as ``names``

    Raises:
        ValueError: the buffer is too short, ``count`` is 0 or below -1, or the bytes to the end of the buffer are not a
            whole number of elements

    >>> lamella.frombuffer(bytearray([1, 0, 2, 0]), dtype=lamella.int16)
    tensor([1, 2], dtype=lamella.int16)
    """
    import numpy as np

    row = np.frombuffer(buffer, np.uint8)
    size = row.nbytes
    if not 0 <= offset < size:
        raise ValueError(f"frombuffer: argument 'offset': {offset} is outside of the buffer's {size} bytes")
    if count == 0 or count < -1:
        raise ValueError(f"frombuffer: argument 'count' must be positive or -1, got {count}")
    item = dtype.itemsize
    if count == -1:
        if (size - offset) % item:
            raise ValueError(f"frombuffer: {size - offset} bytes are not whole elements of {dtype}, {item} bytes each")
        count = (size - offset) // item
    if offset + count * item > size:
        raise ValueError(f"frombuffer: {count} elements of {dtype} from byte {offset} on exceed {size} bytes")
    part = row[offset : offset + count * item]
    flat = as_tensor(part) if part.flags.writeable else tensor(part)
    try:
        made = flat.view(dtype)
    except RuntimeError:  # the address is not a multiple of the element size
        made = flat.clone().view(dtype)
    if keywords:
        made = contributed("frombuffer", made, keywords)
    return made.requires_grad_() if requires_grad else made


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False) -> Tensor:
    """Makes a vector over a file that is mapped into memory.

    Args:
        shared: True writes to the file, which is made, or made longer, if needed; else writes stay in the process
        size: the number of elements
        device: a device to which the elements are copied

    Raises:
        OSError: the file cannot be opened
        RuntimeError: ``size`` is negative, or the file is too short and not ``shared``

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     lamella.from_file(file.name, shared=True, size=2).fill_(1)
    tensor([1., 1.])
    """
    import mmap
    import os

    dtype = dtype or _C.get_default_dtype()
    need = size * dtype.itemsize
    if need < 0:
        raise RuntimeError(f"from_file: argument 'size' must be at least 0, got {size}")
    place = os.open(filename, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY, 0o666)
    with open(place, "r+b" if shared else "rb") as file:
        held = os.fstat(file.fileno()).st_size
        if held < need and not shared:
            raise RuntimeError(f"from_file: argument 'size': {size} elements need {need} bytes, the file has {held}")
        if held < need:
            file.truncate(need)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        made = frombuffer(mmap.mmap(file.fileno(), need, access=access), dtype=dtype) if need else None
    if made is None:
        made = _C._packet("aten::empty")(0, dtype=dtype)
    made = made if device is None else made.to(device)
    return made.pin_memory() if pin_memory else made


def empty_permuted(size, physical_layout, *, dtype=None, device=None, **keywords) -> Tensor:
    """Makes an uninitialized tensor whose dimensions lie in memory in a given order, the outermost first.

    Raises:
        RuntimeError: ``physical_layout`` is not a permutation of the dimensions

    >>> lamella.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError(
            f"empty_permuted: argument 'physical_layout' must order the {len(size)} dimensions, got {physical_layout}"
        )
    place = [physical_layout.index(d) for d in range(len(size))]
    made = _C._packet("aten::empty")([size[d] for d in physical_layout], dtype=dtype, device=device, **keywords)
    return made.permute(place)


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, **keywords):
    """Makes a tensor with a copy of ``data``, with the dtype and on the device of ``self``.

    >>> lamella.ones(1).new_tensor([1, 2])
    tensor([1., 2.])
    """
    return tensor(data, **_like(self, dtype, device), requires_grad=requires_grad, **keywords)


def new_full(self, size, fill_value, *, dtype=None, device=None, **keywords):
    """Makes a tensor of ``size`` filled with ``fill_value``, with the dtype and on the device of ``self``.

    >>> lamella.arange(1).new_full((2,), 7)
    tensor([7, 7])
    """
    made = _C._packet("aten::full")(size, fill_value, **_like(self, dtype, device), **keywords)
    return _in_layer_of(self, made)


def _in_layer_of(tensor, made):
    """Returns a new tensor as the layer of an opaque one has it: values of that layer can be written into it."""
    for place in contributions.place("new").objects if tensor.is_opaque else ():
        made = place(tensor, made)
    return made


def _like(tensor, dtype, device):
    return {
        "dtype": tensor.dtype if dtype is None else dtype,
        "device": tensor.device if device is None else device,
    }


def _new(name, what):
    def make(self, *size, dtype=None, device=None, **keywords):
        size = size[0] if len(size) == 1 and not hasattr(size[0], "__index__") else size
        sizes = (size,) if size or not keywords else ()  # the size may follow from a keyword
        return _in_layer_of(self, _C._packet(f"aten::{name}")(*sizes, **_like(self, dtype, device), **keywords))

    make.__name__ = make.__qualname__ = f"new_{name}"
    make.__doc__ = (
        f"Makes {what} tensor of ``size``, with the dtype and on the device of ``self``.\n\n"
        f">>> lamella.arange(1).new_{name}(2, 3).shape\nlamella.Size([2, 3])\n"
    )
    return make


def new(self, *args, device=None):
    """Calls ``new_empty(*sizes)`` or ``new_tensor(data)``; without arguments makes an empty tensor.

    For a tensor, returns its ``detach()``.

    Raises:
        TypeError: the argument is a tensor of another dtype

    >>> lamella.ones(1).new(2, 3).shape, lamella.ones(1).new([1, 2])
    (lamella.Size([2, 3]), tensor([1., 2.]))
    """
    if len(args) == 1 and isinstance(args[0], Tensor):
        if args[0].dtype is not self.dtype:
            raise TypeError(f"new: expected a tensor of dtype {self.dtype}, got {args[0].dtype}")
        return args[0].detach()
    if len(args) == 1 and not isinstance(args[0], (int, _C.Size)):
        return self.new_tensor(args[0], device=device)
    if not args:
        return self.new_empty(0, device=device)
    return self.new_empty(args[0] if len(args) == 1 and isinstance(args[0], _C.Size) else args, device=device)


def new_empty_strided(self, size, stride, *, dtype=None, device=None, **keywords):
    """Makes an uninitialized tensor of a size and strides, with the dtype and on the device of ``self``.

    >>> lamella.ones(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    dtype, device = self.dtype if dtype is None else dtype, self.device if device is None else device
    return _in_layer_of(self, _C._packet("aten::empty_strided")(size, stride, dtype=dtype, device=device, **keywords))


def _make_subclass(cls, data, require_grad=False):
    """Makes a tensor of the subclass ``cls`` over the memory of ``data``, without its history.

    >>> class Weight(lamella.Tensor):
    ...     pass
    >>> type(lamella.Tensor._make_subclass(Weight, lamella.ones(2))).__name__
    'Weight'
    """
    made = data.detach().as_subclass(cls)
    return made.requires_grad_() if require_grad else made


def _make_wrapper_subclass(
    cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=None, device=None, **keywords
):
    """Makes a tensor of a subclass with ``__torch_dispatch__``: with a shape, a dtype and a device, but without memory.

    Every operator with the tensor as an argument is passed to ``cls.__torch_dispatch__``. Further keywords are those
    that plugins contribute, such as ``requires_grad``.

    >>> class Wrapped(lamella.Tensor):
    ...     def __new__(cls, inner):
    ...         made = lamella.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)
    ...         made.inner = inner
    ...         return made
    ...     __torch_function__ = lamella._C._disabled_torch_function_impl
    ...     @classmethod
    ...     def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
    ...         return cls(func(*(a.inner if isinstance(a, cls) else a for a in args), **(kwargs or {})))
    >>> (Wrapped(lamella.ones(2)) * 3).inner
    tensor([3., 3.])
    """
    dtype = _C.get_default_dtype() if dtype is None else dtype
    device = _C._get_default_device() if device is None else device
    if strides is None:
        strides = _C._packet("aten::empty")(size, dtype=dtype, device="meta").stride()
    made = _C._opaque(dtype, tuple(size), tuple(strides), device, cls)
    keywords = {name: value for name, value in keywords.items() if value}
    return contributed("_make_wrapper_subclass", made, keywords) if keywords else made


def methods() -> dict[str, Any]:
    """Returns the methods in this file for Tensor, by name."""
    found: dict[str, Any] = {f.__name__: f for f in (new, new_tensor, new_full, new_empty_strided)}
    found |= {f.__name__: staticmethod(f) for f in (_make_subclass, _make_wrapper_subclass)}
    for name, what in (("empty", "an uninitialized"), ("zeros", "a zero-filled"), ("ones", "a one-filled")):
        found[f"new_{name}"] = _new(name, what)
    return found
