"""How tensors print: laid out as torch 2.13 does, by strings that tests/recorded/record_repr.py recorded from it."""

import json
import math
import sys
from pathlib import Path

import lattis
import pytest

RECORDED = Path(__file__).resolve().parents[1] / "recorded"
sys.path.insert(0, str(RECORDED))

from repr_inputs import cases  # noqa: E402

CASES = cases()
STRINGS = json.loads((RECORDED / "repr.json").read_text())


@pytest.fixture(autouse=True)
def options_put_back():
    yield
    lattis.set_printoptions(profile="default")


def test_the_recording_is_of_these_inputs():
    assert list(STRINGS) == list(CASES) and len(CASES) >= 150


def shown():
    for name in STRINGS:
        needs = CASES[name].needs
        yield pytest.param(name, marks=pytest.mark.needs(needs) if needs else ())


@pytest.mark.parametrize("name", list(shown()))
def test_as_torch_prints(name):
    assert CASES[name].text(lattis) == STRINGS[name].replace("torch.", "lattis.")


def test_notes_begin_a_new_line_where_they_do_not_fit():
    """Our dtypes' names are one letter longer than torch's: the rule is checked on its own."""
    for n in range(1, 12):
        text = repr(lattis.full((n,), 1234567, dtype=lattis.int32))
        *_, last = text.splitlines()
        assert len(last) <= 80 and text.endswith("dtype=lattis.int32)")
        assert ("\n" in text) == (len(text.replace("\n       ", " ")) > 80)


def test_the_default_dtype_needs_no_note():
    t = lattis.tensor([1.0], dtype=lattis.float64)
    assert repr(t) == "tensor([1.], dtype=lattis.float64)"
    lattis.set_default_dtype(lattis.float64)
    assert repr(t) == "tensor([1.])"
    assert repr(t.to(lattis.complex128)) == "tensor([1.+0.j])"
    assert repr(t.to(lattis.float32)) == "tensor([1.], dtype=lattis.float32)"


def test_options_stay_until_they_change():
    lattis.set_printoptions(precision=2)
    lattis.set_printoptions(threshold=3)
    assert repr(lattis.tensor([0.125] * 7)) == "tensor([0.12, 0.12, 0.12,  ..., 0.12, 0.12, 0.12])"
    lattis.set_printoptions(profile="default")
    assert repr(lattis.tensor([0.125] * 2)) == "tensor([0.1250, 0.1250])"


def test_sci_mode_is_forgotten_by_the_next_call():
    lattis.set_printoptions(sci_mode=True)
    assert repr(lattis.tensor([0.5])) == "tensor([5.0000e-01])"
    lattis.set_printoptions(precision=4)
    assert repr(lattis.tensor([0.5])) == "tensor([0.5000])"


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
    before = repr(lattis.rand(3, 400))
    with pytest.raises(error, match=f"^set_printoptions: argument '{list(given)[-1]}'"):
        lattis.set_printoptions(**given, **({} if "linewidth" in given else {"linewidth": 20}))
    assert len(repr(lattis.rand(3, 400)).splitlines()) == len(before.splitlines())


def test_printing_reads_only_what_it_shows():
    """A tensor of 4 TB that lies on one element prints at once."""
    text = repr(lattis.ones(1).expand(10**6, 10**6))
    assert text.count("1.") == 36 and len(text) < 500
