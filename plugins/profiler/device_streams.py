"""The streams of devices in a profile: the work of each, its idle times, and the length of its queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["DeviceStream", "build_streams"]


@dataclass
class DeviceStream:
    """One stream of a device; times are microseconds since the profile began.

    ``work`` has (name, begin, end) of each kernel, copy and fill; ``gaps`` the idle times between them, as
    (begin, end); ``queue`` the number of pieces of work that were launched and not finished, as (time, number) at each
    change.
    """

    device: str
    stream: int
    work: list[tuple[str, float, float]] = field(default_factory=list)
    gaps: list[tuple[float, float]] = field(default_factory=list)
    queue: list[tuple[float, int]] = field(default_factory=list)

    @property
    def busy(self) -> float:
        """The microseconds between the begin of its first work and the end of its last in which the stream worked."""
        return max(w[2] for w in self.work) - self.work[0][1] - self.idle

    @property
    def idle(self) -> float:
        """The microseconds between the begin of its first work and the end of its last in which it had no work."""
        return sum(end - begin for begin, end in self.gaps)


def build_streams(activities: Iterable[tuple]) -> list[DeviceStream]:
    """Makes the streams from a trace's activities, which are sorted by begin."""
    streams: dict[tuple[str, int], DeviceStream] = {}
    changes: dict[tuple[str, int], list[tuple[float, int]]] = {}
    ends: dict[tuple[str, int], float] = {}
    for name, _, backend, index, stream, _, launched, begin, end, *_ in activities:
        key = f"{backend}:{index}", stream
        if key not in streams:
            streams[key], changes[key] = DeviceStream(*key), []
        one, begin, end = streams[key], begin / 1000, end / 1000
        if begin > ends.get(key, begin):
            one.gaps.append((ends[key], begin))
        ends[key] = max(end, ends.get(key, end))
        one.work.append((name, begin, end))
        changes[key] += [(min(launched / 1000, begin), 1), (end, -1)]
    for key, one in streams.items():
        now = 0
        for time, change in sorted(changes[key]):
            now += change
            one.queue.append((time, now))
    return [streams[key] for key in sorted(streams)]
