"""Tables of a profile's sums, with torch's columns."""

from __future__ import annotations

import re
from typing import Any

from .schedules import DEVICES

__all__ = ["format_table"]

SORTS = (
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time_total",
    "device_time",
    "device_time_total",
    "self_device_time_total",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "device_memory_usage",
    "self_device_memory_usage",
    "count",
    "flops",
)


def time_text(us: float) -> str:
    """Returns microseconds as text, in the unit that suits them.

    >>> from lamella.plugins.profiler.table import time_text
    >>> time_text(0.5), time_text(1500), time_text(2e6)
    ('0.500us', '1.500ms', '2.000s')
    """
    if us >= 1e6:
        return f"{us / 1e6:.3f}s"
    return f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


def memory_text(n: int) -> str:
    """Returns bytes as text, in the unit that suits them.

    >>> from lamella.plugins.profiler.table import memory_text
    >>> memory_text(-512), memory_text(4096), memory_text(3 << 20)
    ('-512 B', '4.00 KB', '3.00 MB')
    """
    for unit, size in ("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10):
        if abs(n) >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n} B"


def share_text(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "0.00%"


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def format_table(
    events: Any, sort_by: str | None, row_limit: int, widths: dict[str, int], source_width: int, header: str | None
) -> str:
    """Returns the table as text; see ``EventList.table``."""
    rows = list(events)
    kinds = {event.device_type for event in rows if event.is_device}
    by = sort_by or ""
    for name in (*kinds, *DEVICES):  # programs for torch write "cuda_time_total"
        by = re.sub(rf"^(self_)?{re.escape(name)}_", r"\1device_", by)
    if sort_by is not None and by not in SORTS:
        raise ValueError(f"table: argument 'sort_by' must be one of {', '.join(SORTS)}, got {sort_by!r}")
    if not rows:
        return ""
    if by:
        rows.sort(key=lambda event: getattr(event, by), reverse=True)
    whole = sum(event.self_cpu_time_total for event in rows)
    columns = {
        "Name": lambda e: e.key,
        "Self CPU %": lambda e: share_text(e.self_cpu_time_total, whole),
        "Self CPU": lambda e: time_text(e.self_cpu_time_total),
        "CPU total %": lambda e: share_text(e.cpu_time_total, whole),
        "CPU total": lambda e: time_text(e.cpu_time_total),
        "CPU time avg": lambda e: time_text(e.cpu_time_total / e.count),
    }
    on_devices = sum(event.self_device_time_total for event in rows if event.is_device)
    device = kinds.pop().upper() if len(kinds) == 1 else "Device"
    if on_devices:
        columns[f"Self {device}"] = lambda e: time_text(e.self_device_time_total)
        columns[f"Self {device} %"] = lambda e: share_text(e.self_device_time_total, on_devices)
        columns[f"{device} total"] = lambda e: time_text(e.device_time_total)
        columns[f"{device} time avg"] = lambda e: time_text(e.device_time_total / e.count)
    if getattr(events, "_memory", False):
        columns["CPU Mem"] = lambda e: memory_text(e.cpu_memory_usage)
        columns["Self CPU Mem"] = lambda e: memory_text(e.self_cpu_memory_usage)
        if on_devices or any(event.device_memory_usage for event in rows):
            columns[f"{device} Mem"] = lambda e: memory_text(e.device_memory_usage)
            columns[f"Self {device} Mem"] = lambda e: memory_text(e.self_device_memory_usage)
    columns["# of Calls"] = lambda e: str(e.count)
    if getattr(events, "_shapes", False):
        columns["Input Shapes"] = lambda e: str([list(s) if isinstance(s, tuple) else s for s in e.input_shapes or []])
    if getattr(events, "_flops", False):
        columns["Total MFLOPs"] = lambda e: f"{e.flops / 1e6:.3f}" if e.flops else "--"
    rows = rows[:row_limit] if row_limit >= 0 else rows
    cells = [[cut(of(event), widths.get(name, 40)) for name, of in columns.items()] for event in rows]
    stacks = [e.stack for e in rows] if getattr(events, "_stacks", 0) else None
    names = [*columns, "Source Location"] if stacks else list(columns)
    lines = []
    for i, row in enumerate(cells):
        if not stacks:
            lines.append(row)
            continue
        places = [cut(place, source_width) for place in stacks[i][: events._stacks]] or [""]
        lines.append([*row, places[0]])
        lines += [[""] * len(row) + [place] for place in places[1:]]
    wide = [max(len(name), *(len(line[i]) for line in lines)) if lines else len(name) for i, name in enumerate(names)]
    rule = "  ".join("-" * width for width in wide)
    text = ["  ".join(cell.rjust(width) for cell, width in zip(line, wide, strict=True)) for line in [names, *lines]]
    end = [f"Self CPU time total: {time_text(whole)}"]
    if on_devices:
        end.append(f"Self {device} time total: {time_text(on_devices)}")
    return "\n".join([*([header] if header else []), rule, text[0], rule, *text[1:], rule, *end, ""])
