"""Fixtures of the tests of device ``cuda``. On a machine with a GPU, the tests of the stand-in itself are left out."""

import pytest
from standins import guest, has_gpu, make


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    return guest(tmp_path_factory)


@pytest.fixture(scope="module")
def standin(tmp_path_factory):
    """The folder of the stand-ins' libraries."""
    return make(tmp_path_factory)


def pytest_collection_modifyitems(config, items):
    if has_gpu():
        without = [i for i in items if "standin" in getattr(i, "fixturenames", ())]
        config.hook.pytest_deselected(items=without)
        items[:] = [i for i in items if i not in without]
