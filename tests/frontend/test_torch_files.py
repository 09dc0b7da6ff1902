"""Lamella reads torch's files, torch can read Lamella's, and a hostile file does nothing."""

import argparse
import builtins
import collections
import io
import os
import pickle
import struct
import zipfile
from pathlib import Path

import lamella
import numpy as np
import pytest
from lamella import serialization

RECORDED = Path(__file__).parents[1] / "recorded" / "torch_files"
DTYPES = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 float8_e4m3fn".split()


def recorded(name, **keywords):
    return lamella.serialization.load(RECORDED / f"{name}.pt", **keywords)


def again(obj, **keywords):
    file = io.BytesIO()
    serialization.save(obj, file, format="torch")
    file.seek(0)
    return serialization.load(file, **keywords)


def archive(data, members=(), byteorder=b"little"):
    """Makes a file in torch's format around a pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        for name, content in {"data.pkl": data, "byteorder": byteorder, "version": b"3\n", **dict(members)}.items():
            z.writestr(f"archive/{name}", content)
    file.seek(0)
    return file


def refused(data, match=None, members=()):
    with pytest.raises(pickle.UnpicklingError, match=match) as caught:
        serialization.load(archive(data, members))
    assert isinstance(caught.value, serialization.CheckpointError)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("way", [lambda x: x, again])
def test_shared_storages_stay_shared(way, mmap):
    found = way(recorded("shared", mmap=mmap))
    assert found["base"].tolist() == [0, 1, 2, 3, 4, 5] and found["same"] is found["base"]
    assert found["turned"].stride() == (1, 3)
    found["base"][2] = 9
    assert found["tail"][0].item() == 9 and found["turned"][2, 0].item() == 9


@pytest.mark.parametrize("way", [lambda x: x, again])
def test_every_dtype(way):
    found = way(recorded("numbers"))
    for name in [*DTYPES, "float8_e5m2", "complex64", "complex128"]:
        assert found[name].dtype is getattr(lamella, name)
        assert found[name].to(lamella.complex64 if "complex" in name else lamella.float32).tolist() == [0, 1, 1]
    assert found["conjugate"].tolist() == [-1j] and found["empty"].shape == (0, 3)


def test_plain_values():
    found = recorded("plain")
    assert found["tuple"] == (1, -1, 2**40, 1.5, True, None, "text", b"bytes\xff", 1 + 2j)
    assert found["set"] == {1, 2} and found["counter"] == {"a": 2, "b": 1} and found[3] == bytearray(b"ab")
    assert type(found["counter"]) is collections.Counter and found["default"].default_factory is list
    assert found["size"] == lamella.Size([1, 2]) and type(found["size"]) is lamella.Size
    assert found["device"] == lamella.device("cpu") and found["dtype"] is lamella.float16
    del found["default"]
    assert again(found) == found


@pytest.mark.parametrize("way", [lambda x: x, again])
def test_a_training_state(way):
    found = way(recorded("training"))
    model = lamella.nn.Sequential(lamella.nn.Linear(2, 3), lamella.nn.BatchNorm1d(3))
    assert model.load_state_dict(found["model"]).missing_keys == []
    assert type(found["model"]) is collections.OrderedDict and found["model"]._metadata["1"] == {"version": 2}
    assert found["optimizer"]["param_groups"][0]["betas"] == (0.9, 0.999) and found["epoch"] == 3
    # After Adam's first step exp_avg is 0.1 of the gradient, exp_avg_sq 0.001 of its square.
    state = found["optimizer"]["state"][2]
    np.testing.assert_allclose((state["exp_avg"] * 10).square(), state["exp_avg_sq"] * 1000, rtol=1e-5)


@pytest.mark.parametrize("way", [lambda x: x, again])
def test_parameters_and_attributes(way):
    plain, marked, buffer, leaf, meta = way(recorded("parameters"))
    assert type(plain) is type(marked) is lamella.nn.Parameter
    assert plain.requires_grad and not marked.requires_grad and marked.tag == "marked"
    assert isinstance(buffer, lamella.nn.Buffer) and buffer.persistent
    assert leaf.requires_grad and leaf.is_leaf and type(leaf) is lamella.Tensor
    assert meta.device.type == "meta" and meta.shape == (2,)


def test_numbers_and_arrays_of_numpy():
    found = recorded("numpy")
    assert found["scalar"] == 5 and found["scalar"].dtype == np.float32
    assert np.array_equal(found["array"], np.arange(6.0).reshape(2, 3))


def test_map_location():
    assert recorded("shared", map_location="meta")["tail"].device.type == "meta"
    seen = []
    recorded("shared", map_location=lambda storage, location: seen.append((storage.nbytes(), location)))
    assert seen == [(24, "cpu")]


def test_one_storage_under_two_dtypes():
    floats = lamella.arange(4.0)
    first, second = again([floats, floats.view(dtype=lamella.int32)])
    assert first.data_ptr() == second.data_ptr() and second.dtype is lamella.int32


def test_what_is_not_written():
    with pytest.raises(TypeError, match=r"got builtins.object at \['a'\]\[1\]"):
        again({"a": [1, object()]})
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match="a list contains itself"):
        again(loop)


def test_other_forms_are_refused_with_the_way_out():
    with pytest.raises(serialization.CheckpointError, match=r"save it again by a torch .* torch.save\(torch.load"):
        recorded("legacy")
    with pytest.raises(serialization.CheckpointError, match="big-endian"):
        serialization.load(archive(b"\x80\x02N.", byteorder=b"big"))


# ---- hostile pickles -------------------------------------------------------------------------------------------------


class Hostile:
    """An object whose pickle is a call."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize(
    "call",
    [
        (os.system, ("touch SENTINEL",)),
        (eval, ("open('SENTINEL', 'w')",)),
        (getattr, ("", "format")),
        (builtins.__import__, ("os",)),
        (io.open, ("SENTINEL", "w")),
    ],
)
def test_a_call_does_nothing_and_is_named(call, protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(["before", Hostile(*call)], protocol)
    name = call[0].__name__
    refused(data, rf"\.{name}.*(add_safe_globals|could run any code)")
    assert os.listdir(tmp_path) == []
    unsafe = serialization.get_unsafe_globals_in_checkpoint(archive(data))
    assert [found.rpartition(".")[2] for found in unsafe] == [name]


def text(x):
    return b"X" + struct.pack("<I", len(x)) + x


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02ctorch.serialization\nos.system\n.",
        b"\x80\x02cos\nsystem\n.",
        b"\x80\x02(S'x'\nios\nsystem\n.",
        b"\x80\x02ctorch\nSize\nI1\n.",
        b"\x80\x02ctorch\nSize\nK\x01\x85R.",
        b"\x80\x02ctorch\nSize\n)b.",
        b"\x80\x02cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
        b"\x80\x02c_codecs\nencode\n" + text(b"a") + text(b"rot13") + b"\x86R.",
        b"\x80\x02ccollections\ndefaultdict\nccollections\nCounter\n\x85R.",
        b"\x80\x02ccollections\nOrderedDict\n)R}" + text(b"__class__") + b"K\x01sb.",
        b"\x80\x02]}" + text(b"__setstate__") + b"K\x01sb.",
        b"\x80\x02cnumpy\ndtype\n" + text(b"O") + b"\x85R.",
        b"\x80\x02cnumpy\ndtype\n" + text(b"i4,O") + b"\x85R.",
        b"\x80\x04\x8b\xff\xff\xff\x7f.",
        b"\x80\x04\x8b\xff\xff\xff\xff.",
        b"\x80\x04\x8d" + b"\xff" * 8 + b".",
        b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7f.",
        b"\x80\x04\x96" + b"\xff" * 7 + b"\x7f.",
        b"\x80\x02r\xff\xff\xff\x7f.",
        b"\x80\x02j\xff\xff\xff\x7f.",
        b"\x80\x02" + b"\x85" * 4,
        b"\x80\x02}(K\x01u.",
        b"\x80\x02}]K\x01s.",
        b"\x80\x02",
        b"",
        b".",
        b"(.0",
        b"\x80\x09N.",
        b"\x80\x02" + text(b"x") + b"Q.",
        b"\x80\x02(" + text(b"storage") + b"ctorch\nFloatStorage\n" + text(b"0") + text(b"cpu") + b"K\x01tQ.",
        b"\x80\x02("
        + text(b"storage")
        + b"ctorch\nFloatStorage\n"
        + text(b"1")
        + text(b"cpu")
        + b"J\xff\xff\xff\x7ftQ.",
    ],
)
def test_a_damaged_or_hostile_pickle_is_refused(data):
    refused(data, members={"data/1": b"abcd"})


def test_a_window_beyond_its_storage_is_refused():
    pid = b"(" + text(b"storage") + b"ctorch\nFloatStorage\n" + text(b"1") + text(b"cpu") + b"K\x01tQ"
    call = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + pid + b"%s\x89}tR."
    good = call % b"K\x00K\x01\x85K\x01\x85"
    assert serialization.load(archive(good, {"data/1": struct.pack("<f", 2.5)})).tolist() == [2.5]
    for place in (b"K\x01K\x01\x85K\x01\x85", b"K\x00K\x02\x85K\x01\x85", b"J\xff\xff\xff\xffK\x01\x85K\x01\x85"):
        refused(call % place, members={"data/1": b"abcd"})


def test_tuples_that_double_take_no_exponential_time():
    doubled = b"\x80\x02}K\x01" + b"q\x00h\x00\x86" * 60 + b"K\x01s."
    refused(doubled, "too many parts")


def test_containers_and_arrays_come_back_from_a_file_for_torch():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    values = {
        "namespace": argparse.Namespace(lr=0.5, inner=[1]),
        "list": collections.defaultdict(list, a=[1]),
        "ordered": collections.defaultdict(collections.OrderedDict),
        "none": collections.defaultdict(None, b=2),
        "deque": collections.deque([1, (2,)], 5),
        "endless": collections.deque(),
        "frozen": frozenset({1, "a"}),
    }
    got = again(values)
    assert repr(got) == repr(values) and [type(x) for x in got.values()] == [type(x) for x in values.values()]
    arrays = [
        array,
        array.T,
        array[:, ::2],
        np.zeros((0, 2)),
        np.array(3, np.int8),
        np.array([True]),
        array.astype(">f4"),
    ]
    arrays += [array * 1j, np.arange(3, dtype=np.uint64), np.float32(2.5), np.bool_(True), np.complex64(1j)]
    for x, back in zip(arrays, again(arrays), strict=True):
        assert type(back) is type(x) and back.dtype == x.dtype.newbyteorder("=") and np.array_equal(back, x)
    assert (read := again([array, array]))[0] is read[1]
    for wrong in (np.array([None]), np.array(["a"]), collections.defaultdict(lambda: 1), {1: object()}):
        with pytest.raises(TypeError, match="a file for torch holds"):
            again(wrong)


class Config:
    """A class that a program may allow."""

    def __init__(self, width):
        self.width = width


def test_an_allowed_class_is_built():
    data = pickle.dumps({"config": Config(3)}, 2)
    refused(data, r"test_torch_files\.Config")
    with serialization.safe_globals([Config]):
        assert serialization.get_safe_globals() == [Config]
        assert serialization.load(archive(data))["config"].width == 3
        assert serialization.get_unsafe_globals_in_checkpoint(archive(data)) == []
    refused(data, "Config")
    with serialization.safe_globals([(Config, f"{Config.__module__}.Config")]):
        assert serialization.load(archive(data))["config"].width == 3
    for wrong, error in (((Config,), ValueError), ((Config, 3), TypeError), (3, TypeError)):
        with pytest.raises(error):
            serialization.add_safe_globals([wrong])


def test_builtins_that_are_harmless_can_be_allowed():
    data = pickle.dumps({"s": slice(1, 5, 2), "r": range(3)}, 2)
    refused(data, "add_safe_globals")
    with serialization.safe_globals([slice, range]):
        assert serialization.load(archive(data)) == {"s": slice(1, 5, 2), "r": range(3)}
        assert serialization.get_unsafe_globals_in_checkpoint(archive(data)) == []
    with serialization.safe_globals([eval, type, getattr]):
        refused(b"\x80\x02cbuiltins\neval\n" + text(b"1") + b"\x85R.", "any code")
        refused(b"\x80\x02c__builtin__\ntype\n" + text(b"1") + b"\x85R.", "any code")


class Other:
    """Another class of the same module."""


def test_names_are_found_where_the_pickle_remembers_its_texts():
    for protocol in range(2, 6):
        data = pickle.dumps([Config(1), Other(), {Other: 2, "a": {Config(3)}}], protocol)
        unsafe = serialization.get_unsafe_globals_in_checkpoint(archive(data))
        assert {name.rpartition(".")[2] for name in unsafe} == {"Config", "Other"}
        assert all(name.startswith(Config.__module__) for name in unsafe)
    known, evil = b"\x8c\x0bcollections", b"\x8c\x02os\x94\x8c\x06system\x94"
    data = b"\x80\x04" + evil + b"]" + known + b"\x8c\x0bOrderedDict" + b"aa" + b"h\0h\1\x93."
    with pytest.raises(pickle.UnpicklingError):  # the pickle leaves objects on the stack
        serialization.get_unsafe_globals_in_checkpoint(archive(data))
    data = b"\x80\x04(" + evil + known + b"\x8c\x0bOrderedDict" + b"h\0h\1\x93t."
    assert serialization.get_unsafe_globals_in_checkpoint(archive(data)) == ["os.system"]


@pytest.mark.parametrize(
    "name", ["torch\ncomplex32", "torch\nfloat8_e4m3fnuz", "torch._utils\n_rebuild_nested_tensor", "torch\njagged"]
)
def test_what_lamella_has_not_is_said_to_be_so(name):
    refused(b"\x80\x02c" + name.encode() + b"\n.", "that is not here")


def test_names_of_the_system_cannot_be_allowed():
    with serialization.safe_globals([(os.system, "os.system"), (os.system, "posix.system")]):
        refused(pickle.dumps(Hostile(os.system, ("true",)), 2), "system")


V2 = b"ctorch._utils\n_rebuild_tensor_v2\n("
STORAGE = b"(" + text(b"storage") + b"ctorch\nFloatStorage\n" + text(b"0") + text(b"cpu") + b"K\x01tQ"
REPEATED = V2 + STORAGE + b"K\x00J\x00\x00\x00\x40\x85K\x00\x85\x89N"  # 2**30 elements with one place in memory


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02" + REPEATED + b"}" + text(b"neg") + b"\x88stR.",
        b"\x80\x02ctorch._utils\n_rebuild_device_tensor_from_cpu_tensor\n("
        + REPEATED
        + b"tRctorch\nfloat64\n"
        + text(b"cpu")
        + b"\x89tR.",
    ],
)
def test_a_file_takes_no_more_memory_than_it_has(data):
    refused(data, "more elements than its storage", {"data/0": b"\0\0\x80\x3f"})


def test_an_array_under_a_tensor_keeps_its_memory():
    """An array's state is set once: a second time would free the memory under a tensor."""
    f4 = b"cnumpy\ndtype\n(" + text(b"f4") + b"\x89\x88tR(K\x03" + text(b"<") + b"NNNK\0K\0K\0tb"
    made = b"cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85C\1b\x87R"

    def state(count):
        data = bytes(4 * count)
        return b"(K\1K" + bytes([count]) + b"\x85" + f4 + b"\x89B" + struct.pack("<I", len(data)) + data + b"tb"

    tensor = b"ctorch._utils\n_rebuild_device_tensor_from_numpy\n(h\5ctorch\nfloat32\n" + text(b"cpu") + b"\x89tR"
    once = b"\x80\x02](" + made + b"q\5" + state(100) + tensor
    array, over = serialization.load(archive(once + b"e."))
    assert array.shape == (100,) and over.shape == (100,)
    refused(once + b"h\5" + state(10) + b"e.", "twice")
