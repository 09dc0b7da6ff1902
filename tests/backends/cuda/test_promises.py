"""The headers' promises about streams, copies, memory and errors, of device ``cuda``, by the programs of ``tests/abi``.

They are compiled here, or taken from the folder that LAMELLA_ABI_PROGRAMS names, on a machine that cannot compile them.
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
    """The stand-in works on threads of its own there; the programs find the library that is installed here."""
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
