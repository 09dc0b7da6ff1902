"""``nan_guard``: raises at the operator that computes a NaN or an infinity.

It is also an example of a functionality layer, built on public names alone; ``docs/write_a_layer.md`` describes how to
write one. The layer's handler is called for each operator, as ``call(*args, **kwargs)``, while a guard is open on the
thread; otherwise the layer is off. The example shows:
- the place of a layer: at "backend" it is inside of autograd, so it sees the calls of backward; with ``stays_inside``
  it also sees the calls that composites make. So the innermost operator is the first whose results it sees.
- a handler that calls operators itself, and switches its layer off around them.
- settings that are passed on to other threads together with the state of the layer: debug information.
"""

from __future__ import annotations

import functools
import math
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lamella
from lamella import profiler  # type: ignore[attr-defined]  # the plugin adds the name
from lamella.library import Layer, register_layer

__all__ = ["nan_guard"]

KIND = "nan_guard"  # the kind of debug information that holds the innermost guard
PACKAGE = str(Path(lamella.__file__).parent) + os.sep
# Operators whose results are memory that has not been written yet. Views are skipped as well, since they compute
# nothing.
UNWRITTEN = frozenset(
    ["empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize", "resize_as"]
)

# Operators of these categories overwrite their in-place argument without reading it.
OVERWRITES = frozenset(["copy", "creation", "random"])

# Operators of these categories move elements: a result has a NaN or an infinity only if an input has one.
MOVES = frozenset(["copy", "indexing", "scatter", "sort"])
# Operators that are of those categories, yet compute.
ADDS = frozenset(["index_add", "index_reduce", "scatter_add", "scatter_reduce"])

Named = tuple[str, lamella.Tensor]


@dataclass(frozen=True)
class Guard:
    """The settings of an open guard."""

    inputs: bool
    on: str
    ignore: frozenset[str]


def nan_guard(inputs: bool = False, on: str = "raise", ignore: Iterable[str] = ()) -> AbstractContextManager[None]:
    """Makes each operator whose result holds a NaN or an infinity raise an error, while the block is open.

    The guard reads all floating-point and complex results of the operators that this thread runs, and all tensors that
    they write in place or to ``out=``, also in backward and inside other operators; it names the innermost operator. An
    operator with such a number as an argument, as in ``full((2,), inf)``, may produce it. The guard skips memory that
    is not written yet (``empty``), views, and opaque tensors. It waits for the device before it reads a result.

    Args:
        inputs: also checks the arguments of operators, before they run
        on: "raise", or "warn" for a ``RuntimeWarning`` at the line of the program
        ignore: names of operators that the guard skips, such as "aten::log" or "log"; both mean ``log_`` as well

    Raises:
        RuntimeError: names the operator, the result, the operator's inputs and the line of the program, and says
            whether an input had such a number already
        ValueError: on is neither "raise" nor "warn"

    >>> x = lamella.tensor([1.0, 0.0])
    >>> with lamella.profiler.nan_guard():
    ...     try:
    ...         x.log()
    ...     except RuntimeError as error:
    ...         print(str(error).splitlines()[0])
    aten::log: its result holds 1 infinity among 2 elements, float32 (2,)
    >>> with lamella.profiler.nan_guard(ignore=["log"]):
    ...     x.log()
    tensor([0., -inf])
    """
    if on not in ("raise", "warn"):
        raise ValueError(f"nan_guard: argument 'on' must be 'raise' or 'warn', got {on!r}")
    names = [ignore] if isinstance(ignore, str) else ignore
    return _open(Guard(bool(inputs), on, UNWRITTEN | {_plain(name) for name in names}))


@contextmanager
def _open(guard: Guard) -> Iterator[None]:
    with profiler.debug_info(KIND, guard), _layer().on():
        yield


_registered: list[Layer] = []
_lock = threading.Lock()


def _layer() -> Layer:
    """Returns the layer; registers it at the first call."""
    if not _registered:
        with _lock:
            if not _registered:
                wishes: dict[str, Any] = {"at": "backend", "stays_inside": True, "never_on_tensors": True}
                _registered.append(register_layer("nan_guard", _see, **wishes))
    return _registered[0]


_thread = threading.local()  # .reports: the number of reports on this thread


def _see(call: Any, *args: Any, **kwargs: Any) -> Any:
    """The layer's handler: calls the operator, and checks its arguments and results."""
    guard = profiler.get_debug_info(KIND)
    if guard is None or call.category == "view" or _plain(call.name) in guard.ignore:
        return call(*args, **kwargs)
    given = _named(call.schema, args, kwargs)
    if any(_not_finite_number(value) for value, _ in given.values()):
        return call(*args, **kwargs)
    read = {name: value for name, (value, how) in given.items() if not how}
    if call.category not in OVERWRITES:
        read |= {name: value for name, (value, how) in given.items() if how == "in place"}
    # The operator overwrites its in-place arguments, so they are checked before the call.
    bad = _bad((name, x) for name, x in _tensors(read) if guard.inputs or _written(given, name))
    if bad and guard.inputs:
        _report(guard, call, read, f"its argument {bad[0][0]!r}", bad[0][1], bad)
    before = getattr(_thread, "reports", 0)
    result = call(*args, **kwargs)
    if getattr(_thread, "reports", 0) != before:
        return result  # an operator inside this one was reported already
    several = isinstance(result, (tuple, list))
    made = {f"result {i}": value for i, value in enumerate(result)} if several else {"result": result}
    made |= {f"argument {name!r}": value for name, (value, how) in given.items() if how and value is not result}
    found = _bad(_tensors(made))
    if found:
        bad += _bad((name, x) for name, x in _tensors(read) if not _written(given, name))
        if not (bad and _moves(call)):
            _report(guard, call, read, f"its {found[0][0]}", found[0][1], bad)
    return result


def _bad(tensors: Iterable[Named]) -> list[Named]:
    """Returns the tensors that hold a NaN or an infinity. The check calls operators itself, with the layer off."""
    floating = [(name, x) for name, x in tensors if x.is_floating_point() or x.is_complex()]
    if not floating:
        return []
    with _layer().off():
        return [(name, x) for name, x in floating if _has(x)]


def _moves(call: Any) -> bool:
    name = _plain(call.name)
    return name == "where" or (call.category in MOVES and name not in ADDS)


def _written(given: dict[str, tuple[Any, str]], name: str) -> bool:
    return bool(given[name.partition("[")[0]][1])


def _plain(name: str) -> str:
    """Returns an operator's plain name: "log" for "aten::log" and "aten::log_"."""
    return name.rpartition("::")[2].rstrip("_")


def _has(x: lamella.Tensor) -> bool:
    """Returns whether a tensor of floating-point or complex numbers holds a NaN or an infinity."""
    if x.is_opaque or x.numel() == 0 or x.device.type == "meta":
        return False
    try:
        return not lamella.isfinite(x.detach()).all().item()
    except NotImplementedError:  # the device or the dtype has no such operators
        return False


def _tensors(values: dict[str, Any]) -> Iterator[Named]:
    for name, value in values.items():
        if isinstance(value, lamella.Tensor):
            yield name, value
        elif isinstance(value, (list, tuple)):
            yield from ((f"{name}[{i}]", x) for i, x in enumerate(value) if isinstance(x, lamella.Tensor))


def _not_finite_number(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_not_finite_number, value))
    if isinstance(value, complex):
        return not (math.isfinite(value.real) and math.isfinite(value.imag))
    return isinstance(value, float) and not math.isfinite(value)


@functools.cache
def _arguments(schema: str) -> list[tuple[str, str]]:
    """Returns the name of each argument, and "in place" or "out" if the operator writes to it, else ""."""
    text = schema[schema.index("(") + 1 : schema.rindex("->")].rstrip().removesuffix(")")
    found, depth, word = [], 0, ""
    for letter in text + ",":
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            found.append(word.strip())
            word = ""
        else:
            word += letter
    arguments, behind_star = [], False
    for argument in found:
        behind_star |= argument == "*"
        named = re.match(r"(\S+) (\w+)", re.sub(r"\((\w[^)]*)\)", lambda m: "!" * ("!" in m[1]), argument))
        if named:
            arguments.append((named[2], ("out" if behind_star else "in place") if "!" in named[1] else ""))
    return arguments


def _named(schema: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    """Returns the arguments of a call by name, each with "in place", "out" or "" as in `_arguments`."""
    known = _arguments(schema)
    given = {name: (value, how) for value, (name, how) in zip(args, known, strict=False)}
    return given | {name: (kwargs[name], how) for name, how in known if name in kwargs}


def _counted(x: lamella.Tensor) -> str:
    """Returns a text such as "2 NaN and 1 infinity among 10 elements, float32 (10,)"."""
    nan = int(lamella.isnan(x).sum())
    rest = int((~lamella.isfinite(x)).sum()) - nan
    kinds = [f"{nan} NaN"] * bool(nan) + [f"{rest} {'infinity' if rest == 1 else 'infinities'}"] * bool(rest)
    return f"{' and '.join(kinds)} among {x.numel()} element{'s' * (x.numel() != 1)}, {_described(x)}"


def _described(x: lamella.Tensor) -> str:
    where = "" if x.device == lamella.get_default_device() else f" on {x.device}"
    return f"{str(x.dtype).rpartition('.')[2]} {tuple(x.shape)}{where}"


def _line() -> tuple[str, int, str]:
    """Returns the innermost line of Python outside of Lamella."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name


def _report(guard: Guard, call: Any, read: dict[str, Any], what: str, x: lamella.Tensor, bad: list[Named]) -> None:
    file, line, function = _line()
    inputs = ", ".join(f"{name} {_described(y)}" for name, y in _tensors(read))
    already = ", ".join(dict.fromkeys(name for name, _ in bad))
    had = f"{already} had such numbers already" if bad else "no input had such a number"
    with _layer().off():
        numbers = _counted(x.detach())
    message = (
        f"{call.name}: {what} holds {numbers}\n"
        f"  its inputs: {inputs or 'no tensors'}; {had}\n"
        f"  called at {file}:{line} in {function}"
    )
    if guard.on == "raise":
        raise RuntimeError(message)
    _thread.reports = getattr(_thread, "reports", 0) + 1
    warnings.warn_explicit(message, RuntimeWarning, file, line)
