"""``__cuda_array_interface__``, version 3: tensors offer it, and arrays of other libraries that have it become tensors.

``read`` describes an array by a DLPack capsule, and ``held`` keeps the array alive as long as the tensor.
"""

from __future__ import annotations

import ctypes
from typing import Any

import lamella

KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # numpy's letters, and DLPack's codes
LETTERS = dict.fromkeys(("uint8", "uint16", "uint32", "uint64"), "u")
LETTERS |= dict.fromkeys(("int8", "int16", "int32", "int64"), "i")
LETTERS |= dict.fromkeys(("float16", "float32", "float64"), "f")
LETTERS |= {"complex64": "c", "complex128": "c", "bool": "b"}
CUDA = 2  # DLPack's number for the device


# ---- tensors for others ----------------------------------------------------------------------------------------------


def describe(tensor: Any) -> dict[str, Any]:
    """The tensor's memory by the CUDA Array Interface, version 3.

    Raises:
        AttributeError: the tensor is not on device 'cuda', or the interface has no name for its dtype
        RuntimeError: a plugin refuses, as autograd does if the tensor requires grad
    """
    if tensor.device.type != "cuda":
        raise AttributeError(f"__cuda_array_interface__: the tensor is on device '{tensor.device}', not on 'cuda'")
    dtype = str(tensor.dtype).rpartition(".")[2]
    if dtype not in LETTERS:
        raise AttributeError(f"__cuda_array_interface__: there is no typestr for {tensor.dtype}; use DLPack")
    tensor.__dlpack__(stream=-1)  # raises if the memory must not be given away
    size = tensor.element_size()
    stream = lamella.cuda.current_stream(tensor.device)  # type: ignore[attr-defined]
    return {
        "version": 3,
        "shape": tuple(tensor.shape),
        "typestr": f"{'|' if size == 1 else '<'}{LETTERS[dtype]}{size}",
        "data": (tensor.data_ptr() if tensor.numel() else 0, False),
        "strides": None if tensor.is_contiguous() else tuple(size * s for s in tensor.stride()),
        "stream": stream.native_handle,
    }


# ---- arrays of others ------------------------------------------------------------------------------------------------


class Managed(ctypes.Structure):
    """DLPack's DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


NAME = b"dltensor"
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
is_fresh = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
held: dict[int, tuple[Any, ...]] = {}  # by the address of a Managed: the objects that its tensor keeps alive


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def delete(address: int, held: dict[int, tuple[Any, ...]] = held) -> None:
    held.pop(address, None)


ctypes.pythonapi.Py_IncRef(ctypes.py_object(delete))  # tensors may be freed after this module is gone


def read(obj: Any) -> Any:
    """A tensor over the memory of an array with ``__cuda_array_interface__``; None for other objects.

    If the array names a stream, the current stream waits for it.

    Raises:
        BufferError: the address is not in a device's memory, the array is read-only or masked, no tensor can have its
            typestr or strides, or the array names stream 0
    """
    found = getattr(obj, "__cuda_array_interface__", None)  # torch's tensors have it on a GPU
    if found is None:
        return None
    pointer, read_only = found["data"]
    if read_only:
        raise BufferError("as_tensor: the array is read-only, and a tensor may be written to; pass a copy of the array")
    if found.get("mask") is not None:
        raise BufferError("as_tensor: the array has a mask, which tensors don't have")
    order, kind, size = found["typestr"][0], found["typestr"][1], int(found["typestr"][2:])
    if order == ">" or kind not in KINDS:
        raise BufferError(f"as_tensor: there is no dtype for elements of type {found['typestr']!r}")
    shape, strides = tuple(found["shape"]), found.get("strides")
    empty = 0 in shape
    if strides is not None and any(s % size for s in strides):
        raise BufferError(f"as_tensor: strides of {tuple(strides)} bytes are no multiples of an element's {size}")
    index = lamella.cuda.current_device()  # type: ignore[attr-defined]
    if not empty:
        index = lamella.ops.cuda._device_of_pointer(pointer)
    if index < 0:
        raise BufferError(f"as_tensor: the array's address {pointer:#x} is not one of device memory")
    stream = found.get("stream")
    if stream == 0:
        raise BufferError("as_tensor: the array names stream 0, which the CUDA Array Interface forbids")
    if stream is not None:
        lamella.ops.cuda._wait_for_stream(index, stream)
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    steps = None if strides is None else (ctypes.c_int64 * len(shape))(*(s // size for s in strides))
    managed = Managed(pointer or None, CUDA, index, len(shape), KINDS[kind], 8 * size, 1)
    managed.shape = ctypes.addressof(sizes)
    managed.strides = None if steps is None else ctypes.addressof(steps)
    managed.deleter = ctypes.cast(delete, ctypes.c_void_p)
    address = ctypes.addressof(managed)
    held[address] = (managed, sizes, steps, obj)
    capsule = new_capsule(address, NAME, None)
    try:
        return lamella.from_dlpack(capsule)
    finally:
        if is_fresh(capsule, NAME):  # from_dlpack() raised before it took the memory
            held.pop(address)


def check_memory(tensor: Any) -> None:
    """Checks the address of a tensor on device 'cuda'; tensors on other devices and without elements pass.

    Raises:
        BufferError: the address is not in the device's memory, or is no multiple of the element's size
    """
    if tensor.device.type != "cuda" or not tensor.numel():
        return
    address = tensor.data_ptr()
    index = lamella.ops.cuda._device_of_pointer(address)
    if index != (tensor.device.index or 0):  # for the type checker: on device 'cuda' the index is never None
        there = "memory of the host or unknown" if index < 0 else f"on device 'cuda:{index}'"
        raise BufferError(f"from_dlpack: the address {address:#x} is {there}, not on device '{tensor.device}'")
    if address % tensor.element_size():
        raise BufferError(
            f"from_dlpack: the address {address:#x} is no multiple of the {tensor.element_size()} bytes of an element"
        )
