"""Runs samples of operators on device ``cuda`` and compares values with the oracles, dtypes and shapes with the CPU's.

``python run_samples.py [I/N] [operators...]`` prints the differences, and exits with 1 if there are any. Without names
it takes all operators, or with LAMELLA_SWEEP=turn those of today; 3/15 is the third of fifteen shares, for processes
side by side. Tests run it on the stand-in for ``cuda``, and on a machine with a GPU.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS / "operators")]

import lamella  # noqa: E402
import shares  # noqa: E402
from catalogue import SAMPLED, array, described, flat, run, tensors  # noqa: E402
from checks import written  # noqa: E402
from compare import differences, expected, has_oracle  # noqa: E402
from lamella.operators import samples  # noqa: E402

DEVICE = "cuda"
PARTS = 24  # parts of the catalogue with LAMELLA_SWEEP=turn, smaller than elsewhere since g++ compiles each kernel


def host(result) -> list:
    return [r.cpu() if isinstance(r, lamella.Tensor) else r for r in flat(result)]


def value_faults(sample) -> list[str]:
    """Checks that the result is the oracle's, with the CPU's dtype and shape, and that read-only arguments stay."""
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


def share(arguments: list[str], operators: list[str] = SAMPLED, parts: int = PARTS) -> list[str]:
    """Returns the named operators; without names all, or those of today. With I/N only this share of them."""
    asked = shares.share(operators, parts=parts)
    part, count = 1, 1
    if arguments and "/" in arguments[0]:
        part, count = map(int, arguments.pop(0).split("/"))
    return (arguments or asked)[part - 1 :: count]


def main(program: str, operators: list[str], faults: Callable[[str], list[str]]) -> int:
    """Prints the faults of operators and a last line with their number. Returns 1 if there are any, else 0."""
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
    print(f"{program}: {len(operators)} operators, {bad} wrong, {time.process_time() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main("run_samples", share(sys.argv[1:]), faults))
