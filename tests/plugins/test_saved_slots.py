"""Every value that a slot may save is the same value, of the same types, after files, pickles and copies."""

import copy
import io
import json
import math
import pickle
import random
import zipfile
from argparse import Namespace
from pathlib import Path

import lamella
import pytest
from compiled import compile_library, load
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lamella import serialization
from lamella.serialization.archive import ArchiveWriter

TENSORS = (lamella.arange(3.0), lamella.tensor(7), lamella.ones(2, 0, dtype=lamella.bool))
ITEMS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from((lamella.float32, lamella.bool, lamella.device("cpu"), lamella.device("meta"))),
    st.sampled_from((lamella.strided, lamella.channels_last)),
    st.sampled_from(TENSORS),
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.one_of(st.none(), ITEMS),
    lambda inner: st.one_of(st.lists(inner), st.lists(st.sampled_from(TENSORS)), st.dictionaries(NAMES, inner)),
)


@pytest.fixture(scope="module", autouse=True)
def library(tmp_path_factory):
    load(compile_library(tmp_path_factory, Path(__file__).with_name("saved.cpp")))


def holding(value):
    """Returns a tensor whose slot holds a value."""
    tensor = lamella.zeros(2)
    assert lamella._C._load_slot(tensor, "kept", value)
    return tensor


def held(tensor):
    return dict(lamella._C._save_slots(tensor)).get("kept")


def same(a, b):
    """Returns whether two values are equal and of the same types; NaN equals NaN."""
    if isinstance(a, lamella.Tensor):
        return isinstance(b, lamella.Tensor) and a.dtype is b.dtype and a.tolist() == b.tolist()
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b) or (a != a and b != b)
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    return a == b


def written(tensor):
    file = io.BytesIO()
    lamella.save(tensor, file)
    return file.getvalue()


def read(data):
    return lamella.load(io.BytesIO(data))


WAYS = {
    "file": lambda tensor: read(written(tensor)),
    "pickle": lambda tensor: pickle.loads(pickle.dumps(tensor)),
    "deepcopy": copy.deepcopy,
    "state_dict": lambda tensor: read(written({"layer": [tensor]}))["layer"][0],
}


@pytest.mark.parametrize("way", WAYS)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(value=VALUES)
def test_it_is_read_as_it_was_saved(way, value):
    tensor = holding(value)
    assert same(held(tensor), value)
    got = WAYS[way](tensor)
    assert same(held(got), value) and got.kept_tags == ("" if value is None else tensor.kept_tags)


@pytest.mark.parametrize(
    "value, tags",
    [
        ([1, 2], "int_list"),
        ([], "int_list"),
        ([1, 2.0], "list(int, float)"),
        ([True, 1], "list(bool, int)"),
        ([1, 2**64 - 1], "list(int, uint)"),
        ([1, None], "list(int, none)"),
        ([True, False], "bool_list"),
        ([0.5, math.inf], "float_list"),
        (["a", "b"], "list(string, string)"),
        ([TENSORS[0], None], "tensor_list"),
        ([None, TENSORS[1]], "tensor_list"),
        ([TENSORS[1], 1], "list(tensor, int)"),
        ({"scales": [TENSORS[0], TENSORS[1]], "axis": 1}, "dict(string, tensor_list, string, int)"),
        ([[TENSORS[0]], [1], {"x": TENSORS[0]}], "list(tensor_list, int_list, dict(string, tensor))"),
    ],
)
def test_the_types_that_load_gets(value, tags):
    assert holding(value).kept_tags == read(written(holding(value))).kept_tags == tags


@pytest.mark.parametrize("value", [b"bytes", {1: 2}, {"a": b""}, {1}, object(), 2**64, [2**70], lamella.Generator()])
def test_other_values_are_refused(value):
    with pytest.raises((TypeError, OverflowError)):
        holding(value)


def test_changed_text_of_a_saved_state():
    """Files whose description of a state was changed, with a right checksum, are refused or give some tensor."""
    data = written(holding({"a": [1, TENSORS[0], {"b": [0.5, None, "x"]}], "c": [TENSORS[1], TENSORS[2]]}))
    archive, rng = zipfile.ZipFile(io.BytesIO(data)), random.Random(4)
    text = archive.read("index.json").decode()
    members = {name: archive.read(name) for name in archive.namelist() if name != "index.json"}
    pieces = ['"$tensor"', '"$same"', '"$tuple"', "-1", "0", "9223372036854775808", "1e999", "null", "{}", "[[", "NaN",
              '"kept"', '"$int"', '{"$tensor": 0}', "true", '"$dict"']  # fmt: skip
    read_again = 0
    for _ in range(2000):
        at = rng.randrange(len(text))
        changed = text[:at] + rng.choice(pieces) + text[at + rng.randrange(12) :]
        file = io.BytesIO()
        writer = ArchiveWriter(file)
        for name, member in {"index.json": changed.encode(), **members}.items():
            writer.add(name, member)
        writer.finish()
        try:
            got = read(file.getvalue())
        except serialization.CheckpointError:
            continue
        read_again += isinstance(got, lamella.Tensor)
        if isinstance(got, lamella.Tensor):
            json.dumps(repr(held(got)))
    assert read_again


@pytest.mark.parametrize("state", ["unsaved", "broken"])
@pytest.mark.parametrize(
    "wrap, place",
    [
        (lambda t: t, "obj"),
        (lambda t: {"net": [1, t]}, "obj['net'][1]"),
        (lambda t: {"net": Namespace(weight=t)}, "obj['net'].weight"),
    ],
)
def test_a_slot_that_does_not_save_is_named_by_its_place(state, wrap, place, tmp_path):
    path = tmp_path / "file"
    with pytest.raises(TypeError) as error:
        lamella.save(wrap(holding(state)), path)
    assert str(error.value).startswith(f"save: {place} has a slot of a plugin that does not save it: ")
    if state == "unsaved":
        assert ": ValueError: kept: I do not save today" in str(error.value)
    cause = error.value.__cause__
    assert isinstance(cause, ValueError if state == "unsaved" else UnicodeDecodeError) and not path.exists()
    if state == "unsaved" and hasattr(cause, "__notes__"):
        assert any("the 'save' of slot 'kept'" in note for note in cause.__notes__)
