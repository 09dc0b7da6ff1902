"""The tests of quantized tensors again on the example backends, in an environment that has them and the example
layers."""

import os
from pathlib import Path

import pytest
from children import OWN_PLUGINS, run
from compiled import FOLDER

HERE = Path(__file__).resolve().parent


@pytest.mark.needs("autograd", "quantization")
@pytest.mark.parametrize(
    "file, devices",
    [
        ("test_quantized_tensors.py", "bank"),
        ("test_quantized_operators.py", "bank"),
        ("test_quantized_tables.py", "bank"),
        ("test_quantization_matrix.py", "cpu bank numpy"),
    ],
)
@pytest.mark.long
def test_on_bank(guest, file, devices):
    options = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist")
    run(
        guest.python, "-m", "pytest", *options, HERE / file, cwd=HERE.parents[1], QUANTIZED_ON=devices,
        LAMELLA_PLUGINS=f"{OWN_PLUGINS},bank,numpy,flops,flops-twin,packed", **{FOLDER: os.environ[FOLDER]},
    )  # fmt: skip
