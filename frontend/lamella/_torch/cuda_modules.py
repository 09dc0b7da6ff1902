"""Names of torch.cuda that other devices do not have, and ``cuda.memory``, ``graphs``, ``random``, ``streams``."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import lamella
from lamella._torch.refusals import Refusal

NAMES = {
    "memory": "empty_cache max_memory_allocated max_memory_cached max_memory_reserved mem_get_info memory_allocated "
    "memory_cached memory_reserved memory_stats memory_stats_as_nested_dict memory_summary "
    "reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached reset_peak_memory_stats",
    "random": "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all set_rng_state "
    "set_rng_state_all",
    "streams": "Event Stream",
    "graphs": "CUDAGraph is_current_stream_capturing",
}
DOCS = {
    "memory": "The functions of ``lamella.cuda`` for memory, under torch's path.",
    "random": "The functions of ``lamella.cuda`` for random numbers, under torch's path.",
    "streams": "The classes of ``lamella.cuda`` for streams, under torch's path.",
    "graphs": "The functions of torch for CUDA graphs. Lamella captures none.",
}
NO_GRAPHS = "Lamella captures no CUDA graphs; call the function itself"
NO_CHANGE = "Lamella's allocator for CUDA is its own, and has no such switch"
REFUSED = {
    "memory": {
        NO_CHANGE: "caching_allocator_alloc caching_allocator_delete caching_allocator_enable change_current_allocator "
        "set_per_process_memory_fraction use_mem_pool"
    },
    "graphs": {NO_GRAPHS: "graph graph_pool_handle make_graphed_callables"},
}


def is_current_stream_capturing() -> bool:
    """Returns False: Lamella captures no CUDA graphs.

    >>> lamella.cuda.is_current_stream_capturing()
    False
    """
    return False


def graph_class() -> type:
    """Returns ``CUDAGraph``, a class whose constructor raises, so that ``isinstance`` can name it."""
    why = Refusal("lamella.cuda.CUDAGraph", NO_GRAPHS)
    return type("CUDAGraph", (), {"__init__": why, "__doc__": why.__doc__, "__module__": "lamella.cuda"})


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """Returns the numbers of ``memory_stats`` as nested dicts: a key with dots is a path through them.

    >>> isinstance(lamella.cuda.memory_stats_as_nested_dict(), dict)
    True
    """
    found: dict[str, Any] = {}
    for key, number in lamella.cuda.memory_stats(device).items():
        *path, last = key.split(".")
        inner = found
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = number
    return found


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Returns the numbers of ``memory_stats`` as a table. ``abbreviated`` has no effect.

    >>> len(lamella.cuda.memory_summary()) > 0
    True
    """
    stats = lamella.cuda.memory_stats(device)
    if not stats:
        return "memory_summary: there is no CUDA device with statistics on this machine"
    width = max(map(len, stats))
    return "\n".join(f"{name:{width}}  {number:>20,}" for name, number in stats.items())


def reset_max_memory_allocated(device: Any = None) -> None:
    """Calls ``reset_peak_memory_stats``, which has replaced it, and warns so."""
    _deprecated("reset_max_memory_allocated", "reset_peak_memory_stats")
    lamella.cuda.reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """Calls ``reset_peak_memory_stats``, which has replaced it, and warns so."""
    _deprecated("reset_max_memory_cached", "reset_peak_memory_stats")
    lamella.cuda.reset_peak_memory_stats(device)


def memory_cached(device: Any = None) -> int:
    """Returns ``memory_reserved()``, which has replaced it, and warns so."""
    _deprecated("memory_cached", "memory_reserved")
    return lamella.cuda.memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """Returns ``max_memory_reserved()``, which has replaced it, and warns so."""
    _deprecated("max_memory_cached", "max_memory_reserved")
    return lamella.cuda.max_memory_reserved(device)


def _deprecated(name: str, successor: str) -> None:
    import warnings

    warnings.warn(f"lamella.cuda.{name} is lamella.cuda.{successor} now", FutureWarning, stacklevel=3)


OWN = {
    f.__name__: f
    for f in (
        is_current_stream_capturing,
        max_memory_cached,
        memory_cached,
        memory_stats_as_nested_dict,
        memory_summary,
        reset_max_memory_allocated,
        reset_max_memory_cached,
    )
}
OWN["CUDAGraph"] = graph_class()
for _refused in REFUSED.values():
    for _why, _names in _refused.items():
        OWN |= {name: Refusal(f"lamella.cuda.{name}", _why) for name in _names.split()}


def find(name: str) -> Any:
    """Returns an object of this file for ``lamella.cuda``; None if there is none of the name."""
    return OWN.get(name)


def fill(module: ModuleType) -> None:
    """Sets the names of a lazy module of ``lamella.cuda``."""
    name = module.__name__.rpartition(".")[2]
    listed = [*NAMES[name].split(), *(n for names in REFUSED.get(name, {}).values() for n in names.split())]
    found = {n: OWN.get(n) or getattr(lamella.cuda, n) for n in listed}
    vars(module).update(found, __doc__=DOCS[name], __all__=sorted(found))
