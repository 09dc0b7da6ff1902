"""A cache of its own for each test of the build helper."""

import shutil

import pytest
from building import Bench


@pytest.fixture
def bench(tmp_path):
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed: apt-get install g++")
    return Bench(tmp_path)
