"""Tensors print as in torch 2.13, whose texts tests/recorded/record_repr.py recorded."""

import json
import math
import sys
from pathlib import Path

import lamella
import pytest

RECORDED = Path(__file__).resolve().parents[1] / "recorded"
sys.path.insert(0, str(RECORDED))

from repr_inputs import cases  # noqa: E402

CASES = cases()
STRINGS = json.loads((RECORDED / "repr.json").read_text())


@pytest.fixture(autouse=True)
def options_put_back():
    yield
    lamella.set_printoptions(profile="default")


def test_the_recording_is_of_these_inputs():
    assert list(STRINGS) == list(CASES) and len(CASES) >= 150


def shown():
    for name in STRINGS:
        needs = CASES[name].needs
        yield pytest.param(name, marks=pytest.mark.needs(needs) if needs else ())


@pytest.mark.parametrize("name", list(shown()))
def test_as_torch_prints(name):
    assert CASES[name].text(lamella) == STRINGS[name].replace("torch.", "lamella.")


def test_notes_begin_a_new_line_where_they_do_not_fit():
    """Our dtypes' names are one letter longer than torch's, so this rule is checked separately."""
    for n in range(1, 12):
        text = repr(lamella.full((n,), 1234567, dtype=lamella.int32))
        *_, last = text.splitlines()
        assert len(last) <= 80 and text.endswith("dtype=lamella.int32)")
        assert ("\n" in text) == (len(text.replace("\n       ", " ")) > 80)


def test_the_default_dtype_needs_no_note():
    t = lamella.tensor([1.0], dtype=lamella.float64)
    assert repr(t) == "tensor([1.], dtype=lamella.float64)"
    lamella.set_default_dtype(lamella.float64)
    assert repr(t) == "tensor([1.])"
    assert repr(t.to(lamella.complex128)) == "tensor([1.+0.j])"
    assert repr(t.to(lamella.float32)) == "tensor([1.], dtype=lamella.float32)"


def test_options_stay_until_they_change():
    lamella.set_printoptions(precision=2)
    lamella.set_printoptions(threshold=3)
    assert repr(lamella.tensor([0.125] * 7)) == "tensor([0.12, 0.12, 0.12,  ..., 0.12, 0.12, 0.12])"
    lamella.set_printoptions(profile="default")
    assert repr(lamella.tensor([0.125] * 2)) == "tensor([0.1250, 0.1250])"


def test_sci_mode_is_forgotten_by_the_next_call():
    lamella.set_printoptions(sci_mode=True)
    assert repr(lamella.tensor([0.5])) == "tensor([5.0000e-01])"
    lamella.set_printoptions(precision=4)
    assert repr(lamella.tensor([0.5])) == "tensor([0.5000])"


@pytest.mark.parametrize(
    "given, error",
    [
        ({"precision": -1}, ValueError),
        ({"precision": 1.5}, TypeError),
        ({"precision": "4"}, TypeError),
        ({"threshold": -1}, ValueError),
        ({"threshold": math.nan}, TypeError),
        ({"edgeitems": -1}, ValueError),
        ({"edgeitems": True}, TypeError),
        ({"linewidth": None, "edgeitems": 2.0}, TypeError),
        ({"profile": "long"}, ValueError),
        ({"sci_mode": "yes"}, TypeError),
    ],
)
def test_bad_options(given, error):
    x = lamella.ones(3, 400)
    before = repr(x)
    with pytest.raises(error, match=f"^set_printoptions: argument '{list(given)[-1]}'"):
        lamella.set_printoptions(**given, **({} if "linewidth" in given else {"linewidth": 20}))
    assert repr(x) == before


def test_printing_reads_only_what_it_shows():
    """A tensor of 4 TB whose elements share one place in memory prints at once."""
    text = repr(lamella.ones(1).expand(10**6, 10**6))
    assert text.count("1.") == 36 and len(text) < 500
