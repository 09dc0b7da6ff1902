"""Hostile files cost only memory and time proportional to their size; also keys, bools and pipes."""

import io
import json
import os
import pickle
import struct
import subprocess
import sys
import threading

import lamella
import numpy
import pytest
from lamella import serialization
from lamella.serialization import limits
from lamella.serialization.archive import ArchiveWriter

PRIME = 2**61 - 1  # Python hashes integers modulo this number


def of_torch(data, *storages):
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    writer.add("archive/data.pkl", data)
    for n, storage in enumerate(storages):
        writer.add(f"archive/data/{n}", storage)
    writer.finish()
    return file.getvalue()


def own(obj, tensors=(), storages=(), *members):
    index = {"format": "lamella", "version": 1, "storages": storages, "tensors": tensors, "object": obj}
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    writer.add("index.json", json.dumps(index).encode())
    for n, data in enumerate(members):
        writer.add(f"data/{n}", data)
    writer.finish()
    return file.getvalue()


def text(s):
    return b"X" + struct.pack("<I", len(s)) + s


def name(full):
    module, _, last = full.rpartition(".")
    return f"c{module}\n{last}\n".encode()


def array(n):
    dtype = name("numpy.dtype") + b"(" + text(b"f4") + b"\x89\x88tR(K\x03" + text(b"<") + b"NNNK\0K\0K\0tb"
    made = name("numpy._core.multiarray._reconstruct") + name("numpy.ndarray") + b"K\0\x85C\1b\x87R"
    return made + b"(K\1J" + struct.pack("<i", n) + b"\x85" + dtype + b"\x89h\0tb"


STORAGE = b"(" + text(b"storage") + name("torch.FloatStorage") + text(b"0") + text(b"cpu") + b"J\0\0\1\0tQ"
WINDOW = b"(" + STORAGE + b"K\0J\0\0\1\0\x85K\1\x85\x89N"
REBUILD = name("torch._utils._rebuild_tensor_v2")
CONVERT = name("torch._utils._rebuild_device_tensor_from_cpu_tensor")
NUMBERS = b"(" + b"".join(b"J" + struct.pack("<i", i) for i in range(20_000)) + b"t"
LONG = b"B" + struct.pack("<I", 1 << 18) + bytes(1 << 18)
TIMES = 3000
# name: (the object that is memo 0, the code that makes another object of it, many times)
MULTIPLIED = {
    "text": (text(b"a" * (1 << 18)), name("_codecs.encode") + b"h\0" + text(b"latin1") + b"\x86R"),
    "bytes": (LONG, name("builtins.bytearray") + b"h\0\x85R"),
    "sizes": (NUMBERS, name("torch.Size") + b"h\0\x85R"),
    "sets": (NUMBERS, name("builtins.set") + b"h\0\x85R"),
    "arrays": (LONG, array(1 << 16)),
    "conversions": (REBUILD + WINDOW + b"tR", CONVERT + b"(h\0" + name("torch.float64") + text(b"cpu") + b"\x89tR"),
    "negatives": (WINDOW + b"}" + text(b"neg") + b"\x88st", REBUILD + b"h\0R"),
    "parts of keys": (b"(" + b"N" * 9000 + b"t", b"}h\0Ns"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MULTIPLIED)
def test_what_is_made_of_one_part_again_and_again(kind):
    first, each = MULTIPLIED[kind]

    def file(times):
        data = b"\x80\x02](" + first + b"q\0" + each * times + b"e."
        return io.BytesIO(of_torch(data, bytes(1 << 18)))

    assert len(lamella.load(file(2))) == 3
    with pytest.raises(pickle.UnpicklingError, match="more than a file of its size"):
        lamella.load(file(TIMES))


def test_large_files_have_their_conversions():
    obj = {
        "arrays": [numpy.arange(50_000.0), numpy.ones(10_000, "c16")],
        "bytes": [bytes(300_000), bytearray(200_000)],
        "keys": {(i, -i): {i, 2**70 + i} for i in range(2000)},
        "tensors": [lamella.ones(100_000)[::2], lamella.zeros(1000, dtype=lamella.bool)],
    }
    for form in ("lamella", "torch"):
        file = io.BytesIO()
        lamella.save({k: v for k, v in obj.items() if form == "lamella" or k != "arrays"}, file, format=form)
        file.seek(0)
        assert lamella.load(file)["keys"] == obj["keys"]


def alike(n):
    return [PRIME * (i + 2**10) for i in range(n)]


def encoded(key):
    return b"\x8a\x0c" + key.to_bytes(12, "little")


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02}(" + b"".join(encoded(k) + b"N" for k in alike(500)) + b"u.",
        b"\x80\x02}" + b"".join(encoded(k) + b"Ns" for k in alike(500)) + b".",
        b"\x80\x04\x8f(" + b"".join(map(encoded, alike(500))) + b"\x90.",
        b"\x80\x04(" + b"".join(map(encoded, alike(500))) + b"\x91.",
        b"\x80\x02" + name("builtins.set") + b"](" + b"".join(map(encoded, alike(500))) + b"e\x85R.",
        b"\x80\x02}(" + b"".join(encoded(k) + b"\x85N" for k in alike(500)) + b"u.",
        b"\x80\x02" + name("collections.OrderedDict") + b"](" + b"".join(encoded(k) + b"N\x86" for k in alike(500))
        + b"e\x85R.",
    ],
)  # fmt: skip
def test_keys_whose_hashes_collide_in_a_pickle(data):
    with pytest.raises(pickle.UnpicklingError, match="same hash"):
        lamella.load(io.BytesIO(of_torch(data)))


@pytest.mark.parametrize("kind", ["$dict", "$set", "$ordered_dict", "$counter", "tuples", "complex"])
def test_keys_whose_hashes_collide_in_an_index(kind):
    keys = [{"$int": hex(k)} for k in alike(500)]
    if kind == "tuples":
        kind, keys = "$frozenset", [{"$tuple": [k]} for k in keys]
    if kind == "complex":
        kind, keys = "$set", [{"$complex": [float(-1000003 * k), float(k)]} for k in range(500)]
    node = {kind: keys if "set" in kind else [[k, 0] for k in keys]}
    with pytest.raises(serialization.CheckpointError, match="same hash"):
        lamella.load(io.BytesIO(own(node)))


def test_keys_that_do_not_collide():
    obj = {"a": {2**64 * 3 + i for i in range(500)}, "b": {(i, 1.5, "x"): i for i in range(500)}, -1: 0, -2: 0}
    for form in ("lamella", "torch"):
        file = io.BytesIO()
        lamella.save(obj, file, format=form)
        file.seek(0)
        assert lamella.load(file) == obj


@pytest.mark.parametrize("mmap", [False, True])
def test_bools_of_other_bytes(tmp_path, mmap):
    (tmp_path / "own").write_bytes(
        own([{"$tensor": 0}, {"$tensor": 1}], [[0, "bool", [2], None, 1], [0, "bool", [2**40], [0], 3]],
            [[4, "cpu"]], b"\x07\x07\x02\0")
    )  # fmt: skip
    t, wide = lamella.load(tmp_path / "own", mmap=mmap)
    assert t.int().tolist() == [1, 1] and t.sum().item() == 2 and (t == True).all() and not wide[5]  # noqa: E712
    pid = STORAGE.replace(b"Float", b"Bool").replace(b"J\0\0\1\0", b"K\2")
    data = b"\x80\x02" + name("torch._utils._rebuild_tensor_v2") + b"(" + pid + b"K\0K\2\x85K\1\x85\x89N}tR."
    (tmp_path / "torch").write_bytes(of_torch(data, b"\x07\x02"))
    t = lamella.load(tmp_path / "torch", mmap=mmap)
    assert t.int().tolist() == [1, 1]
    assert limits.check_truth(lamella.ones(2, dtype=lamella.bool, device="meta")).shape == (2,)


def test_bools_of_safetensors():
    head = b'{"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}'
    data = len(head).to_bytes(8, "little") + head + b"\x07\0"
    assert serialization.load_safetensors(io.BytesIO(data))["a"].int().tolist() == [1, 0]


def saved(form):
    file = io.BytesIO()
    lamella.save([lamella.ones(3)], file, format=form)
    return file.getvalue()


@pytest.mark.parametrize("content, words", [("lamella", None), ("torch", None), (b"\x80\x02N.", "is a pickle"),
                                            (b"", "is empty"), (b"nothing", "no checkpoint")])  # fmt: skip
def test_a_pipe_is_read_once(tmp_path, content, words):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content if words else saved(content),))
    writer.start()
    code = f"import lamella; print(lamella.load({str(path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    writer.join(60)
    assert words in done.stderr if words else done.stdout == "[tensor([1., 1., 1.])]\n"


@pytest.mark.parametrize("kind", ["pipe", "device", "index"])
def test_shards_are_plain_files(tmp_path, kind):
    names = serialization.save_sharded([lamella.ones(3)], tmp_path)
    path = tmp_path / names[0 if kind == "index" else 1]
    path.unlink()
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(serialization.CheckpointError, match="no plain file"):
        serialization.load_sharded(tmp_path)


def test_many_shards_and_many_storages():
    runs = [[f"shard-{'0' * 16}-{i:05}-of-00001.lamella", i, i] for i in range(20_000)]
    shards = serialization.sharded.Shards("nowhere")
    shards._runs = shards._read_runs(json.dumps({"shards": [*runs, [runs[0][0], 5, 9]]}).encode())
    with pytest.raises(serialization.CheckpointError, match="no file for storage 9"):
        shards.place("data/9")
    with pytest.raises(FileNotFoundError):
        shards.place("data/8")
    assert len(shards._runs) == 1
