"""Programs of other authors with `import torch`, run unchanged by `lamella run`."""

import re
import sys
from pathlib import Path

import pytest
from children import run

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"


def ran(tmp_path, program, *options):
    command = (sys.executable, "-m", "lamella", "run", PROGRAMS / program, *options)
    return run(*command, cwd=tmp_path, timeout=200)


@pytest.mark.needs("autograd")
def test_a_classifier(tmp_path):
    """Uses workers, Adadelta, a schedule, a checkpoint; requires 90 % with the reloaded weights."""
    text = ran(tmp_path, "classify.py", "--epochs", "3")
    accuracies = [int(n) for n in re.findall(r"Accuracy: (\d+)/128", text)]
    assert len(accuracies) == 4 and max(accuracies) > 120
    assert re.search(r"best epoch [123] of 3 classify.pt", text)


@pytest.mark.needs("autograd")
def test_a_language_model(tmp_path):
    """Uses groups, clipped gradients, two schedules in sequence, and resumes from a checkpoint."""
    text = ran(tmp_path, "char_lm.py", "--steps", "120")
    first, last = (float(n) for n in re.findall(r"^step (?:0|119) loss ([\d.]+)", text, re.MULTILINE))
    assert 2.5 < first < 3.5 and last < 0.4
    again = ran(tmp_path, "char_lm.py", "--steps", "130", "--resume", "char_lm.pt")
    assert float(re.search(r"final loss ([\d.]+)", again)[1]) < 0.5


@pytest.mark.needs("autograd")
def test_sines_by_lbfgs(tmp_path):
    text = ran(tmp_path, "sine.py", "--steps", "3")
    losses = [float(n) for n in re.findall(r"^step \d loss: (\S+)", text, re.MULTILINE)]
    assert losses[-1] < 0.1 * losses[0] < 0.1
    assert "future: (20,)" in text


@pytest.mark.needs("autograd")
def test_a_policy_gradient(tmp_path):
    """Uses distributions, deques of numbers as tensors, and a network with two heads."""
    text = ran(tmp_path, "reinforce.py")
    assert re.findall(r"right ends (\d+) of 20", text)[-1] in ("19", "20")
    assert float(re.search(r"divergence ([\d.]+)", text)[1]) > 0.1


@pytest.mark.needs("autograd")
def test_a_graph_network(tmp_path):
    """Uses typed constructors, index_add_, scatter_add_, and a module with its own repr."""
    text = ran(tmp_path, "graph.py")
    assert "(gc2): GraphConvolution (16 -> 3)" in text
    assert float(re.search(r"test accuracy: ([\d.]+)", text)[1]) > 0.7


@pytest.mark.needs("autograd")
def test_a_penalty_on_gradients(tmp_path):
    """Uses older names, and the gradient of a gradient."""
    text = ran(tmp_path, "wgan.py")
    (before, _), (after, _) = re.findall(r"mean off by ([\d.]+), spread by ([\d.]+)", text)
    assert float(after) < 0.6 * float(before)


@pytest.mark.parametrize("program", sorted(p.name for p in PROGRAMS.glob("*.py")))
def test_the_check_finds_nothing_missing(tmp_path, program):
    assert run(sys.executable, "-m", "lamella", "run", "--check", PROGRAMS / program, cwd=tmp_path) == ""
