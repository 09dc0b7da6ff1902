"""The headers' promises about streams, copies, memory and errors, tested on ``cuda`` by programs of ``tests/abi``.

The programs are compiled here, or taken from the folder LAMELLA_ABI_PROGRAMS on a machine that cannot compile them.
"""

import os
import sys
from pathlib import Path

import pytest
from children import run
from compiled import locked, shared_folder
from standins import HERE

sys.path.append(str(HERE.parents[1] / "abi"))

from on_bank import AUTOGRAD, CPU, PACKAGE, PROGRAMS, build_program  # noqa: E402

LIBRARY = PACKAGE / "backends/cuda/liblamella_cuda.so"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    if given := os.environ.get("LAMELLA_ABI_PROGRAMS"):
        return Path(given)
    folder = shared_folder(tmp_path_factory) / "abi_programs"
    with locked(folder.with_suffix(".lock")):
        if not folder.exists():
            folder.mkdir()
            for source in PROGRAMS:
                build_program(source, folder)
    return folder


def variables(cuda):
    """Returns the environment: a stand-in with threads of its own, and the library that is installed here."""
    folders = [str(PACKAGE), cuda.env.get("LD_LIBRARY_PATH") or os.environ.get("LD_LIBRARY_PATH", "")]
    return cuda.env | {"STANDIN_ASYNC": "1", "LD_LIBRARY_PATH": ":".join(filter(None, folders))}


def test_order(cuda, programs):
    said = run(programs / "order", CPU, LIBRARY, "cuda", *AUTOGRAD, cwd=cuda.folder, **variables(cuda))
    assert said.count("ok  order: ") >= 7 + len(AUTOGRAD)


@pytest.mark.parametrize("what, checks", [("", 5), ("exit", 1), ("fork", 1)])
def test_contracts(cuda, programs, what, checks):
    more = [what] if what else []
    said = run(programs / "contracts", CPU, LIBRARY, "cuda", *more, cwd=cuda.folder, **variables(cuda))
    assert said.count("ok  contract: ") == checks
