"""The tests of sparse operators again on an example backend, which has no kernels of the plugin."""

import os
from pathlib import Path

import pytest
from children import OWN_PLUGINS, run
from compiled import FOLDER

HERE = Path(__file__).resolve().parent


@pytest.mark.needs("autograd", "sparse")
@pytest.mark.long
def test_on_bank(guest):
    options = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist")
    file = HERE / "test_sparse_operators.py"
    run(
        guest.python, "-m", "pytest", *options, file, cwd=HERE.parents[1], SPARSE_ON="bank",
        LAMELLA_PLUGINS=f"{OWN_PLUGINS},bank", **{FOLDER: os.environ[FOLDER]},
    )  # fmt: skip
