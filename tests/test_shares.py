"""Shares of a sweep: ten days in a row take everything once."""

import datetime
import os
import re
import subprocess
import sys

import shares
from pages import ROOT

DAYS = [datetime.date(2026, 12, 30) + datetime.timedelta(days=i) for i in range(10)]


def test_ten_days_take_all(monkeypatch):
    monkeypatch.setenv("LAMELLA_SWEEP", "turn")
    items = list(range(100))
    taken = [shares.share(items, day) for day in DAYS]
    assert sorted(sum(taken, [])) == items and all(len(t) == 10 for t in taken)


def test_without_turns_a_run_takes_all(monkeypatch):
    monkeypatch.delenv("LAMELLA_SWEEP", raising=False)
    assert shares.share("abc") == ["a", "b", "c"]


SWEEPS = """
import pytest

@pytest.mark.sweep
@pytest.mark.parametrize("x", range(7))
def test_numbers(x):
    pass

@pytest.mark.sweep
@pytest.mark.parametrize("x", "abcd")
def test_letters(x):
    pass

@pytest.mark.long
@pytest.mark.parametrize("x", range(3))
def test_program(x):
    pass

@pytest.mark.long
def test_other_program():
    pass

def test_always():
    pass
"""


def test_a_marked_test_takes_its_parameters_in_turn(tmp_path):
    (tmp_path / "test_sweeps.py").write_text(SWEEPS)

    def collected(**env):
        command = [sys.executable, "-m", "pytest", "-p", "conftest", "--collect-only", "-q", "test_sweeps.py"]
        env = {k: v for k, v in os.environ.items() if not k.startswith("LAMELLA_SWEEP")} | env
        env["PYTHONPATH"] = str(ROOT / "tests")
        said = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout
        return re.findall(r"::(\S+)", said)

    everything = collected()
    days = [collected(LAMELLA_SWEEP="turn", LAMELLA_SWEEP_DAY=str(day.toordinal())) for day in DAYS]
    assert len(everything) == 16 and all("test_always" in day for day in days)
    programs = [[name for name in day if "program" in name] for day in days]
    assert all(len(day) == 1 for day in programs) and len({day[0] for day in programs[:4]}) == 4
    taken = [name for day in days for name in day if name != "test_always" and "program" not in name]
    assert sorted([*taken, "test_always"]) == sorted(name for name in everything if "program" not in name)
