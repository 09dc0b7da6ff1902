"""A profile's events and sums, as Python objects and as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import _python
from .flops import flops_of

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]


@dataclass(frozen=True)
class Interval:
    """A time from ``start`` to ``end``, in microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it is, in microseconds."""
        return self.end - self.start


@dataclass(eq=False)
class FunctionEvent:
    """One call, step of backward or named block of a profile; times are microseconds."""

    id: int
    name: str
    thread: int
    time_range: Interval
    scope: int
    sequence_nr: int
    fwd_thread: int | None
    input_shapes: list | None
    input_types: list | None
    stack: list[str]
    device_type: str
    failed: bool
    cpu_parent: FunctionEvent | None = None
    cpu_children: list[FunctionEvent] = field(default_factory=list)

    key = property(lambda self: self.name)
    cpu_time_total = property(lambda self: self.time_range.elapsed_us())
    cpu_time = cpu_time_total
    count = 1
    flops = cpu_memory_usage = self_cpu_memory_usage = 0  # sums have them
    is_user_annotation = property(lambda self: self.scope == 2)

    @property
    def self_cpu_time_total(self) -> float:
        """Without the events inside."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    def __repr__(self) -> str:
        return f"<FunctionEvent {self.name} {self.cpu_time_total:.3f} us>"


@dataclass
class FunctionEventAvg:
    """All events of one name, and where grouped so of equal shapes and stacks; times are microseconds."""

    key: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    least: float
    most: float
    failed: int
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    input_shapes: list | None
    stack: list[str]
    scope: int
    device_type: str
    flops: int = 0

    name = property(lambda self: self.key)
    cpu_time = property(lambda self: self.cpu_time_total / self.count if self.count else 0.0)
    is_user_annotation = property(lambda self: self.scope == 2)

    def _add(self, other: FunctionEventAvg) -> None:
        for name in ("count", "cpu_time_total", "self_cpu_time_total", "failed", "flops"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)


def frames(stack: Iterable[int] | None) -> list[str]:
    """The texts of frames, "file(line): function", the innermost first."""
    return [_python._describe_frame(frame) for frame in stack or ()]


class EventList(list):
    """Sums, or events, of a profile: a list with a table."""

    def __init__(
        self,
        items: Iterable[Any] = (),
        *,
        shapes: bool = False,
        stacks: int = 0,
        memory: bool = False,
        flops: bool = False,
    ):
        super().__init__(items)
        self._shapes, self._stacks, self._memory, self._flops = shapes, stacks, memory, flops

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events without those inside them."""
        return sum(event.self_cpu_time_total for event in self)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The sums as text, with torch's columns.

        Args:
            sort_by: "cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage",
                "count" or "flops": the largest first
            row_limit: how many rows; -1: all
            header: a line above it

        Raises:
            ValueError: there is no such column
        """
        from .table import format_table

        widths = {"Name": max_name_column_width, "Input Shapes": max_shapes_column_width}
        return format_table(self, sort_by, row_limit, widths, max_src_column_width, header)

    def __str__(self) -> str:
        return self.table()


def build_events(rows: Iterable[tuple]) -> EventList:
    """The tree of events, in the order of their begins on each thread."""
    events: list[FunctionEvent] = []
    texts: dict[Any, list[str]] = {}
    for name, scope, begin, end, index, parent, sequence, thread, forward, shapes, stack, backend, failed in rows:
        if stack not in texts:
            texts[stack] = frames(stack)
        event = FunctionEvent(
            index,
            name,
            thread,
            Interval(begin / 1000, end / 1000),
            scope,
            sequence,
            forward or None,
            shapes and shapes[0],
            shapes and shapes[1],
            texts[stack],
            backend,
            bool(failed),
        )
        if parent >= 0:
            event.cpu_parent = events[parent]
            events[parent].cpu_children.append(event)
        events.append(event)
    return EventList(events)


def average(rows: Iterable[tuple], by_shapes: bool, stacks: int, with_flops: bool) -> Iterator[FunctionEventAvg]:
    """Sums by name, and by shapes and stacks where asked for. The rows may be finer than that."""
    sums: dict[Any, FunctionEventAvg] = {}
    for name, scope, shapes, stack, backend, count, failed, total, own, least, most, memory, own_memory in rows:
        one = FunctionEventAvg(
            name,
            count,
            total / 1000,
            own / 1000,
            least / 1000,
            most / 1000,
            failed,
            memory,
            own_memory,
            shapes[0] if shapes and by_shapes else None,
            frames(stack) if stacks else [],
            scope,
            backend,
            count * flops_of(name, shapes[0]) if with_flops and shapes else 0,
        )
        key = name, scope, repr(one.input_shapes), tuple(one.stack)
        if key in sums:
            sums[key]._add(one)
        else:
            sums[key] = one
    return iter(sums.values())
