"""The programs of examples/func, run as a reader runs them: their status, and the numbers that they print."""

import re

import pytest
from children import run
from environments import EXAMPLES

FOLDER = EXAMPLES / "func"
PROGRAMS = sorted(p.stem for p in FOLDER.glob("*.py"))


def printed(host, name):
    """Returns what a program prints; it must succeed, without a warning."""
    return run(host.python, "-B", FOLDER / f"{name}.py", cwd=host.folder, timeout=100, PYTHONWARNINGS="error")


def numbers(pattern, text):
    """Returns the numbers of the groups of the only place where a pattern matches."""
    [found] = re.finditer(pattern, text)
    return [float(n) for n in found.groups()]


def test_the_gradients_of_each_sample(host):
    text = printed(host, "per_sample_gradients")
    [difference] = numbers(r"largest difference of \d+ numbers: (\S+)\n", text)
    least, most = numbers(r"gradients: from (\S+) to (\S+)\n", text)
    clipped, norm = numbers(r"(\d+) are clipped to 1.0; the norm of the mean is (\S+)\n", text)
    assert difference < 1e-4 and 0 < least < most and 0 < norm < 1 and (clipped > 0) == (most > 1)


def test_an_ensemble(host):
    text = printed(host, "ensembles")
    [difference] = numbers(r"difference to calls of each is (\S+)\n", text)
    first, last = numbers(r"losses of the models: (\S+) to \S+ at first, \S+ to (\S+) after", text)
    least, together = numbers(r"read: (\S+)% to \S+%; by the ensemble (\S+)%", text)
    near, away = numbers(r"probabilities: (\S+) at these points, (\S+) away from them", text)
    assert difference < 1e-5 and last < first / 2 and 90 < together and least <= together and near < away


def test_learning_to_learn(host):
    text = printed(host, "maml")
    [untrained] = numbers(r"untrained weights: \S+ before adaptation, (\S+) after", text)
    before, after = numbers(r" learned weights: (\S+) before adaptation, (\S+) after", text)
    assert after < before / 2 and after < untrained


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_page_names_each_program_of_transforms(name):
    assert f"[{name}.py]({name}.py)" in (FOLDER / "README.md").read_text()
