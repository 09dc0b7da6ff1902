"""<lamella/python.h>: a CPython extension module of another package passes tensors, lists, numbers and errors on."""

import gc
import math
import re
import time
import weakref
from pathlib import Path

import lamella
import pytest
from children import run

ROOT = Path(__file__).resolve().parents[2]
TAGS = (  # enum lamella_tag's name, the value's length, the given and the returned object
    ("NONE", 0, None, None),
    ("BOOLEAN", 0, True, True),
    ("INT", 0, -(2**62), -(2**62)),
    ("FLOAT", 0, 1.5, 1.5),
    ("COMPLEX", 0, 1 - 2j, 1 - 2j),
    ("STRING", 6, "schön", "schön"),
    ("DTYPE", 0, lamella.bfloat16, lamella.bfloat16),
    ("BOOL_LIST", 2, [True, False], [True, False]),
    ("INT_LIST", 3, (1, 2, 3), [1, 2, 3]),
    ("INT_LIST", 2, lamella.Size((4, 5)), [4, 5]),
    ("INT_LIST", 0, [], []),
    ("FLOAT_LIST", 2, [1, 2.5], [1.0, 2.5]),
)


def tag_names():
    text = (ROOT / "extensions/include/lamella/types.h").read_text()
    body = re.search(r"enum lamella_tag \{(.*?)\};", text, re.DOTALL).group(1)
    return re.findall(r"LAMELLA_(\w+)", re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL))


def tag(name):
    return tag_names().index(name)


def test_it_links_nothing_of_ours(face_library):
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-dW", face_library, cwd=face_library.parent))
    assert needed and not [n for n in needed if "lamella" in n or "python" in n]


def test_the_type_is_tensor(face):
    assert face.Tensor is lamella.Tensor


def test_tensors(face):
    t = lamella.tensor([1.0, -2.0])
    assert face.negative(t).tolist() == [-1, 2]
    assert face.through(t) == (tag("TENSOR"), 0, t) and face.through(t)[2] is t
    with pytest.raises(TypeError, match="negative: argument 'self'"):
        face.negative("no tensor")
    with pytest.raises(RuntimeError, match="neg: .*bool"):
        face.negative(lamella.tensor([True]))


def test_a_subclass_stays_itself(face):
    class Special(lamella.Tensor):
        pass

    t = Special(lamella.ones(2))
    assert face.through(t)[2] is t and face.negative(t).tolist() == [-1, -1]


@pytest.mark.parametrize("name, length, given, back", TAGS, ids=lambda x: str(x))
def test_values(face, name, length, given, back):
    found = face.through(given)
    assert found == (tag(name), length, back) and type(found[2]) is type(back)


def test_values_of_other_types(face):
    import numpy

    device = lamella.device("meta")
    assert face.through(device) == (tag("DEVICE"), 0, device)
    assert face.through(numpy.float32(0.5)) == (tag("FLOAT"), 0, 0.5)
    assert face.through(numpy.int16(-3)) == (tag("INT"), 0, -3)
    assert math.isnan(face.through(math.nan)[2])
    generator = lamella.default_generator()
    assert face.through(generator)[0] == tag("OBJECT")
    assert face.through(generator)[2].initial_seed() == generator.initial_seed()


def test_lists_of_tensors(face):
    a, b = lamella.ones(1), lamella.zeros(2)
    kind, length, back = face.through((a, None, b))
    assert (kind, length) == (tag("TENSOR_LIST"), 3) and back[0] is a and back[1] is None and back[2] is b


@pytest.mark.parametrize("wrong", [len, [1, len], [lamella.ones(1), 2], {1: 2}, {"a": lamella.ones(1)}])
def test_what_is_no_value(face, wrong):
    with pytest.raises(TypeError, match="expected a tensor, a number"):
        face.through(wrong)


@pytest.mark.parametrize("value", [[1, "a"], [[1]], [1j, 2], {}, {"a": [None, "b"], "c": {"d": 1.5}}], ids=repr)
def test_lists_and_dictionaries_of_values(face, value):
    kind, length, back = face.through(value)
    assert kind == tag("DICT" if isinstance(value, dict) else "VALUE_LIST") and length == len(value)
    assert back == value


def test_a_number_of_more_than_64_bits(face):
    with pytest.raises(OverflowError):
        face.through(2**64)


def test_references_are_given_back(face):
    class Special(lamella.Tensor):
        pass

    t = Special(lamella.ones(2))
    watch = weakref.ref(t)
    for _ in range(3):
        face.through(t), face.through([t, t]), face.negative(t)
    del t
    gc.collect()
    assert watch() is None


def test_an_error_of_ours_becomes_an_exception(face):
    with pytest.raises(IndexError, match="face: out of range"):
        face.errors(lambda: None)


def test_an_exception_goes_through_and_stays_itself(face):
    thrown = KeyError("mine")

    def f():
        raise thrown

    with pytest.raises(KeyError) as caught:
        face.errors(f)
    assert caught.value is thrown


def test_a_reference_is_dropped_without_the_lock(face):
    class Watched:
        pass

    o = Watched()
    watch = weakref.ref(o)
    face.drop(o)
    del o
    for _ in range(100):  # the interpreter drops the reference a moment later
        if watch() is None:
            return
        time.sleep(0.01)
    raise AssertionError("never released")


def test_operators_by_name_and_packet(face):
    assert face.name("aten::add.Tensor") == face.name("add.Tensor") == "aten::add.Tensor"
    assert face.name("aten::relu") == face.name(lamella.relu) == "aten::relu."
    lib = lamella.library.Library("face", "DEF", owner="the test")
    lib.define("once.Mine(Tensor self) -> Tensor", out=True)
    assert face.name("face::once") == face.name(lamella.ops.face.once) == "face::once.Mine"
    assert face.name("face::once.Mine_out") == "face::once.Mine_out"
    lib.define("once.Other(Tensor self, int n) -> Tensor")
    for wanted in ("face::once", lamella.ops.face.once):
        with pytest.raises(RuntimeError, match="several overloads.*face::once.Mine, face::once.Other"):
            face.name(wanted)
    with pytest.raises(RuntimeError, match="there is no face::once.Third; face::once has face::once.Mine"):
        face.name("face::once.Third")
    with pytest.raises(RuntimeError, match="there is no face::twice; define it first"):
        face.name("face::twice")
    with pytest.raises(TypeError, match="expected an operator or its name.*int"):
        face.name(3)
    lib.close()
    with pytest.raises(RuntimeError, match="there is no face::once"):
        face.name("face::once")


def test_an_attribute_takes_no_name_that_is_taken(face):
    for name in ("add", "shape", "__len__", "numpy"):
        with pytest.raises(RuntimeError, match=rf"Tensor\.{name} is taken by lamella; face\.cpp cannot"):
            face.attribute(name)
    assert lamella.ones(3).shape == (3,)
    t = lamella.ones(2, 3)
    for name in ("size_in_all", "export"):  # a free name and a planned one
        held = face.attribute(name)
        assert getattr(t, name) == 6
        with pytest.raises(RuntimeError, match=rf"Tensor\.{name} is taken by face\.cpp; face\.cpp cannot"):
            face.attribute(name)
        del held
        assert not hasattr(t, name)
    with pytest.raises(AttributeError, match="planned"):
        t.export  # noqa: B018


def test_the_module_imports_lamella_itself(face_library, host):
    host.run(
        """
        import importlib.machinery, importlib.util, sys
        loader = importlib.machinery.ExtensionFileLoader("face", sys.argv[1])
        face = importlib.util.module_from_spec(importlib.util.spec_from_loader("face", loader))
        import lamella
        assert face.negative(lamella.ones(2)).tolist() == [-1, -1]
        """,
        face_library,
    )
