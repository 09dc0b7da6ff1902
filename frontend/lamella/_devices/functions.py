"""The functions that ``lamella.NAME`` has for the backend NAME, and ``lamella.accelerator`` for the accelerator."""

from __future__ import annotations

from _thread import _local
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from lamella import _C
from lamella._devices import counted, index_of, resolve
from lamella._devices.streams import Event, Stream, check_kind

PEAK, COUNTS = 1, 2  # enum lamella_stats


class CurrentDevice:
    """A context manager that makes a device the current one. It can be entered again, also inside its own block."""

    def __init__(self, devices: Devices, device: Any):
        self._devices, self._device = devices, device
        self._entered = _local()

    def __enter__(self) -> None:
        before = self._devices._resolve(None)
        if self._device is not None:
            _C._set_current_device(self._devices._resolve(self._device))
        self._entered.__dict__.setdefault("before", []).append(before)

    def __exit__(self, kind: Any, *_: Any) -> None:
        entered = self._entered.__dict__.get("before")
        if not entered:
            raise RuntimeError("device_index: __exit__ on a thread that has not entered the block")
        try:
            _C._set_current_device(entered.pop(), needed=False)
        except Exception:
            if kind is None:  # else the error that ends the block says more
                raise


class Devices:
    """The functions for the devices of one kind, whose name ``kind`` returns.

    An argument ``device`` is a device of this kind, its name or its index; None means the current device.
    """

    def __init__(self, kind: Callable[[], str | None]):
        self._kind_now = kind

    def _resolve(self, device: Any) -> _C.device:
        return resolve(device, self._kind_now())

    def is_available(self) -> bool:
        """Returns whether a device of this kind exists: its plugin can be loaded and finds one.

        >>> lamella.cpu.is_available()
        True
        """
        return self.device_count() > 0

    def device_count(self) -> int:
        """Returns the number of devices; 0 if the plugin cannot be loaded.

        >>> lamella.cpu.device_count()
        1
        """
        kind = self._kind_now()
        return counted(kind) if kind is not None else 0

    def current_device_index(self) -> int:
        """Returns the index of the calling thread's current device.

        >>> lamella.cpu.current_device_index()
        0
        """
        return index_of(self._resolve(None))

    def set_device_index(self, device: Any) -> None:
        """Makes a device the calling thread's current one, to which the device's name without an index refers.

        Raises:
            RuntimeError: there is no such device, or the backend has no current device

        >>> lamella.cpu.set_device_index(0)
        """
        _C._set_current_device(self._resolve(device))

    def device_index(self, device: Any) -> CurrentDevice:
        """Returns a context manager that makes a device the current one; with None it changes nothing.

        >>> with lamella.cpu.device_index(0):
        ...     lamella.cpu.current_device_index()
        0
        """
        return CurrentDevice(self, device)

    def synchronize(self, device: Any = None) -> None:
        """Waits for all work of a device, and raises an error that this work has reported.

        >>> lamella.cpu.synchronize()
        """
        _C._synchronize(self._resolve(device))

    def current_stream(self, device: Any = None) -> Stream:
        """Returns the calling thread's current stream of a device.

        >>> lamella.cpu.current_stream().query()
        True
        """
        return self._stream_class()._current(self._resolve(device))

    def default_stream(self, device: Any = None) -> Stream:
        """Returns the stream that is the current one of a new thread.

        >>> lamella.cpu.default_stream() == lamella.cpu.current_stream()
        True
        """
        return self._stream_class()._current(self._resolve(device), usual=True)

    def _stream_class(self) -> type[Stream]:
        return Stream

    def set_stream(self, stream: Stream) -> None:
        """Makes a stream the current one of its device on this thread, and that device the current one.

        >>> lamella.cpu.set_stream(lamella.cpu.current_stream())
        """
        self._resolve(check_kind("set_stream", "stream", stream, Stream).device)
        _C._set_current_device(stream.device, needed=False)
        stream._stream.set_current()

    @contextmanager
    def stream(self, stream: Stream | None) -> Iterator[Stream | None]:
        """Returns a context manager that makes a stream the current one, as ``with stream:``; None changes nothing.

        >>> with lamella.cpu.stream(None):
        ...     pass
        """
        if stream is None:
            yield None
        else:
            with stream:
                yield stream

    def empty_cache(self) -> None:
        """Frees the memory that the allocators of the devices hold and do not use.

        >>> lamella.cpu.empty_cache()
        """
        for index in range(self.device_count()):
            _C._trim(self._resolve(index))

    def empty_host_cache(self) -> None:
        """Frees the host memory that is held for copies between host and devices, and not used.

        >>> lamella.cpu.empty_host_cache()
        """
        _C._trim_host(self._resolve(None))

    def memory_stats(self, device: Any = None) -> dict[str, int]:
        """Returns the statistics of a device's allocator under torch's names; empty if the allocator has none.

        Bytes count whole blocks. ``num_device_alloc`` counts how often the allocator took memory from the system.

        >>> x = lamella.ones(100)
        >>> lamella.cpu.memory_stats()["allocated_bytes.all.current"] >= 400
        True
        """
        stats = _C._memory_stats(self._resolve(device))
        if stats is None:
            return {}
        return {
            "allocated_bytes.all.current": stats["live_bytes"],
            "allocated_bytes.all.peak": stats["peak_bytes"],
            "reserved_bytes.all.current": stats["live_bytes"] + stats["cached_bytes"],
            "reserved_bytes.all.peak": stats["peak_reserved_bytes"],
            "inactive_bytes.all.current": stats["cached_bytes"],
            "allocation.all.allocated": stats["allocations"],
            "num_device_alloc": stats["system_allocations"],
        }

    def memory_allocated(self, device: Any = None) -> int:
        """Returns the number of bytes that tensors hold; 0 if the allocator has no statistics.

        >>> lamella.cpu.memory_allocated() >= 0
        True
        """
        return self.memory_stats(device).get("allocated_bytes.all.current", 0)

    def max_memory_allocated(self, device: Any = None) -> int:
        """Returns the most bytes that tensors have held since the start, or since ``reset_peak_memory_stats``.

        If the allocator has no statistics, the result is 0.

        >>> lamella.cpu.reset_peak_memory_stats()
        >>> lamella.cpu.max_memory_allocated() == lamella.cpu.memory_allocated()
        True
        """
        return self.memory_stats(device).get("allocated_bytes.all.peak", 0)

    def memory_reserved(self, device: Any = None) -> int:
        """Returns the number of bytes that the allocator holds, for tensors or for reuse; 0 if it has no statistics.

        >>> lamella.cpu.memory_reserved() >= lamella.cpu.memory_allocated()
        True
        """
        return self.memory_stats(device).get("reserved_bytes.all.current", 0)

    def max_memory_reserved(self, device: Any = None) -> int:
        """Returns the most bytes that the allocator has held since the start, or since ``reset_peak_memory_stats``.

        If the allocator has no statistics, the result is 0.

        >>> lamella.cpu.max_memory_reserved() >= lamella.cpu.memory_reserved()
        True
        """
        return self.memory_stats(device).get("reserved_bytes.all.peak", 0)

    def reset_peak_memory_stats(self, device: Any = None) -> None:
        """Resets the peaks to the bytes that are held now.

        Raises:
            RuntimeError: the allocator cannot reset them

        >>> lamella.cpu.reset_peak_memory_stats()
        """
        _C._reset_memory_stats(self._resolve(device), PEAK)

    def reset_accumulated_memory_stats(self, device: Any = None) -> None:
        """Resets the counts of allocations to 0.

        Raises:
            RuntimeError: the allocator cannot reset them

        >>> lamella.cpu.reset_accumulated_memory_stats()
        >>> lamella.cpu.memory_stats()["allocation.all.allocated"]
        0
        """
        _C._reset_memory_stats(self._resolve(device), COUNTS)

    def get_memory_info(self, device: Any = None) -> tuple[int, int]:
        """Returns the number of free bytes of a device, and its total number of bytes.

        Raises:
            RuntimeError: the backend does not report them

        >>> free, total = lamella.cpu.get_memory_info()
        >>> 0 < free <= total
        True
        """
        where = self._resolve(device)
        found = _C._property(where, "memory.free"), _C._property(where, "memory.total")
        if None in found:
            raise RuntimeError(f"get_memory_info: device '{where}' does not say how much memory it has")
        return found

    def get_device_name(self, device: Any = None) -> str:
        """Returns the vendor's name of a device, or its name in Lamella if the backend does not report one.

        >>> len(lamella.cpu.get_device_name()) > 0
        True
        """
        where = self._resolve(device)
        return _C._property(where, "name") or str(where)

    def get_device_properties(self, device: Any = None) -> SimpleNamespace:
        """Returns ``name`` as ``get_device_name``, and ``uuid`` and ``total_memory`` (bytes), None if not reported.

        >>> lamella.cpu.get_device_properties().name == lamella.cpu.get_device_name()
        True
        """
        where = self._resolve(device)
        total, uuid = _C._property(where, "memory.total"), _C._property(where, "uuid")
        return SimpleNamespace(name=self.get_device_name(where), uuid=uuid, total_memory=total)

    def get_device_capability(self, device: Any = None) -> dict[str, Any]:
        """Returns a dict with ``supported_dtypes``, the set of dtypes that a device supports.

        >>> lamella.float32 in lamella.cpu.get_device_capability()["supported_dtypes"]
        True
        """
        return {"supported_dtypes": set(_C._dtypes_of(self._resolve(device)))}

    def default_generator(self, device: Any = None) -> _C.Generator:
        """Returns the generator that random operators use on a device if no generator is given.

        >>> lamella.cpu.default_generator().device
        device(type='cpu')
        """
        return _C._default_generator(self._resolve(device))

    def manual_seed(self, seed: int) -> None:
        """Seeds the default generator of the current device.

        >>> lamella.cpu.manual_seed(3)
        >>> lamella.cpu.initial_seed()
        3
        """
        self.default_generator().manual_seed(int(seed))

    def manual_seed_all(self, seed: int) -> None:
        """Seeds the default generators of all devices of this kind.

        >>> lamella.cpu.manual_seed_all(3)
        """
        seed = int(seed)
        for index in range(self.device_count()):
            self.default_generator(index).manual_seed(seed)

    def initial_seed(self) -> int:
        """Returns the seed of the current device's default generator.

        >>> lamella.cpu.manual_seed(4)
        >>> lamella.cpu.initial_seed()
        4
        """
        return self.default_generator().initial_seed()

    def get_rng_state(self, device: Any = None) -> tuple[int, int]:
        """Returns the state of a device's default generator, for ``set_rng_state``.

        >>> state = lamella.cpu.get_rng_state()
        >>> x = lamella.rand(3)
        >>> lamella.cpu.set_rng_state(state)
        >>> lamella.equal(lamella.rand(3), x)
        True
        """
        return self.default_generator(device).get_state()

    def set_rng_state(self, new_state: tuple[int, int], device: Any = None) -> None:
        """Sets the state of a device's default generator to one that ``get_rng_state`` returned.

        >>> lamella.cpu.set_rng_state(lamella.cpu.get_rng_state())
        """
        self.default_generator(device).set_state(new_state)

    # torch's names for these functions in torch.cuda and similar modules
    current_device = current_device_index
    set_device = set_device_index
    device = device_index
    mem_get_info = get_memory_info


FUNCTIONS = [name for name in vars(Devices) if not name.startswith("_")]


class OneKind(Devices):
    """The functions of one backend, with its own subclasses of Stream and Event."""

    def __init__(self, name: str):
        super().__init__(lambda: name)
        self.Stream = type("Stream", (Stream,), {"_kind": name, "__module__": f"lamella.{name}"})
        self.Event = type("Event", (Event,), {"_kind": name, "__module__": f"lamella.{name}"})

    def _stream_class(self) -> type[Stream]:
        return self.Stream
