"""Each kernel of a call on a device of primitives fails once: the call raises that error, naming the device."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import compile_library

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed: apt-get install g++")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compile_library(tmp_path_factory, HERE / "failing.cpp", "-O1")


def run(*arguments):
    command = [sys.executable, HERE / "failing.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=900)


def test_every_kernel_may_fail(library):
    done = run(library)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_a_planted_composite_that_swallows_a_failure_is_reported(library):
    done = run(library, "planted")
    assert done.returncode == 1 and "and the call did not" in done.stdout, done.stdout + done.stderr
