"""Lets each kernel of a device fail, one after the other: ``python failing.py LIBRARY [OPERATOR …]``.

LIBRARY is ``failing.cpp``'s, whose device ``loom`` has the primitives alone, so that composites serve nearly
everything. Samples of each operator run in a child. Where a kernel fails, the call raises the kernel's own error, which
names the device, and the next call gives what it gave before. Prints the faults and exits with 1 where there is one.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import warnings
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "operators")]

import lamella  # noqa: E402
from catalogue import BY_TITLE, SAMPLED, bits, flat, run  # noqa: E402
from forked import faults_in_child  # noqa: E402
from lamella.operators import samples  # noqa: E402
from shares import share  # noqa: E402

SAMPLES = 6  # samples of each operator, spread over its list
MOST = 40  # kernels of one call that are made to fail
WAYS = 3  # the ways in which a kernel fails: an error, an exception, a status without an error
UNDEFINED = ("empty.memory_format", "empty_like", "empty_strided")  # operators whose results are not initialized


def chosen(operator: str) -> list[samples.Sample]:
    """Returns samples that the device computes: linear algebra has no composites, the nuclear norm neither."""
    if BY_TITLE[operator]["category"] == "linalg":
        return []
    every = [s for s in samples.of(operator) if "'nuc'" not in str(s)]
    step = max(len(every) // SAMPLES, 1)
    return every[::step]


def outcome(sample: samples.Sample) -> list[bytes]:
    """Returns the elements of a sample's results, read from any device."""
    results = flat(run(sample, "loom"))
    return bits([r.to("cpu") if isinstance(r, lamella.Tensor) else r for r in results])


def attempt(loom: ctypes.CDLL, sample: samples.Sample, n: int, way: int) -> tuple[bool, Exception | None]:
    """Returns whether the n-th kernel was reached and failed, and the error."""
    built = sample.build("loom")
    error = None
    loom.loom_arm(ctypes.c_long(n), way)
    try:
        run(sample, "loom", built)
    except Exception as e:
        error = e
    return bool(loom.loom_disarm()), error


def wrong_words(error: Exception, way: int) -> bool:
    words = ["loom"] + (["queue full"] if way < 2 else ["does not say why"])
    return any(word not in str(error) for word in words)


def faults_of(loom: ctypes.CDLL, sample: samples.Sample) -> list[str]:
    try:
        usual = outcome(sample)
    except Exception as error:
        return [f"{sample}: {type(error).__name__}: {error}"]
    found = []
    for n in range(MOST):
        way = n % WAYS
        failed, error = attempt(loom, sample, n, way)
        if not failed:
            break
        if error is None:
            found.append(f"kernel {n} failed, and the call did not")
        elif wrong_words(error, way):
            found.append(f"kernel {n}: {type(error).__name__}: {error}")
        if sample.operator not in UNDEFINED and outcome(sample) != usual:
            found.append(f"kernel {n}: another result afterwards")
    return [f"{sample}: {fault}" for fault in found]


def plant() -> None:
    """Registers a defective composite of relu, which continues after its kernel has failed."""
    library = lamella.library.Library("aten", "IMPL", owner="planted")

    def composite(x):
        try:
            return x.clamp_min(0)
        except RuntimeError:
            return x.clone()

    library.impl("aten::relu", composite, "loom")
    globals()["planted"] = library


def check(loom: ctypes.CDLL, operator: str):
    warnings.simplefilter("ignore")
    for sample in chosen(operator):
        yield from faults_of(loom, sample)


def main(library: str, operators: list[str]) -> int:
    lamella.ops.load_library(library)
    lamella.set_fallback("error")
    loom, found = ctypes.CDLL(library), []
    if operators == ["planted"]:
        plant()
        operators = ["relu"]
    operators = operators or share(SAMPLED)
    for operator in operators:
        found += faults_in_child(operator, functools.partial(check, loom, operator))
    print(*found, f"{len(operators)} operators, {len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
