"""A profile's events and sums, as Python objects and as tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from . import _python
from .nesting import passed_on
from .schedules import HOST

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel"]

DEVICE = 4  # LAMELLA_TRACE_DEVICE: the scope of work of a device


@dataclass(frozen=True)
class Interval:
    """A time from ``start`` to ``end``, in microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """Returns the length of the interval in microseconds."""
        return self.end - self.start


@dataclass(frozen=True)
class Kernel:
    """Work of a device that an operator has launched: name, index of the device, microseconds."""

    name: str
    device: int
    duration: float


@dataclass(eq=False)
class FunctionEvent:
    """One call, step of backward, named block, or work of a device; times are microseconds.

    An event of the host has the ``device_type`` "cpu"; ``kernels`` is the work that it launched itself, and
    ``device_time_total`` the time of work launched within it. An event of a device has the device's name as
    ``device_type``, its number as ``device_index``, the stream's number as ``device_resource_id``, and the launching
    event as ``launched_by``.
    """

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
    backend: str
    failed: bool
    cpu_parent: FunctionEvent | None = None
    cpu_children: list[FunctionEvent] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    device_index: int = 0
    device_resource_id: int = 0
    launched_by: FunctionEvent | None = None
    launched_at: float | None = None
    linked_correlation_id: int = 0
    bytes: int = 0

    key = property(lambda self: self.name)
    is_device = property(lambda self: self.scope == DEVICE)
    device_type = property(lambda self: self.backend if self.is_device else HOST)
    count = 1
    flops = cpu_memory_usage = self_cpu_memory_usage = 0  # events have 0; sums have the numbers
    device_memory_usage = self_device_memory_usage = 0
    is_user_annotation = property(lambda self: self.scope == 2)

    @property
    def cpu_time_total(self) -> float:
        """The duration in microseconds; 0 for work of a device."""
        return 0.0 if self.is_device else self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        """The duration without that of the events inside this one."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_device_time_total(self) -> float:
        """The duration of work of a device; for an event of the host, the time of the work that it launched itself."""
        return self.time_range.elapsed_us() if self.is_device else sum(kernel.duration for kernel in self.kernels)

    @property
    def device_time_total(self) -> float:
        """The time of the work launched by this event and the events inside it."""
        return self.self_device_time_total + sum(child.device_time_total for child in self.cpu_children)

    cpu_time = cpu_time_total
    device_time = device_time_total

    def __repr__(self) -> str:
        return f"<FunctionEvent {self.name} {self.time_range.elapsed_us():.3f} us>"


@dataclass
class FunctionEventAvg:
    """A sum over the events of one name, or of one name, shapes and stack if grouped by them; times in microseconds."""

    key: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    least: float
    most: float
    failed: int
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    device_time_total: float
    self_device_time_total: float
    bytes: int
    input_shapes: list | None
    stack: list[str]
    scope: int
    backend: str
    flops: int = 0
    device_memory_usage: int = 0
    self_device_memory_usage: int = 0

    name = property(lambda self: self.key)
    is_device = property(lambda self: self.scope == DEVICE)
    device_type = property(lambda self: self.backend if self.is_device else HOST)
    cpu_time = property(lambda self: self.cpu_time_total / self.count if self.count else 0.0)
    device_time = property(lambda self: self.device_time_total / self.count if self.count else 0.0)
    is_user_annotation = property(lambda self: self.scope == 2)

    def _add(self, other: FunctionEventAvg) -> None:
        for name in SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)


SUMMED = (
    "count", "failed", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage",
    "device_time_total", "self_device_time_total", "bytes", "flops", "device_memory_usage", "self_device_memory_usage",
)  # fmt: skip


def _as_sum(e: FunctionEvent, shapes: list | None, stack: list[str]) -> FunctionEventAvg:
    took = e.time_range.elapsed_us()
    return FunctionEventAvg(
        e.name, 1, e.cpu_time_total, e.self_cpu_time_total, took, took, int(e.failed), 0, 0, e.device_time_total,
        e.self_device_time_total, e.bytes, shapes, stack, e.scope, e.backend,
    )  # fmt: skip


def frames(stack: Iterable[int] | None) -> list[str]:
    """Returns the texts of frames, "file(line): function", innermost first."""
    return [_python._describe_frame(frame) for frame in stack or ()]


class EventList(list):
    """The events or sums of a profile: a list with a table."""

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
        """The sum of the events' own times in microseconds: each without the events inside it."""
        return sum(event.self_cpu_time_total for event in self)

    @property
    def self_device_time_total(self) -> float:
        """The microseconds of all work of devices."""
        return sum(event.self_device_time_total for event in self if event.is_device)

    def total_average(self) -> FunctionEventAvg:
        """Returns one sum over all items, under the key "Total"."""
        total = FunctionEventAvg("Total", 0, 0.0, 0.0, inf, 0.0, 0, 0, 0, 0.0, 0.0, 0, None, [], 0, "")
        for one in self.key_averages():
            total._add(one)
        return total

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0) -> EventList:
        """Returns the sums of these events by name; also by the sizes of arguments if ``group_by_input_shapes``, and by
        the ``group_by_stack_n`` innermost frames of the stack."""
        sums: dict[Any, FunctionEventAvg] = {}
        for e in self:
            shapes, stack = e.input_shapes if group_by_input_shapes else None, e.stack[:group_by_stack_n]
            own = e if isinstance(e, FunctionEventAvg) else _as_sum(e, shapes, stack)
            around = getattr(e, "cpu_parent", None)
            if around and passed_on(e.name, e.scope, e.backend, around.name, around.backend):
                own = replace(own, count=0, failed=0, cpu_time_total=0.0, device_time_total=0.0, least=inf, most=0.0)
                shapes = around.input_shapes if group_by_input_shapes else None
            key = key_of(e.key, e.scope, e.backend, shapes, stack)
            if key in sums:
                sums[key]._add(own)
            else:
                sums[key] = replace(own, input_shapes=shapes, stack=stack)
        return EventList(
            sums.values(), shapes=group_by_input_shapes, stacks=group_by_stack_n, memory=self._memory, flops=self._flops
        )

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
        """Returns the sums as text, with torch's columns.

        Args:
            sort_by: "cpu_time", "cpu_time_total", "self_cpu_time_total", "device_time", "device_time_total",
                "self_device_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage",
                "self_device_memory_usage", "count" or "flops": the largest first. A device's name may replace
                "device", as in "cuda_time_total"
            row_limit: the number of rows; -1 means all
            header: a line above the table
            top_level_events_only: without effect

        Raises:
            ValueError: there is no such column
        """
        from .table import format_table

        widths = {"Name": max_name_column_width, "Input Shapes": max_shapes_column_width}
        return format_table(self, sort_by, row_limit, widths, max_src_column_width, header)

    def __str__(self) -> str:
        return self.table()


def build_events(rows: Iterable[tuple], activities: Iterable[tuple] = ()) -> EventList:
    """Returns the events as a tree, in the order of their begins on each thread, followed by the work of devices."""
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
    host = len(events)
    for name, _, backend, index, stream, number, launched, begin, end, n, by, thread, stack, _, _ in activities:
        if stack not in texts:
            texts[stack] = frames(stack)
        event = FunctionEvent(
            len(events), name, thread, Interval(begin / 1000, end / 1000), DEVICE, 0, None, None, None, texts[stack],
            backend, False, device_index=index, device_resource_id=stream, linked_correlation_id=number, bytes=n,
            launched_at=launched / 1000 if number else None,
        )  # fmt: skip
        if 0 <= by < host:
            event.launched_by = events[by]
            events[by].kernels.append(Kernel(name, index, event.time_range.elapsed_us()))
        events.append(event)
    return EventList(events)


def key_of(name: str, scope: int, backend: str, shapes: list | None, stack: list[str]) -> tuple:
    """Returns the key of a sum: the devices' own work has a row for each kind of device, calls have one for all."""
    return name, scope, backend if scope == DEVICE else None, repr(shapes), tuple(stack)


def average(rows: Iterable[tuple], by_shapes: bool, stacks: int) -> dict[tuple, FunctionEventAvg]:
    """Returns sums by ``key_of``: by name; also by shapes if ``by_shapes``, and by stacks if ``stacks`` is not 0. The
    rows may be grouped more finely."""
    sums: dict[tuple, FunctionEventAvg] = {}
    for row in rows:
        name, scope, shapes, stack, backend, count, failed, total, own, least, most, *rest = row
        memory, own_memory, device, own_device, n, device_memory, own_device_memory = rest
        one = FunctionEventAvg(
            name,
            count,
            total / 1000,
            own / 1000,
            least / 1000,
            most / 1000,
            failed,
            memory - device_memory,
            own_memory - own_device_memory,
            device / 1000,
            own_device / 1000,
            n,
            shapes[0] if shapes and by_shapes else None,
            frames(stack) if stacks else [],
            scope,
            backend,
            0,
            device_memory,
            own_device_memory,
        )
        key = key_of(name, scope, backend, one.input_shapes, one.stack)
        if key in sums:
            sums[key]._add(one)
        else:
            sums[key] = one
    return sums
