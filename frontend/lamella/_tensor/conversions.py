"""Conversions of tensors to numpy arrays, DLPack, lists, numbers, text, and tensors in host memory."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lamella import _C
from lamella._devices import host


def numpy(self, *, force=False):
    """Returns a numpy array over the same memory; writes are visible on both sides.

    With ``force``, the tensor is detached, and copied to the host if it is on another device.

    Raises:
        TypeError: numpy cannot read the device, or has no such dtype
        RuntimeError: a plugin refuses; autograd does if the tensor requires grad

    >>> lamella.tensor([1, 2]).numpy()
    array([1, 2])
    """
    import numpy as np

    if force:
        self = self.detach()
    try:
        return np.asarray(memoryview(self))
    except BufferError as error:
        if force and self.device.type != "meta" and not _on_host(self):
            return self.to(host()).numpy()
        why = f"numpy has no {str(self.dtype)[8:]}; use .to(lamella.float32) first"
        if not _on_host(self):
            why = f"argument 'self' is on device '{self.device}', which numpy cannot read; use .to('cpu') first"
        raise TypeError(f"numpy: {why}") from error


def _on_host(tensor) -> bool:
    return any(name == tensor.device.type and host for name, _, _, host in _C._backends())


def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"__array__: {array.dtype} cannot become {dtype} without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def __array_wrap__(self, array, context=None, return_scalar=False):
    from lamella._tensor.ufuncs import tensor_over

    return tensor_over(array)


def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
    from lamella._tensor.ufuncs import array_ufunc

    _C.Tensor.__array_ufunc__ = array_ufunc  # later calls skip this function, since numpy is imported
    return array_ufunc(self, ufunc, method, *inputs, **kwargs)


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if copy:
        self = self.clone()
    if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
        raise BufferError(f"__dlpack__: the tensor is on device {self.__dlpack_device__()}, not {dl_device}")
    return _C._to_dlpack(self, max_version is not None and max_version[0] >= 1, stream)


def __dlpack_device__(self):
    return _C._dlpack_device(self)


def __array_namespace__(self, /, *, api_version=None):
    known = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")  # later versions only add to earlier ones
    if api_version is not None and api_version not in known:
        raise ValueError(
            f"__array_namespace__: argument 'api_version' must be one of {', '.join(known)}, got {api_version!r}"
        )
    return import_module("lamella.array_api")  # by name, since the namespace is made of tensors


def to_device(self, device, /, *, stream=None):
    """Returns a copy on a device, or ``self`` if it is there: the array API standard's name of ``to``.

    Args:
        stream: a stream of the device on which the copy is done; None stands for the current one

    >>> lamella.ones(1).to_device(lamella.ones(1).device)
    tensor([1.])
    """
    if stream is None:
        return self.to(device)
    with stream:
        return self.to(device)


def tolist(self):
    """Returns the elements as nested lists of Python numbers.

    >>> lamella.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    return _C._to_list(self if _on_host(self) else self.to(host()))


def cpu(self, memory_format=_C.preserve_format):
    """Returns a copy in host memory, or ``self`` if it is there.

    >>> lamella.ones(1).cpu().device
    device(type='cpu')
    """
    return self.to(host(), memory_format=memory_format)


def __repr__(self):
    from lamella._tensor.printing import tensor_repr

    return tensor_repr(self)


def __format__(self, spec):
    if self.ndim == 0 and self.device.type != "meta":
        return format(self.item(), spec)
    return object.__format__(self, spec)


def __complex__(self):
    if self.numel() != 1:
        shape = tuple(self.shape)
        raise ValueError(f"complex: expected a tensor of one element, got shape {shape}; take one, or use .tolist()")
    return complex(self.item())


def methods() -> dict[str, Any]:
    """Returns the methods and attributes in this file for Tensor, by name."""
    protocols = (__array__, __array_namespace__, __array_wrap__, __array_ufunc__, __dlpack__, __dlpack_device__)
    plain = (numpy, to_device, tolist, cpu, __repr__, __format__, __complex__)
    found: dict[str, Any] = {f.__name__: f for f in (*plain, *protocols)}
    return found | {"__array_priority__": 1000}
