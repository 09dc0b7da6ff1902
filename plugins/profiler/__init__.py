"""Observability: the public names of ``lamella.profiler``.

Observers are called for every operator, step of backward and named block, or for a sample of them; debug information
is passed on to the threads that do the work; a log lists the features that a program uses. One layer above autograd and
one below it see the calls; both are off unless there is an observer. ``docs/observability.md`` is the guide.

>>> from collections import Counter
>>> calls = Counter()
>>> callback = lamella.profiler.RecordFunctionCallback(lambda record: calls.update([record.name]))
>>> handle = lamella.profiler.add_global_callback(callback.scopes({lamella.profiler.RecordScope.FUNCTION}))
>>> _ = lamella.ones(2) + 1
>>> lamella.profiler.remove_callback(handle)
>>> calls
Counter({'aten::ones': 1, 'aten::add': 1})
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from lamella.plugins import hookimpl

if TYPE_CHECKING:
    from . import exporters as exporters
    from .info import *  # noqa: F403
    from .live_plot import LivePlot as LivePlot
    from .memory import *  # noqa: F403
    from .numerics import *  # noqa: F403
    from .observers import *  # noqa: F403
    from .on_demand import profile_process as profile_process
    from .profiles import *  # noqa: F403
    from .schedules import *  # noqa: F403
    from .usage import *  # noqa: F403

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "observers": (
        "RecordFunction",
        "RecordFunctionCallback",
        "RecordScope",
        "add_global_callback",
        "add_thread_local_callback",
        "disable_callback",
        "enable_record_function",
        "record_function",
        "reenable_callback",
        "remove_callback",
    ),
    "info": ("DebugInfoGuard", "all_debug_info", "debug_info", "get_debug_info"),
    "schedules": ("ProfilerAction", "ProfilerActivity", "schedule", "supported_activities"),
    "profiles": ("profile", "tensorboard_trace_handler"),
    "on_demand": ("profile_process",),
    "usage": ("log_api_usage_once", "remove_api_usage_handler", "set_api_usage_handler"),
    "memory": (
        "MemoryHistory",
        "dump_memory_snapshot",
        "memory_snapshot",
        "memory_stats",
        "record_memory_history",
        "reset_accumulated_memory_stats",
        "reset_peak_memory_stats",
    ),
    "numerics": ("nan_guard",),
    "live_plot": ("LivePlot",),
}
MODULES = ("exporters",)  # submodules, imported at first use
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = [name for names in NAMES.values() for name in names] + list(MODULES)


def __getattr__(name):
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.profiler' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})


@hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("liblamella_profiler.so"))
    ctx.contribute("lamella", {"profiler": sys.modules[__name__]})
    if os.environ.get("LAMELLA_PROFILE_SOCKET") == "1":
        from .on_demand import serve_if_possible

        serve_if_possible()
