"""Timing of short programs: ``Timer`` measures a statement, and ``Compare`` prints measurements as a table.

>>> from lamella.utils.benchmark import Compare, Timer
>>> timers = [Timer("x.exp()", globals={"x": lamella.ones(n)}, label="exp", sub_label=f"{n}") for n in (10, 1000)]
>>> Compare([t.blocked_autorange(min_run_time=0.01) for t in timers]).print()
[... exp ...
"""

from lamella.utils.benchmark._compare import Colorize, Compare
from lamella.utils.benchmark._fuzzer import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias
from lamella.utils.benchmark._measurement import (
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)
from lamella.utils.benchmark._timer import Language, Timer, timer

__all__ = [
    "Colorize",
    "Compare",
    "FuzzedParameter",
    "FuzzedTensor",
    "Fuzzer",
    "Language",
    "Measurement",
    "ParameterAlias",
    "TaskSpec",
    "Timer",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]
