"""With autograd switched off, tests that do not need it still pass.

`LAMELLA_PLUGINS=-autograd make test` runs all tests that way; this runs the files that use plugins most.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from children import OWN_PLUGINS

TESTS = Path(__file__).resolve().parents[1]
OTHERS = ",".join(name for name in OWN_PLUGINS.split(",") if name != "autograd")


def suite(*paths):
    """Runs these files without autograd; returns pytest's closing line."""
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *paths],
        cwd=TESTS,
        env=os.environ | {"LAMELLA_PLUGINS": OTHERS},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 5), done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.sweep
@pytest.mark.parametrize(
    "path",
    [
        "frontend/test_docs.py",
        "frontend/test_format.py",
        "frontend/test_interop.py",
        "frontend/test_tensor.py",
        "plugins/test_library.py",
        "plugins/test_keywords.py",
        "dispatcher/test_rules.py",
    ],
)
def test_everything_else_stays_green(path):
    closing = suite(path)
    assert int(re.match(r"(\d+) passed", closing)[1]) > 10 and "failed" not in closing


def test_its_own_tests_stay_away():
    assert suite("plugins/autograd").startswith("no tests ran")
