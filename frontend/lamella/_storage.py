"""UntypedStorage, the bytes under tensors; and how pickle and copy save and rebuild tensors and storages."""

from __future__ import annotations

import pickle
import warnings
import weakref

from lamella import _C
from lamella._devices import host
from lamella.plugins import contributions

_known: weakref.WeakValueDictionary[int, UntypedStorage] = weakref.WeakValueDictionary()


class UntypedStorage:
    """The bytes under a tensor. While this object lives, ``untyped_storage()`` of all tensors over them returns it."""

    __slots__ = ("_bytes", "__weakref__")

    def __init__(self, flat):
        self._bytes = flat  # a uint8 tensor over the whole storage, which the tensor keeps alive
        _known[flat._storage_id()] = self

    @classmethod
    def from_file(cls, filename, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Maps a file into memory; its bytes are read when they are used.

        Args:
            filename: the path of a plain file
            shared: True writes changes of the bytes to the file, which is made, or made longer, if that is needed;
                False leaves the file as it is
            nbytes: the number of bytes to map, from the beginning of the file on; 0 stands for all

        Raises:
            OSError: the file cannot be opened
            ValueError: the file has fewer bytes, or ``nbytes`` is negative

        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     _ = file.write(b"abc")
        ...     file.flush()
        ...     lamella.UntypedStorage.from_file(file.name).tolist()
        [97, 98, 99]
        """
        import mmap
        import os

        import numpy as np

        if nbytes < 0:
            raise ValueError(f"from_file: argument 'nbytes' must be at least 0, got {nbytes}")
        flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
        with open(os.open(filename, flags | os.O_CLOEXEC, 0o666), "r+b" if shared else "rb", buffering=0) as file:
            held = os.fstat(file.fileno()).st_size
            if shared and held < nbytes:
                file.truncate(held := nbytes)
            if held < nbytes:
                raise ValueError(f"from_file: argument 'nbytes' is {nbytes}, and '{filename}' has {held} bytes")
            access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
            if not (nbytes or held):  # the system maps no empty range
                return cls(_C._packet("aten::empty")((0,), dtype=_C.uint8, device=host()))
            mapped = mmap.mmap(file.fileno(), nbytes or held, access=access)  # lives as long as the array over it
        return cls(_C.from_numpy(np.frombuffer(mapped, np.uint8)))

    def data_ptr(self) -> int:
        """Returns the address of the first byte."""
        return self._bytes._storage_ptr()

    def nbytes(self) -> int:
        """Returns the number of bytes."""
        return self._bytes._storage_nbytes()

    def __len__(self) -> int:
        return self.nbytes()

    def size(self) -> int:
        """Returns the number of bytes."""
        return self.nbytes()

    def element_size(self) -> int:
        """Returns 1, the number of bytes of an element."""
        return 1

    def untyped(self) -> UntypedStorage:
        """Returns the storage itself."""
        return self

    def tolist(self) -> list[int]:
        """Returns the bytes as a list of numbers."""
        return self._bytes.tolist()

    def __getitem__(self, index):
        found = self._bytes[index]
        return UntypedStorage(found.clone()) if isinstance(index, slice) else found.item()

    def __setitem__(self, index, value):
        self._bytes[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def fill_(self, value: int) -> UntypedStorage:
        """Sets all bytes to a value."""
        self._bytes.fill_(value)
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Copies the bytes of a storage of the same size into this one.

        Raises:
            RuntimeError: ``source`` has another size
        """
        if source.nbytes() != self.nbytes():
            raise RuntimeError(f"copy_: argument 'source' has {source.nbytes()} bytes, the storage {self.nbytes()}")
        other = source.untyped()._bytes
        self._bytes.copy_(other)
        return self

    def clone(self) -> UntypedStorage:
        """Returns a copy."""
        return UntypedStorage(self._bytes.clone())

    def to(self, *, device, non_blocking: bool = False) -> UntypedStorage:
        """Returns a copy on a device, or the storage itself if it is on that device."""
        flat = self._bytes.to(device)
        return self if flat is self._bytes else UntypedStorage(flat)

    def cpu(self) -> UntypedStorage:
        """Returns a copy in host memory, or the storage itself if it is there."""
        return self.to(device=host())

    def cuda(self, device=None, non_blocking: bool = False) -> UntypedStorage:
        """Returns a copy on a CUDA device, or the storage itself if it is on that device."""
        flat = self._bytes.cuda(device, non_blocking)
        return self if flat is self._bytes else UntypedStorage(flat)

    def is_shared(self) -> bool:
        """Returns whether the bytes are in memory that processes share; ``share_memory_`` moves them there."""
        return _C._is_shared(self._bytes)

    def share_memory_(self) -> UntypedStorage:
        """Moves the bytes to memory that other processes can share, as ``Tensor.share_memory_`` does."""
        self._bytes.share_memory_()
        return self

    @property
    def device(self):
        """The device of the memory."""
        return self._bytes.device

    def __repr__(self):
        return f"<storage of {self.nbytes()} bytes on {self.device}>"

    def __deepcopy__(self, memo):
        return UntypedStorage(self._bytes.clone())

    def __reduce_ex__(self, protocol):
        device = str(self.device)
        if self.device.type == "meta":
            return rebuild_storage, (device, self.nbytes(), None)
        view = memoryview(self._bytes.cpu())
        return rebuild_storage, (device, self.nbytes(), pickle.PickleBuffer(view) if protocol >= 5 else bytes(view))


def storage_of(tensor) -> UntypedStorage:
    """Returns the object for the storage of a tensor, the same one for all tensors over the storage."""
    known = _known.get(tensor._storage_id())
    if known is not None:
        return known
    return UntypedStorage(_C._storage_view(tensor, _C.uint8, (tensor._storage_nbytes(),), (1,), 0))


def rebuild_storage(device: str, nbytes: int, data) -> UntypedStorage:
    """Makes a storage from its description in a pickle. ``data`` is its bytes, or None for a storage on "meta"."""
    empty = _C._packet("aten::empty")
    if data is None:
        return UntypedStorage(empty((nbytes,), dtype=_C.uint8, device=device))
    data = memoryview(data).cast("B")
    if len(data) != nbytes:
        raise pickle.UnpicklingError(f"storage: the pickle announces {nbytes} bytes and holds {len(data)}")
    flat = empty((nbytes,), dtype=_C.uint8, device=host())
    memoryview(flat)[:] = data
    return UntypedStorage(flat.to(device))


def dtype_named(name: str):
    """Returns a plugin's dtype by its name. Pickles of such dtypes call this."""
    return _C._find_dtype(name)


def rebuild_tensor(kind, storage, dtype, size, stride, offset, attributes=None, slots=()):
    """Makes a tensor from its description in a pickle: a view of a storage, within its bounds, with plugins' state."""
    if not isinstance(storage, UntypedStorage) or not (isinstance(kind, type) and issubclass(kind, _C.Tensor)):
        got = f"got {type(storage).__name__} and {kind!r}"
        raise pickle.UnpicklingError(f"tensor: the pickle must give an UntypedStorage and a subclass of Tensor, {got}")
    made = _C._storage_view(storage._bytes, dtype, tuple(size), tuple(stride), offset)
    if kind is not _C.Tensor:
        made = _C.Tensor.__new__(kind, made)
    for name, value in slots:
        if not load_slot(made, name, value):
            warn_of(name)
    return dressed(made, attributes)


def dressed(tensor, attributes):
    """Sets the attributes that plugins have declared as copied, warns of the others, and returns the tensor."""
    for name, value in (attributes or {}).items():
        if name in contributions.copied:
            setattr(tensor, name, value)
        else:
            warn_of(name)
    return tensor


def warn_of(name):
    text = f"a tensor is read without its '{name}', which no plugin brings here; see lamella.plugins.status()"
    warnings.warn(text, RuntimeWarning, stacklevel=4)


def rebuild_opaque(kind, device, dtype, size, stride, attributes, slots):
    """Makes an opaque tensor from its description in a pickle. Its slots, which plugins read, hold its values."""
    if not (isinstance(kind, type) and issubclass(kind, _C.Tensor)):
        raise pickle.UnpicklingError(f"tensor: the pickle must give a subclass of Tensor, got {kind!r}")
    made = _C._opaque(dtype, tuple(size), tuple(stride), device)
    if not load_slots(made, slots):
        raise pickle.UnpicklingError(
            f"tensor: it is opaque, and no loaded plugin has its slots: {[name for name, _ in slots]}; see "
            "lamella.plugins.status()"
        )
    return dressed(made if kind is _C.Tensor else _C.Tensor.__new__(kind, made), attributes)


def load_slot(tensor, name, value) -> bool:
    """Restores one saved slot of a tensor. If no library has the slot yet, the plugin that contributes its name loads
    one. Returns whether there is such a slot."""
    if _C._load_slot(tensor, name, value):
        return True
    held = contributions.place("slot").used.get(name)
    if held is None:
        return False
    held.object()
    return _C._load_slot(tensor, name, value)


def load_slots(tensor, slots) -> int:
    """Restores the saved slots of a tensor. Returns the number of those whose plugins are loaded."""
    return sum(load_slot(tensor, name, value) for name, value in slots)


def reduce_tensor(tensor):
    """Implements ``Tensor.__reduce__`` for pickle and copy. The third item is the attributes that the user has set."""
    held = {name: getattr(tensor, name) for name in contributions.copied}
    held = {name: value for name, value in held.items() if value is not None and value is not False}
    slots = _C._save_slots(tensor)
    # Every object has __getstate__ from Python 3.11 on.
    state = tensor.__getstate__() if hasattr(tensor, "__getstate__") else tensor.__dict__ or None
    kind, shape = type(tensor), (tensor.dtype, tuple(tensor.shape), tensor.stride())
    if tensor.is_opaque:
        if not slots:
            # Raises an error that names the layers of `tensor`, unless a layer can give its values.
            _C._packet("aten::_materialize")(tensor)
            raise pickle.PicklingError("tensor: it is opaque, and none of its slots can be saved")
        return rebuild_opaque, (kind, str(tensor.device), *shape, held, slots), state
    return rebuild_tensor, (kind, storage_of(tensor), *shape, tensor.storage_offset(), held, slots), state
