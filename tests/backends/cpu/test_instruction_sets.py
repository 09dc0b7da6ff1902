"""The loops of older instruction sets, which this processor would not choose, give the oracles' values too."""

import os
import subprocess
import sys

import pytest
from pages import ROOT

PROGRAM = """
import checks
from catalogue import SAMPLED
from lamella.operators import samples
from shares import share
chosen = [s for operator in share(SAMPLED) for s in samples.of(operator)]
found = [f"{s}: {what}" for s in chosen for what in checks.value_faults(s)]
assert not found, f"{len(found)} faults\\n" + "\\n".join(found[:12])
print(len(chosen))
"""


@pytest.mark.parametrize("isa", ["x86-64", "x86-64-v3"])
@pytest.mark.long
def test_every_sample(isa):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], cwd=ROOT / "tests" / "operators", capture_output=True,
        env=os.environ | {"LAMELLA_CPU_ISA": isa, "PYTHONPATH": str(ROOT / "tests")}, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 900


@pytest.mark.long
def test_powers_round_alike():
    """Short powers have loops of their own; with the oldest set, the tests of powers check their last bit."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "powers",
         "operators/test_pointwise.py"],
        cwd=ROOT / "tests", env=os.environ | {"LAMELLA_CPU_ISA": "x86-64"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
