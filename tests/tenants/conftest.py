"""Fixtures: the device of a test, and the library of the boxes that vmap computes with."""

import os
from contextlib import closing
from pathlib import Path

import lamella
import pytest
from compiled import compile_library

from .vmap import Vmaps

# test_on_bank.py runs the tests again on a device that is installed in an environment of its own.
DEVICES = os.environ.get("TENANTS_ON", "cpu meta").split()


@pytest.fixture(params=DEVICES)
def device(request):
    """Makes each device in turn the default device, and returns its name."""
    lamella.set_default_device(request.param)  # tests/conftest.py restores it
    lamella.manual_seed(0)
    return request.param


@pytest.fixture(scope="session")
def boxes_library(tmp_path_factory):
    return compile_library(tmp_path_factory, Path(__file__).with_name("boxes.cpp"))


@pytest.fixture
def vmaps(boxes_library):
    with closing(Vmaps(boxes_library)) as made:
        yield made


@pytest.fixture
def vmap(vmaps):
    return vmaps.vmap


@pytest.fixture(scope="session")
def notes_libraries(tmp_path_factory):
    """Returns the attribute and the library of a slot that keeps types, and those of one with a planted defect."""
    source = Path(__file__).with_name("notes.cpp")
    names = {"tenants_note": (), "tenants_lossy_note": ("-DLOSES",)}
    return [(name, compile_library(tmp_path_factory, source, f"-DNAME={name}", *more)) for name, more in names.items()]
