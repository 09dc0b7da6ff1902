"""Each allocation of each operator fails once: the call raises an error and changes no argument, and the next works."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed: apt-get install g++")


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    made = tmp_path_factory.mktemp("scarce") / "scarce.so"
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", HERE / "scarce.cpp", "-o", made], check=True)
    return made


def run(shim, *operators):
    command = [sys.executable, HERE / "scarce.py", *operators]
    return subprocess.run(
        command, env=os.environ | {"LD_PRELOAD": str(shim)}, capture_output=True, text=True, timeout=600
    )


@pytest.mark.long
def test_every_allocation_may_fail(shim):
    done = run(shim)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.long
def test_a_planted_operator_that_writes_too_early_is_reported(shim):
    done = run(shim, "planted")
    assert done.returncode == 1 and "an argument has changed" in done.stdout, done.stdout + done.stderr
