"""Methods of Tensor that are Python: numpy, DLPack, storage, conversions by name, repr."""

from __future__ import annotations

from lattis import _C


class Storage:
    """The bytes under a tensor; views share them."""

    def __init__(self, tensor):
        self._tensor = tensor

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._tensor._storage_ptr()

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._tensor._storage_nbytes()

    def __len__(self) -> int:
        return self.nbytes() // self._tensor.itemsize

    @property
    def device(self):
        """Where it lives."""
        return self._tensor.device

    def __repr__(self):
        return f"<storage of {self.nbytes()} bytes on {self.device}>"


class ArrayView:
    """What numpy reads: an address, a shape and byte strides, and the tensor that keeps them alive."""

    def __init__(self, tensor):
        self.tensor = tensor
        kinds = {"bool": "b", "uint": "u", "int": "i", "float": "f", "complex": "c"}
        name = str(tensor.dtype).rpartition(".")[2]
        kind = kinds[name.rstrip("0123456789")]
        self.__array_interface__ = {
            "version": 3,
            "data": (tensor.data_ptr() or 1, False),
            "shape": tuple(tensor.shape),
            "strides": tuple(s * tensor.itemsize for s in tensor.stride()),
            "typestr": f"{'|' if tensor.itemsize == 1 else '<'}{kind}{tensor.itemsize}",
        }


def numpy(self, *, force=False):
    """A numpy array over the same memory; writes show on both sides.

    With ``force``, a tensor on another device is copied to the host first.

    Raises:
        TypeError: numpy cannot read the device, or has no such dtype

    >>> lattis.tensor([1, 2]).numpy()
    array([1, 2])
    """
    import numpy as np

    if self.device.type == "meta" or (not force and not _on_host(self)):
        where = f"numpy: argument 'self' is on device '{self.device}'"
        raise TypeError(f"{where}, which numpy cannot read; use .to('cpu') first")
    if not _on_host(self):
        self = self.to("cpu")
    if self.dtype is _C.bfloat16:
        raise TypeError("numpy: numpy has no bfloat16; use .to(lattis.float32) first")
    if self.numel() == 0:
        return np.empty(tuple(self.shape), dtype=str(self.dtype).rpartition(".")[2])
    return np.asarray(ArrayView(self.detach()))  # resizing `self` later must not free what numpy reads


def _on_host(tensor) -> bool:
    return any(name == tensor.device.type and host for name, _, _, host in _C._backends())


def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"__array__: {array.dtype} cannot become {dtype} without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if copy:
        self = self.clone()
    if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
        raise BufferError(f"__dlpack__: the tensor is on device {self.__dlpack_device__()}, not {dl_device}")
    return _C._to_dlpack(self, max_version is not None and max_version[0] >= 1)


def __dlpack_device__(self):
    return (1 if _on_host(self) else 12, self.device.index or 0)


def tolist(self):
    """The elements as nested lists of Python numbers.

    >>> lattis.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    return _C._to_list(self if _on_host(self) else self.to("cpu"))


def storage(self):
    """The storage, which views share.

    >>> t = lattis.ones(4)
    >>> t[2:].storage().data_ptr() == t.storage().data_ptr()
    True
    """
    return Storage(self)


def type_as(self, other):
    """``self`` in the dtype of ``other``.

    >>> lattis.ones(1).type_as(lattis.tensor([1])).dtype
    lattis.int64
    """
    return self.to(other.dtype)


def cpu(self):
    """``self`` in host memory.

    >>> lattis.ones(1).cpu().device
    device(type='cpu')
    """
    return self.to("cpu")


def __repr__(self):
    from lattis._format import tensor_repr

    return tensor_repr(self)


def __format__(self, spec):
    if self.ndim == 0 and self.device.type != "meta":
        return format(self.item(), spec)
    return object.__format__(self, spec)


def __complex__(self):
    return complex(self.item())


def __reversed__(self):
    raise NotImplementedError("reversed: strides are never negative here; flip is planned")


def _cast(name):
    target = getattr(_C, name)

    def cast(self):
        return self.to(target)

    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"``self`` as {target}.\n\n>>> lattis.ones(1).{name}().dtype\n{target}\n"
    return cast


def extend(tensor_type: type) -> None:
    """Puts the functions of this file on the type."""
    for f in (numpy, tolist, storage, type_as, cpu, __array__, __dlpack__, __dlpack_device__):
        setattr(tensor_type, f.__name__, f)
    for f in (__repr__, __format__, __complex__, __reversed__):
        setattr(tensor_type, f.__name__, f)
    for name in ("bool", "short", "int", "long", "half", "bfloat16", "float", "double"):
        setattr(tensor_type, name, _cast(name))
