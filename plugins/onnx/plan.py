"""The sizes of dynamic axes at which a module runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import OnnxExporterError, UnsupportedOperatorError
from .lower import difference

Sizes = dict[str, int]


def plan(example: Sizes, run: Callable[[Sizes], Any]) -> tuple[list[Sizes], list[Any]]:
    """Runs a module at the sizes of the example, at two others of each axis, and, if there are several axes, once with
    all of them changed. Returns the sizes and the records.

    An axis of size 1 in the example has size 2 in the first run if the module takes that, since operators treat size 1
    in their own way. The two other sizes are such that a size which grows in steps, as behind a pool, is not taken for
    one that grows evenly: one more and twice as many. Modules that take only multiples of a number get two and three
    times as many, and those that take no larger sizes get smaller ones.

    Raises:
        OnnxExporterError: the module cannot run at other sizes of an axis, or calls other operators there
    """
    wider = {axis: max(n, 2) for axis, n in example.items()}
    base, first = example, None
    if wider != example:
        try:
            base, first = wider, run(wider)
        except UnsupportedOperatorError:
            raise
        except Exception:  # the module wants the sizes of the example
            base = example
    first = run(base) if first is None else first
    runs, records, joint = [base], [first], dict(base)
    for axis, n in base.items():
        problem: Any = None
        for pair in ((n + 1, 2 * n), (2 * n, 3 * n), (n - 1, (n + 1) // 2), (n + 1, n + 2)):
            if len({n, *pair}) < 3 or min(pair) < 1:
                continue
            made, problem = attempt([base | {axis: size} for size in pair], run, first)
            if not problem:
                runs += [base | {axis: size} for size in pair]
                records += made
                joint[axis] = pair[1]
                break
        if problem:
            raise OnnxExporterError(f"export: axis {axis!r} cannot be dynamic: {problem}") from (
                problem if isinstance(problem, Exception) else None
            )
    if len(base) > 1:
        made, problem = attempt([joint], run, first)
        if problem:
            raise OnnxExporterError(f"export: the axes {list(base)} cannot be dynamic together: {problem}")
        runs, records = [*runs, joint], records + made
    return runs, records


def attempt(chosen: list[Sizes], run: Callable[[Sizes], Any], first: Any) -> tuple[list[Any], Any]:
    """Runs a module at some sizes; returns the records and what is wrong, which is None if nothing is."""
    made = []
    for sizes in chosen:
        try:
            record = run(sizes)
        except Exception as error:
            return [], type(error)(f"at sizes {sizes}: {error}") if type(error) is RuntimeError else error
        if words := difference(first, record):
            return [], f"at sizes {sizes} {words}"
        made.append(record)
    return made, None
