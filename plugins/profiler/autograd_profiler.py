"""``lamella.autograd.profiler``: the older interface of profiles, which programs for torch use."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from . import profiles
from ._python import record_function
from .averages import EventList, FunctionEvent, FunctionEventAvg
from .ranges import emit_itt, emit_nvtx
from .schedules import HOST, ProfilerActivity

__all__ = ["EventList", "FunctionEvent", "emit_itt", "emit_nvtx", "profile", "record_function"]


class profile:
    """Records operators, steps of backward and named blocks within a block; ``lamella.profiler.profile`` does more.

    Args:
        enabled: False makes it do nothing
        use_cuda: also records the work of device cuda
        use_device: the name of a device whose work is also recorded
        record_shapes, with_flops, profile_memory, with_stack, with_modules: as of ``lamella.profiler.profile``
        use_cpu: False records devices alone
        use_kineto, acc_events, custom_trace_id_callback, post_processing_timeout_s: without effect

    Raises:
        RuntimeError: the profile is entered twice, or read before it has recorded
        ValueError: use_cpu is False, and neither use_cuda nor use_device is given
        NotImplementedError: experimental_config is given

    >>> with lamella.autograd.profiler.profile() as prof:
    ...     _ = lamella.ones(2, 3) @ lamella.ones(3, 4)
    >>> [(event.key, event.count) for event in prof.key_averages()]
    [('aten::ones', 2), ('aten::matmul', 1), ('aten::mm', 1)]
    >>> prof.total_average().count
    4
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Any = None,
        post_processing_timeout_s: float | None = None,
    ):
        self.enabled, self.entered = enabled, False
        self.use_device = ProfilerActivity.CUDA.name.lower() if use_cuda else use_device
        self._profile: profiles.profile | None = None
        self._events: EventList | None = None
        if not enabled:
            return
        activities = [HOST] * use_cpu + ([self.use_device] if self.use_device else [])
        if not activities:
            raise ValueError("profile: argument 'use_cpu' must be True if neither use_device nor use_cuda is given")
        self._profile = profiles.profile(
            activities=activities,
            record_shapes=record_shapes,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
            experimental_config=experimental_config,
        )

    def __enter__(self) -> profile | None:
        if self._profile is None:
            return None
        if self.entered:
            raise RuntimeError("profile: it has been entered already; make another profile")
        self.entered = True
        self._profile.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._profile is not None:
            self._profile.stop()

    def _read(self, who: str) -> profiles.profile:
        if self._profile is None or not self.entered:
            raise RuntimeError(f"profile.{who}: nothing was recorded")
        return self._profile

    @property
    def function_events(self) -> EventList:
        """All events, as ``lamella.profiler.profile.events()`` gives them."""
        if self._events is None:
            self._events = self._read("function_events").events()
        return self._events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """Returns sums by name; also by the sizes of arguments if ``group_by_input_shape``, and by the
        ``group_by_stack_n`` innermost frames of the stack."""
        return self._read("key_averages").key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """Returns one sum over all events, under the key "Total"."""
        return self._read("total_average").key_averages().total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """Returns the sums as text; the options are those of ``EventList.table``."""
        return self._read("table").key_averages().table(sort_by, row_limit, **options)

    def export_chrome_trace(self, path: str | os.PathLike) -> None:
        """Writes the events in the trace-event format."""
        self._read("export_chrome_trace").export_chrome_trace(path)

    def export_stacks(self, path: str | os.PathLike, metric: str = "self_cpu_time_total") -> None:
        """Writes stacks with their times, for flame graphs."""
        self._read("export_stacks").export_stacks(path, metric)

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the events' own times in microseconds: each without the events inside it."""
        return self.key_averages().self_cpu_time_total

    def __repr__(self) -> str:
        return repr(self._profile) if self._profile is not None else "<lamella.autograd.profiler.profile, disabled>"
