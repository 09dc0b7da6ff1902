"""``profile``: records the operators and device work of a program, and shows them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from . import _python
from ._python import record_function
from .averages import DEVICE, EventList, average, build_events, frames, key_of
from .device_streams import DeviceStream, build_streams
from .files import replacing
from .flops import flops_of
from .nesting import BACKEND, NAME, SCOPE, SHAPES, STACK, add_flops, may_be_passed_on, take_out_passed_on
from .schedules import ProfilerAction, ProfilerActivity, split_activities

__all__ = ["profile", "tensorboard_trace_handler"]

KEEP_SHAPES, KEEP_STACKS, KEEP_MEMORY, NO_HOST = 1, 2, 4, 16  # enum lamella_trace_flags
# Maps each metric of export_stacks to its column in a row of sums.
METRICS = {
    "self_cpu_time_total": 8,
    "cpu_time_total": 7,
    "self_device_time_total": 14,
    "device_time_total": 13,
    "self_cuda_time_total": 14,
}


def _is_known(device: str) -> bool:
    """Returns whether there is a device of that name; loads its backend if it has not been loaded."""
    if _python._is_device(device):
        return True
    import lamella
    from lamella.plugins import status

    found = any(p.name == device and p.kind == "backend" and p.state in ("found", "loading") for p in status())
    return found and getattr(lamella, device).is_available()


class profile:
    """Records operators, steps of backward and named blocks within a block, and sums them up.

    Each thread records into a buffer of its own. Several profiles may run at once, nested or on different threads; each
    records all that happens while it runs.

    Args:
        activities: members of ``ProfilerActivity`` and names of devices to record; by default the host and
            every device whose backend traces its work; a device that is only timed by events must be named. An activity
            that cannot be recorded is left out with a warning
        schedule: returns the action of each step, see ``schedule``; without one all is recorded
        on_trace_ready: called with the profile whenever a cycle of the schedule is over, and at the end if the last
            step was recorded
        record_shapes: keep sizes and dtypes of arguments
        profile_memory: keep allocations and releases of memory
        with_stack: keep Python's stacks
        with_flops: count operations of products, convolutions, attention and arithmetic; this keeps shapes, too
        with_modules: show calls of modules as blocks "nn.Module: name"
        max_events: the number of events that a thread keeps; ``dropped()`` is the number of later ones
        acc_events, use_cuda, custom_trace_id_callback: without effect

    Raises:
        TypeError: schedule or on_trace_ready is neither callable nor None, or activities has another element
        ValueError: max_events is less than 1
        NotImplementedError: experimental_config or execution_trace_observer is given
        RuntimeError: the profile is started twice, or read before it has recorded or while it records

    >>> with lamella.profiler.profile(record_shapes=True) as prof:
    ...     _ = lamella.ones(2, 3) @ lamella.ones(3, 4)
    >>> [(event.key, event.count) for event in prof.key_averages()]
    [('aten::ones', 2), ('aten::matmul', 1), ('aten::mm', 1)]
    >>> prof.events()[3].cpu_parent
    <FunctionEvent aten::matmul ...>
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity | str] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        max_events: int = 1 << 26,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Any = None,
    ):
        for name, value in ("schedule", schedule), ("on_trace_ready", on_trace_ready):
            if value is not None and not callable(value):
                raise TypeError(f"profile: argument '{name}' must be callable or None, got {type(value).__name__}")
        for name, value in (
            ("experimental_config", experimental_config),
            ("execution_trace_observer", execution_trace_observer),
        ):
            if value is not None:
                raise NotImplementedError(f"profile: argument '{name}' has no meaning here; leave it out")
        if max_events < 1:
            raise ValueError(f"profile: argument 'max_events' must be 1 at least, got {max_events}")
        host, devices = split_activities(activities)
        absent = [name for name in devices if name != "*" and not _is_known(name)]
        if absent:
            names = ", ".join(sorted(absent)).upper()
            text = f"profile: {names} cannot be recorded here and is left out; the host is recorded"
            warnings.warn(text, stacklevel=2)
            host = True
        self._devices = ",".join(name for name in devices if name not in absent)
        self.schedule, self.on_trace_ready = schedule, on_trace_ready
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.with_flops, self.with_modules, self.max_events = with_flops, with_modules, max_events
        self._flags = KEEP_SHAPES * (record_shapes or with_flops) | KEEP_STACKS * with_stack
        self._flags |= KEEP_MEMORY * profile_memory
        self._flags |= NO_HOST * (not host)
        self.step_num = 0
        self.current_action: ProfilerAction | None = schedule(0) if schedule else ProfilerAction.RECORD_AND_SAVE
        self._trace: Any = None
        self._running = self._started = False
        self._step_block: Any = None
        self._modules: Any = None
        self._convolutions: Any = None
        self._metadata: dict[str, Any] = {}

    # ---- running ----

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Starts recording."""
        if self._started:
            raise RuntimeError("profile.start: it has been started already; a profile runs once")
        self._started = True
        if self.with_modules:
            from .modules import ModuleBlocks

            self._modules = ModuleBlocks()
        self._turn(None, self.current_action or ProfilerAction.NONE)
        self._begin_step()

    def stop(self) -> None:
        """Ends recording; calls ``on_trace_ready`` if the last step was recorded."""
        if not self._started or self.current_action is None:
            return
        self._end_step()
        before, self.current_action = self.current_action, None
        if self._modules:
            self._modules.remove()
        if not self._running:
            return
        self._stop_trace()
        if before in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._ready()

    def step(self) -> None:
        """Marks the beginning of the program's next step."""
        if not self._started or self.current_action is None:
            raise RuntimeError("profile.step: the profile does not run")
        self._end_step()
        self.step_num += 1
        if self.schedule:
            before, now = self.current_action, self.schedule(self.step_num)
            self.current_action = now
            self._turn(before, now)
        self._begin_step()

    def _turn(self, before: ProfilerAction | None, now: ProfilerAction) -> None:
        recorded = before in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        done = before is ProfilerAction.RECORD_AND_SAVE or (
            recorded and now not in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        )
        new = now is not ProfilerAction.NONE and (
            done or not self._running or (before is ProfilerAction.WARMUP and now is not ProfilerAction.WARMUP)
        )
        if self._running and (done or new or now is ProfilerAction.NONE):
            self._stop_trace()
        if done and self._started and self.schedule:
            self._ready()
        if new:
            self._trace = _python._Trace(self._flags, 0, self.max_events, self._devices)
            self._running = True
            if self.with_flops:
                from .convolutions import Convolutions

                self._convolutions = Convolutions()

    def _stop_trace(self) -> None:
        self._trace.stop()
        self._running = False
        if self._convolutions is not None:
            self._convolutions.stop()
        for note in self._trace.notes():
            warnings.warn(f"profile: {note}", stacklevel=3)

    def _begin_step(self) -> None:
        if self._running and self.schedule:
            self._step_block = record_function(f"ProfilerStep#{self.step_num}")
            self._step_block.__enter__()

    def _end_step(self) -> None:
        if self._step_block:
            self._step_block.__exit__(None, None, None)
            self._step_block = None

    def _ready(self) -> None:
        if self.on_trace_ready:
            self.on_trace_ready(self)

    # ---- reading ----

    def _read(self, who: str) -> Any:
        if self._trace is None:
            raise RuntimeError(f"profile.{who}: nothing was recorded")
        if self._running:
            raise RuntimeError(f"profile.{who}: the profile still records; stop it first")
        return self._trace

    def events(self) -> EventList:
        """Returns all events, each with its parent and children, in the order of their begins on each thread.

        The work of devices follows after them, sorted by begin.
        """
        trace = self._read("events")
        return build_events(trace.events(), trace.activity())

    def device_streams(self) -> list[DeviceStream]:
        """Returns the streams of devices: the work of each, its idle times, and the length of its queue over time."""
        return build_streams(self._read("device_streams").activity())

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """Returns sums by name; also by the sizes of arguments if ``group_by_input_shape``, and by the
        ``group_by_stack_n`` innermost frames of the stack, as far as the profile has recorded these.

        Raises:
            ValueError: group_by_stack_n is negative
        """
        if group_by_stack_n < 0:
            raise ValueError(
                f"profile.key_averages: argument 'group_by_stack_n' must not be negative, got {group_by_stack_n}"
            )
        by_shapes = bool(group_by_input_shape and self._flags & KEEP_SHAPES)
        stacks = group_by_stack_n if self.with_stack else 0
        trace = self._read("key_averages")
        rows = trace.summary(by_shapes, stacks)
        sums = average(rows, by_shapes, stacks)
        if self.with_flops or may_be_passed_on(rows):
            events = trace.events()

            def key(e: tuple) -> tuple:
                shapes = e[SHAPES][0] if e[SHAPES] and by_shapes else None
                return key_of(e[NAME], e[SCOPE], e[BACKEND], shapes, frames((e[STACK] or ())[:stacks]))

            if self.with_flops:
                add_flops(sums, events, key, self._flops_of)
            take_out_passed_on(sums, events, trace, key)
        return EventList(
            sums.values(),
            shapes=by_shapes,
            stacks=stacks,
            memory=self.profile_memory,
            flops=self.with_flops,
        )

    def _flops_of(self, name: str, sizes: list) -> int:
        return flops_of(name, sizes) or self._convolutions.flops_of(name, sizes)

    def dropped(self) -> int:
        """Returns the number of events that were dropped because a thread had ``max_events``."""
        return self._read("dropped").dropped()

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a text under a key to exported traces."""
        self._metadata[key] = str(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds a value, given as JSON, under a key to exported traces.

        Raises:
            ValueError: the value is not valid JSON
        """
        self._metadata[key] = json.loads(value)

    def export_chrome_trace(self, path: str | os.PathLike) -> None:
        """Writes the events in the trace-event format, which Perfetto (ui.perfetto.dev) and chrome://tracing read.

        Arrows lead from calls to their steps of backward. A path that ends with ".gz" is compressed. An old file is
        replaced when the new one is complete; the target of a link is replaced, and a device or a FIFO is written to.

        Raises:
            RuntimeError: nothing was recorded, or the events cannot be written, as on a full disk
            OSError: the file cannot be made
        """
        trace = self._read("export_chrome_trace")
        path, metadata = os.fsdecode(path), json.dumps(self._metadata)
        with replacing(path) as target:
            if not path.endswith(".gz"):
                trace.write(target.fileno(), metadata)
                return
            import gzip
            import shutil
            import tempfile

            with (
                tempfile.TemporaryFile(dir=os.path.dirname(path) or ".", prefix=".trace-") as plain,
                gzip.GzipFile("", "wb", 6, target) as packed,
            ):
                trace.write(plain.fileno(), metadata)
                plain.seek(0)
                shutil.copyfileobj(plain, packed, 1 << 20)

    def export_stacks(self, path: str | os.PathLike, metric: str = "self_cpu_time_total") -> None:
        """Writes stacks with their times, for flame graphs: a line "outermost;…;innermost;operator microseconds" each.

        Args:
            path: the file; an old one is replaced
            metric: "self_cpu_time_total", "cpu_time_total", or of devices "self_device_time_total" (also as
                "self_cuda_time_total") or "device_time_total"

        Raises:
            ValueError: there is no such metric
            RuntimeError: the profile was recorded without ``with_stack``
        """
        if metric not in METRICS:
            raise ValueError(
                f"profile.export_stacks: argument 'metric' must be one of {', '.join(METRICS)}, got {metric!r}"
            )
        if not self.with_stack:
            raise RuntimeError("profile.export_stacks: the profile has no stacks; record it with with_stack=True")
        lines: dict[str, float] = {}
        for row in self._read("export_stacks").summary(False, 1 << 30):
            name, scope, stack = row[0], row[1], row[3]
            if scope == DEVICE:  # the time of a device's work is in the row of the operator that launched it
                continue
            line = ";".join([*(f.replace(";", ",") for f in reversed(frames(stack))), name])
            lines[line] = lines.get(line, 0) + row[METRICS[metric]]
        with replacing(path) as file:
            file.writelines(f"{line} {ns // 1000}\n".encode() for line, ns in lines.items() if ns >= 1000)

    def export_html(self, path: str | os.PathLike) -> None:
        """Writes a page of HTML that needs no other file and no network: sums by time, a timeline, and memory.

        The timeline has the 20,000 longest events. An old file is replaced when the new one is complete.

        Raises:
            RuntimeError: nothing was recorded
            OSError: the file cannot be written
        """
        from .report import write_report

        write_report(self, path)

    def memory_timeline(self) -> list[tuple[float, str, int, int]]:
        """Returns each change of memory: (microseconds since the begin, device, bytes, sum of bytes since the begin).

        Raises:
            RuntimeError: the profile was recorded without ``profile_memory``
        """
        if not self.profile_memory:
            raise RuntimeError("profile.memory_timeline: the profile has no memory; record it with profile_memory=True")
        now: dict[str, int] = {}
        timeline = []
        for time, _, n, backend, index, _ in sorted(self._read("memory_timeline").memory()):
            device = f"{backend}:{index}"
            now[device] = now.get(device, 0) + n
            timeline.append((time / 1000, device, n, now[device]))
        return timeline

    def export_memory_timeline(self, path: str | os.PathLike, device: str | None = None) -> None:
        """Writes a device's memory over time by category: temporary, activations, gradients, and unknown.

        A block is temporary if it is released before the outermost call ends in which it was allocated. Others are
        activations or gradients by that call: an operator, or a step of backward. What is older than the profile is
        not counted, and torch's other categories are 0.

        Args:
            path: ".html" is a page, ".raw.json.gz" a list of (nanoseconds, action, bytes, category), and ".json" or
                ".json.gz" the pair [microseconds, bytes by category] with torch's numbers of actions and categories
            device: a device's name; by default the first accelerator that allocated memory, or else the host

        Raises:
            RuntimeError: the profile was recorded without ``profile_memory``
            ValueError: the profile has no memory of the device
            OSError: the file cannot be written

        >>> import json, os, tempfile
        >>> with lamella.profiler.profile(profile_memory=True) as prof:
        ...     x = lamella.ones(1000)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     prof.export_memory_timeline(os.path.join(folder, "memory.json"))
        ...     with open(os.path.join(folder, "memory.json")) as file:
        ...         times, sizes = json.load(file)
        >>> sizes[-1]
        [0, 0, 0, 0, 0, 4000, 0, 0, 0]
        """
        if not self.profile_memory:
            raise RuntimeError(
                "profile.export_memory_timeline: the profile has no memory; record it with profile_memory=True"
            )
        from .memory_export import export

        export(self._read("export_memory_timeline"), path, device)

    def __repr__(self) -> str:
        if self._trace is None or self._running:
            return "<lamella.profiler.profile>"
        return str(self.key_averages())


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Returns an ``on_trace_ready`` that writes each cycle to a file of its own in a folder.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with lamella.profiler.profile(on_trace_ready=lamella.profiler.tensorboard_trace_handler(folder, "one")):
    ...     _ = lamella.ones(2)
    >>> [name.endswith(".pt.trace.json") for name in os.listdir(folder)]
    [True]
    """
    import socket
    import time

    os.makedirs(dir_name, exist_ok=True)
    worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"

    def write(prof: profile) -> None:
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return write
