"""Lets each allocation of an operator fail, one after the other: ``scarce.cpp`` must be loaded before other libraries.

``python scarce.py [OPERATOR …]`` runs samples of each operator in a child, and large calls with two threads in this
process; without names it takes all operators, or with LAMELLA_SWEEP=turn those of today. Where an allocation fails, the
call succeeds or raises OutOfMemoryError (MemoryError where Python itself has none); its arguments keep their contents,
and the next call gives what it gave before. Prints the faults and exits with 1 where there is one.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import warnings
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "operators"), str(TESTS)]

import lamella  # noqa: E402
from catalogue import BY_TITLE, SAMPLED, bits, run, state, tensors  # noqa: E402
from forked import faults_in_child  # noqa: E402
from lamella.operators import samples  # noqa: E402
from shares import share  # noqa: E402

SAMPLES = 4  # samples of each operator
MOST = 200  # allocations of one call that are made to fail

UNDEFINED = ("empty.memory_format", "empty_like", "empty_strided")  # operators whose results are not initialized

# Calls with scratch memory, and enough work for two threads.
LARGE = {
    "sort": lambda x: lamella.sort(x),
    "unique": lambda x: lamella.unique(x),
    "topk": lambda x: lamella.topk(x, 1000),
    "median": lambda x: lamella.median(x),
    "cumsum": lambda x: lamella.cumsum(x, 0),
    "nonzero": lambda x: lamella.nonzero(x > 0.5),
    "index_put": lambda x: lamella.index_put(x, ((x * 100).to(lamella.int64),), x, accumulate=True),
    "scatter_add": lambda x: lamella.scatter_add(x, 0, (x * 100).to(lamella.int64), x),
    "sum of columns": lambda x: x.view(1000, -1).t().sum(0),
    "softmax of columns": lambda x: lamella.softmax(x.view(300, -1), 0),
    "matmul": lambda x: x.view(500, -1) @ x.view(-1, 500),
    "conv2d": lambda x: lamella.nn.functional.conv2d(x[:90_000].view(1, 9, 100, 100), x[:810].view(10, 9, 3, 3)),
    "grouped conv2d": lambda x: lamella.nn.functional.conv2d(
        x[:90_000].view(1, 9, 100, 100), x[:81].view(9, 1, 3, 3), groups=9
    ),
    "max_pool2d": lambda x: lamella.nn.functional.max_pool2d(x[:90_000].view(1, 9, 100, 100), 3, 2),
    "randperm": lambda x: lamella.randperm(300_000),
    "multinomial": lambda x: lamella.multinomial(x, 1000, True),
    "bfloat16": lambda x: x.to(lamella.bfloat16).view(1000, -1).t() * 2 + 1,
}

shim = ctypes.PyDLL(None)


def plant() -> None:
    """Registers a defective kernel, which writes into its argument before its last allocation."""
    library = lamella.library.Library("aten", "IMPL", owner="planted")

    def kernel(x):
        x.add_(1)
        return lamella.cat([x])

    library.impl("aten::relu", kernel, "cpu")
    globals()["planted"] = library


def attempt(sample: samples.Sample, n: int):
    """Returns (whether the n-th allocation was reached, the error, whether arguments are unchanged, the result)."""
    built = sample.build()
    before = [state(t) for t in tensors(built)]
    lamella.manual_seed(7)
    lamella._C._trim("cpu", 0)
    call, (args, kwargs) = samples.call(sample.operator), built
    error = result = None
    shim.scarce_arm(ctypes.c_long(n))
    try:
        result = call(*args, **kwargs)
    except Exception as e:
        error = e
    reached = bool(shim.scarce_disarm())
    return reached, error, before == [state(t) for t in tensors(built)], result


def faults_of(sample: samples.Sample) -> list[str]:
    writes = BY_TITLE[sample.operator]["form"] == "inplace" or sample.operator.partition(".")[0].endswith("_")
    usual = bits(run(sample))
    found = []
    for n in range(MOST):
        reached, error, kept, _ = attempt(sample, n)
        if not reached:
            break
        if error and not isinstance(error, (MemoryError, lamella.OutOfMemoryError)):
            found.append(f"allocation {n}: {type(error).__name__}: {error}")
        if error and not kept and not writes:
            found.append(f"allocation {n}: an argument has changed")
        if sample.operator not in UNDEFINED and bits(run(sample)) != usual:
            found.append(f"allocation {n}: another result afterwards")
    return [f"{sample}: {fault}" for fault in found]


def check(operator: str):
    warnings.simplefilter("ignore")
    lamella.set_num_threads(2)
    for sample in list(samples.of(operator))[:SAMPLES]:
        yield from faults_of(sample)


def large_faults() -> list[str]:
    """Returns the faults of the large calls. They run here, as a forked child has one thread: a crash ends the run."""
    lamella.set_num_threads(2)
    lamella.manual_seed(0)
    x, found = lamella.rand(300_000), []
    before = state(x)
    for name, call in LARGE.items():
        lamella.manual_seed(7)
        usual = bits(call(x))
        for n in range(MOST):
            lamella.manual_seed(7)
            lamella._C._trim("cpu", 0)
            error = None
            shim.scarce_arm(ctypes.c_long(n))
            try:
                call(x)
            except (MemoryError, lamella.OutOfMemoryError):
                pass
            except Exception as e:
                error = e
            reached = shim.scarce_disarm()
            lamella.manual_seed(7)
            if error or state(x) != before or bits(call(x)) != usual:
                found.append(f"{name}: allocation {n}: {error or 'another result afterwards'}")
            if not reached:
                break
    return found


def main(operators: list[str]) -> int:
    if operators == ["planted"]:
        plant()
        operators = ["relu"]
    chosen = operators or share(SAMPLED)
    found = [fault for o in chosen for fault in faults_in_child(o, functools.partial(check, o))]
    if not operators:
        found += large_faults()
    print(*found, f"{len(chosen)} operators, {len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
