"""Fills ``lamella.autograd.profiler`` and ``lamella.autograd.profiler_util`` with names of the plugin profiler."""

from __future__ import annotations

from types import ModuleType

NAMES = {
    "profiler": ("EventList", "FunctionEvent", "emit_itt", "emit_nvtx", "profile", "record_function"),
    "profiler_util": ("EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel"),
}


def fill(module: ModuleType) -> None:
    """Sets the names of a lazy module. If the plugin profiler is absent, raises the error of ``lamella.profiler``."""
    import lamella

    lamella.profiler  # noqa: B018
    from lamella.plugins.profiler import autograd_profiler, averages

    name = module.__name__.rpartition(".")[2]
    module.__doc__ = autograd_profiler.__doc__ if name == "profiler" else averages.__doc__
    for held in NAMES[name]:
        setattr(module, held, getattr(autograd_profiler if hasattr(autograd_profiler, held) else averages, held))
    vars(module)["__all__"] = list(NAMES[name])
