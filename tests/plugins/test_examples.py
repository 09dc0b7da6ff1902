"""The programs of `make demo`, run as a reader runs them: their accuracy, their output, and that they can fail."""

import importlib.util
import re
import subprocess
from pathlib import Path

import lamella
import numpy as np
import pytest
from children import clean_environment, run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def reached(text):
    """Returns the accuracy on the held-out digits, in per cent."""
    return float(re.search(r"held out: ([\d.]+)%", text)[1])


def ended(guest, program, *options):
    """Runs a program that may fail; returns its exit status and output."""
    command = [guest.python, EXAMPLES / program, *options]
    done = subprocess.run(
        command, cwd=guest.folder, env=clean_environment(), capture_output=True, text=True, timeout=100
    )
    return done.returncode, done.stdout


@pytest.mark.long
def test_the_network_reads_the_held_out_digits(guest):
    text = run(guest.python, EXAMPLES / "mlp.py", cwd=guest.folder)
    assert reached(text) >= 95
    formula, native, python = re.search(r"aten::mm +│ +([\d,]+) │ +([\d,]+) │ +([\d,]+) │", text).groups()
    assert formula == native == python


@pytest.mark.long
def test_the_network_fails_where_too_few_are_read(guest):
    status, text = ended(guest, "mlp.py", "--epochs", "1")
    assert status == 1 and reached(text) < 95 and "FAILED: at least 95%" in text


@pytest.mark.long
def test_the_convolutional_net_reads_the_held_out_digits(guest, tmp_path):
    """The training is killed and resumed; its losses are those of an uninterrupted one."""
    curve = tmp_path / "curve.png"
    options = ("--kill-at", "230", "--curve", curve)
    text = run(guest.python, EXAMPLES / "train_digits.py", *options, cwd=guest.folder, timeout=300)
    after = int(re.search(r"killed by SIGKILL at step 230\nresumed after step (\d+)\n", text)[1])
    assert after % 20 == 0 and 220 <= after < 460  # the training may take a few steps until the signal arrives
    assert "460 losses are those of a training that nothing interrupted, bit for bit" in text
    assert reached(text) >= 98
    assert curve.read_bytes().startswith(b"\x89PNG")


def test_the_learning_curve_says_what_it_shows(tmp_path):
    """Title, legend, the running mean, and lines where the training was killed and resumed."""
    spec = importlib.util.spec_from_file_location("train_digits", EXAMPLES / "train_digits.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    losses = np.exp(-np.arange(100) / 30) + np.random.default_rng(0).random(100) / 10
    marks = [(50, "killed at step 50"), (40, "resumed after step 40")]
    curve = tmp_path / "new" / "curve.png"
    figure = program.draw_curve(losses.tolist(), [(50, 0.5), (100, 0.9)], marks, "Digits", curve)
    left, right = figure.axes
    assert left.get_title() == "Digits" and left.get_xlabel() and left.get_ylabel() and right.get_ylabel()
    lines = {line.get_label(): line for axes in (left, right) for line in axes.lines}
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(lines) and len(lines) == 5
    np.testing.assert_array_equal(lines["loss of a batch"].get_ydata(), losses)
    mean = [losses[max(0, i - 19) : i + 1].mean() for i in range(100)]
    np.testing.assert_allclose(lines["mean of 20 batches"].get_ydata(), mean)
    np.testing.assert_array_equal(lines["held-out digits that are read"].get_xydata(), [(50, 0.5), (100, 0.9)])
    assert {step: list(lines[text].get_xdata()) for step, text in marks} == {50: [50, 50], 40: [40, 40]}
    assert curve.read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_losses_do_not_depend_on_workers(guest, tmp_path):
    def losses(workers):
        file = tmp_path / f"{workers}.lt"
        options = ("--steps", "6", "--workers", workers, "--checkpoint", file, "--report")
        run(guest.python, EXAMPLES / "train_digits.py", *options, cwd=guest.folder, timeout=100)
        return lamella.load(file)["losses"]

    assert len(losses("0")) == 6 and losses("0") == losses("2")


@pytest.mark.parametrize("device", ["bank", "numpy"])
@pytest.mark.long
def test_the_convolutional_net_learns_on_other_devices(guest, tmp_path, device):
    options = ("--device", device, "--steps", "40", "--curve", tmp_path / "new" / "curve.png")
    text = run(guest.python, EXAMPLES / "train_digits.py", *options, cwd=guest.folder, timeout=300)
    assert f"40 steps on {device}" in text
    assert (tmp_path / "new" / "curve.png").exists()


@pytest.mark.long
def test_the_convolutional_net_fails_where_it_learns_nothing(guest, tmp_path):
    curve = ("--curve", tmp_path / "curve.png")
    status, text = ended(guest, "train_digits.py", "--steps", "1", *curve)
    assert status == 1 and "FAILED: the loss has not fallen" in text
    status, text = ended(guest, "train_digits.py", "--epochs", "1", *curve)
    assert status == 1 and reached(text) < 98 and "FAILED: at least 98%" in text
    status, text = ended(guest, "train_digits.py", "--kill-at", "50", "--steps", "30", *curve)
    assert status == 1 and "FAILED: the training ended with status 0" in text
