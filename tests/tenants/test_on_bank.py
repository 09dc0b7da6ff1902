"""The tenants' tests again on the example backend, in an environment that has it."""

import os
from pathlib import Path

import pytest
from children import OWN_PLUGINS, run
from compiled import FOLDER

HERE = Path(__file__).resolve().parent
# The tests of names and of quantized tensors run on the backend themselves.
FILES = sorted(f.name for f in HERE.glob("test_*.py") if "guest" not in f.read_text())


@pytest.mark.parametrize("file", FILES)
@pytest.mark.long
def test_on_bank(guest, boxes_library, notes_libraries, file):
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "bank")
    run(
        guest.python, "-m", "pytest", *options, HERE / file, cwd=HERE.parent,
        TENANTS_ON="bank", LAMELLA_PLUGINS=f"{OWN_PLUGINS},bank", **{FOLDER: os.environ[FOLDER]},
    )  # fmt: skip
