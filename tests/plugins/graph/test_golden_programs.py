"""Files that earlier versions wrote are read, and give the results that torch 2.13 gave for the same source."""

from __future__ import annotations

import json
from pathlib import Path

import lamella
import pytest
from program_files import decoded
from script_programs import outcome, same

FOLDER = Path(__file__).resolve().parent / "golden"
CALLS = {name: calls for file in sorted(FOLDER.glob("*.json")) for name, calls in json.loads(file.read_text()).items()}


@pytest.mark.parametrize("name", CALLS)
def test_a_golden_file(name):
    program = lamella.jit.load(FOLDER / name, verify=True)
    for call in CALLS[name]:
        found = outcome(getattr(program, call["method"]), tuple(map(decoded, call["inputs"])))
        assert same(found, call["result"]), (call, found)


def test_every_file_has_calls():
    assert {file.name for file in FOLDER.glob("*.lamella")} == set(CALLS) and len(CALLS) >= 10
