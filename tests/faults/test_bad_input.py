"""Bad input: every cell of the sweep keeps its promises, and the sweep reports planted defects."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import fault_cells
import fault_entries
import fault_planted
import pytest
import sweep

FOLDER = Path(__file__).parent
NAMED: dict[str, list[fault_cells.Operator]] = {}
for operator in fault_cells.operators():
    NAMED.setdefault(operator.op["name"], []).append(operator)
ENTRIES: dict[str, list[fault_cells.Cell]] = {}
for entry in fault_entries.entries():
    ENTRIES.setdefault(entry.op["name"], []).append(entry)


def listed(violations: list[sweep.Violation]) -> str:
    return "\n".join(map(str, violations))


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(NAMED))
def test_operator(name):
    report = sweep.sweep_operators(NAMED[name])
    assert report.cells > 5
    assert not report.violations, f"\n{listed(report.violations)}"


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_entry(name):
    violations = sweep.sweep(ENTRIES[name])
    assert not violations, f"\n{listed(violations)}"


def generated() -> list[tuple[str, str, str]]:
    """Returns schema, argument and fault of all cells. A child generates them, since that calls operators."""

    def write(pipe: int) -> None:
        chosen = fault_cells.cells(fault_cells.operators())
        with os.fdopen(pipe, "w") as f:
            json.dump([(c.op["schema"], c.argument, c.fault) for c in chosen], f)

    text, code = sweep.in_child(write)
    assert code == 0, sweep.death(code)
    return [tuple(row) for row in json.loads(text)]


def test_cells_cover_every_argument(capsys):
    """The live schemas give the cells: each argument of each operator has at least two faults."""
    operators = fault_cells.operators()
    faults: dict[tuple[str, str], set[str]] = {}
    cells = generated()
    for schema, argument, fault in cells:
        faults.setdefault((schema, argument), set()).add(fault)
    every = [(o.op["schema"], a["name"]) for o in operators for a in o.args]
    assert not [key for key in every if len(faults.get(key, ())) < 2]
    with capsys.disabled():
        print(f"\n{len(cells) + len(operators) + len(fault_entries.entries())} cells of bad input")
    assert len(cells) > 6000


def out_of_range(namespace: str) -> list[fault_cells.Cell]:
    """Returns the cells of one kind of fault; a planted operator may fail other kinds for other reasons."""
    return [c for c in fault_cells.cells(fault_cells.operators(namespace)) if "out of range" in c.fault]


@pytest.mark.parametrize("kernel", fault_planted.DEFECTS, ids=lambda k: k.__name__)
def test_planted_defect_is_reported(kernel):
    library = fault_planted.plant(kernel)
    try:
        todo = fault_cells.valid_cells(fault_cells.operators("planted")) + out_of_range("planted")
        violations = sweep.sweep(todo)
    finally:
        library.close()
    assert len(todo) == 5
    assert fault_planted.DEFECTS[kernel] in listed(violations)


def test_a_death_does_not_end_the_sweep():
    library = fault_planted.plant(fault_planted.dies)
    try:
        todo = out_of_range("planted")
        violations = sweep.sweep(todo)
    finally:
        library.close()
    assert [v.what for v in violations] == ["the process died by SIGSEGV"] * 2  # of four values, 7 and 2**62 kill it


def test_honest_operator_has_no_violation():
    library = fault_planted.plant(fault_planted.honest)
    try:
        todo = fault_cells.valid_cells(fault_cells.operators("planted")) + out_of_range("planted")
        violations = sweep.sweep(todo)
    finally:
        library.close()
    assert violations == []


def standalone(code: str) -> subprocess.CompletedProcess:
    env = os.environ | {"LAMELLA_SWEEP": "all"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=FOLDER, env=env, capture_output=True, text=True, timeout=120)


def test_standalone_lists_and_fails():
    planted = "import sys, sweep, fault_planted as p; p.plant(p.ignores); p.plant(p.nameless); "
    done = standalone(planted + "sys.exit(sweep.main('planted'))")
    assert done.returncode == 1, done.stderr
    assert "planted::ignores [dim: 7 is out of range]: raised nothing" in done.stdout
    assert "the message does not open with 'planted::nameless:'" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("sweep: ")


def test_standalone_refuses_another_lamella():
    code = "import os, sys; os.environ['LAMELLA_EXPECT'] = '/nowhere'; import sweep; sys.exit(sweep.main())"
    done = standalone(code)
    assert done.returncode == 2 and "/nowhere" in done.stdout
