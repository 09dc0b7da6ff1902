"""Runs samples of operators on device ``cuda`` and compares values with the oracles, dtypes and shapes with the CPU's.

``python run_samples.py [operators...]`` prints what differs, and exits with 1 if anything does. Without names it takes
all, or with LAMELLA_SWEEP=turn those of today. It is run where ``cuda`` is the stand-in, and on a machine with a GPU.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
import warnings
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS / "operators")]

import lamella  # noqa: E402
from catalogue import SAMPLED, array, described, flat, run, tensors  # noqa: E402
from checks import written  # noqa: E402
from compare import differences, expected, has_oracle  # noqa: E402
from lamella.operators import samples  # noqa: E402

DEVICE = "cuda"
PARTS = 8  # of a run with LAMELLA_SWEEP=turn: each kernel is compiled by g++ there, so a part is smaller than elsewhere


def host(result) -> list:
    return [r.cpu() if isinstance(r, lamella.Tensor) else r for r in flat(result)]


def value_faults(sample) -> list[str]:
    """The result is the oracle's, has the CPU's dtype and shape, and no argument that is only read changes."""
    wanted = run(sample)
    built = sample.build(DEVICE)
    read = [t for i, a in enumerate(built[0]) if i not in written(sample) for t in tensors(([a], {}))]
    before = [array(t.cpu())[1].tobytes() for t in read]
    got = run(sample, DEVICE, built)
    found = ["an argument changed"] if before != [array(t.cpu())[1].tobytes() for t in read] else []
    if sample.tag == "free" or sample.operator.startswith("empty"):
        return found
    if described_on(got) != described_on(wanted):
        found.append(f"dtype or shape are {described_on(got)}, the cpu's {described_on(wanted)}")
    oracle = expected(sample) if has_oracle(sample.operator) else [array(r)[1] for r in host(wanted)]
    return found + differences([array(r) for r in host(got)], oracle)


def described_on(result) -> list:
    return [(shape, dtype) for shape, _, dtype in described([r for r in flat(result) if isinstance(r, lamella.Tensor)])]


def faults(operator: str) -> list[str]:
    if not samples.of(operator):
        return ["there are no samples"]
    found = []
    for sample in samples.of(operator):
        try:
            wrong = value_faults(sample)
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}"]
        found += [f"{sample}: {w}" for w in wrong]
    return found


def share() -> list[str]:
    """All operators, or those of today."""
    turn = os.environ.get("LAMELLA_SWEEP") == "turn"
    return SAMPLED[datetime.date.today().toordinal() % PARTS :: PARTS] if turn else SAMPLED


def main(operators: list[str]) -> int:
    warnings.simplefilter("ignore")
    lamella.backends.cudnn.allow_tf32 = False
    bad, start = 0, time.process_time()
    for operator in operators:
        wrong = faults(operator)
        bad += bool(wrong)
        for w in wrong[:4]:
            print(f"{operator}: {w}"[:600], flush=True)
    fallen = sorted({f.operator for f in lamella.fallback_counts()})
    print(json.dumps({"fallbacks": fallen}))
    print(f"run_samples: {len(operators)} operators, {bad} wrong, {time.process_time() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or share()))
