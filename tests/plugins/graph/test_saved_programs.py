"""Each program of programs/, scripted, saved and loaded, gives what it gave before it was saved."""

from __future__ import annotations

import io

import lamella
import pytest
from script_programs import FILES, load_file

PLAIN = [file for file in FILES if file.stem != "refused"]
# Programs that call functions of Python, which no file has.
NOT_SAVED = {"functions.calls_an_ignored_function", "modules.IgnoresAMethod"}


@pytest.mark.parametrize("file", PLAIN, ids=lambda f: f.stem)
def test_a_loaded_program_gives_what_the_scripted_one_gives(file):
    wrong, count = {}, 0
    for program in load_file(lamella, file):
        try:
            scripted = lamella.jit.script(program.make())
        except Exception:
            continue  # test_script_programs.py is about these
        saved = io.BytesIO()
        try:
            lamella.jit.save(scripted, saved)
        except RuntimeError as error:
            assert "of Python at" in str(error), error
            wrong[program.name] = str(error)
            continue
        saved.seek(0)
        loaded = lamella.jit.load(saved)
        count += 1
        expected, found = program.outcomes(scripted), program.outcomes(loaded)
        if not all(map(is_same, found, expected)):
            wrong[program.name] = (found, expected)
    assert {n: w for n, w in wrong.items() if n not in NOT_SAVED} == {}
    assert count > 0


def is_same(found, expected):
    """A function under jit.unused raises another text once it is in a file."""
    return found == expected or found.get("error", 0) == expected.get("error", 1)
