"""The names that ``lamella.cuda`` has beside the functions that every device's module has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import lamella

from .graphs import CUDAGraph, graph, is_current_stream_capturing

NUMBERS = (
    "major",
    "minor",
    "multi_processor_count",
    "max_threads_per_multi_processor",
    "shared_memory_per_block",
    "shared_memory_per_block_optin",
    "L2_cache_size",
)


def _index(device: Any) -> int:
    if device is None:
        return lamella.cuda.current_device()  # type: ignore[attr-defined]
    return device if isinstance(device, int) else lamella.device(device).index or 0


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """Returns ``name``, ``uuid``, ``total_memory`` (bytes), and the numbers that ``NUMBERS`` lists."""
    read, index = lamella.ops.cuda._property, _index(device)
    found = SimpleNamespace(name=read(index, "name"), uuid=read(index, "uuid"))
    found.total_memory = int(read(index, "memory.total"))
    for name in NUMBERS:
        setattr(found, name, int(read(index, f"cuda.{name}")))
    return found


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Returns the compute capability as (major, minor): (9, 0) for an H200."""
    found = get_device_properties(device)
    return found.major, found.minor


NAMES = {
    f.__name__: f
    for f in (
        CUDAGraph,
        graph,
        is_current_stream_capturing,
        get_device_properties,
        get_device_capability,
    )
}
