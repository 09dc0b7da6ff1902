"""Storages with a dtype, as torch has them: ``tensor.storage()``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lamella import _C
from lamella._storage import UntypedStorage, storage_of


class TypedStorage:
    """All elements in the memory of a tensor, which views of the tensor share.

    >>> s = lamella.arange(3.0)[1:].storage()
    >>> len(s), s[0], s.tolist(), s.dtype
    (3, 0.0, [0.0, 1.0, 2.0], lamella.float32)
    """

    def __init__(self, tensor: Any):
        count = tensor._storage_nbytes() // tensor.itemsize
        self._tensor = _C._storage_view(tensor, tensor.dtype, (count,), (1,), 0)

    @property
    def dtype(self) -> _C.dtype:
        """The dtype of the elements."""
        return self._tensor.dtype

    @property
    def device(self) -> _C.device:
        """The device of the memory."""
        return self._tensor.device

    def data_ptr(self) -> int:
        """Returns the address of the first byte."""
        return self._tensor._storage_ptr()

    def nbytes(self) -> int:
        """Returns the number of bytes."""
        return self._tensor._storage_nbytes()

    def element_size(self) -> int:
        """Returns the number of bytes of an element."""
        return self._tensor.itemsize

    def size(self) -> int:
        """Returns the number of elements."""
        return len(self)

    def untyped(self) -> UntypedStorage:
        """Returns the same memory as a storage of bytes."""
        return storage_of(self._tensor)

    def tolist(self) -> list[Any]:
        """Returns the elements as Python numbers."""
        return self._tensor.tolist()

    def clone(self) -> TypedStorage:
        """Returns a copy."""
        return TypedStorage(self._tensor.clone())

    def cpu(self) -> TypedStorage:
        """Returns this storage in host memory; a copy if it is on another device."""
        return TypedStorage(self._tensor.cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """Returns this storage on a CUDA device; a copy if it is on another device."""
        return TypedStorage(self._tensor.to("cuda" if device is None else device))

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """Returns this storage on a device; a copy if it is on another device."""
        return TypedStorage(self._tensor.to(device))

    def fill_(self, value: Any) -> TypedStorage:
        """Sets all elements to a value."""
        self._tensor.fill_(value)
        return self

    def copy_(self, source: TypedStorage) -> TypedStorage:
        """Copies the elements of a storage of the same size into this one."""
        self._tensor.copy_(source._tensor)
        return self

    def is_shared(self) -> bool:
        """Returns whether the elements are in memory that processes share; ``share_memory_`` moves them there."""
        return self.untyped().is_shared()

    def share_memory_(self) -> TypedStorage:
        """Moves the elements to memory that processes share."""
        self._tensor.share_memory_()
        return self

    def __len__(self) -> int:
        return self._tensor.numel()

    def __getitem__(self, index: Any) -> Any:
        found = self._tensor[index]
        return TypedStorage(found.clone()) if isinstance(index, slice) else found.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._tensor[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        return f"<storage of {self.nbytes()} bytes on {self.device}>"
