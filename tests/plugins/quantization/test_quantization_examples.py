"""The examples of quantization, run as a reader runs them, with smaller models: tables, bounds, status, picture."""

import importlib
import re
import subprocess

import lamella
import numpy as np
import pytest
from children import clean_environment
from environments import EXAMPLES
from lamella.utils.data import Subset

WAYS = ["float32", "int8 weights", "int4 weights", "dynamic int8", "static int8", "trained int8"]
CONFIGURATIONS = ["float32", "Int8WeightOnly", "Int4WeightOnly", "Int8Dynamic", "Int8DynamicInt4Weight", "Static"]
NETS = ["convolutional", "transformer"]


@pytest.fixture
def digits(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("quantize_digits")


def ended(host, program, *options):
    """Runs a program that may fail; returns its exit status, output and errors."""
    command = [host.python, EXAMPLES / program, *options]
    done = subprocess.run(
        command, cwd=host.folder, env=clean_environment(), capture_output=True, text=True, timeout=200
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.long
def test_two_nets_are_quantized_in_five_ways(host, tmp_path):
    """Nets too narrow for the factors: the program says so, and fails."""
    picture = tmp_path / "new" / "digits.png"
    status, text, _ = ended(host, "quantize_digits.py", "--epochs", "3", "--width", "64", "--picture", picture)
    rows = re.findall(r"^(\w+) +(\w+(?: \w+)?) +([\d.]+)% +(\d+) +([\d.]+)x +([\d.]+)$", text, re.MULTILINE)
    assert [(r[0], r[1]) for r in rows] == [(net, way) for net in NETS for way in WAYS]
    reads = {r[:2]: float(r[2]) for r in rows}
    sizes = {r[:2]: int(r[3]) for r in rows}
    failed = re.findall(r"^FAILED: (\w+), ([\w ]+): the file is ([\d.]+) times smaller", text, re.MULTILINE)
    expected = []
    for net, way, _, size, smaller, _ in rows:
        factor = sizes[net, "float32"] / int(size)
        assert factor == pytest.approx(float(smaller), abs=0.006)
        assert reads[net, way] > reads[net, "float32"] - 3
        if way != "float32":
            assert factor > (4.5 if "int4" in way else 3)
            if factor < (6 if "int4" in way else 3.6):
                expected.append((net, way, f"{factor:.2f}"))
    assert min(reads.values()) > 50
    assert failed == expected and ("transformer", "int4 weights") in {f[:2] for f in failed} and status == 1
    assert picture.read_bytes().startswith(b"\x89PNG") and str(picture) in text


@pytest.mark.parametrize("net", NETS)
def test_files_of_the_whole_nets_shrink(digits, net):
    """The factors that the program demands, with nets of its width that have hardly been trained."""
    lamella.manual_seed(0)
    model = digits.Reader(1024) if net == "convolutional" else digits.Transformer(256)
    few = Subset(digits.split_digits()[0], range(32))
    whole = digits.size_of(model.eval())
    numbers = sum(p.numel() for p in model.parameters())
    assert 4 * numbers < whole < 4.02 * numbers
    weights = sum(m.weight.numel() for m in model.modules() if type(m) is lamella.nn.Linear)
    found = {}
    for way, made in digits.quantized(model, few, 1, 1e-4):
        found[way] = whole / digits.size_of(made)
        assert whole / found[way] > weights * (4 if "int4" in way else 8) / 8
    assert list(found) == WAYS[1:]
    assert found.pop("int4 weights") >= 6 and min(found.values()) >= 3.6


def test_missed_bounds_of_digits(digits):
    def missed(way, share, size, plain=0.99):
        return digits.missed([("net", "float32", plain, 3600, 1.0), ("net", way, share, size, 1.0)])

    for way, most in (("static int8", 0.005), ("trained int8", 0.005), ("int4 weights", 0.01)):
        assert not missed(way, 0.9901 - most, 600) and not missed(way, 1.0, 600)
        (line,) = missed(way, 0.9899 - most, 600)
        assert line.startswith(f"net, {way}: ") and f"at most {most:.1%}" in line
    for way in WAYS[1:]:
        size = 600 if way == "int4 weights" else 1000
        assert not missed(way, 0.99, size)
        (line,) = missed(way, 0.99, size + 1)
        assert line.startswith(f"net, {way}: the file is ")
    assert missed("static int8", 0.9, 600, plain=0.9) == ["net: 90.00% of the digits are read, at least 95% were to be"]


def test_the_picture_of_digits_has_every_row(digits, tmp_path):
    rng = np.random.default_rng(0)
    rows = [(net, way, *rng.random(3)) for net in NETS for way in WAYS]
    figure = digits.draw(rows, tmp_path / "new" / "picture.png")
    for net, axes in zip(NETS, np.reshape(figure.axes, (2, 2)), strict=True):
        for axis, column, unit in zip(axes, (3, 4), (1e-6, 1), strict=True):
            assert axis.get_title() == net and axis.get_xlabel()
            assert [line.get_label() for line in axis.lines] == WAYS
            shown = [line.get_xydata()[0] for line in axis.lines]
            np.testing.assert_allclose(shown, [(r[column] * unit, 100 * r[2]) for r in rows if r[0] == net])
            for line in axis.lines:
                (x, y), (left, right), (low, high) = line.get_xydata()[0], axis.get_xlim(), axis.get_ylim()
                assert left < x < right and low < y < high
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == WAYS
    assert (tmp_path / "new" / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_a_gpt_is_quantized_in_five_ways(host):
    status, text, _ = ended(host, "quantize_gpt.py", "--steps", "500", "--width", "64", "--layers", "1")
    rows = re.findall(r"^(\w+) +([\d.]+) +(-?[\d.]+)% +(\d+) +([\d.]+)x +([\d.]+)$", text, re.MULTILINE)
    assert status == 0 and "FAILED" not in text and [r[0] for r in rows] == CONFIGURATIONS
    plain, whole = float(rows[0][1]), int(rows[0][3])
    by_frequency = float(re.search(r"frequencies alone, the perplexity would be ([\d.]+)", text)[1])
    assert 20 < by_frequency < 40 and plain < by_frequency / 2
    least = {"Int8WeightOnly": 3, "Int4WeightOnly": 4.5, "Int8Dynamic": 2, "Int8DynamicInt4Weight": 2.5, "Static": 2}
    for name, perplexity, raised, size, smaller, _ in rows[1:]:
        factor = float(perplexity) / plain
        assert factor - 1 == pytest.approx(float(raised) / 100, abs=2e-4)
        assert 0.99 < factor < (1.05 if "Int4" in name else 1.01)
        assert whole / int(size) == pytest.approx(float(smaller), abs=0.006) and whole / int(size) > least[name]


@pytest.mark.long
def test_a_gpt_that_has_not_learned_fails(host):
    status, text, _ = ended(host, "quantize_gpt.py", "--steps", "1", "--width", "32", "--layers", "1")
    assert status == 1 and re.search(r"^FAILED: a perplexity of [\d.]+ is not half that", text, re.MULTILINE)


@pytest.mark.parametrize("program", ["quantize_digits.py", "quantize_gpt.py"])
def test_options_that_cannot_be(host, program):
    status, _, errors = ended(host, program, "--width", "30")
    assert status == 2 and "--width" in errors and "multiple of" in errors
