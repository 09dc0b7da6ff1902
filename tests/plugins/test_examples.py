"""The programs of `make demo`, run as a reader runs them: their accuracy, their output, and that they can fail."""

import re
import subprocess
from pathlib import Path

import pytest
from children import clean_environment, run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def reached(text):
    """The accuracy on the held-out digits, in per cent."""
    return float(re.search(r"held out: ([\d.]+)%", text)[1])


def ended(guest, program, *options):
    """The exit status and the output of a program that may fail."""
    command = [guest.python, EXAMPLES / program, *options]
    done = subprocess.run(
        command, cwd=guest.folder, env=clean_environment(), capture_output=True, text=True, timeout=100
    )
    return done.returncode, done.stdout


def test_the_network_reads_the_held_out_digits(guest):
    text = run(guest.python, EXAMPLES / "mlp.py", cwd=guest.folder)
    assert reached(text) >= 95
    formula, native, python = re.search(r"aten::mm +│ +([\d,]+) │ +([\d,]+) │ +([\d,]+) │", text).groups()
    assert formula == native == python


def test_the_network_fails_where_too_few_are_read(guest):
    status, text = ended(guest, "mlp.py", "--epochs", "1")
    assert status == 1 and reached(text) < 95 and "FAILED: at least 95%" in text


def test_the_convolutional_net_reads_the_held_out_digits(guest, tmp_path):
    curve = tmp_path / "curve.png"
    text = run(guest.python, EXAMPLES / "convnet.py", "--curve", curve, cwd=guest.folder, timeout=300)
    assert reached(text) >= 97
    assert curve.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("device", ["bank", "numpy"])
def test_the_convolutional_net_learns_on_other_devices(guest, tmp_path, device):
    options = ("--device", device, "--steps", "12", "--curve", tmp_path / "new" / "curve.png")
    text = run(guest.python, EXAMPLES / "convnet.py", *options, cwd=guest.folder, timeout=300)
    assert f"12 steps on {device}" in text
    assert (tmp_path / "new" / "curve.png").exists()


def test_the_convolutional_net_fails_where_it_learns_nothing(guest, tmp_path):
    curve = ("--curve", tmp_path / "curve.png")
    status, text = ended(guest, "convnet.py", "--steps", "1", *curve)
    assert status == 1 and "FAILED: the loss has not fallen" in text
    status, text = ended(guest, "convnet.py", "--epochs", "1", *curve)
    assert status == 1 and reached(text) < 97 and "FAILED: at least 97%" in text
