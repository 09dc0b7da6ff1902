"""The models of examples/models, run as a reader runs them: each trains a few steps, and its loss falls."""

import os

import pytest
from children import run
from environments import EXAMPLES

MODELS = EXAMPLES / "models"
# Steps of the scripts that import lamella, and of those that import torch and are run by `lamella run`.
OURS = {"gpt": 30, "translate": 50, "dcgan": 12}
THEIRS = {"resnet18": 8, "lstm_lm": 25, "vae": 60}


def test_every_model_is_tested():
    scripts = {p.stem for p in MODELS.glob("*.py")} - {"losses"}
    assert scripts == {*OURS, *THEIRS}
    for name in scripts:
        assert ("import torch\n" in (MODELS / f"{name}.py").read_text()) == (name in THEIRS)


@pytest.mark.parametrize("name", OURS)
def test_it_learns(guest, name):
    text = run(guest.python, MODELS / f"{name}.py", "--steps", str(OURS[name]), cwd=guest.folder, timeout=200)
    assert f"at the end of {OURS[name]} steps" in text


@pytest.mark.parametrize("name", THEIRS)
def test_it_learns_where_it_says_torch(guest, name):
    script = (MODELS / f"{name}.py", "--steps", str(THEIRS[name]))
    text = run(guest.python, "-m", "lamella", "run", *script, cwd=guest.folder, timeout=200)
    assert f"at the end of {THEIRS[name]} steps" in text
    assert run(guest.python, "-m", "lamella", "run", "--check", script[0], cwd=guest.folder) == ""


ON_BANK = """
    import sys

    import lamella

    sys.path.insert(0, {folder!r})
    lamella.set_fallback("error")
    import {name}

    assert {name}.main(["--device", "bank", "--steps", "{steps}"]) == 0
    assert not lamella.fallback_counts()
"""


@pytest.mark.parametrize("name", OURS)
@pytest.mark.long
def test_it_learns_on_another_device(guest, name):
    guest.run(ON_BANK.format(folder=os.fspath(MODELS), name=name, steps=OURS[name]))
