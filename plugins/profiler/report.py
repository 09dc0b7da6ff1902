"""Writes a profile as one page of HTML, which needs no network and no other file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .files import replacing

__all__ = ["write_report"]

MOST_EVENTS = 20_000  # the most events in the timeline, which shows the longest ones
MOST_POINTS = 5_000  # the most points on a curve, and the most gaps of a stream


def timeline(events: list[Any]) -> tuple[list[str], list[int], list[str], list[tuple]]:
    """Returns tracks, the depth of each, names, and the longest events: (name, begin, duration, track, depth).

    Each thread has a track; the streams of devices have tracks after them.
    """
    tracks: dict[str, int] = {}
    names: dict[str, int] = {}
    depths: list[int] = []
    level: dict[int, int] = {}
    rows = []
    for e in events:
        text = f"thread {e.thread}"
        if e.is_device:
            text = f"{e.device_type}:{e.device_index} stream {e.device_resource_id}"
        track = tracks.setdefault(text, len(tracks))
        if track == len(depths):
            depths.append(1)
        depth = level[id(e)] = level[id(e.cpu_parent)] + 1 if e.cpu_parent else 0
        depths[track] = max(depths[track], depth + 1)
        name = names.setdefault(e.name, len(names))
        rows.append((name, round(e.time_range.start, 3), round(e.time_range.elapsed_us(), 3), track, depth))
    if len(rows) > MOST_EVENTS:
        least = sorted(row[2] for row in rows)[-MOST_EVENTS]
        rows = [row for row in rows if row[2] >= least][:MOST_EVENTS]
    return list(tracks), depths, list(names), rows


def streams_of(prof: Any) -> list[dict[str, Any]]:
    """Returns for each stream of a device its times, its longest gaps, and the length of its queue over time."""
    made = []
    for s in prof.device_streams():
        gaps = sorted(s.gaps, key=lambda gap: gap[1] - gap[0])[-MOST_POINTS:]
        made.append(
            {"name": f"{s.device} stream {s.stream}", "work": len(s.work), "busy": s.busy, "idle": s.idle,
             "longest": max((end - begin for begin, end in gaps), default=0.0), "most": max(n for _, n in s.queue),
             "gaps": [[round(t, 3) for t in gap] for gap in sorted(gaps)],
             "queue": thinned([(round(t, 3), n) for t, n in s.queue])}
        )  # fmt: skip
    return made


def thinned(points: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Returns at most MOST_POINTS of the points: the least and the greatest of each interval, so that no peak is
    lost."""
    if len(points) <= MOST_POINTS:
        return points
    step = -(-len(points) * 2 // MOST_POINTS)
    kept = []
    for i in range(0, len(points), step):
        part = points[i : i + step]
        kept += sorted({min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])})
    return kept


def write_report(prof: Any, path: str | os.PathLike) -> None:
    """Writes the page; see ``profile.export_html``."""
    events, sums = prof.events(), prof.key_averages()
    tracks, depths, names, rows = timeline(events)
    streams = streams_of(prof)
    memory: list[tuple[float, int]] = []
    if prof.profile_memory:
        now = 0
        for time, _, n, _ in prof.memory_timeline():
            now += n
            memory.append((round(time, 3), now))
    took = max((e.time_range.end for e in events), default=0.0) - min((e.time_range.start for e in events), default=0.0)
    data = {
        "facts": [
            ["events", f"{len(events)}" + (f", the longest {len(rows)} are drawn" if len(rows) < len(events) else "")],
            ["time", f"{took / 1000:.3f} ms"],
            ["threads", len(tracks) - len(streams)],
            *([["streams of devices", len(streams)]] if streams else []),
            ["dropped", prof.dropped()],
            *([k, str(v)] for k, v in prof._metadata.items()),
        ],
        "rows": [
            {"name": e.key, "count": e.count, "total": e.cpu_time_total, "self": e.self_cpu_time_total,
             "memory": e.self_cpu_memory_usage + e.self_device_memory_usage,
             "device": e.self_device_time_total}
            for e in sums if not e.is_device
        ],
        "kernels": [
            {"name": e.key, "device": e.device_type, "count": e.count, "time": e.self_device_time_total}
            for e in sorted(sums, key=lambda e: -e.self_device_time_total) if e.is_device
        ],
        "tracks": tracks, "depths": depths, "names": names, "events": rows, "memory": thinned(memory),
        "streams": streams,
    }  # fmt: skip
    # A text inside a script must not contain the tag that ends the script.
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    page = Path(__file__).with_name("report.html").read_text(encoding="utf-8").replace("@DATA@", text)
    with replacing(path) as file:
        file.write(page.encode())
