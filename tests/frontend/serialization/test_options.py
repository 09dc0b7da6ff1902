"""serialization's switches of torch, and functions that place storages on devices."""

import io
import mmap
import threading

import lamella
import numpy as np
import pytest
from lamella import serialization
from lamella.serialization import options


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr(options, "packages", [])
    yield
    serialization.set_default_load_endianness(None)
    serialization.set_crc32_options(True)


def saved(obj, **how):
    file = io.BytesIO()
    lamella.save(obj, file, **how)
    file.seek(0)
    return file


@pytest.mark.parametrize("format", ["lamella", "torch"])
def test_deserializers_are_called_in_order(format):
    calls = []

    def place(name, result):
        return lambda storage, location: calls.append((name, location, storage.nbytes())) or result

    serialization.register_package(20, lambda s: "late", place("late", lamella.full((3,), 9.0).untyped_storage()))
    serialization.register_package(10, lambda s: None, place("early", None))
    file = saved({"a": lamella.ones(3)}, format=format)
    assert lamella.load(file)["a"].tolist() == [9.0] * 3
    assert calls == [("early", "cpu", 12), ("late", "cpu", 12)]
    file.seek(0)
    assert lamella.load(file, map_location="cpu")["a"].tolist() == [1.0] * 3 and len(calls) == 2
    assert serialization.location_tag(lamella.ones(1).untyped_storage()) == "late"


def test_no_result_leaves_the_saved_device():
    serialization.register_package(1, lambda s: None, lambda storage, location: None)
    assert lamella.load(saved(lamella.ones(2))).tolist() == [1.0, 1.0]
    storage = lamella.ones(2).untyped_storage()
    assert serialization.location_tag(storage) == "cpu"
    assert serialization.default_restore_location(storage, "cpu") is storage
    moved = serialization.default_restore_location(storage, "meta")
    assert str(moved.device) == "meta" and moved.nbytes() == 8
    with pytest.raises(RuntimeError):
        serialization.default_restore_location(storage, "no_such_device")


@pytest.mark.parametrize("result, words", [(3, "got int"), (lamella.ones(9).untyped_storage(), "got 36 bytes")])
def test_bad_results_of_a_deserializer(result, words):
    serialization.register_package(1, lambda s: None, lambda storage, location: result)
    with pytest.raises(TypeError, match=f"must return None or a storage of 8 bytes, {words}"):
        lamella.load(saved(lamella.ones(2)))


def test_an_error_of_a_deserializer_is_its_own():
    def fail(storage, location):
        raise KeyError("mine")

    serialization.register_package(1, lambda s: None, fail)
    with pytest.raises(KeyError, match="mine"):
        lamella.load(saved(lamella.ones(2)))


def test_order_of_bytes():
    import zipfile

    file = saved(lamella.ones(2), format="torch")
    bare = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(bare, "w") as new:
        for name in old.namelist():
            if not name.endswith("byteorder"):
                new.writestr(name, old.read(name))
    both = serialization.LoadEndianness
    for order, refused in [(None, False), (both.NATIVE, False), (both.LITTLE, False), (both.BIG, True)]:
        serialization.set_default_load_endianness(order)
        assert serialization.get_default_load_endianness() is order
        bare.seek(0)
        if refused:
            with pytest.raises(serialization.CheckpointError, match="big-endian numbers"):
                lamella.load(bare)
        else:
            assert lamella.load(bare).tolist() == [1.0, 1.0]
        file.seek(0)
        assert lamella.load(file).tolist() == [1.0, 1.0]  # this file says its own
    with pytest.raises(TypeError, match="must be a LoadEndianness or None, got str"):
        serialization.set_default_load_endianness("little")


def test_switches():
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with serialization.set_default_mmap_options(mmap.MAP_PRIVATE):
        pass
    with pytest.raises(ValueError, match="must be mmap.MAP_PRIVATE, got"):
        serialization.set_default_mmap_options(mmap.MAP_SHARED)
    assert serialization.get_crc32_options() is True
    serialization.set_crc32_options(False)
    assert serialization.get_crc32_options() is False
    file = saved(lamella.arange(1000), format="torch")
    data = bytearray(file.getvalue())
    at = data.index(lamella.arange(1000).numpy().tobytes()[400:800])
    data[at] ^= 1
    with pytest.raises(serialization.CheckpointError):  # checksums are written and compared all the same
        lamella.load(io.BytesIO(bytes(data)))


@pytest.mark.parametrize("format", ["lamella", "torch"])
def test_skipped_data(format):
    """Files have the same size with zeros in place of bytes; loaded tensors share storages as the file says."""
    x = lamella.arange(6.0).reshape(2, 3)
    tree = {"x": x, "t": x.t(), "n": lamella.tensor([1, 2]), "text": "kept"}
    whole = saved(tree, format=format)
    with serialization.skip_data():
        hollow = saved(tree, format=format)
        got = lamella.load(saved(tree, format=format))
        loaded = lamella.load(whole)
    assert len(hollow.getvalue()) == len(whole.getvalue())
    for found in (got, loaded, lamella.load(hollow)):
        assert found["text"] == "kept" and found["t"].stride() == (1, 3) and found["n"].dtype == lamella.int64
        assert not found["x"].any() and not found["n"].any()
        found["x"][1, 0] = 5
        assert found["t"][0, 1] == 5
    whole.seek(0)
    assert lamella.load(whole)["x"].tolist() == x.tolist()


def test_skipped_data_of_mixed_devices():
    """Arrays of numpy are whole, and tensors on "meta" have no bytes, as without the block."""
    with serialization.skip_data():
        got = lamella.load(saved({"a": np.arange(3), "m": lamella.empty(4, device="meta"), "z": lamella.ones(0)}))
    assert got["a"].tolist() == [0, 1, 2] and got["m"].device.type == "meta" and got["z"].shape == (0,)


def test_blocks_of_skipped_data_nest_and_end():
    block = serialization.skip_data()
    with pytest.raises(KeyError), block, block:
        with serialization.skip_data(materialize_fake_tensors=True):
            pass
        assert options.skips_data()
        raise KeyError
    assert not options.skips_data()
    seen = []
    with block:
        thread = threading.Thread(target=lambda: seen.append(options.skips_data()))
        thread.start()
        thread.join()
    assert seen == [False]
