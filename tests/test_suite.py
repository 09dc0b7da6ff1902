"""The runner of the suite: a test that fails once is flaky, one that fails twice fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SUITE = Path(__file__).resolve().parents[1] / "tools" / "suite.py"
PASSES = "def test_passes(): pass\n"
FAILS = "def test_fails(): assert 1 == 2\n"
FAILS_ONCE = """
from pathlib import Path

def test_fails_once():
    flag = Path(__file__).with_name("flag")
    there = flag.exists()
    flag.touch()
    assert there
"""


def suite(folder: Path, *tests: str, root: Path | None = None) -> subprocess.CompletedProcess:
    (folder / "test_planted.py").write_text("\n".join(tests))
    ((root or folder) / "pytest.ini").write_text("[pytest]\n")
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run([sys.executable, SUITE, "-q"], cwd=folder, env=env, capture_output=True, text=True)


def test_it_may_run_in_a_folder_below_the_root(tmp_path):
    folder = tmp_path / "tests"
    folder.mkdir()
    done = suite(folder, FAILS_ONCE, root=tmp_path)
    assert done.returncode == 0 and "  tests/test_planted.py::test_fails_once" in done.stdout


def test_all_pass(tmp_path):
    done = suite(tmp_path, PASSES)
    assert done.returncode == 0 and "once more" not in done.stdout
    *_, seconds, closing = done.stdout.splitlines()
    assert seconds == "seconds of tests, of all workers together: tests 0" and "1 passed" in closing


def test_a_planted_flake_is_listed_and_does_not_fail_the_run(tmp_path):
    done = suite(tmp_path, PASSES, FAILS_ONCE)
    closing = done.stdout.splitlines()
    assert done.returncode == 0 and closing[-1] == "2 passed, 0 failed"
    listed = closing[closing.index("flaky: failed once and passed alone. Mend them first:") + 1 :]
    assert listed[0] == "  test_planted.py::test_fails_once"


def test_a_planted_failure_fails_the_run(tmp_path):
    done = suite(tmp_path, PASSES, FAILS, FAILS_ONCE)
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "2 passed, 1 failed"
    assert done.stdout.count("assert 1 == 2") >= 2 and "  test_planted.py::test_fails_once" in done.stdout


def test_many_failures_are_no_flakes(tmp_path):
    done = suite(tmp_path, *(FAILS.replace("fails", f"fails_{i}") for i in range(11)))
    assert done.returncode == 1 and "once more" not in done.stdout


def test_a_suite_that_cannot_be_collected_fails(tmp_path):
    done = suite(tmp_path, "import no_such_module\n")
    assert done.returncode not in (0, 1) or "no_such_module" in done.stdout
    assert done.returncode != 0
