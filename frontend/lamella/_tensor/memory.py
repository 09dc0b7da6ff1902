"""Tensor's methods for its memory: its storage, its size and strides over the storage, and sharing."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella._devices import host
from lamella._devices.streams import Stream, check_kind
from lamella._storage import UntypedStorage, reduce_tensor, storage_of
from lamella._torch.typed_storage import TypedStorage

_set = _C._packet("aten::set_")
_set_data = _C._packet("aten::set_data")


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
    """The tensor without history, over the same memory. Assigning a tensor to it replaces the memory.

    A write through it does not count in this tensor's ``_version``, so that backward does not see it. A write through
    ``detach()`` counts there.

    >>> t = lamella.ones(2)
    >>> t.data = lamella.zeros(3)
    >>> t
    tensor([0., 0., 0.])
    """
    made = self.detach()
    return made if made is self else made._use_other_count()


def _assign_data(self, value):
    if not isinstance(value, _C.Tensor):
        raise TypeError(f"data: expected a Tensor, got {type(value).__name__}")
    if getattr(self, "requires_grad", False) and not (value.is_floating_point() or value.is_complex()):
        raise RuntimeError(f"data: the tensor requires grad, which {value.dtype} cannot have; assign a floating dtype")
    _set_data(self, value)


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Makes the tensor use the memory of ``source``: a tensor, or a storage with ``size`` and ``stride`` in elements.

    Without ``source`` the tensor becomes empty. The tensor remains the same object, and keeps its gradient and its
    attributes.

    Raises:
        RuntimeError: the tensor requires grad; the source has another dtype or device; or the elements reach beyond
            the end of the storage

    >>> t, other = lamella.zeros(2), lamella.arange(4.0)
    >>> t.set_(other.untyped_storage(), 1, (2,))
    tensor([1., 2.])
    >>> t.data_ptr() == other[1:].data_ptr()
    True
    """
    if source is None:
        source = self.new_empty(0)
    elif isinstance(source, UntypedStorage):
        n = source.nbytes() // self.itemsize
        source = _C._storage_view(source._bytes, self.dtype, (n,), (1,), 0)
        if not hasattr(storage_offset, "__index__"):
            raise TypeError(f"set_: argument 'storage_offset' must be int, got {type(storage_offset).__name__}")
        size = (max(n - storage_offset, 0),) if size is None else size
    elif not isinstance(source, _C.Tensor):
        kind = type(source).__name__
        raise TypeError(f"set_: argument 'source' must be a Tensor or a Tensor's untyped_storage(), got {kind}")
    return _set(self, source) if size is None else _set(self, source, storage_offset, size, stride or ())


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
    plain = (storage, untyped_storage, set_, is_set_to, is_shared, share_memory_, record_stream)
    found: dict[str, Any] = {f.__name__: f for f in (*plain, __reduce__)}
    return found | {"data": property(_data, _assign_data, doc=_data.__doc__), "const_data_ptr": _C.Tensor.data_ptr}
