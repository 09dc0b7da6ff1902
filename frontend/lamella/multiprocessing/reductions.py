"""Sends tensors to other processes, as a descriptor of the file that holds their memory and a part of that file."""

from __future__ import annotations

import multiprocessing.context
import threading
import warnings
import weakref
from contextlib import suppress
from multiprocessing import reduction, resource_sharer
from multiprocessing.reduction import ForkingPickler
from os import close
from typing import Any

from lamella import _C
from lamella._devices import host
from lamella._storage import UntypedStorage, reduce_tensor

# Storages in shared memory that this process has sent or received, by their place in the file: a storage that another
# process sends back is then the same object.
_placed: weakref.WeakValueDictionary[tuple[int, int, int, int], UntypedStorage] = weakref.WeakValueDictionary()
# Files in the pickle that is being made, so that the pickle contains each file once, for any number of its tensors.
_sending: weakref.WeakValueDictionary[tuple[int, int], Sent] = weakref.WeakValueDictionary()
# Handles that a starting child inherits, by child and file, so that each file is passed once.
_inherited: weakref.WeakKeyDictionary[Any, dict[tuple[int, int], Handle]] = weakref.WeakKeyDictionary()


_thread = threading.local()  # .registered: idents of the files that the current pickle has registered


class Handle:
    """A file on its way to another process, which requests the descriptor when it makes the first tensor of the
    file."""

    def __init__(self, way: Any):
        self.way, self.first = way, None

    def __reduce__(self) -> Any:
        return Handle, (self.way,)

    def open(self, nbytes: int, offset: int) -> Any:
        """Returns a part of the file as a tensor."""
        if self.first is not None:
            return _C._shared_from_fd(_C._shared_fd(self.first), nbytes, offset)
        fd = self.way.detach()
        try:
            self.first = _C._shared_from_fd(fd, nbytes, offset)
        finally:
            close(fd)  # the mapping has a descriptor of its own
        return self.first


class Sent:
    """Stands in a pickle for the file of a storage, if it is not known which process will read the pickle.

    Pickling calls ``__reduce__`` once, which registers the file with a thread that answers requests of other processes.
    The thread keeps the file until one process has requested it, and opens no further descriptor.
    """

    def __init__(self, storage: UntypedStorage):
        self.storage = storage

    def __reduce__(self) -> Any:
        held = [self.storage]

        def send(connection: Any, pid: int) -> None:  # called once, in the sharer's thread
            storage = held.pop()
            reduction.send_handle(connection, _C._shared_fd(storage._bytes), pid)

        ident = resource_sharer._resource_sharer.register(send, lambda: None)  # type: ignore[attr-defined]
        if (registered := getattr(_thread, "registered", None)) is not None:
            registered.append(ident)
        return Handle, (Way(ident),)


class Way:
    """The address at which the sender of a file answers requests for its descriptor."""

    def __init__(self, ident: Any):
        self.ident = ident

    def __reduce__(self) -> Any:
        return Way, (self.ident,)

    def detach(self) -> int:
        """Returns the descriptor; can be called once."""
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
                "a tensor cannot be received: no descriptor arrived, perhaps because the process has too many files "
                "open; drop some tensors, or raise `ulimit -n`"
            ) from error


def moved(storage: UntypedStorage) -> UntypedStorage:
    """Moves a storage to shared memory and returns it. If other objects hold its memory, warns and returns a copy."""
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
    """Reduces a storage for a pickle to another process. The pickle contains the bytes of a storage that is not in host
    memory."""
    if storage.device.type != host().type:
        return storage.__reduce_ex__(4)
    storage = moved(storage)
    fd, offset, device, inode = _C._shared_place(storage._bytes)
    _placed[device, inode, offset, storage.nbytes()] = storage
    child = multiprocessing.context.get_spawning_popen()
    if child is None:
        sent = _sending.get((device, inode))
        if sent is None:
            sent = _sending[device, inode] = Sent(storage)
        return open_storage, (sent, storage.nbytes(), offset)
    handles = _inherited.setdefault(child, {})
    if (device, inode) not in handles:
        handles[device, inode] = Handle(reduction.DupFd(fd))
        handles[device, inode].first = storage._bytes  # keeps the descriptor open until the child has started
    return open_storage, (handles[device, inode], storage.nbytes(), offset)


def open_storage(handle: Handle, nbytes: int, offset: int) -> UntypedStorage:
    """Returns the storage that another process sent; if this process has it already, the existing object."""
    flat = handle.open(nbytes, offset)
    _, start, device, inode = _C._shared_place(flat)
    place = (device, inode, start, nbytes)
    known = _placed.get(place)
    if known is None:
        known = _placed[place] = UntypedStorage(flat)
    return known


def reduce_shared(tensor: Any) -> Any:
    """Reduces a tensor for a pickle to another process, without its gradient and its graph."""
    if getattr(tensor, "requires_grad", False) and not tensor.is_leaf:
        raise RuntimeError(
            "a tensor that requires a gradient and is no leaf cannot be sent to another process, which does not "
            "have its graph; send its detach()"
        )
    if not tensor.is_opaque and tensor.device.type == host().type and _C._shared_fd(tensor) is None:
        with suppress(RuntimeError):  # if this fails, moved() tries again, and makes a copy
            _C._share_memory(tensor)  # here fewer objects hold the memory than in moved()
    rebuild, args, *state = reduce_tensor(tensor)
    return (
        rebuild,
        tuple({k: v for k, v in a.items() if k != "grad"} if isinstance(a, dict) else a for a in args),
        *state,
    )


def withdraw(ident: Any) -> None:
    """Unregisters a file that no process will request."""
    sharer = resource_sharer._resource_sharer  # type: ignore[attr-defined]
    with sharer._lock:
        sharer._cache.pop(ident[1], None)


def dumps_or_withdraws(dumps: Any) -> Any:
    """Wraps ``ForkingPickler.dumps``, so that nothing stays registered when an object cannot be pickled."""

    def dumps_all(cls: Any, obj: Any, protocol: Any = None) -> Any:
        outer, _thread.registered = getattr(_thread, "registered", None), []
        try:
            data = dumps(cls, obj, protocol)
            if outer is not None:
                outer.extend(_thread.registered)
            return data
        except BaseException:
            for ident in _thread.registered:
                withdraw(ident)
            raise
        finally:
            _thread.registered = outer

    return dumps_all


def pickled(obj: Any) -> tuple[bytes, list[Any]]:
    """Returns an object's pickle for another process, and the idents of the files that it has registered."""
    outer, _thread.registered = getattr(_thread, "registered", None), []
    try:
        return bytes(ForkingPickler.dumps(obj)), _thread.registered
    finally:
        _thread.registered = outer


def init_reductions() -> None:
    """Registers the reductions of tensors and storages with the pickler of ``multiprocessing``. ``share_when_sent``
    registers the reduction of parameters, which calls ``reduce_shared``, too."""
    dumps = ForkingPickler.dumps.__func__  # type: ignore[attr-defined]
    if dumps.__module__ != __name__:
        ForkingPickler.dumps = classmethod(dumps_or_withdraws(dumps))  # type: ignore[assignment, method-assign]
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(_C.Tensor, reduce_shared)


init_reductions()  # at import: a process that receives a tensor may import no other module of this package
