"""Builds the programs of this folder and the device ``bank`` once for all processes of a run."""

import pytest
from compiled import locked, shared_folder
from on_bank import build


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    folder = shared_folder(tmp_path_factory) / "on_bank"
    with locked(folder.with_suffix(".lock")):
        if not (folder / "bank.so").exists():
            folder.mkdir(exist_ok=True)
            build(folder)
    return folder
