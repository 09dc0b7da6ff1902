"""LAMELLA_CHECK_KERNELS=1: our own kernels pass with all samples, and each kind of defect is reported."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from children import Guest
from compiled import compile_library

HERE = Path(__file__).parent

REPORTED = {
    "argument": "has changed its argument 'self'",
    "before": "has written before its result",
    "behind": "has written past the end of its result",
    "dtype": "has put Tensor float64 (2, 3) on cpu in place of its result, Tensor float32 (2, 3) on cpu",
    "shape": "has put Tensor float32 (3, 3) on cpu in place of its result, Tensor float32 (2, 3) on cpu",
    "nothing": "has taken away its result, which was allocated for it",
    "strides": "has changed the strides or the memory of its result",
}


def run(*arguments):
    command = [sys.executable, HERE / "checked.py", *arguments]
    env = os.environ | {"LAMELLA_CHECK_KERNELS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=900, env=env)


@pytest.mark.long
def test_our_kernels_keep_the_rules():
    done = run()
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert int(done.stdout.split()[-4]) > 5000, done.stdout  # the samples were indeed called


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed: apt-get install g++")
@pytest.mark.long
def test_each_planted_defect_is_reported(tmp_path_factory):
    done = run(compile_library(tmp_path_factory, HERE / "planted_kernels.cpp", "-O1"))
    found = dict(line.split(": ", 1) for line in done.stdout.splitlines()[:-1])
    assert done.returncode == 1 and found.keys() == REPORTED.keys(), done.stdout + done.stderr
    for name, words in REPORTED.items():
        assert found[name].startswith(f"planted::{name}: the kernel of ") and found[name].endswith(words), found[name]


def test_a_python_kernel_may_answer_with_a_tensor_of_its_own(tmp_path):
    """The returned tensor may also replace an allocated output that has no memory."""
    program = """
        import lamella

        library = lamella.library.Library("aten", "IMPL", "cpu")
        library.impl("relu", lambda x: x.clone())
        library.impl("relu", lambda x: lamella.empty_like(x), "meta")
        for _ in range(200):
            assert lamella.relu(lamella.ones(2)).tolist() == [1, 1]
            assert lamella.relu(lamella.ones(0)).tolist() == []
            assert lamella.relu(lamella.ones(3, device="meta")).shape == (3,)
            assert lamella.ones(2).relu_().tolist() == [1, 1]
    """
    Guest(sys.executable, tmp_path).run(program, LAMELLA_CHECK_KERNELS="1")
