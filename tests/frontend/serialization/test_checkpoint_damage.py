"""Damaged and hostile files: each is refused by one error, or gives the same object; nothing crashes or hangs."""

import io
import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import lamella
import pytest
from lamella import serialization
from lamella.serialization.archive import ArchiveWriter

ROOT = Path(__file__).resolve().parents[3]
OBJECT = {
    "a": lamella.arange(5.0),
    "b": [1, (2.5, "x"), {3: None}],
    "c": {"$x", 1},
    "p": lamella.nn.Parameter(lamella.ones(2, 2)),
}


def saved(obj):
    file = io.BytesIO()
    lamella.save(obj, file)
    return file.getvalue()


def with_index(index, *members):
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    writer.add("index.json", index if isinstance(index, bytes) else json.dumps(index).encode())
    for n, data in enumerate(members):
        writer.add(f"data/{n}", data)
    writer.finish()
    return file.getvalue()


def whole(obj, tensors=(), storages=(), **more):
    return {
        "format": "lamella",
        "version": 1,
        "storages": list(storages),
        "tensors": list(tensors),
        "object": obj,
        **more,
    }


def loads(data):
    return lamella.load(io.BytesIO(data))


def test_truncated_at_every_byte():
    data = saved(OBJECT)
    for n in range(len(data)):
        with pytest.raises(serialization.CheckpointError):
            loads(data[:n])
    for more in (b"\0", data):
        with pytest.raises(serialization.CheckpointError):
            loads(data + more)


@pytest.mark.parametrize("way", ["memory", "path", "file", "mmap"])
def test_changed_bytes(way, tmp_path):
    """A change of any bit of a member is an error, except of mapped tensors; times and padding do not matter."""
    data, rng, path = saved(OBJECT), random.Random(1), tmp_path / "x"
    expected = repr(loads(data))

    def read(changed):
        if way == "memory":
            return loads(changed)
        path.write_bytes(changed)
        if way == "file":
            with open(path, "rb") as file:
                return lamella.load(file)
        return lamella.load(path, mmap=way == "mmap")

    refused = 0
    for _ in range(3000 if way == "memory" else 1000):
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 5))):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            got = read(bytes(changed))
            assert repr(got) == expected or way == "mmap"
        except serialization.CheckpointError:
            refused += 1
    assert refused > 100


@pytest.mark.filterwarnings("ignore:a tensor is read without its")
def test_changed_indexes():
    """The index has changed text and a right checksum: our error, or a plain object of bounded size."""
    text, rng = zipfile.ZipFile(io.BytesIO(saved(OBJECT))).read("index.json").decode(), random.Random(2)
    pieces = ['"$same"', '"$tensor"', '"$tuple"', '"$array"', "-1", "0", "1", "9223372036854775807", "1e999", "null",
              "[]",
              "{}", '"float64"', '"meta"', "[[", '"$set"', "1.5", "true", '"$int"', "NaN", '"$storage"']  # fmt: skip
    members = bytes(20), bytes(16)
    for _ in range(3000):
        changed = text
        for _ in range(rng.choice((1, 2))):
            at = rng.randrange(len(changed))
            changed = changed[:at] + rng.choice(pieces) + changed[at + rng.randrange(12) :]
        try:
            loads(with_index(changed.encode(), *members))
        except serialization.CheckpointError:
            pass


@pytest.mark.parametrize(
    "index, words",
    [
        (b"[" * 100_000, "nested too deeply|damaged"),
        (b"\xff", "damaged"),
        (b"[]", "damaged"),
        ({}, "damaged"),
        (whole(1, version=2), "reads up to 1"),
        (whole(1, format="other"), "its format is not 'lamella'"),
        (whole({"$tensor": 0}), "damaged"),
        (whole({"$tensor": -1}), "damaged"),
        (whole({"$same": 0}), "damaged"),
        (whole({"$code": "import os"}), "damaged"),
        (whole(1, storages=[[4, "cpu"]]), "'data/0' is missing"),
        (whole({"$tensor": 0}, [[0, "float32", [2**62], None, 0]], [[0, "meta"]]), "damaged"),
        (whole({"$tensor": 0}, [[None, "float32", [1], None, 0, {"device": "cpu", "slots": []}]]), "opaque"),
        (whole({"$tensor": 0}, [[None, "float32", [1], None, 0, {"device": "cpu", "slots": [["s", {"$tensor": 0}]]}]]),
         "contains itself"),
        (whole({"$dict": [[{"$tuple": [{"$same": 0}]}, 1]]}), "damaged"),
        (whole({"$default_dict": [], "factory": "exec"}), "damaged"),
        (whole({"$array": [0, "|O", [1]]}, storages=[[8, "meta"]]), "damaged"),
    ],
)  # fmt: skip
def test_hostile_indexes(index, words):
    with pytest.raises(serialization.CheckpointError, match=words):
        loads(with_index(index))


@pytest.mark.parametrize("key", [{"$same": 60}, {"$tuple": [{"$same": 60}]}], ids=["key", "inside"])
@pytest.mark.parametrize("place", [lambda key: {"$dict": [[key, 1]]}, lambda key: {"$set": [key]}], ids=["dict", "set"])
def test_keys_that_take_forever_to_hash(key, place):
    pyramid = [{"$tuple": [1, 2]}] + [{"$tuple": [{"$same": k}, {"$same": k}]} for k in range(60)]
    with pytest.raises(serialization.CheckpointError, match="damaged"):
        loads(with_index(whole([*pyramid, place(key)])))


@pytest.mark.parametrize(
    "size, strides, offset", [([5], None, 0), ([2], [4], 0), ([1], None, 4), ([1], None, -1), ([2], [-1], 3)]
)
def test_windows_beyond_their_storage(size, strides, offset):
    index = whole({"$tensor": 0}, [[0, "float32", size, strides, offset]], [[16, "cpu"]])
    with pytest.raises(serialization.CheckpointError, match="damaged"):
        loads(with_index(index, bytes(16)))


def zipped(*members, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive, pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(
    "data, words",
    [
        (zipped(("index.json", b"0" * 10**6), compression=zipfile.ZIP_DEFLATED), "is compressed"),
        (zipped(("../index.json", b"")), "leads out of the archive"),
        (zipped(("a/../../b", b"")), "leads out"),
        (zipped(("/etc/passwd", b"")), "absolute path"),
        (zipped(("index.json", b"1"), ("index.json", b"2")), "is listed twice"),
        (zipped(("a", b"1")), "something else"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "is a pickle"),
        (b"\x10\0\0\0\0\0\0\0{}", "safetensors"),
        (b"PK\5\6" + bytes(18), "something else"),
        (b"not a checkpoint at all", "no checkpoint"),
    ],
)
def test_other_files(data, words):
    with pytest.raises(serialization.CheckpointError, match=words):
        loads(data)


LIMITED = """
import pickle, resource, sys
import lamella, numpy
from lamella import serialization

lamella.load(sys.argv[1])
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 60_000_000, resource.RLIM_INFINITY))
try:
    lamella.load(sys.argv[2])
    print("loaded")
except (serialization.CheckpointError, pickle.UnpicklingError):
    print("refused")
except (lamella.OutOfMemoryError, MemoryError):
    print("no memory")
"""


def with_little_memory(folder, data):
    """Loads a file in a process that may use 60 MB more than it has; returns the outcome."""
    (folder / "small").write_bytes(saved([lamella.ones(1)]))
    (folder / "file").write_bytes(data)
    command = [sys.executable, "-c", LIMITED, folder / "small", folder / "file"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_hostile_file_takes_no_memory(tmp_path):
    window = [[0, "float32", [2**28], [0], 0]]
    hostile = [
        (with_index(whole({"$tensor": 0}, window, [[2**50, "cpu"]]), bytes(16)), "refused"),
        (with_index(whole({"$tensor": 0}, window, [[16, "cpu"]]), bytes(16)), "loaded"),
        (with_index(whole({"$array": [0, "f8", [2**28]]}, (), [[16, ""]]), bytes(16)), "refused"),
        (saved([lamella.ones(25_000_000)]), "no memory"),
    ]
    for data, what in hostile:
        assert with_little_memory(tmp_path, data) == what


@pytest.mark.long
def test_the_native_reader_under_a_sanitizer(tmp_path):
    """A shorter run of tests/cpp's fuzzer; it must report the variant of the reader that lacks a check."""
    sources = [ROOT / "tests/cpp/fuzz_archive.cpp", *sorted((ROOT / "core/archive").glob("*.cpp"))]
    flags = ["-std=c++20", "-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", f"-I{ROOT}"]
    runs = {}
    kinds = (("whole", []), ("planted", ["-DLAMELLA_PLANTED_ARCHIVE"]))
    command = ["g++", *flags, *map(str, sources), "-pthread"]
    compilers = [subprocess.Popen([*command, *more, "-o", tmp_path / name]) for name, more in kinds]
    assert [c.wait(timeout=120) for c in compilers] == [0, 0]
    for name, _ in kinds:
        runs[name] = subprocess.run([tmp_path / name, "100000"], capture_output=True, text=True, timeout=120)
    assert runs["whole"].returncode == 0, runs["whole"].stderr
    assert "AddressSanitizer: heap-buffer-overflow" in runs["planted"].stderr
