"""Timer, which measures a statement in Python or C++."""

from __future__ import annotations

import enum
import functools
import hashlib
import time
import timeit
from collections.abc import Callable
from textwrap import dedent, indent
from typing import Any, NoReturn

import lamella
from lamella.utils.benchmark._measurement import Measurement, TaskSpec, set_torch_threads

FIRST_BLOCK = 1e-3  # the least part of the whole time that one block may take


class Language(enum.Enum):
    """The language of a statement.

    >>> lamella.utils.benchmark.Language("python")
    <Language.PYTHON: 'python'>
    """

    PYTHON = "python"
    CPP = "c++"


@functools.cache
def _has_accelerator() -> bool:
    return lamella.accelerator.is_available()


def timer() -> float:
    """Returns seconds, after the work of the accelerator, if there is one, has ended.

    >>> start = lamella.utils.benchmark.timer()
    >>> lamella.utils.benchmark.timer() >= start
    True
    """
    if _has_accelerator():
        lamella.accelerator.synchronize()
    return time.perf_counter()


CPP = """
#include <chrono>
{globals}
double lamella_benchmark(int64_t number) {{
{setup}
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < number; i++) {{
{stmt}
  }}
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}}
"""


class _CppTimer:
    """Has the method ``timeit`` of ``timeit.Timer``, for a statement in C++, which is compiled at the first call."""

    def __init__(self, stmt: str, setup: str, global_setup: str):
        setup = "" if setup == "pass" else setup
        self.text = CPP.format(globals=global_setup, setup=indent(setup, "  "), stmt=indent(stmt, "    "))
        self.module: Any = None

    def timeit(self, number: int) -> float:
        if self.module is None:
            from lamella.utils.cpp_extension import load_inline

            name = f"lamella_benchmark_{hashlib.sha256(self.text.encode()).hexdigest()[:16]}"
            self.module = load_inline(name, self.text, functions=["lamella_benchmark"], extra_cflags=["-O3"])
        return self.module.lamella_benchmark(number)


class Timer:
    """Measures a statement, as ``timeit.Timer`` does, with a number of threads, and after a first run.

    Args:
        stmt: the statement, in the form of text
        setup: text that runs once before the loop
        global_setup: for C++, text before the function, as ``#include`` lines
        timer: returns seconds
        globals: names for statement and setup in Python
        label, sub_label, description, env: describe the statement in tables: the table's title, a row, a column, and
            the environment
        num_threads: how many threads operators use
        language: "python" or "c++"; a statement in C++ is compiled by ``lamella.utils.cpp_extension``

    Raises:
        ValueError: the language is another one, or C++ is given ``globals``

    >>> m = lamella.utils.benchmark.Timer("x + 1", globals={"x": lamella.ones(10)}).timeit(100)
    >>> m.number_per_run, m.median > 0
    (100, True)
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ):
        if language in (Language.PYTHON, "py", "python"):
            names = dict(globals or {})
            if isinstance(stmt, str):
                names.setdefault("lamella", lamella)
                names.setdefault("torch", lamella)
                stmt, setup = dedent(stmt).strip("\n"), dedent(setup).strip("\n")
            if global_setup:
                raise ValueError("Timer: argument 'global_setup' is for C++; write 'setup' in Python")
            self._timer: Any = timeit.Timer(stmt, setup, timer, names)
        elif language in (Language.CPP, "cpp", "c++"):
            if globals:
                raise ValueError("Timer: argument 'globals' is for Python; write 'setup' in C++")
            stmt, setup = dedent(stmt).strip("\n"), dedent(setup).strip("\n")
            self._timer = _CppTimer(stmt, setup, dedent(global_setup))
        else:
            raise ValueError(f"Timer: argument 'language' must be 'python' or 'c++', got {language!r}")
        self._globals = globals
        self._task_spec = TaskSpec(
            stmt=stmt,
            setup=setup,
            global_setup=global_setup,
            label=label,
            sub_label=sub_label,
            description=description,
            env=env,
            num_threads=num_threads,
        )

    def _measured(self, number: int, raw_times: list[float]) -> Measurement:
        return Measurement(number, raw_times, self._task_spec)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Runs the statement ``number`` times in one loop, after a hundredth of that without a measurement."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timer.timeit(max(number // 100, 2))
            return self._measured(number, [self._timer.timeit(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Raises NotImplementedError: ``blocked_autorange`` measures several times."""
        raise NotImplementedError("Timer.repeat: use blocked_autorange or adaptive_autorange")

    def autorange(self, callback: Any = None) -> NoReturn:
        """Raises NotImplementedError: ``blocked_autorange`` chooses the number of runs."""
        raise NotImplementedError("Timer.autorange: use blocked_autorange")

    def _number(self, min_run_time: float) -> int:
        """Returns how often the statement runs in one block: its time is at least a thousandth of ``min_run_time``."""
        with set_torch_threads(self._task_spec.num_threads):
            overhead = sorted(self._timer.timeit(0) for _ in range(5))[2]
            number = 1
            while True:
                seconds = self._timer.timeit(number)
                if seconds and overhead / seconds <= 1e-4 and seconds >= min_run_time * FIRST_BLOCK:
                    return number
                if seconds > min_run_time:
                    return number
                number *= 10

    def blocked_autorange(
        self, callback: Callable[[int, float], None] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Runs blocks of the statement until they have taken ``min_run_time`` seconds; each block is one time.

        Args:
            callback: is called with the number of runs of a block and its seconds

        >>> m = lamella.utils.benchmark.Timer("pass").blocked_autorange(min_run_time=0.01)
        >>> sum(m.raw_times) >= 0.01
        True
        """
        number = self._number(min_run_time)
        raw: list[float] = []
        total = 0.0
        with set_torch_threads(self._task_spec.num_threads):
            while total < min_run_time or len(raw) < 1:
                seconds = self._timer.timeit(number)
                raw.append(seconds)
                total += seconds
                if callback is not None:
                    callback(number, seconds)
        return self._measured(number, raw)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], None] | None = None,
    ) -> Measurement:
        """Runs blocks until the interquartile range is below ``threshold`` times the median, or time is up.

        Args:
            min_run_time, max_run_time: seconds that the blocks take at least and at most
            callback: is called with the number of runs of a block and its seconds

        >>> m = lamella.utils.benchmark.Timer("sum(range(100))").adaptive_autorange(0.5, max_run_time=0.1)
        >>> m.median > 0
        True
        """
        number = self._number(min_run_time)
        raw: list[float] = []
        total = 0.0
        with set_torch_threads(self._task_spec.num_threads):
            while total < max_run_time:
                seconds = self._timer.timeit(number)
                raw.append(seconds)
                total += seconds
                if callback is not None:
                    callback(number, seconds)
                if total >= min_run_time and self._measured(number, raw).meets_confidence(threshold):
                    break
        return self._measured(number, raw)

    def collect_callgrind(self, number: int = 100, **kwargs: Any) -> NoReturn:
        """Raises NotImplementedError: run the program by valgrind yourself, or use ``lamella.profiler``."""
        raise NotImplementedError(
            "Timer.collect_callgrind: Lamella does not start valgrind; run `valgrind --tool=callgrind python ...`, or "
            "measure with lamella.profiler"
        )
