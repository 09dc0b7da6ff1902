"""Computes the gradients of every sample, to second order, in child processes, for sanitizers; see run_all.py.

``python run_gradients.py`` prints the deaths and exits with 1 if there are any; ``LAMELLA_EXPECT`` names the folder
that lamella must come from.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import lamella
from gradient_sweep import SAMPLED, Case, cases
from lamella.operators import samples

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "operators"))
from run_all import death, share  # noqa: E402


def differentiate(sample) -> None:
    """Runs backward with create_graph, then backward through the gradients' graph, then a plain backward."""
    case = Case(sample)
    for threads in (1, 2):
        lamella.set_num_threads(threads)
        outs = [o for o in case(*case.inputs) if o.requires_grad]
        if not outs:
            return
        ones = [lamella.ones_like(o) for o in outs]
        found = lamella.autograd.grad(outs, case.inputs, ones, create_graph=True, allow_unused=True)
        again = [g for g in found if g is not None and g.requires_grad]
        if again:
            lamella.autograd.backward(again, [lamella.ones_like(g) for g in again])
        lamella.autograd.backward(outs := [o for o in case(*case.inputs) if o.requires_grad], ones[: len(outs)])


def run_gradients(operator: str) -> None:
    """Runs the samples in their own dtypes, and in double precision."""
    warnings.simplefilter("ignore")
    for sample in (*samples.of(operator), *cases(operator)):
        try:
            differentiate(sample)
        except Exception as error:
            print(f"{sample}: {type(error).__name__}: {error}", file=sys.stderr)


def main(operators: list[str]) -> int:
    expected, found = os.environ.get("LAMELLA_EXPECT"), Path(lamella.__file__).parent
    if expected and found.resolve() != Path(expected).resolve():
        print(f"run_gradients: lamella comes from {found}, not from {expected}")
        return 2
    deaths = [f"{o}: {how}" for o in operators if (how := death(run_gradients, o))]
    print(*deaths, f"run_gradients: {len(operators)} operators, {len(deaths)} deaths", sep="\n")
    return 1 if deaths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or share(SAMPLED)))
