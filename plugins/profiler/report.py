"""A profile as one page of HTML, which needs no network and no other file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .files import replacing

__all__ = ["write_report"]

MOST_EVENTS = 20_000  # of the timeline: the longest ones
MOST_POINTS = 5_000  # of the curve of memory


def timeline(events: list[Any]) -> tuple[list[int], list[int], list[str], list[tuple]]:
    """Threads, how deep each goes, names, and the longest events: (name, begin, duration, thread, depth)."""
    threads: dict[int, int] = {}
    names: dict[str, int] = {}
    depths: list[int] = []
    level: dict[int, int] = {}
    rows = []
    for e in events:
        thread = threads.setdefault(e.thread, len(threads))
        if thread == len(depths):
            depths.append(1)
        depth = level[id(e)] = level[id(e.cpu_parent)] + 1 if e.cpu_parent else 0
        depths[thread] = max(depths[thread], depth + 1)
        name = names.setdefault(e.name, len(names))
        begin, took = e.time_range.start, e.cpu_time_total
        rows.append((name, round(begin, 3), round(took, 3), thread, depth))
    if len(rows) > MOST_EVENTS:
        least = sorted(row[2] for row in rows)[-MOST_EVENTS]
        rows = [row for row in rows if row[2] >= least][:MOST_EVENTS]
    return list(threads), depths, list(names), rows


def thinned(points: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """At most MOST_POINTS of them: of each stretch the least and the greatest, so that no peak is lost."""
    if len(points) <= MOST_POINTS:
        return points
    step = -(-len(points) * 2 // MOST_POINTS)
    kept = []
    for i in range(0, len(points), step):
        part = points[i : i + step]
        kept += sorted({min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])})
    return kept


def write_report(prof: Any, path: str | os.PathLike) -> None:
    """See ``profile.export_html``."""
    events, sums = prof.events(), prof.key_averages()
    threads, depths, names, rows = timeline(events)
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
            ["threads", len(threads)],
            ["dropped", prof.dropped()],
            *([k, str(v)] for k, v in prof._metadata.items()),
        ],
        "rows": [
            {"name": e.key, "count": e.count, "total": e.cpu_time_total, "self": e.self_cpu_time_total,
             "memory": e.self_cpu_memory_usage}
            for e in sums
        ],
        "threads": threads, "depths": depths, "names": names, "events": rows, "memory": thinned(memory),
    }  # fmt: skip
    # Within a script a text must not look like the script's end.
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    page = Path(__file__).with_name("report.html").read_text(encoding="utf-8").replace("@DATA@", text)
    with replacing(path) as file:
        file.write(page.encode())
