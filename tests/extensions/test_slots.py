"""Slots whose states are C++ objects, and attributes of Tensor that are C++ functions."""

import copy
import gc
import pickle
from pathlib import Path

import lamella
import pytest
from compiled import STRICT, compile_library, load
from lamella.library import Library

SOURCE = Path(__file__).with_name("slots.cpp")


@pytest.fixture(scope="module")
def seen():
    """Registers the layer of a slot; returns the names of the operators that reach it."""
    names = []

    def handler(call, *args, **kwargs):
        names.append(call.name)
        return call(*args, **kwargs)

    library = Library("slots_layers", "FRAGMENT")
    library.register_layer("slots_layer", handler)
    yield names
    library.close()


@pytest.fixture(scope="module", autouse=True)
def slots(tmp_path_factory, seen):
    load(compile_library(tmp_path_factory, SOURCE, *STRICT))


def marked(text):
    tensor = lamella.zeros(2, 3)
    tensor.slots_mark = text
    return tensor


@pytest.mark.long
def test_a_state_is_set_read_and_taken_away():
    before = lamella.ops.slots.live()
    tensor = marked("a")
    assert tensor.slots_mark == "a" and lamella.ops.slots.live() == before + 1
    tensor.slots_mark = "b"
    assert tensor.slots_mark == "b" and lamella.ops.slots.live() == before + 1
    tensor.slots_mark = None
    assert tensor.slots_mark is None and lamella.ops.slots.live() == before
    tensor.slots_mark = "c"
    del tensor
    gc.collect()
    assert lamella.ops.slots.live() == before
    assert lamella.ops.slots.undefined(None) and lamella.ops.slots.undefined(lamella.ones(1))


WAYS = {
    0: lambda t: t[0],
    1: lambda t: t.detach(),
    2: lambda t: t.clone(),
    3: lambda t: t.to("meta"),
    4: lambda t: t.resize_(1, 2),
}


@pytest.mark.parametrize("how", WAYS)
def test_carry_makes_the_state(how):
    made = WAYS[how](marked("a"))
    assert made.slots_mark == f"a {how} [2, 3]{list(made.shape)}"


def test_carry_leaves_a_tensor_without_a_state_or_raises():
    assert marked("left").t().slots_mark is None
    before = lamella.ops.slots.live()
    stuck = marked("stuck")
    with pytest.raises(ValueError, match="mark: it is stuck"):
        stuck.t()
    del stuck
    gc.collect()
    assert lamella.ops.slots.live() == before


@pytest.mark.parametrize("way", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_what_is_saved_is_loaded(way):
    assert way(marked("a")).slots_mark == "a of 2 to 2"
    with pytest.raises(RuntimeError, match="mark: it cannot be saved"):
        way(marked("unsaved"))


def test_what_does_not_fit_is_not_loaded():
    tensor = lamella.zeros(2)
    with pytest.raises(TypeError, match="mark: expected a text, got a value with tag 2"):
        lamella._C._load_slot(tensor, "slots_mark", 3)
    assert lamella._C._load_slot(tensor, "slots_mark", "") and tensor.slots_mark is None


def test_a_state_without_members_stays_behind(seen):
    tensor = lamella.zeros(2)
    assert tensor.slots_plain is None and tensor.slots_tensor is None
    tensor.slots_plain = 3
    assert tensor.slots_plain == 3 and tensor.slots_tensor.is_set_to(tensor)
    assert tensor.clone().slots_plain is None and tensor[1:].slots_plain is None
    assert copy.deepcopy(tensor).slots_plain is None


def test_a_state_switches_its_layer_on(seen):
    tensor = lamella.zeros(2)
    seen.clear()
    tensor.sin()
    assert seen == []
    tensor.slots_plain = 1
    seen.clear()
    tensor.sin()
    assert seen == ["aten::sin"]


LONELY = """
#include <lamella/slot.h>
static lamella::Slot<int> slot;
LAMELLA_LIBRARY(slots_lonely, m) { m.tensor_slot("lonely", slot, "nobody"); }
"""


def test_a_layer_that_is_not_there(tmp_path_factory):
    library = compile_library(tmp_path_factory, LONELY, *STRICT)
    why = "tensor_slot: 'lonely' belongs to the layer 'nobody', which no library has registered; register it first"
    with pytest.raises(RuntimeError, match=why):
        lamella.ops.load_library(library)


# ---- attributes -----------------------------------------------------------------------------------------------------

FITTING = {
    "int": (7, "7"),
    "float": (0.5, "0.5"),
    "bool": (True, "true"),
    "str": ("word", "word"),
    "dtype": (lamella.int16, "int16"),
    "device": (lamella.device("meta"), "meta"),
    "layout": (lamella.strided, "0"),
    "format": (lamella.channels_last, "2"),
    "complex": (1 + 2j, "1 2"),
    "scalar": (2, "2.000000"),
    "any_tensor": (lamella.zeros(2, 3), "[2, 3]"),
    "maybe": (None, "none"),
    "value": ([1, 2], "12"),
}


@pytest.mark.parametrize("name", FITTING)
def test_a_setter_gets_its_type(name):
    tensor, (value, shown) = lamella.zeros(1), FITTING[name]
    setattr(tensor, f"slots_{name}", value)
    assert getattr(tensor, f"slots_{name}") == shown


def test_numbers_become_wider():
    tensor = lamella.zeros(1)
    tensor.slots_float = 3
    assert tensor.slots_float == "3"
    tensor.slots_complex = 0.5
    assert tensor.slots_complex == "0.5 0"
    tensor.slots_scalar = True
    assert tensor.slots_scalar == "1.000000"
    tensor.slots_maybe = 4
    assert tensor.slots_maybe == "4"


WRONG = {
    "int": ("int", 0.5),
    "float": ("float", "0.5"),
    "bool": ("bool", 1),
    "str": ("str", 1),
    "dtype": ("ScalarType", "int16"),
    "device": ("Device", 0),
    "layout": ("Layout", 0),
    "format": ("MemoryFormat", 0),
    "complex": ("complex", "1"),
    "scalar": ("Scalar", None),
    "any_tensor": ("Tensor", None),
    "maybe": (r"int\?", [1]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_value_of_another_type_is_refused(name):
    kind, value = WRONG[name]
    with pytest.raises(TypeError, match=rf"Tensor.slots_{name}: expected {kind}, got a value with tag \d"):
        setattr(lamella.zeros(1), f"slots_{name}", value)


def test_a_getter_may_throw_and_an_attribute_may_be_read_only():
    with pytest.raises(IndexError, match="slots_throws: got 2 dimensions"):
        _ = lamella.zeros(1, 1).slots_throws
    with pytest.raises(AttributeError, match="the plugin gives it no setter"):
        lamella.zeros(1).slots_throws = 1
