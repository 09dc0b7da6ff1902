"""How tensors travel between processes: the descriptor of their memory, and a window into it."""

from __future__ import annotations

import multiprocessing.context
import warnings
import weakref
from multiprocessing import reduction, resource_sharer
from multiprocessing.reduction import ForkingPickler
from os import close
from typing import Any

from lamella import _C
from lamella._storage import UntypedStorage, reduce_tensor
from lamella.nn.parameter import Buffer, Parameter

# Storages in shared memory that this process sent or received, by their place: what comes back is the same object.
_placed: weakref.WeakValueDictionary[tuple[int, int, int, int], UntypedStorage] = weakref.WeakValueDictionary()
# Handles that a child which is being started inherits, by the child and the file: each file is handed over once.
_inherited: weakref.WeakKeyDictionary[Any, dict[tuple[int, int], Handle]] = weakref.WeakKeyDictionary()


class Handle:
    """A descriptor on its way to a child that is being started. The child closes it when all tensors are made."""

    def __init__(self, way: Any):
        self.way, self.fd = way, -1

    def __reduce__(self) -> Any:
        return Handle, (self.way,)

    def fetch(self) -> int:
        if self.fd < 0:
            self.fd = self.way.detach()
        return self.fd

    def __del__(self) -> None:
        if self.fd >= 0:
            close(self.fd)


class Sent:
    """A descriptor on its way to whichever process asks. The storage lives until then, and no descriptor is added."""

    def __init__(self, storage: UntypedStorage):
        def send(connection: Any, pid: int) -> None:
            reduction.send_handle(connection, _C._shared_fd(storage._bytes), pid)

        self.ident = resource_sharer._resource_sharer.register(send, lambda: None)  # type: ignore[attr-defined]

    def fetch(self) -> int:
        try:
            with resource_sharer._resource_sharer.get_connection(self.ident) as connection:  # type: ignore[attr-defined]
                return reduction.recv_handle(connection)
        except (OSError, EOFError) as error:
            raise ConnectionError(
                "a tensor cannot be received: the process that sent it has ended, or has sent it once already; keep "
                "the sender alive until its tensors are received"
            ) from error
        except RuntimeError as error:
            raise RuntimeError(
                "a tensor cannot be received: no descriptor came, as where the process has too many files open; drop "
                "some tensors, or raise `ulimit -n`"
            ) from error


def moved(storage: UntypedStorage) -> UntypedStorage:
    """The storage in shared memory; a copy where its memory is held by what cannot follow it, with a warning."""
    if _C._shared_fd(storage._bytes) is not None:
        return storage
    try:
        _C._share_memory(storage._bytes)
    except _C.OutOfMemoryError:
        raise
    except RuntimeError as error:
        if not str(error).startswith("share_memory_:"):
            raise
        warnings.warn(f"a tensor is sent as a copy, not shared: {error}", RuntimeWarning, stacklevel=2)
        flat = _C._shared_empty(storage.nbytes())
        memoryview(flat)[:] = memoryview(storage._bytes)
        return UntypedStorage(flat)
    return storage


def reduce_storage(storage: UntypedStorage) -> Any:
    """What a pickle to another process says of a storage. On devices without shared memory it holds the bytes."""
    if storage.device.type != _C._default_generator().device.type:
        return storage.__reduce_ex__(4)
    storage = moved(storage)
    fd, offset, device, inode = _C._shared_place(storage._bytes)
    _placed[device, inode, offset, storage.nbytes()] = storage
    child = multiprocessing.context.get_spawning_popen()
    if child is None:
        return open_storage, (Sent(storage), storage.nbytes(), offset)
    handles = _inherited.setdefault(child, {})
    if (device, inode) not in handles:
        handles[device, inode] = Handle(reduction.DupFd(fd))
    return open_storage, (handles[device, inode], storage.nbytes(), offset)


def open_storage(handle: Any, nbytes: int, offset: int) -> UntypedStorage:
    """The storage that another process sent; the one that is here already where it is."""
    fd = handle.fetch()
    try:
        flat = _C._shared_from_fd(fd, nbytes, offset)
    finally:
        if isinstance(handle, Sent):  # a pickle keeps all its handles until it is read
            close(fd)
    _, start, device, inode = _C._shared_place(flat)
    place = (device, inode, start, nbytes)
    known = _placed.get(place)
    if known is None:
        known = _placed[place] = UntypedStorage(flat)
    return known


def reduce_shared(tensor: Any) -> Any:
    """What a pickle to another process says of a tensor: no gradient, and no graph."""
    if getattr(tensor, "requires_grad", False) and not tensor.is_leaf:
        raise RuntimeError(
            "a tensor that requires a gradient and is no leaf cannot be sent to another process, where its graph is "
            "not; send its detach()"
        )
    rebuild, args, *state = reduce_tensor(tensor)
    return (
        rebuild,
        tuple({k: v for k, v in a.items() if k != "grad"} if isinstance(a, dict) else a for a in args),
        *state,
    )


def init_reductions() -> None:
    """Teaches the pickler of ``multiprocessing`` tensors, parameters and storages."""
    ForkingPickler.register(UntypedStorage, reduce_storage)
    for kind in (_C.Tensor, Parameter, Buffer):
        ForkingPickler.register(kind, reduce_shared)


init_reductions()  # here, since a process that received a tensor may have run no more of the package than this
