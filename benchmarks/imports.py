"""Time and memory of `import lamella`, beside torch, in fresh processes, minus those of a process that does nothing."""

from __future__ import annotations

import subprocess
import sys
import time

from common import ROUNDS, Bound, Row, Sample, table

STATEMENTS = {"nothing": "pass", "lamella": "import lamella", "torch": "import torch"}


# The child reads its own peak, since the number that its parent gets includes the parent's memory before the exec.
PEAK = "; print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"


def run_child(statement: str) -> tuple[float, float]:
    """Runs a statement in a fresh process; returns its seconds and the peak of its resident memory in MiB."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", statement + PEAK], check=True, capture_output=True, text=True)
    return time.perf_counter() - start, int(done.stdout) / 1024


def measure_children(rounds: int = ROUNDS) -> dict[str, list[tuple[float, float]]]:
    for statement in STATEMENTS.values():  # makes byte code and fills the disk's cache
        run_child(statement)
    got: dict[str, list[tuple[float, float]]] = {name: [] for name in STATEMENTS}
    for _ in range(rounds):
        for name, statement in STATEMENTS.items():
            got[name].append(run_child(statement))
    return got


def less_nothing(got: dict[str, list[tuple[float, float]]], which: int) -> dict[str, Sample]:
    base = [r[which] for r in got["nothing"]]
    names = [name for name in STATEMENTS if name != "nothing"]
    return {name: Sample([r[which] - b for r, b in zip(got[name], base, strict=True)]) for name in names}


def main() -> list[Row]:
    got = measure_children()
    rows = [
        Row("import, time", less_nothing(got, 0), [Bound("torch", 0.08)], unit="s"),
        Row("import, memory", less_nothing(got, 1), [Bound("torch", 0.25)], unit="MiB"),
    ]
    print(table("Import, less `python -c pass`", rows), flush=True)
    return rows


if __name__ == "__main__":
    main()
