"""Tensor's methods for its memory: its storage, its size and strides over the storage, and sharing."""

from __future__ import annotations

import operator
from typing import Any

from lamella import _C
from lamella._devices import host
from lamella._devices.streams import Stream, check_kind
from lamella._storage import UntypedStorage, reduce_tensor, storage_of
from lamella._torch.typed_storage import TypedStorage


def storage(self):
    """Returns the storage with the tensor's dtype. Views share it.

    >>> t = lamella.ones(4)
    >>> t[2:].storage().data_ptr() == t.storage().data_ptr()
    True
    """
    return TypedStorage(self)


def untyped_storage(self):
    """Returns the storage as bytes; the same object for all tensors over it.

    The storage of an opaque tensor has the bytes that its layer keeps there, such as integers, or none.

    >>> t = lamella.ones(4)
    >>> t[2:].untyped_storage() is t.untyped_storage(), t.untyped_storage().nbytes()
    (True, 16)
    """
    return storage_of(self)


def is_storage(obj) -> bool:
    """Returns whether an object is a tensor's storage.

    >>> lamella.is_storage(lamella.ones(1).untyped_storage()), lamella.is_storage(lamella.ones(1))
    (True, False)
    """
    return isinstance(obj, (UntypedStorage, TypedStorage))


def _data(self):
    """The tensor without history, as ``detach()`` returns it. Assigning a tensor to it replaces the memory.

    >>> t = lamella.ones(2)
    >>> t.data = lamella.zeros(3)
    >>> t
    tensor([0., 0., 0.])
    """
    return self.detach()


def _set_data(self, value):
    if not isinstance(value, _C.Tensor):
        raise TypeError(f"data: expected a Tensor, got {type(value).__name__}")
    if getattr(self, "requires_grad", False) and not (value.is_floating_point() or value.is_complex()):
        raise RuntimeError(f"data: the tensor requires grad, which {value.dtype} cannot have; assign a floating dtype")
    _C._assign(self, value)


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Makes the tensor use the memory of ``source``: a tensor, or a storage with ``size`` and ``stride`` in elements.

    Without ``source`` the tensor becomes empty. The tensor remains the same object, and keeps its gradient and its
    attributes.

    Raises:
        RuntimeError: the tensor requires grad, or the source has another dtype or device
        ValueError: the elements reach beyond the end of the storage

    >>> t, other = lamella.zeros(2), lamella.arange(4.0)
    >>> t.set_(other.untyped_storage(), 1, (2,))
    tensor([1., 2.])
    >>> t.data_ptr() == other[1:].data_ptr()
    True
    """
    _refuse_grad("set_", self)
    if source is None:
        source = self.new_empty(0)
    elif isinstance(source, _C.Tensor) and source.is_opaque and size is not None:
        raise NotImplementedError("set_: argument 'source' is opaque, and has no elements that another size could show")
    elif not isinstance(source, (_C.Tensor, UntypedStorage)):
        kind = type(source).__name__
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
    """Changes the sizes of the tensor over its memory. New elements are uninitialized.

    A tensor that grows beyond its memory gets new memory, into which its elements are copied in memory order. In torch
    other tensors over the old memory follow to the new one; here they keep the old memory.

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


def resize_as_(self, the_template, *, memory_format=_C.contiguous_format):
    """Changes the sizes to those of ``the_template``, as ``resize_`` does.

    >>> lamella.arange(4).resize_as_(lamella.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return self.resize_(the_template.shape, memory_format=memory_format)


def _refuse_grad(who, tensor):
    if getattr(tensor, "requires_grad", False):
        raise RuntimeError(f"{who}: the tensor requires grad, which has its shape; use its .data, or detach() it")


def _as_sizes(who, sizes):
    try:
        return tuple(operator.index(n) for n in sizes)
    except TypeError:
        raise TypeError(f"{who}: argument 'size' must be ints, got {sizes!r}") from None


def _see(name, self, view):
    """Gives ``self`` the offset, sizes and strides of ``view``, a view of it. ``name`` is for error messages."""
    if getattr(self, "requires_grad", False):
        raise RuntimeError(
            f"{name}: the tensor requires grad, and its history has its shape; "
            f"write x = x.{name[:-1]}(...), or detach() it first"
        )
    if view.storage_offset() == self.storage_offset():
        _C._resize(self, list(view.shape), list(view.stride()))
    else:
        _C._assign(self, view.detach())
    return self


def _viewing(name, example):
    def change(self, *args, **keywords):
        return _see(f"{name}_", self, getattr(_C.Tensor, name)(self, *args, **keywords))

    change.__name__ = change.__qualname__ = f"{name}_"
    change.__doc__ = (
        f"{name}() in place: changes the tensor's own sizes and strides. It must not require grad.\n\n{example}\n"
    )
    return change


_EXAMPLES = {
    "t": ">>> lamella.ones(2, 3).t_().shape\nlamella.Size([3, 2])",
    "transpose": ">>> lamella.ones(2, 3).transpose_(0, 1).shape\nlamella.Size([3, 2])",
    "swapaxes": ">>> lamella.ones(2, 3).swapaxes_(0, 1).shape\nlamella.Size([3, 2])",
    "swapdims": ">>> lamella.ones(2, 3).swapdims_(0, 1).shape\nlamella.Size([3, 2])",
    "squeeze": ">>> lamella.ones(2, 1).squeeze_().shape\nlamella.Size([2])",
    "unsqueeze": ">>> lamella.ones(2).unsqueeze_(0).shape\nlamella.Size([1, 2])",
    "as_strided": ">>> lamella.arange(4).as_strided_((2,), (2,))\ntensor([0, 2])",
}


def is_set_to(self, tensor) -> bool:
    """Returns whether two tensors have the same storage, offset, sizes and strides.

    >>> t = lamella.ones(2)
    >>> t.is_set_to(t.detach()), t.is_set_to(t.clone())
    (True, False)
    """
    same = self._storage_id() == tensor._storage_id() and self.storage_offset() == tensor.storage_offset()
    return same and self.shape == tensor.shape and self.stride() == tensor.stride()


def is_shared(self) -> bool:
    """Returns whether the elements are in memory that processes share, as those of a batch that a worker made.

    >>> lamella.ones(1).is_shared()
    False
    """
    return _C._is_shared(self)


def share_memory_(self):
    """Moves the memory of the tensor, and of all others over its storage, to memory that processes can share.

    The storage remains the same object. The function waits until no other thread works on tensors, for a minute at
    most. On a device other than the host it does nothing.

    Raises:
        RuntimeError: the tensor is on "meta"; or arrays or saved tensors hold the old memory, and cannot be moved
        ValueError: the tensor is opaque
        OutOfMemoryError: not enough shared memory is left
        TimeoutError: other threads work on tensors without a pause

    >>> t = lamella.ones(2)
    >>> t.share_memory_().is_shared(), t
    (True, tensor([1., 1.]))
    """
    if self.device.type == "meta":
        raise RuntimeError("share_memory_: a tensor on 'meta' has no memory")
    if self.device.type == host().type:
        _C._share_memory(self)
    return self


def record_stream(self, stream):
    """Delays the reuse of the memory: once freed, it is reused only after the work that ``stream`` has then.

    A program must call this if it uses the tensor on another stream than the one that allocated the memory.

    Raises:
        TypeError: ``stream`` is not a Stream
        ValueError: ``stream`` belongs to another device

    >>> lamella.ones(1).record_stream(lamella.cpu.current_stream())
    """
    check_kind("record_stream", "stream", stream, Stream)._stream.record(self)


def __reduce__(self):
    return reduce_tensor(self)


def methods() -> dict[str, Any]:
    """Returns the methods and properties in this file for Tensor, by name."""
    plain = (storage, untyped_storage, set_, resize_, resize_as_, is_set_to, is_shared, share_memory_, record_stream)
    found: dict[str, Any] = {f.__name__: f for f in (*plain, __reduce__)}
    found |= {f"{name}_": _viewing(name, example) for name, example in _EXAMPLES.items()}
    return found | {"data": property(_data, _set_data, doc=_data.__doc__), "const_data_ptr": _C.Tensor.data_ptr}
