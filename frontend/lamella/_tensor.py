"""Methods of Tensor that are Python: numpy, DLPack, storage, conversions by name, repr."""

from __future__ import annotations

import builtins
import operator
import sys
from typing import Any

from lamella import _C


def numpy(self, *, force=False):
    """A numpy array over the same memory; writes show on both sides.

    With ``force``, the values are given of any tensor: detached, and copied to the host if it lies elsewhere.

    Raises:
        TypeError: numpy cannot read the device, or has no such dtype
        RuntimeError: a plugin refuses, as autograd where the tensor requires grad

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
            return self.to("cpu").numpy()
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
    from lamella._arrays import tensor_over

    return tensor_over(array)


def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
    from lamella._arrays import array_ufunc

    _C.Tensor.__array_ufunc__ = array_ufunc  # numpy is there; from now on without this step
    return array_ufunc(self, ufunc, method, *inputs, **kwargs)


def __reduce__(self):
    from lamella._storage import reduce_tensor

    return reduce_tensor(self)


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if copy:
        self = self.clone()
    if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
        raise BufferError(f"__dlpack__: the tensor is on device {self.__dlpack_device__()}, not {dl_device}")
    return _C._to_dlpack(self, max_version is not None and max_version[0] >= 1, stream)


def __dlpack_device__(self):
    return _C._dlpack_device(self)


def tolist(self):
    """The elements as nested lists of Python numbers.

    >>> lamella.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    return _C._to_list(self if _on_host(self) else self.to("cpu"))


def storage(self):
    """The storage, which views share.

    >>> t = lamella.ones(4)
    >>> t[2:].storage().data_ptr() == t.storage().data_ptr()
    True
    """
    from lamella._torch.typed_storage import TypedStorage

    return TypedStorage(self)


def untyped_storage(self):
    """The storage as bytes: one object for all tensors over it.

    >>> t = lamella.ones(4)
    >>> t[2:].untyped_storage() is t.untyped_storage(), t.untyped_storage().nbytes()
    (True, 16)
    """
    from lamella._storage import storage_of

    return storage_of(self)


def _data(self):
    """The elements without history, as ``detach()`` gives them. Assigned to, the tensor takes over another's memory.

    >>> t = lamella.ones(2)
    >>> t.data = lamella.zeros(3)
    >>> t
    tensor([0., 0., 0.])
    """
    return self.detach()


def _set_data(self, value):
    if not isinstance(value, _C.Tensor):
        raise TypeError(f"data: expected a Tensor, got {builtins.type(value).__name__}")
    if getattr(self, "requires_grad", False) and not (value.is_floating_point() or value.is_complex()):
        raise RuntimeError(f"data: the tensor requires grad, which {value.dtype} cannot have; assign a floating dtype")
    _C._assign(self, value)


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Takes over the memory of ``source``: of a tensor, or of a storage with ``size`` and ``stride`` in elements.

    Without ``source`` the tensor becomes empty. Who holds the tensor sees the other memory; its gradient and its
    attributes stay.

    Raises:
        RuntimeError: the tensor requires grad; the source has another dtype or device
        ValueError: the window reaches beyond the storage

    >>> t, other = lamella.zeros(2), lamella.arange(4.0)
    >>> t.set_(other.untyped_storage(), 1, (2,))
    tensor([1., 2.])
    >>> t.data_ptr() == other[1:].data_ptr()
    True
    """
    from lamella._storage import UntypedStorage

    _refuse_grad("set_", self)
    if source is None:
        source = self.new_empty(0)
    elif not isinstance(source, (_C.Tensor, UntypedStorage)):
        kind = builtins.type(source).__name__
        raise TypeError(f"set_: argument 'source' must be a Tensor or a Tensor's untyped_storage(), got {kind}")
    elif isinstance(source, _C.Tensor) and (source.dtype is not self.dtype or source.device != self.device):
        what = f"has dtype {source.dtype} on {source.device}, the tensor {self.dtype} on {self.device}"
        raise RuntimeError(f"set_: argument 'source' {what}; both must be the same")
    if isinstance(source, UntypedStorage) or size is not None:
        flat = getattr(source, "_bytes", source)
        if size is None:
            size = (flat._storage_nbytes() // self.itemsize - storage_offset,)
        size = _as_sizes("set_", size)
        if stride is None:
            stride = _C._packet("aten::empty")(size, dtype=self.dtype, device="meta").stride()
        source = _C._storage_view(flat, self.dtype, size, tuple(stride), storage_offset)
    _C._assign(self, source)
    return self


def resize_(self, *size, memory_format=_C.contiguous_format):
    """Gives the tensor other sizes over its memory. New elements hold whatever is there.

    A tensor that grows beyond its memory gets new memory, into which its elements go as they lie. In torch other
    tensors over the old memory see the new one, here they keep the old.

    Raises:
        RuntimeError: the tensor requires grad, or is a view that would outgrow its base

    >>> t = lamella.arange(6)
    >>> t.resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    >>> t.resize_(3, 2)
    tensor([[0, 1],
            [2, 3],
            [4, 5]])
    """
    _refuse_grad("resize_", self)
    size = _as_sizes("resize_", size[0] if len(size) == 1 and not hasattr(size[0], "__index__") else size)
    shape = _C._packet("aten::empty")(size, dtype=self.dtype, device="meta", memory_format=memory_format)
    _C._resize(self, size, shape.stride())
    return self


def _make_subclass(cls, data, require_grad=False):
    """A tensor of a subclass over the memory of ``data``, without its history.

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
    """A tensor of a subclass with ``__torch_dispatch__``: with a shape, a dtype and a device, but without memory.

    The class's ``__torch_dispatch__`` gets every operator that the tensor comes to. Further keywords are those that
    plugins contribute, as ``requires_grad``.

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
    from lamella._functions import _contributed

    dtype = _C.get_default_dtype() if dtype is None else dtype
    device = _C._get_default_device() if device is None else device
    if strides is None:
        strides = _C._packet("aten::empty")(size, dtype=dtype, device="meta").stride()
    made = _C._opaque(dtype, tuple(size), tuple(strides), device, cls)
    keywords = {name: value for name, value in keywords.items() if value}
    return _contributed("_make_wrapper_subclass", made, keywords) if keywords else made


def _refuse_grad(who, tensor):
    if getattr(tensor, "requires_grad", False):
        raise RuntimeError(f"{who}: the tensor requires grad, which has its shape; use its .data, or detach() it")


def _as_sizes(who, sizes):
    try:
        return tuple(operator.index(n) for n in sizes)
    except TypeError:
        raise TypeError(f"{who}: argument 'size' must be ints, got {sizes!r}") from None


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, **keywords):
    """A new tensor with a copy of ``data``, of the dtype and on the device of ``self``.

    >>> lamella.ones(1).new_tensor([1, 2])
    tensor([1., 2.])
    """
    from lamella._functions import tensor

    return tensor(data, **_like(self, dtype, device), requires_grad=requires_grad, **keywords)


def new_full(self, size, fill_value, *, dtype=None, device=None, **keywords):
    """A tensor of ``size`` full of a number, of the dtype and on the device of ``self``.

    >>> lamella.arange(1).new_full((2,), 7)
    tensor([7, 7])
    """
    return _C._packet("aten::full")(size, fill_value, **_like(self, dtype, device), **keywords)


def _like(tensor, dtype, device):
    return {
        "dtype": tensor.dtype if dtype is None else dtype,
        "device": tensor.device if device is None else device,
    }


def _new(name, what):
    def make(self, *size, dtype=None, device=None, **keywords):
        size = size[0] if len(size) == 1 and not hasattr(size[0], "__index__") else size
        return _C._packet(f"aten::{name}")(size, **_like(self, dtype, device), **keywords)

    make.__name__ = make.__qualname__ = f"new_{name}"
    make.__doc__ = (
        f"A tensor of ``size`` {what}, of the dtype and on the device of ``self``.\n\n"
        f">>> lamella.arange(1).new_{name}(2, 3).shape\nlamella.Size([2, 3])\n"
    )
    return make


def type(self, dtype=None, non_blocking=False):
    """The name of the type, ``"lamella.FloatTensor"``; or, with a dtype or a type, ``self`` in it.

    In a program that says ``import torch``, by ``lamella run``, it is ``"torch.FloatTensor"``.

    Raises:
        TypeError: no dtype, nor the name of one

    >>> lamella.ones(1).type(), lamella.ones(1).type(lamella.int64)
    ('lamella.FloatTensor', tensor([1]))
    """
    if dtype is None:
        home = "torch" if "torch" in sys.modules and sys.modules["torch"] is sys.modules["lamella"] else "lamella"
        return f"{home}.{_TYPE_NAMES.get(self.dtype, str(self.dtype)[8:])}Tensor"
    names = {f"{home}.{name}Tensor": d for d, name in _TYPE_NAMES.items() for home in ("lamella", "torch")}
    wanted = names.get(dtype) if isinstance(dtype, str) else dtype
    if wanted is _C.Tensor:
        wanted = _C.get_default_dtype()
    elif isinstance(kind := getattr(wanted, "dtype", None), _C.dtype):  # FloatTensor and its kin
        wanted, device = kind, wanted.kind or _C._default_generator().device
        return self.to(device, kind, non_blocking=non_blocking)
    if not isinstance(wanted, (_C.dtype, builtins.type)):
        raise TypeError(f"type: argument 'dtype' must be a dtype or a name as 'torch.FloatTensor', got {dtype!r}")
    return self.to(wanted, non_blocking=non_blocking)


_TYPE_NAMES = {
    _C.bool: "Bool",
    _C.uint8: "Byte",
    _C.uint16: "UInt16",
    _C.uint32: "UInt32",
    _C.uint64: "UInt64",
    _C.int8: "Char",
    _C.int16: "Short",
    _C.int32: "Int",
    _C.int64: "Long",
    _C.float16: "Half",
    _C.bfloat16: "BFloat16",
    _C.float8_e4m3fn: "Float8_e4m3fn",
    _C.float8_e5m2: "Float8_e5m2",
    _C.float32: "Float",
    _C.float64: "Double",
    _C.complex64: "ComplexFloat",
    _C.complex128: "ComplexDouble",
}


def _matrix(self, name, only=False):
    if self.ndim < 2 or (only and self.ndim != 2):
        wanted = "a matrix" if only else "a matrix or a batch of matrices"
        raise RuntimeError(f"Tensor.{name}: expected {wanted}, got shape {tuple(self.shape)}")
    return self.transpose(-2, -1)


def mT(self):
    """The last two dimensions exchanged; a view.

    >>> lamella.ones(4, 2, 3).mT.shape
    lamella.Size([4, 3, 2])
    """
    return _matrix(self, "mT")


def mH(self):
    """The last two dimensions exchanged, and complex elements conjugated.

    >>> lamella.tensor([[1.0, 2.0]]).mH
    tensor([[1.],
            [2.]])
    """
    swapped = _matrix(self, "mH")
    return swapped.conj() if self.is_complex() else swapped


def H(self):
    """The conjugate transpose of a matrix.

    >>> lamella.tensor([[1.0, 2.0]]).H.shape
    lamella.Size([2, 1])
    """
    swapped = _matrix(self, "H", only=True)
    return swapped.conj() if self.is_complex() else swapped


def type_as(self, other):
    """``self`` in the dtype of ``other``.

    >>> lamella.ones(1).type_as(lamella.tensor([1])).dtype
    lamella.int64
    """
    return self.to(other.dtype)


def cpu(self, memory_format=_C.preserve_format):
    """``self`` in host memory.

    >>> lamella.ones(1).cpu().device
    device(type='cpu')
    """
    return self.to("cpu", memory_format=memory_format)


def record_stream(self, stream):
    """Keeps the memory, when the tensor gives it back, until the work that is on a stream then is done.

    A program that uses a tensor on another stream than its memory is from says so with this.

    Raises:
        TypeError: it is no Stream
        ValueError: the stream is of another device

    >>> lamella.ones(1).record_stream(lamella.cpu.current_stream())
    """
    from lamella._streams import Stream, check_kind

    check_kind("record_stream", "stream", stream, Stream)._stream.record(self)


def __repr__(self):
    from lamella._format import tensor_repr

    return tensor_repr(self)


def __format__(self, spec):
    if self.ndim == 0 and self.device.type != "meta":
        return format(self.item(), spec)
    return object.__format__(self, spec)


def __complex__(self):
    return complex(self.item())


def __reversed__(self):
    return self if self.ndim == 0 else self.flip(0)


def _cast(name, dtype):
    target = getattr(_C, dtype)

    def cast(self, memory_format=_C.preserve_format):
        return self.to(target, memory_format=memory_format)

    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"``self`` as {target}.\n\n>>> lamella.ones(1).{name}().dtype\n{target}\n"
    return cast


def methods() -> dict[str, Any]:
    """The methods and properties of this file, by the names that Tensor gets."""
    from lamella._functions import allclose, equal

    plain = (numpy, tolist, storage, untyped_storage, type, type_as, cpu, new_tensor, new_full, set_, resize_)
    protocols = (__array__, __array_wrap__, __array_ufunc__, __dlpack__, __dlpack_device__, __reduce__)
    special = (__repr__, __format__, __complex__, __reversed__)
    found: dict[str, Any] = {f.__name__: f for f in (*plain, record_stream, allclose, equal, *protocols, *special)}
    found |= {f.__name__: staticmethod(f) for f in (_make_subclass, _make_wrapper_subclass)}
    found |= {view.__name__: property(view) for view in (mT, mH, H)}
    found["data"] = property(_data, _set_data, doc=_data.__doc__)
    found["__array_priority__"] = 1000
    for name, what in (("empty", "of whatever is in its memory"), ("zeros", "full of zeros"), ("ones", "full of ones")):
        found[f"new_{name}"] = _new(name, what)
    targets = {**dict.fromkeys(CASTS), "char": "int8", "byte": "uint8"}
    return found | {name: _cast(name, target or name) for name, target in targets.items()}


CASTS = "bool short int long half bfloat16 float double cfloat cdouble".split()
