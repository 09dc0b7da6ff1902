"""How tensors travel between processes: the descriptor of their memory, and a window into it."""

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
from lamella._storage import UntypedStorage, reduce_tensor
from lamella.nn.parameter import Buffer, Parameter

# Storages in shared memory that this process sent or received, by their place: what comes back is the same object.
_placed: weakref.WeakValueDictionary[tuple[int, int, int, int], UntypedStorage] = weakref.WeakValueDictionary()
# Files that pickles of this moment send: each pickle names a file once, however many of its tensors lie in it.
_sending: weakref.WeakValueDictionary[tuple[int, int], Sent] = weakref.WeakValueDictionary()
# Handles that a child which is being started inherits, by the child and the file: each file is handed over once.
_inherited: weakref.WeakKeyDictionary[Any, dict[tuple[int, int], Handle]] = weakref.WeakKeyDictionary()


_thread = threading.local()  # .registered: what the pickle of this moment has registered


class Handle:
    """A file on its way to another process, which asks for its descriptor when the first tensor of it is made."""

    def __init__(self, way: Any):
        self.way, self.first = way, None

    def __reduce__(self) -> Any:
        return Handle, (self.way,)

    def open(self, nbytes: int, offset: int) -> Any:
        """Bytes of the file as a tensor."""
        if self.first is not None:
            return _C._shared_from_fd(_C._shared_fd(self.first), nbytes, offset)
        fd = self.way.detach()
        try:
            self.first = _C._shared_from_fd(fd, nbytes, offset)
        finally:
            close(fd)  # the mapping has one of its own
        return self.first


class Sent:
    """The file of a storage in a pickle for whichever process reads it.

    A pickler takes this object apart once. Only then is the file registered with the thread that answers processes; it
    lives until one has asked. No descriptor is added.
    """

    def __init__(self, storage: UntypedStorage):
        self.storage = storage

    def __reduce__(self) -> Any:
        held = [self.storage]

        def send(connection: Any, pid: int) -> None:  # the thread that answers keeps it until it is asked again
            storage = held.pop()
            reduction.send_handle(connection, _C._shared_fd(storage._bytes), pid)

        ident = resource_sharer._resource_sharer.register(send, lambda: None)  # type: ignore[attr-defined]
        if (registered := getattr(_thread, "registered", None)) is not None:
            registered.append(ident)
        return Handle, (Way(ident),)


class Way:
    """Where the process that sent a file answers."""

    def __init__(self, ident: Any):
        self.ident = ident

    def __reduce__(self) -> Any:
        return Way, (self.ident,)

    def detach(self) -> int:
        """The descriptor. It can be asked for once."""
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


def host() -> str:
    """The device whose memory is shared."""
    return _C._default_generator().device.type


def reduce_storage(storage: UntypedStorage) -> Any:
    """What a pickle to another process says of a storage. On devices without shared memory it holds the bytes."""
    if storage.device.type != host():
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
        handles[device, inode].first = storage._bytes  # its descriptor is open until the child has started
    return open_storage, (handles[device, inode], storage.nbytes(), offset)


def open_storage(handle: Handle, nbytes: int, offset: int) -> UntypedStorage:
    """The storage that another process sent; the one that is here already where it is."""
    flat = handle.open(nbytes, offset)
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
    if not tensor.is_opaque and tensor.device.type == host() and _C._shared_fd(tensor) is None:
        with suppress(RuntimeError):  # `moved` says more of it, or makes a copy
            _C._share_memory(tensor)  # here, where fewer objects hold the memory: it need not look for them
    rebuild, args, *state = reduce_tensor(tensor)
    return (
        rebuild,
        tuple({k: v for k, v in a.items() if k != "grad"} if isinstance(a, dict) else a for a in args),
        *state,
    )


def withdraw(ident: Any) -> None:
    """Forgets a file that no process will ask for."""
    sharer = resource_sharer._resource_sharer  # type: ignore[attr-defined]
    with sharer._lock:
        sharer._cache.pop(ident[1], None)


def dumps_or_withdraws(dumps: Any) -> Any:
    """``ForkingPickler.dumps``, which leaves nothing registered when an object cannot be pickled."""

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
    """An object's pickle for another process, and what is registered for it."""
    outer, _thread.registered = getattr(_thread, "registered", None), []
    try:
        return bytes(ForkingPickler.dumps(obj)), _thread.registered
    finally:
        _thread.registered = outer


def init_reductions() -> None:
    """Teaches the pickler of ``multiprocessing`` tensors, parameters and storages."""
    dumps = ForkingPickler.dumps.__func__  # type: ignore[attr-defined]
    if dumps.__module__ != __name__:
        ForkingPickler.dumps = classmethod(dumps_or_withdraws(dumps))  # type: ignore[assignment, method-assign]
    ForkingPickler.register(UntypedStorage, reduce_storage)
    for kind in (_C.Tensor, Parameter, Buffer):
        ForkingPickler.register(kind, reduce_shared)


init_reductions()  # here, since a process that received a tensor may have run no more of the package than this
