"""What the sums of a profile need to know of the nesting of its calls.

Note [Counted once]  A call whose device has no kernel may be served by another device: by the host, as a rule. The
  profile has two events of it then, one around the other, with one name and two devices. The table has one call: its
  own time is that of both events, and its whole time that of the outer one. So it is with floating-point operations. An
  operator that is composed of others has a formula, and so may those have: it counts what they do not.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from math import inf
from typing import Any

from .schedules import HOST

__all__ = ["add_flops", "may_be_passed_on", "passed_on", "take_out_passed_on"]

FUNCTION = 0  # LAMELLA_SCOPE_FUNCTION
# The columns of a trace's events.
NAME, SCOPE, BEGIN, END, INDEX, PARENT, THREAD, SHAPES, STACK, BACKEND, FAILED = 0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12


def add_flops(
    sums: dict[Any, Any], events: list[tuple], key_of: Callable[[tuple], Any], flops_of: Callable[[str, list], int]
) -> None:
    """Adds the operations of each call to its sum, without those of the calls inside it."""
    inside = [0] * len(events)
    for e in reversed(events):  # a call follows the one around it
        own = flops_of(e[NAME], e[SHAPES][0]) if e[SHAPES] and e[SCOPE] == FUNCTION else 0
        if own > inside[e[INDEX]]:
            sums[key_of(e)].flops += own - inside[e[INDEX]]
        if e[PARENT] >= 0:
            inside[e[PARENT]] += max(own, inside[e[INDEX]])


def may_be_passed_on(rows: Iterable[tuple]) -> bool:
    """Returns whether an operator ran on two devices, on one with calls inside it; rows are those of a summary."""
    backends: dict[str, set[str]] = {}
    around = set()
    for name, scope, _, _, backend, _, _, total, own, *_ in rows:
        if scope == FUNCTION and backend:
            backends.setdefault(name, set()).add(backend)
            if total > own:
                around.add(name)
    return any(len(backends[name]) > 1 for name in around)


def passed_on(name: str, scope: int, backend: str, around_name: str, around_backend: str) -> bool:
    """Returns whether a call is the one by which the call around it is served on another device."""
    return scope == FUNCTION and name == around_name and backend != around_backend and bool(backend and around_backend)


def take_out_passed_on(sums: dict[Any, Any], events: list[tuple], trace: Any, key_of: Callable[[tuple], Any]) -> None:
    """Takes the number, and the whole time and memory, of calls that were passed on out of their sums."""
    inner = [
        e
        for e in events
        if e[PARENT] >= 0
        and passed_on(e[NAME], e[SCOPE], e[BACKEND], events[e[PARENT]][NAME], events[e[PARENT]][BACKEND])
    ]
    if not inner:
        return
    on_devices, memory = _device_times(events, trace), _Memory(trace)
    for e in inner:
        one = sums[key_of(e)]
        host, device = memory.within(e[THREAD], e[BEGIN], e[END])
        one.count -= 1
        one.failed -= e[FAILED]
        one.cpu_time_total -= (e[END] - e[BEGIN]) / 1000
        one.device_time_total -= on_devices[e[INDEX]] / 1000
        one.cpu_memory_usage -= host
        one.device_memory_usage -= device
    numbers, names = {e[INDEX] for e in inner}, {e[NAME] for e in inner}
    left: dict[Any, list[float]] = {key_of(e): [] for e in inner}
    for e in events:
        if e[NAME] in names and e[INDEX] not in numbers and (key := key_of(e)) in left:
            left[key].append((e[END] - e[BEGIN]) / 1000)
    for key, times in left.items():
        sums[key].least, sums[key].most = min(times, default=inf), max(times, default=0.0)
    for e in inner:  # with other arguments than those of the call around it
        key = key_of(e)
        if key in sums and sums[key].count == 0:
            sums[key_of(events[e[PARENT]])]._add(sums.pop(key))


def _device_times(events: list[tuple], trace: Any) -> list[int]:
    """Returns for each event the nanoseconds of the devices' work that was launched in it and in the events inside."""
    times = [0] * len(events)
    for activity in trace.activity():
        if 0 <= activity[10] < len(times):
            times[activity[10]] += activity[8] - activity[7]
    for e in reversed(events):
        if e[PARENT] >= 0:
            times[e[PARENT]] += times[e[INDEX]]
    return times


class _Memory:
    """The bytes that were allocated less those that were released, of the host and of devices, by thread and time."""

    def __init__(self, trace: Any):
        threads: dict[int, list[tuple[int, int, int]]] = {}
        for time, _, n, backend, _, thread in trace.memory():
            threads.setdefault(thread, []).append((time, n * (backend == HOST), n * (backend != HOST)))
        self._of = {
            thread: [[m[0] for m in all], *([0, *accumulate(m[i] for m in all)] for i in (1, 2))]
            for thread, all in ((thread, sorted(m)) for thread, m in threads.items())
        }

    def within(self, thread: int, begin: int, end: int) -> tuple[int, int]:
        """Returns the bytes of the host and of devices between two times."""
        if thread not in self._of:
            return 0, 0
        times, host, device = self._of[thread]
        first, last = bisect_right(times, begin), bisect_left(times, end)
        return host[last] - host[first], device[last] - device[first]
