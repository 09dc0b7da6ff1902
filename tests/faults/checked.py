"""Runs samples with each kernel checked: ``LAMELLA_CHECK_KERNELS=1 python checked.py [LIBRARY]``.

Prints what the checks report and exits with 1 where they do. With a library, the operators of its namespace ``planted``
are called instead, each with ``ones(2, 3)``.
"""

from __future__ import annotations

import functools
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "operators"))

import lamella  # noqa: E402
from catalogue import SAMPLED, run  # noqa: E402
from lamella.operators import samples  # noqa: E402


def report(call) -> str:
    """Returns the report of the checks for a call, or ''. Errors of other kinds are tested elsewhere."""
    try:
        call()
    except Exception as error:
        return str(error) if ": the kernel of " in str(error) else ""
    return ""


def main(libraries: list[str]) -> int:
    warnings.simplefilter("ignore")
    calls = {str(s): functools.partial(run, s) for operator in SAMPLED for s in samples.of(operator)}
    if libraries:
        planted = lamella.ops.load_library(libraries[0])
        calls = {name: functools.partial(getattr(planted, name), lamella.ones(2, 3)) for name in dir(planted)}
    found = {name: said for name, call in calls.items() if (said := report(call))}
    print(*(f"{name}: {said}" for name, said in found.items()), f"{len(calls)} calls, {len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
