"""With LAMELLA_TEST_COMPLETE, as in CI, a test that lacks only a Debian package fails instead of being skipped."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from children import clean_environment

HERE = Path(__file__).resolve().parent
TESTS = """
import pytest

@pytest.mark.skipif(True, reason="nm is not installed: apt-get install binutils")
def test_marked():
    pass

def test_inside():
    pytest.skip("clang is not installed: apt-get install clang")

def test_other():
    pytest.skip("no second Python is installed")

def test_runs():
    pass
"""


@pytest.mark.parametrize(
    "complete, counts", [(None, "1 passed, 3 skipped"), ("1", "1 failed, 1 passed, 1 skipped, 1 error")]
)
def test_a_tool_that_is_missing_is_a_failure_where_that_is_asked_for(complete, counts, tmp_path):
    (tmp_path / "conftest.py").write_text((HERE / "conftest.py").read_text())
    (tmp_path / "test_some.py").write_text(TESTS)
    env = {"PYTHONPATH": f"{HERE}:{HERE.parent}"} | ({"LAMELLA_TEST_COMPLETE": complete} if complete else {})
    command = (sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", tmp_path)
    done = subprocess.run(command, cwd=tmp_path, env=clean_environment(**env), capture_output=True, text=True)
    assert re.sub(r" in .*", "", done.stdout.splitlines()[-1]) == counts, done.stdout + done.stderr
    assert ("nm is not installed: apt-get install binutils" in done.stdout) == bool(complete)
