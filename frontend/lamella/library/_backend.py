"""Backend: a device in Python, method by method, for ``Library.register_backend``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamella import _C

from ._checks import check_callable, check_type

HOST, MIXED_DTYPES, CPU_FALLBACK = 1, 2, 4  # enum lamella_backend_flags
CPU_MEMORY, OTHER_MEMORY = 1, 12  # kDLCPU, kDLExtDev
MOST = 10_000  # the most devices of one backend
REQUIRED = ("alloc", "free", "copy_from_host", "copy_to_host")
TOGETHER = (  # groups of methods, of which a backend has all or none
    ("host_alloc", "host_free"),
    ("stream_create", "stream_destroy", "stream_default", "stream_current", "stream_set_current"),
    ("event_create", "event_destroy", "event_record", "event_wait", "event_synchronize", "event_query"),
)


class Backend:
    """A device that is written in Python. A subclass defines the methods that its device has.

    ``alloc`` and ``free`` are needed, and both copies with the host unless the device is a ``host``; the device lacks
    what is not defined. Addresses, streams and events are numbers other than 0 that belong to the backend: no other
    code interprets them. ``index`` is the number of one of its devices. A stream of 0 means the thread's current one.
    Methods may be called on any thread; an exception becomes the error of the operation. Note [Order] in
    ``<lamella/backend.h>`` says which work must wait for which; a backend whose work is done when its methods return
    satisfies it.

    Attributes:
        device_count: the number of devices; by default 1
        host: whether an address is one of the host's memory, and work is done when a call returns; by default False
        mixed_dtypes: whether kernels take operands of other dtypes than the dtype of the computation; by default False
        fallback: whether the host may serve operators that the device has neither a kernel nor a composite for; by
            default True
        dtypes: the dtypes that the device has; None means all
        dlpack_type: the number of the device's type in DLPack; None means kDLCPU for a ``host``, else kDLExtDev

    >>> import ctypes
    >>> class Heap(lamella.library.Backend):
    ...     def __init__(self):
    ...         self.blocks = {}
    ...     def alloc(self, nbytes, index, stream):
    ...         block = ctypes.create_string_buffer(nbytes)
    ...         self.blocks[ctypes.addressof(block)] = block
    ...         return ctypes.addressof(block)
    ...     def free(self, address, nbytes, index):
    ...         del self.blocks[address]
    ...     def copy_from_host(self, to, source, nbytes, index, non_blocking):
    ...         ctypes.memmove(to, source, nbytes)
    ...     copy_to_host = copy_from_host
    >>> library = lamella.library.register_backend("heap", Heap())
    >>> x = lamella.ones(2).to("heap")
    >>> x.is_heap, lamella.heap.device_count(), x.to("cpu")
    (True, 1, tensor([1., 1.]))
    >>> del x
    >>> library.close()
    """

    device_count: int = 1
    host: bool = False
    mixed_dtypes: bool = False
    fallback: bool = True
    dtypes: Sequence[_C.dtype] | None = None
    dlpack_type: int | None = None

    def alloc(self, nbytes: int, index: int, stream: int) -> int:
        """Returns the address of new memory, which is first used on the stream; raises MemoryError if there is none."""
        raise NotImplementedError

    def free(self, address: int, nbytes: int, index: int) -> None:
        """Frees memory; may be called on any thread, also while an exception is pending."""
        raise NotImplementedError

    def copy_from_host(self, to: int, source: int, nbytes: int, index: int, non_blocking: bool) -> None:
        """Copies from an address of the host to one of the device, after the work of the current stream."""
        raise NotImplementedError

    def copy_to_host(self, to: int, source: int, nbytes: int, index: int, non_blocking: bool) -> None:
        """Copies from an address of the device to one of the host; the bytes are there when it returns."""
        raise NotImplementedError

    def copy_between(self, to: int, source: int, nbytes: int, to_index: int, source_index: int) -> None:
        """Copies between two devices of the backend; without it the bytes go through the host."""
        raise NotImplementedError

    def record_stream(self, index: int, address: int, stream: int) -> None:
        """Notes that a further stream uses the memory: ``free`` must wait for that stream as well."""
        raise NotImplementedError

    def stats(self, index: int) -> dict[str, int]:
        """Returns numbers under the names ``live_bytes``, ``peak_bytes``, ``cached_bytes``, ``peak_reserved_bytes``,
        ``allocations`` and ``system_allocations``, any of which may be missing."""
        raise NotImplementedError

    def reset_stats(self, index: int, peaks: bool, counts: bool) -> None:
        """Resets the peaks, or the numbers of allocations."""
        raise NotImplementedError

    def trim(self, index: int, cap: int) -> None:
        """Frees cached memory above ``cap`` bytes; that of all devices if the index is -1. It is also called when
        ``alloc`` finds no memory."""
        raise NotImplementedError

    def host_alloc(self, nbytes: int) -> int:
        """Returns the address of host memory with which copies need not block."""
        raise NotImplementedError

    def host_free(self, address: int, nbytes: int) -> None:
        """Frees host memory after the copies that use it are done."""
        raise NotImplementedError

    def property(self, index: int, name: str) -> Any:
        """Returns a property of a device, or None: ``"name"``, ``"uuid"``, ``"memory.total"``, ``"memory.free"``."""
        raise NotImplementedError

    def synchronize(self, index: int) -> None:
        """Waits for all work of the device, and raises an error of earlier work."""
        raise NotImplementedError

    def stream_default(self, index: int) -> int:
        """Returns the stream that a new thread starts with."""
        raise NotImplementedError

    def stream_create(self, index: int, priority: int) -> int:
        """Returns a new stream; a lower priority is more urgent, 0 is the usual one."""
        raise NotImplementedError

    def stream_destroy(self, index: int, stream: int) -> None:
        """Destroys the stream; its handle may still be passed to other methods."""
        raise NotImplementedError

    def stream_current(self, index: int) -> int:
        """Returns the current stream of the calling thread."""
        raise NotImplementedError

    def stream_set_current(self, index: int, stream: int) -> None:
        """Sets the current stream of the calling thread."""
        raise NotImplementedError

    def stream_synchronize(self, index: int, stream: int) -> None:
        """Waits for the work of a stream."""
        raise NotImplementedError

    def stream_query(self, index: int, stream: int) -> bool:
        """Returns whether the work of a stream is done."""
        raise NotImplementedError

    def event_create(self, index: int, timing: bool) -> int:
        """Returns a new event."""
        raise NotImplementedError

    def event_destroy(self, index: int, event: int) -> None:
        """Destroys the event."""
        raise NotImplementedError

    def event_record(self, index: int, event: int, stream: int) -> None:
        """Records the event on the stream, after the work that the stream has now."""
        raise NotImplementedError

    def event_wait(self, index: int, event: int, stream: int) -> None:
        """Makes later work of the stream wait until the event is done."""
        raise NotImplementedError

    def event_synchronize(self, index: int, event: int) -> None:
        """Waits for the event."""
        raise NotImplementedError

    def event_query(self, index: int, event: int) -> bool:
        """Returns whether the event is done, or was not recorded."""
        raise NotImplementedError

    def event_elapsed(self, index: int, start: int, end: int) -> float:
        """Returns the milliseconds between two events that are done and have timing."""
        raise NotImplementedError

    def device_current(self) -> int:
        """Returns the index that the backend's name without an index means on this thread."""
        raise NotImplementedError

    def device_set_current(self, index: int) -> None:
        """Sets the index that the backend's name without an index means on this thread."""
        raise NotImplementedError


def methods(who: str, backend: Backend) -> list[Any]:
    """Returns the methods that a backend defines, in the order of the C slots; None for those that it does not define.

    Raises:
        TypeError: a method is missing that every device needs, or that another method needs; or a name is misspelled
    """
    found: dict[str, Any] = {}
    for name in _C._backend_slots():
        method = getattr(backend, name, None)
        if method is not None and getattr(method, "__func__", None) is not getattr(Backend, name):
            check_callable(who, f"backend.{name}", method)
            found[name] = method
    needed: list[tuple[str, ...]] = [group for group in TOGETHER if any(name in found for name in group)]
    needed.append(REQUIRED[:2] if backend.host and not {*REQUIRED[2:]} & found.keys() else REQUIRED)
    for name in (name for group in needed for name in group):
        if name not in found:
            with_what = next((other for group in needed for other in group if name in group and other in found), None)
            because = f", as it has {with_what}" if with_what else ""
            raise TypeError(f"{who}: argument 'backend': {type(backend).__name__} must define {name}{because}")
    from difflib import get_close_matches
    from inspect import getattr_static

    absent = [name for name in _C._backend_slots() if name not in found]
    for name in dir(backend):
        if name.startswith("_") or hasattr(Backend, name) or not callable(getattr_static(backend, name, None)):
            continue
        if close := get_close_matches(name, absent, 1, 0.85):
            raise TypeError(
                f"{who}: argument 'backend': {type(backend).__name__}.{name} is no method of a backend; did you mean "
                f"'{close[0]}'? A method of your own may begin with '_'"
            )
    return [found.get(name) for name in _C._backend_slots()]


def described(who: str, name: str, backend: Any) -> tuple[Any, ...]:
    """Returns a backend in the form that the binding takes. Raises what ``Library.register_backend`` raises."""
    check_type(who, "name", name)
    if not name.isidentifier():
        raise ValueError(f"{who}: argument 'name': expected an identifier, got {name!r}")
    check_type(who, "backend", backend, Backend, "a lamella.library.Backend")
    check_type(who, "backend.device_count", backend.device_count, int)
    if not 1 <= backend.device_count <= MOST:
        got = f"got {backend.device_count}"
        raise ValueError(f"{who}: argument 'backend': device_count must be at least 1 and at most {MOST}, {got}")
    for flag in ("host", "mixed_dtypes", "fallback"):
        check_type(who, f"backend.{flag}", getattr(backend, flag), bool)
    dtypes = [] if backend.dtypes is None else list(backend.dtypes)
    for dtype in dtypes:
        check_type(who, "backend.dtypes", dtype, _C.dtype, "dtypes")
    if backend.dtypes is not None and not dtypes:
        raise ValueError(f"{who}: argument 'backend': dtypes must not be empty; None is every dtype")
    kind = backend.dlpack_type
    if kind is None:
        kind = CPU_MEMORY if backend.host else OTHER_MEMORY
    check_type(who, "backend.dlpack_type", kind, int)
    flags = HOST * backend.host | MIXED_DTYPES * backend.mixed_dtypes | CPU_FALLBACK * backend.fallback
    return name, methods(who, backend), backend.device_count, flags, kind, dtypes
