"""Values that a checkpoint keeps, values that are refused before a byte is written, and the bytes themselves."""

import collections
import gc
import io
import json
import math
import os
import subprocess
import sys
import weakref
import zipfile
from argparse import Namespace

import lamella
import numpy as np
import pytest
from arrays import DTYPES, assert_same, pairs
from hypothesis import given
from hypothesis import strategies as st
from lamella import serialization


def saved(obj):
    file = io.BytesIO()
    lamella.save(obj, file)
    return file.getvalue()


def again(obj):
    return lamella.load(io.BytesIO(saved(obj)))


keys = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=5) | st.binary(max_size=5)
    | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
plain = st.recursive(
    keys | st.complex_numbers(allow_nan=False) | st.sampled_from([lamella.float32, lamella.strided]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=3).map(collections.OrderedDict)
        | st.sets(keys, max_size=3)
    ),
    max_leaves=12,
)


def shape_of(x):
    """Returns the types and order of everything in a value, which == ignores."""
    if isinstance(x, dict):
        return type(x), [(shape_of(k), shape_of(v)) for k, v in x.items()]
    if isinstance(x, (list, tuple)):
        return type(x), [shape_of(v) for v in x]
    if isinstance(x, (set, frozenset)):
        return type(x), sorted((shape_of(v) for v in x), key=repr)
    return type(x), repr(x)


@given(plain)
def test_plain_values(value):
    got = again(value)
    assert shape_of(got) == shape_of(value)
    assert saved(got) == saved(value)


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_tensors(dtype, data):
    x, t = data.draw(pairs(dtype, tuple(data.draw(st.lists(st.integers(0, 4), max_size=4)))))
    u = again(t)
    assert_same(u, x)
    assert (u.dtype, u.stride(), u.storage_offset()) == (t.dtype, t.stride(), t.storage_offset())


def test_values_that_hypothesis_does_not_draw():
    value = {
        "nan": float("nan"), "inf": -math.inf, "zero": -0.0, "int": -(10**5000), "text": "\ud800\0é", "$tag": 1,
        "size": lamella.Size([2, 3]), "device": lamella.device("meta"), "format": lamella.channels_last,
        "bytearray": bytearray(b"ab"), "default": collections.defaultdict(list, {"a": [1]}),
        "deque": collections.deque([1, 2], 3), "args": Namespace(lr=0.1),
    }  # fmt: skip
    got = again(value)
    assert math.isnan(got.pop("nan")) and math.copysign(1, got["zero"]) == -1
    value.pop("nan")
    assert got == value and list(got) == list(value)
    assert got["default"]["new"] == [] and type(got["size"]) is lamella.Size and got["deque"].maxlen == 3
    generator = lamella.Generator().manual_seed(5)
    generator.set_state((5, 40))
    assert again(generator).get_state() == (5, 40)


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3), np.float32(1.5), np.float64(2), np.bool_(True), np.array("2020-01-01", "M8[D]"),
     np.array(["a", "bcd"]), np.zeros((0, 3), ">i2"), np.arange(6).reshape(2, 3).T, np.complex64(1j), np.str_("x")],
    ids=repr,
)  # fmt: skip
def test_numpy(array):
    got = again([array])[0]
    assert type(got) is type(array) and got.dtype == array.dtype
    np.testing.assert_array_equal(got, array)


def test_what_shares_memory_goes_on_sharing():
    t = lamella.arange(6.0)
    a, b, c, s = again((t, t[2:].view(2, 2).t(), t, t.untyped_storage()))
    a[2] = 50
    assert a is c and b[0, 0].item() == 50 and b.stride() == (1, 2) and s.data_ptr() == a.data_ptr()
    inner = [1]
    x = again({"a": inner, "b": (inner,)})
    assert x["a"] is x["b"][0]
    big = lamella.zeros(1000)
    assert len(saved([big, big.view(10, 100), big[:5]])) < 5000  # the storage is written once


def test_shared_containers_do_not_multiply():
    x = []
    for _ in range(60):
        x = [x, x]
    assert len(saved(x)) < 5000
    got = again(x)
    assert got[0] is got[1]


def test_parameters_attributes_and_state():
    layer = lamella.nn.Linear(3, 2)
    parameter = lamella.nn.Parameter(lamella.ones(2), requires_grad=False)
    parameter.note = {"a": [1]}
    leaf = lamella.ones(1).requires_grad_()
    got = again({"p": parameter, "leaf": leaf, "state": layer.state_dict(), "list": list(layer.parameters())})
    assert type(got["p"]) is lamella.nn.Parameter and not got["p"].requires_grad and got["p"].note == {"a": [1]}
    assert type(got["leaf"]) is lamella.Tensor and got["leaf"].requires_grad and got["leaf"].is_leaf
    assert got["list"][0].requires_grad and got["state"]._metadata == layer.state_dict()._metadata
    other = lamella.nn.Linear(3, 2)
    other.load_state_dict(got["state"])
    assert other.weight.tolist() == layer.weight.tolist()


def test_meta_has_no_bytes():
    t = lamella.empty(3, 10**6, device="meta")[1:]
    assert len(saved(t)) < 1000
    u = again(t)
    assert u.device.type == "meta" and u.shape == t.shape and u.storage_offset() == t.storage_offset()


Pair = collections.namedtuple("Pair", "a b")
CYCLE: list = []
CYCLE.append({"c": CYCLE})


class Mine:
    pass


class Text(str):
    pass


class Tagged(lamella.Tensor):
    pass


def noted():
    t = lamella.ones(1)
    t.hook = print
    return t


@pytest.mark.parametrize(
    "obj, words",
    [
        (
            lambda: {"model": {"opt": lamella.optim.SGD([lamella.ones(1)])}},
            r"obj\['model'\]\['opt'\] is a .*SGD.*state_dict\(\)",
        ),
        (lambda: [lambda: 1], r"obj\[0\] is code"),
        (lambda: ({2: object},), r"obj\[0\]\[2\] is code"),
        (lambda: {"p": Pair(1, 2)}, r"obj\['p'\] is a named tuple.*save tuple\(x\)"),
        (lambda: Mine(), "obj is a .*Mine, which a checkpoint does not hold"),
        (lambda: [Text("a")], r"obj\[0\] is a .*Text.*save str\(x\)"),
        (lambda: CYCLE, r"obj\[0\]\['c'\] contains itself"),
        (lambda: {frozenset([Mine()]): 1}, "is a key of frozenset"),
        (lambda: [Tagged(lamella.ones(1))], r"obj\[0\] is a Tagged.*as_subclass"),
        (lambda: {"t": noted()}, r"obj\['t'\]\.hook is code"),
        (lambda: collections.defaultdict(lambda: 1), "factory is no plain type"),
        (lambda: np.array([None]), "numpy array of dtype object"),
        (lambda: [lamella.nn.UninitializedParameter()], "without a shape"),
    ],
)
def test_what_is_refused_and_where(obj, words, tmp_path):
    with pytest.raises(TypeError, match=words):
        lamella.save(obj(), tmp_path / "x")
    assert os.listdir(tmp_path) == []


def test_too_deep():
    x = []
    for _ in range(100000):
        x = [x]
    with pytest.raises(ValueError, match="nested too deeply"):
        lamella.save(x, io.BytesIO())


def test_the_bytes_are_a_zip_of_aligned_members(tmp_path):
    path = tmp_path / "x.lamella"
    lamella.save({"a": lamella.ones(3), "b": lamella.arange(1000)}, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = [m.filename for m in archive.infolist()]
        assert names == ["index.json", "data/0", "data/1"]
        assert np.frombuffer(archive.read("data/0"), np.float32).tolist() == [1, 1, 1]
        index = json.loads(archive.read("index.json"))
        assert index["format"] == "lamella" and index["version"] == 1
        assert index["object"] == {"a": {"$tensor": 0}, "b": {"$tensor": 1}}
        assert index["tensors"][0] == [0, "float32", [3], None, 0]
    native = serialization.archive.Archive(path)
    assert all(native.offset(n) % 64 == 0 for n in names)


def test_the_same_object_gives_the_same_bytes_in_every_process():
    code = "import lamella, io, hashlib; f = io.BytesIO(); lamella.save({'s': {'a', 'b', 1}, 't': lamella.ones(5)}, f)"
    code += "; print(hashlib.sha256(f.getvalue()).hexdigest())"
    found = {
        subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
                       capture_output=True, text=True, timeout=60).stdout
        for seed in "12"
    }  # fmt: skip
    assert len(found) == 1


def test_crc32_is_that_of_zips():
    import zlib

    data = os.urandom(5000)
    for start in (0, 1, 7):
        for size in (*range(0, 200), 1000, 4991):
            part = data[start : start + size]
            assert lamella._C._crc32(part) == zlib.crc32(part)
            assert lamella._C._crc32(part, 123) == zlib.crc32(part, 123)


def test_text_with_two_surrogates_is_no_character():
    pair, character = "\ud800\udc00", "\U00010000"
    obj = {pair: 1, character: [pair, character, "\udc00\ud800"], "plain": {pair: {pair}}}
    assert again(obj) == obj


def test_nothing_holds_what_was_loaded_but_the_user():
    data = saved({"t": lamella.ones(100), "list": [lamella.zeros(3)]})
    gc.collect()
    gc.disable()
    try:
        made = lamella.load(io.BytesIO(data))
        tensor = weakref.ref(made["t"])
        del made
        assert tensor() is None
        some = lamella.load(io.BytesIO(data), tensors=["t"])
        tensor = weakref.ref(some["t"])
        del some
        assert tensor() is None
    finally:
        gc.enable()
