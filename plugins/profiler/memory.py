"""Memory: the numbers of bytes that tensors hold, the live blocks and their makers, and the last events.

Nothing is recorded until a function of this module starts recording; ``docs/memory.md`` is the guide.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

import lamella

from . import _python
from .files import replacing

__all__ = [
    "MemoryHistory",
    "dump_memory_snapshot",
    "memory_snapshot",
    "memory_stats",
    "record_memory_history",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
]

BLOCKS, MAKERS, STACKS = 1, 2, 4  # enum lamella_memory_flags
PEAK, COUNTS = 1, 2  # enum lamella_stats
ACTIONS = ("alloc", "free", "oom")  # enum lamella_memory_kind
FIELDS = ("number", "time", "thread", "address", "bytes", "device", "operator", "frames", "dtype", "shape")


def _devices() -> dict[str, bool]:
    """Returns for the name of each loaded device whether its allocator counts bytes."""
    found = {}
    for kind, count, counts in _python._memory_devices():
        found.update(dict.fromkeys([kind] if count is None else [f"{kind}:{i}" for i in range(count)], counts))
    return found


def _place(device: Any) -> lamella.device:
    """Returns the device with an index; if it has none, with that of the current device of its kind."""
    place = device if isinstance(device, lamella.device) else lamella.device(device)
    if place.index is None:
        index = 0 if place.type == "meta" else getattr(lamella, place.type).current_device_index()
        place = lamella.device(place.type, index)
    return place


def _of_allocator(place: lamella.device) -> dict[str, int]:
    return {} if place.type == "meta" else getattr(lamella, place.type).memory_stats(place)


def _stats(place: lamella.device, counted: dict[str, int] | None = None) -> dict[str, int]:
    stats = _of_allocator(place)
    if not _python._memory_flags():
        return stats
    c = _python._memory_counts(place) if counted is None else counted
    followed = {
        "allocation.all.current": c["live_blocks"],
        "allocation.all.peak": c["peak_blocks"],
        "allocation.all.allocated": c["allocations"],
        "allocation.all.freed": c["frees"],
        "requested_bytes.all.current": c["live_bytes"],
        "requested_bytes.all.peak": c["peak_bytes"],
        "requested_bytes.all.allocated": c["allocated_bytes"],
        "requested_bytes.all.freed": c["freed_bytes"],
        "largest_block.current": c["largest_live_bytes"],
        "largest_block.peak": c["largest_bytes"],
    }
    if "allocated_bytes.all.current" not in stats:
        stats |= {f"allocated_bytes.all.{what}": c[f"{what_of}_bytes"] for what, what_of in _OF_COUNTS.items()}
    return stats | followed


_OF_COUNTS = {"current": "live", "peak": "peak", "allocated": "allocated", "freed": "freed"}


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Returns numbers about a device's memory, with the names of ``torch.cuda.memory_stats``.

    The numbers of the device's allocator are always there: ``allocated_bytes.all.current`` and ``.peak``,
    ``reserved_bytes.all``, ``inactive_bytes.all.current``, ``allocation.all.allocated``, ``num_device_alloc``. They
    count whole blocks, as ``lamella.accelerator.memory_stats`` does.

    After ``reset_peak_memory_stats`` or ``record_memory_history``, blocks are recorded, and there are more numbers,
    counted from then on: ``requested_bytes.all`` (bytes that tensors requested; also those of up to 64 bytes, which a
    host keeps without its allocator) and ``allocation.all``, each with ``.current``, ``.peak``, ``.allocated`` and
    ``.freed``; and the bytes of the largest block, ``largest_block.current`` and ``.peak``. A device whose allocator
    does not count takes ``allocated_bytes.all`` from these.

    Args:
        device: a device or its name; None gives a dictionary of such dictionaries, by the names of the loaded devices

    >>> lamella.profiler.memory_stats("cpu")["allocated_bytes.all.current"] >= 0
    True
    >>> lamella.profiler.reset_peak_memory_stats()
    >>> x = lamella.zeros(1000)
    >>> stats = lamella.profiler.memory_stats("cpu")
    >>> stats["requested_bytes.all.current"], stats["largest_block.current"], stats["allocation.all.freed"]
    (4000, 4000, 0)
    >>> lamella.profiler.record_memory_history(None).close()
    """
    if device is None:
        return {name: _stats(_place(name)) for name in _devices()}
    return _stats(_place(device))


def _reset(device: Any, what: int) -> None:
    _python._memory_on(BLOCKS | _python._memory_flags() & STACKS, 0)
    counting = _devices()
    for name in counting if device is None else [device]:
        place = _place(name)
        if counting.get(place.type) or counting.get(str(place)):
            module = getattr(lamella, place.type)
            (module.reset_peak_memory_stats if what == PEAK else module.reset_accumulated_memory_stats)(place)
        _python._memory_reset_counts(place, what)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Sets the peaks to the current numbers, and records blocks from now on; see ``memory_stats``.

    ``record_memory_history(None)`` ends the recording.

    Args:
        device: a device or its name; None means all that are loaded

    >>> lamella.profiler.reset_peak_memory_stats("cpu")
    >>> lamella.profiler.memory_stats("cpu")["requested_bytes.all.peak"]
    0
    >>> lamella.profiler.record_memory_history(None).close()
    """
    _reset(device, PEAK)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Sets the numbers of allocations and frees to 0, and records blocks from now on; see ``memory_stats``.

    >>> lamella.profiler.reset_accumulated_memory_stats("cpu")
    >>> lamella.profiler.memory_stats("cpu")["allocation.all.allocated"]
    0
    >>> lamella.profiler.record_memory_history(None).close()
    """
    _reset(device, COUNTS)


class MemoryHistory:
    """The handle of a recording by ``record_memory_history``; ``close``, or the end of a ``with`` block, ends it."""

    def close(self) -> None:
        """Ends the recording and forgets it."""
        _python._memory_off()

    def __enter__(self) -> MemoryHistory:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def record_memory_history(
    enabled: str | bool | None = "all", *, stacks: str | None = "python", max_entries: int = 100_000
) -> MemoryHistory:
    """Records each block of memory from now on, with its maker and its place in the program, for ``memory_snapshot``
    and for out-of-memory errors, which then name the largest blocks.

    The recording is of the whole process, and of all devices. Blocks from before stay unknown; blocks that were
    recorded without makers stay without one. A second call begins a new list of events.

    Args:
        enabled: "all" or True; "state" records live blocks without the list of events; None or False ends the
            recording, after which ``memory_stats`` returns only the allocators' own numbers
        stacks: "python", or None for none, which is cheaper. A stack has at most 64 frames, the innermost.
        max_entries: the number of events that are kept, the last ones; 104 bytes each

    Returns:
        An object that ends the recording at the end of a ``with`` block.

    Raises:
        ValueError: an argument has another value than those above

    >>> with lamella.profiler.record_memory_history():
    ...     x = lamella.ones(1000)
    ...     block = lamella.profiler.memory_snapshot()["blocks"][-1]
    >>> block["bytes"], block["operator"], block["dtype"], block["shape"], block["device"]
    (4000, 'aten::ones', 'float32', [1000], 'cpu')
    """
    if enabled not in ("all", "state", True, False, None):
        raise ValueError(f"record_memory_history: argument 'enabled' must be 'all', 'state' or None, got {enabled!r}")
    if stacks not in ("python", None):
        raise ValueError(f"record_memory_history: argument 'stacks' must be 'python' or None, got {stacks!r}")
    if isinstance(max_entries, bool) or not isinstance(max_entries, int) or max_entries < 0:
        raise ValueError(
            f"record_memory_history: argument 'max_entries' must be an int and not negative, got {max_entries!r}"
        )
    if enabled:
        flags = BLOCKS | MAKERS | (STACKS if stacks else 0)
        _python._memory_on(flags, 0 if enabled == "state" else min(max_entries, 1 << 40))
    else:
        _python._memory_off()
    return MemoryHistory()


def _record(row: tuple[Any, ...], *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    return {name: value for name, value in zip(FIELDS, row[1:], strict=True) if name not in without}


def memory_snapshot() -> dict[str, Any]:
    """Returns the recorded blocks and events, as a dictionary that can be written as JSON.

    ``blocks`` has the live blocks that were made since the recording began, oldest first, each with ``device``,
    ``bytes``, ``address``, ``operator`` (the innermost operator, step of backward or named block around it, or None),
    ``dtype`` and ``shape`` of the tensor that it was made for (None if no operator returned one), ``frames`` (the
    Python stack, innermost first), ``time`` (nanoseconds since 1970), ``thread`` (the system's number) and ``number``,
    that of its event. ``events`` has the last events, oldest first, with an ``action``: "alloc", "free" (its
    ``operator`` is the one that ran then) or "oom", an allocation that failed. ``dropped_events`` is the number of
    older events that were dropped. ``devices`` is ``memory_stats()``. All but the allocators' numbers is of one moment.

    Without a recording the lists are empty.

    >>> with lamella.profiler.record_memory_history():
    ...     _ = lamella.ones(1000).exp()
    ...     events = lamella.profiler.memory_snapshot()["events"]
    >>> [(event["action"], event["bytes"]) for event in events][:3]
    [('alloc', 4000), ('alloc', 4000), ('free', 4000)]
    """
    blocks, rows, dropped, counted = _python._memory_snapshot()
    nothing: Counter[str] = Counter()  # reads as zeros, for a device without counts
    tensor = ("dtype", "shape")
    return {
        "version": 1,
        "devices": {name: _stats(_place(name), counted.get(name, nothing)) for name in _devices()},
        "blocks": [_record(row) for row in blocks],
        "events": [{"action": ACTIONS[row[0]]} | _record(row, without=tensor) for row in rows],
        "dropped_events": dropped if rows else 0,
    }


def dump_memory_snapshot(path: str | os.PathLike[str] = "memory_snapshot.json") -> None:
    """Writes ``memory_snapshot()`` to a file of JSON; after an error the old file is unchanged.

    >>> import json, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, lamella.profiler.record_memory_history(stacks=None):
    ...     x = lamella.zeros(10)
    ...     lamella.profiler.dump_memory_snapshot(f"{folder}/now.json")
    ...     with open(f"{folder}/now.json") as file:
    ...         print(json.load(file)["blocks"][-1]["bytes"])
    40
    """
    with replacing(path) as file:
        file.write(json.dumps(memory_snapshot()).encode())
