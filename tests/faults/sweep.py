"""The sweep of bad input: runs every cell in a child process that may die, and lists the broken promises.

A promise is: the right exception, whose message opens with the operator's name and quotes the argument's, and no
tensor argument changed. ``python sweep.py`` prints the number of cells and exits with 1 where a promise was broken;
``LAMELLA_EXPECT`` names the folder that lamella must come from.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import mmap
import os
import signal
import struct
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import fault_entries
import lamella
from fault_cells import Cell, Operator, cells, operators, valid_cells

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shares import share  # noqa: E402


@dataclass(frozen=True)
class Violation:
    cell: str
    what: str

    def __str__(self) -> str:
        return f"{self.cell}: {self.what}"


def state(t) -> tuple:
    """Returns all properties of a tensor that a failed call must not change, with the bytes of its whole storage."""
    storage = t.storage()
    meta = t.device.type == "meta"
    held = b"" if meta or not storage.nbytes() else ctypes.string_at(storage.data_ptr(), storage.nbytes())
    where = None if meta else (storage.data_ptr(), t.data_ptr())
    return tuple(t.shape), t.stride(), t.storage_offset(), str(t.dtype), str(t.device), t._version, where, held


PARTS = ("shape", "strides", "offset", "dtype", "device", "_version", "address", "bytes")


def tensors_in(given: dict) -> dict[str, object]:
    found = {}
    for name, value in given.items():
        if isinstance(value, lamella.Tensor):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            found.update({f"{name}[{i}]": v for i, v in enumerate(value) if isinstance(v, lamella.Tensor)})
    return found


def changes(before: dict[str, tuple], given: dict) -> list[str]:
    changed = []
    for name, t in tensors_in(given).items():
        parts = [part for part, a, b in zip(PARTS, before[name], state(t), strict=True) if a != b]
        if parts:
            changed.append(f"changed argument '{name}' ({', '.join(parts)})")
    return changed


def title(cell: Cell) -> str:
    name = cell.op["name"]
    return name[len("aten::") :] if name.startswith("aten::") else name


# Operators that users call by brackets; their messages begin with this word.
BRACKETS = {"index_put_": "index"}


def openings(name: str) -> tuple[str, ...]:
    return (name + ":", BRACKETS[name]) if name in BRACKETS else (name + ":",)


def message_faults(cell: Cell, error: BaseException) -> list[str]:
    """Checks that the first line opens with the operator's name and quotes the argument's; later lines list types."""
    line = str(error).partition("\n")[0]
    found = []
    if cell.opens is not None and not line.startswith(cell.opens or openings(title(cell))):
        found.append(f"the message does not open with '{title(cell)}:': {line!r}")
    if isinstance(error, lamella.OutOfMemoryError):  # no argument need be at fault
        return found
    quoted = any(f"'{name}'" in line or f"'{name}[0]'" in line for name in cell.names)  # a list's element has its place
    if cell.names and not quoted and not ("device" in cell.names and "device '" in line):
        found.append(f"the message names none of {', '.join(cell.names)}: {line!r}")
    return found


def broken_promises(cell: Cell) -> list[str]:
    """Returns the promises that one cell breaks."""
    given = cell.given()
    before = {name: state(t) for name, t in tensors_in(given).items()}
    try:
        cell.run(given)
    except Exception as error:
        if not cell.allowed:
            return [f"a valid call raised {type(error).__name__}: {error}"]
        found = []
        if not isinstance(error, cell.allowed):
            wanted = " or ".join(t.__name__ for t in cell.allowed)
            found.append(f"raised {type(error).__name__} instead of {wanted}: {error}")
        return found + message_faults(cell, error) + changes(before, given)
    return ["raised nothing"] + changes(before, given) if cell.allowed else []


def child(todo: Sequence[Cell], start: int, at: mmap.mmap, pipe: int) -> None:
    """Runs the cells from ``start``; writes the position first, and a line for each violation."""
    warnings.simplefilter("ignore")
    for i in range(start, len(todo)):
        at[:8] = struct.pack("q", i)
        try:
            found = broken_promises(todo[i])
        except Exception as error:
            found = [f"the cell itself failed: {type(error).__name__}: {error}"]
        for what in found:
            os.write(pipe, (json.dumps([i, what[:600]]) + "\n").encode())


def in_child(work: Callable[[int], None]) -> tuple[str, int]:
    """Forks, runs ``work`` with a pipe, and returns its output and its exit status."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(read)
            work(write)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as lines:
        text = lines.read()
    return text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def death(code: int) -> str:
    return f"the process died by {signal.Signals(-code).name}" if code < 0 else f"the process ended with status {code}"


def sweep(todo: Sequence[Cell]) -> list[Violation]:
    """Runs all cells. A child's death is a violation of its current cell; a new child continues with the next cell."""
    violations, start = [], 0
    at = mmap.mmap(-1, 8)
    while start < len(todo):
        at[:8] = struct.pack("q", start)
        text, code = in_child(lambda pipe, start=start: child(todo, start, at, pipe))
        for line in text.splitlines():
            i, what = json.loads(line)
            violations.append(Violation(str(todo[i]), what))
        if code == 0:
            break
        reached = struct.unpack("q", at[:8])[0]
        violations.append(Violation(str(todo[reached]), death(code)))
        start = reached + 1
    return violations


@dataclass(frozen=True)
class Report:
    cells: int
    operators: int
    violations: list[Violation]

    def __str__(self) -> str:
        names = f"{self.operators} operators and other entries"
        return f"sweep: {self.cells} cells of {names}, {len(self.violations)} violations"


def sweep_operators(chosen: list[Operator], more: Sequence[Cell] = ()) -> Report:
    """Runs valid calls first, then ``more`` and every fault of the operators whose valid call works."""
    valid = valid_cells(chosen)
    violations = sweep(valid)
    failed = {v.cell for v in violations}
    broken = cells([o for o, c in zip(chosen, valid, strict=True) if str(c) not in failed]) + list(more)
    violations += sweep(broken)
    return Report(len(valid) + len(broken), len({c.op["name"] for c in valid + broken}), violations)


def main(namespace: str = "aten") -> int:
    expected = os.environ.get("LAMELLA_EXPECT")
    found = Path(lamella.__file__).parent
    if expected and found.resolve() != Path(expected).resolve():
        print(f"sweep: lamella comes from {found}, not from {expected}")
        return 2
    faulthandler.enable()
    report = sweep_operators(share(operators(namespace)), fault_entries.entries() if namespace == "aten" else ())
    for v in report.violations:
        print(v)
    print(report)
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
