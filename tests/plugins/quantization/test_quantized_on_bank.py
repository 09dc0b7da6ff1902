"""The tests of quantized tensors again on the example backend, in an environment that has it."""

import os
from pathlib import Path

import pytest
from children import OWN_PLUGINS, run
from compiled import FOLDER

HERE = Path(__file__).resolve().parent


@pytest.mark.needs("autograd", "quantization")
@pytest.mark.parametrize("file", ["test_quantized_tensors.py", "test_quantized_operators.py"])
def test_on_bank(guest, file):
    options = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist")
    run(
        guest.python, "-m", "pytest", *options, HERE / file, cwd=HERE.parents[1],
        QUANTIZED_ON="bank", LAMELLA_PLUGINS=f"{OWN_PLUGINS},bank", **{FOLDER: os.environ[FOLDER]},
    )  # fmt: skip
