"""Tensors from other objects and their memory: ``asarray``, ``frombuffer``; and memory in another order."""

from __future__ import annotations

from lamella import _C, _elsewhere
from lamella._C import Tensor
from lamella._functions import as_tensor, tensor


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False) -> Tensor:
    """An object as a tensor: a tensor, an array or a buffer without a copy where dtype and device allow it.

    Args:
        copy: True always copies, False never does, None copies where it must

    Raises:
        ValueError: it must be copied, and ``copy`` is False

    >>> t = lamella.ones(2)
    >>> lamella.asarray(t) is t, lamella.asarray([1, 2])
    (True, tensor([1, 2]))
    """
    if copy:
        return tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    made = as_tensor(obj, dtype=dtype, device=device)
    if copy is False:
        shared = made is obj or (not isinstance(obj, Tensor) and _address(obj) == made.data_ptr())
        if not shared:
            raise ValueError("asarray: the object cannot become such a tensor without a copy, and copy is False")
    return made.requires_grad_() if requires_grad else made


def _address(obj):
    held = getattr(obj, "__array_interface__", None)
    if held:
        return held["data"][0]
    there = _elsewhere.read(obj)
    return None if there is None else there.data_ptr()


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False) -> Tensor:
    """A vector over the memory of an object with Python's buffer protocol; writes show on both sides.

    Args:
        count: how many elements; -1 takes all that fit
        offset: where they begin, in bytes

    Raises:
        ValueError: the buffer is too short, or its rest is not whole elements

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
    except RuntimeError:  # the elements do not lie at multiples of their size
        made = flat.clone().view(dtype)
    return made.requires_grad_() if requires_grad else made


def empty_permuted(size, physical_layout, *, dtype=None, device=None, **keywords) -> Tensor:
    """A tensor whose dimensions lie in memory in a given order, the outermost first. It holds whatever is there.

    Raises:
        RuntimeError: the order is no permutation of the dimensions

    >>> lamella.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError(f"empty_permuted: argument 'physical_layout': {physical_layout} is no order of {len(size)}")
    place = [physical_layout.index(d) for d in range(len(size))]
    made = _C._packet("aten::empty")([size[d] for d in physical_layout], dtype=dtype, device=device, **keywords)
    return made.permute(place)
