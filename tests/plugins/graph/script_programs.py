"""Small typed programs for jit.script: loads those in programs/, runs them, and writes results in a form to compare.

A file of programs imports neither torch nor Lamella: `load` puts the module of the run into it as ``torch``, so that
one source serves both. A program is a function, or a class of modules, under ``@cases``:

    @cases((3, 4), (-3, 4))                     # two cases: each is a tuple of arguments
    def floor_division(a: int, b: int) -> int:
        return a // b

    @cases((torch.ones(2),), init=(3,), method="inverse")
    class Scale(torch.nn.Module): ...           # Scale(3), of which the method is called, "forward" by default

The cases of a class are calls of one instance, in order. Arguments are copied for each call, since programs write to
them. Results that torch.jit.script and plain Python gave are in script.json, which record_script.py writes. There, a
list is a JSON list, numbers, strings, booleans and None are themselves, and other values are objects with one key,
their kind (see `encode`).
"""

from __future__ import annotations

import collections
import contextlib
import copy
import enum
import io
import json
import math
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
FILES = sorted((HERE / "programs").glob("*.py"))
RECORDED = HERE / "script.json"


class Program(NamedTuple):
    """A function or a class of modules, and the arguments to call it with."""

    name: str
    """The name of the file, a dot, the name of the function or class."""
    function: Any
    cases: tuple[tuple, ...]
    file: Path
    method: str
    init: tuple

    def make(self) -> Any:
        """Returns the function, or a new module, to run as it is or to hand to ``jit.script``."""
        return self.function(*self.init) if isinstance(self.function, type) else self.function

    def outcomes(self, made: Any) -> list[dict]:
        """Returns one `outcome` per case; ``made`` is of `make`, and may be scripted."""
        called = getattr(made, self.method) if isinstance(self.function, type) else made
        return [outcome(called, case) for case in self.cases]


def load(torch: types.ModuleType, files: list[Path] = FILES) -> list[Program]:
    """Returns the programs of the files; in them, ``torch`` is the module given.

    The namespace of each file is a module in ``sys.modules``, for ``inspect`` finds the source of a class by it.
    """
    return [program for file in files for program in load_file(torch, file)]


def load_file(torch: types.ModuleType, file: Path) -> list[Program]:
    """Returns the programs of one file, in its order."""
    found = []

    def cases(*arguments: tuple, method: str = "forward", init: tuple = ()) -> Callable:
        if not all(isinstance(case, tuple) for case in arguments):
            raise TypeError(f"{file.name}: each case is a tuple of arguments, got {arguments}")

        def register(function: Any) -> Any:
            name = f"{file.stem}.{function.__name__}"
            if name in (program.name for program in found):
                raise ValueError(f"{name}: two programs have this name")
            found.append(Program(name, function, arguments or ((),), file, method, init))
            return function

        return register

    module = types.ModuleType(f"programs_of_{torch.__name__}_{file.stem}")
    module.__file__ = str(file)
    module.torch, module.cases = torch, cases
    sys.modules[module.__name__] = module
    exec(compile(file.read_text(), file, "exec", dont_inherit=True), module.__dict__)
    return found


def outcome(called: Callable, arguments: tuple) -> dict:
    """Returns ``{"value": …}`` of a call, with ``"printed"`` if it printed, or ``{"error": type, "message": …}``.

    The message is the last line, since an interpreter's error ends with the cause. A module's name before an error's
    type is taken away.
    """
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            result: dict = {"value": encode(called(*copy.deepcopy(arguments)))}
    except Exception as error:  # noqa: BLE001 - any error is the result
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
        result = {"error": type(error).__name__, "message": plain(lines[-1])}
    if printed.getvalue():
        result["printed"] = printed.getvalue()
    return result


def plain(text: str) -> str:
    """Takes addresses and folders, which differ between runs, out of a message."""
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text.replace(f"{HERE}/", ""))


def encode(value: Any) -> Any:
    """Returns a value as JSON that says its kind: lists are not tuples, 1 is not 1.0, tensors have their dtype.

    >>> encode((1, 2.0, [None, 1j]))
    {'tuple': [1, 2.0, [None, {'complex': [0.0, 1.0]}]]}
    """
    if isinstance(value, enum.Enum):
        return {"enum": str(value)}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, complex):
        return {"complex": [encode(value.real), encode(value.imag)]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": type(value).__name__, "fields": {k: encode(v) for k, v in value._asdict().items()}}
    if type(value).__name__ == "Size":  # a scripted program has lists of sizes
        return list(value)
    if isinstance(value, tuple):
        return {"tuple": [encode(v) for v in value]}
    if isinstance(value, list):
        return [encode(v) for v in value]
    if isinstance(value, dict):
        kind = "ordered" if isinstance(value, collections.OrderedDict) else "dict"
        return {kind: [[encode(k), encode(v)] for k, v in value.items()]}
    if type(value).__name__ in ("device", "dtype"):
        return {type(value).__name__: str(value).rpartition(".")[2]}
    if hasattr(value, "dtype") and hasattr(value, "detach"):
        shape, flat = [int(n) for n in value.shape], value.detach().reshape(-1).tolist()
        return {"tensor": encode(value.dtype)["dtype"], "shape": shape, "values": encode(flat)}
    raise TypeError(f"a result of type {type(value).__name__} has no form to compare; return its parts")


def same(a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    """Returns whether two values of `encode`, or two outcomes, are equal: types count, and the sign of zero.

    Floats may differ by ``tolerance`` times their value, since functions of mathematics differ between libraries; in
    tensors by 1e-6 times it if ``tolerance`` is not 0, and there the sign of zero is free.

    >>> same([1, 2.0], [1, 2.0]), same(1, 1.0), same(1, True), same(0.0, -0.0)
    (True, False, False, False)
    """
    if isinstance(a, dict) and isinstance(b, dict):
        if "tensor" in a:
            return a.keys() == b.keys() and a["shape"] == b["shape"] and all_close(a, b, min(1e-6, tolerance * 1e6))
        return a.keys() == b.keys() and all(same(a[k], b[k], tolerance) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=tolerance) and math.copysign(1, a) == math.copysign(1, b)
    return type(a) is type(b) and a == b


def all_close(a: dict, b: dict, tolerance: float) -> bool:
    """Returns whether two encoded tensors of one shape have one dtype and close values."""

    def close(x: Any, y: Any) -> bool:
        if isinstance(x, float) and isinstance(y, float):
            return math.isclose(x, y, rel_tol=tolerance)
        return same(x, y, tolerance)

    return a["tensor"] == b["tensor"] and all(close(x, y) for x, y in zip(a["values"], b["values"], strict=True))


def recorded() -> dict[str, dict]:
    """Returns script.json: program and case, as ``"integers.floor_division[0]"``, to its results.

    ``"script"`` is the outcome of the scripted program, or ``{"refused": type, "message": first line}``, or
    ``{"crashed": reason}`` where torch's process ended by a signal or did not end. ``"eager"`` is the outcome in plain
    Python; it is there where it is another one, and not for refused.py. ``"differs"`` marks the cases in which torch's
    two give different values, or only one gives an error.
    """
    return json.loads(RECORDED.read_text())


def _is_large(value) -> bool:
    """Returns whether a recorded value has an int that 64 bits do not hold."""
    if isinstance(value, dict):
        return any(map(_is_large, value.values()))
    if isinstance(value, list):
        return any(map(_is_large, value))
    return type(value) is int and not -(2**63) <= value < 2**63


def agrees(name: str, entry: dict, found: dict) -> bool:
    """Returns whether an outcome of a scripted program is right by its entry in `recorded`.

    A program of refused.py must be refused. Elsewhere, what torch refuses may be refused, or give the outcome of plain
    Python. Where torch's two outcomes differ, either is right. An error is right if torch has one, of any type. An int
    that 64 bits do not hold is an OverflowError, where torch's script wraps around.
    """
    if name.startswith("refused."):
        return "refused" in found
    right = [entry["script"]] + ([entry["eager"]] if "eager" in entry else [])
    if found.get("error") == "OverflowError" and _is_large(entry.get("eager", {}).get("value")):
        return True
    if any("error" in one for one in right) and "error" in found:
        return True
    return any(same(found, one) for one in right) or ("refused" in found and "refused" in entry["script"])
