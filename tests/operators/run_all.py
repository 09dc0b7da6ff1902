"""Runs every sample of every operator in child processes, and lists those that died, as by a sanitizer's report.

``python run_all.py`` prints the deaths and exits with 1 if there are any; ``LAMELLA_EXPECT`` names the folder that
lamella must come from. ``python run_all.py planted`` reads one byte past a tensor's end, which a sanitizer must report.
Other tests compare values: here only memory and undefined behaviour count. shares.py chooses the share of a run.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import warnings
from pathlib import Path

import lamella
from catalogue import SAMPLED, run
from lamella.operators import samples

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shares import share  # noqa: E402


def run_samples(operator: str) -> None:
    """Runs the operator's samples, also the bad ones, with one thread and with two."""
    warnings.simplefilter("ignore")
    for sample in (*samples.of(operator), *samples.bad(operator)):
        for threads in (1, 2):
            lamella.set_num_threads(threads)
            try:
                run(sample)
            except Exception as error:
                if not sample.raises:
                    print(f"{sample}: {type(error).__name__}: {error}", file=sys.stderr)


def read_behind(_: str) -> None:
    t = lamella.ones(3)
    ctypes.string_at(t.data_ptr(), 4 * t.numel() + 1)


def death(work, *args) -> str:
    """Returns how a child that runs ``work`` dies; "" if it does not."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work(*args)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return "" if code == 0 else f"died by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


def main(operators: list[str]) -> int:
    expected = os.environ.get("LAMELLA_EXPECT")
    found = Path(lamella.__file__).parent
    if expected and found.resolve() != Path(expected).resolve():
        print(f"run_all: lamella comes from {found}, not from {expected}")
        return 2
    work = read_behind if operators == ["planted"] else run_samples
    deaths = [f"{o}: {how}" for o in operators if (how := death(work, o))]
    print(*deaths, f"run_all: {len(operators)} operators, {len(deaths)} deaths", sep="\n")
    return 1 if deaths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or share(SAMPLED)))
