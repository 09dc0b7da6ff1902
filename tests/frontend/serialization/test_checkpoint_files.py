"""Checkpoint files: replaced in one step, even if the writer is killed; read whole, mapped, in parts, from objects."""

import errno
import gzip
import io
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import time

import lamella
import pytest
from lamella import serialization
from lamella.serialization import atomic
from threads import in_threads


def parts(folder):
    return [n for n in os.listdir(folder) if n.endswith(atomic.SUFFIX)]


def forked(work):
    """Forks a child that does some work and ends without cleaning up."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return pid


@pytest.mark.long
def test_killed_writers_leave_a_whole_file(tmp_path):
    """200 writers are killed at random moments: the file is always complete, from one of the writers."""
    path, rng = tmp_path / "x.lamella", random.Random(0)
    objects = [{"n": n, "t": lamella.full((60_000,), float(n))} for n in range(4)]
    lamella.save(objects[0], path)
    start = time.perf_counter()
    for obj in objects:
        lamella.save(obj, path)
    usual = (time.perf_counter() - start) / 4
    seen, left = set(), 0
    for i in range(200):
        pid = forked(lambda i=i: [lamella.save(objects[k % 4], path, durable=i % 4 == 0) for k in range(i, i + 1000)])
        time.sleep(rng.random() * usual * 2)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        left += len(parts(tmp_path)) > 0
        got = lamella.load(path)
        assert got["t"].tolist() == [float(got["n"])] * 60_000
        seen.add(got["n"])
    assert len(seen) > 1 and left > 0  # some writers were killed while they wrote
    lamella.save(objects[1], path)
    assert parts(tmp_path) == []


def test_parts_of_living_writers_stay(tmp_path):
    path = tmp_path / "x"
    with atomic.replacing(path) as part:
        part.write(b"new")
        lamella.save(1, path)
        lamella.save(2, tmp_path / "y")
        assert len(parts(tmp_path)) == 1 and lamella.load(path) == 1
    assert path.read_bytes() == b"new" and parts(tmp_path) == []


def test_two_writers_of_one_file(tmp_path):
    path = tmp_path / "x"

    def write(n):
        for _ in range(30):
            lamella.save([lamella.full((1000,), float(n)), n], path, durable=False)

    in_threads(*[lambda n=n: write(n) for n in range(4)])
    tensor, n = lamella.load(path)
    assert tensor.tolist() == [float(n)] * 1000 and parts(tmp_path) == []


@pytest.mark.parametrize("size", [1000, 1_000_000])
def test_a_full_disk(size, tmp_path):
    path = tmp_path / "x"
    lamella.save("old", path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
        with pytest.raises(OSError) as raised:
            lamella.save(lamella.zeros(size), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert raised.value.errno == errno.EFBIG
    assert lamella.load(path) == "old" and os.listdir(tmp_path) == ["x"]


def test_an_interrupt_leaves_nothing(tmp_path):
    path = tmp_path / "x"
    lamella.save("old", path)
    with pytest.raises(KeyboardInterrupt), atomic.replacing(path) as part:
        part.write(b"half")
        raise KeyboardInterrupt
    assert lamella.load(path) == "old" and os.listdir(tmp_path) == ["x"]


def test_rights_links_and_names(tmp_path):
    path = tmp_path / "x"
    old = os.umask(0o027)
    try:
        lamella.save(1, path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    lamella.save(2, str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    link = tmp_path / "link"
    link.symlink_to("x")
    lamella.save(3, os.fsencode(link))
    assert link.is_symlink() and lamella.load(path) == 3 == lamella.load(link)
    long = tmp_path / ("n" * 255)
    lamella.save(4, long)
    assert lamella.load(long) == 4


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        lamella.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        lamella.save(1, tmp_path / "nothing" / "x")
    for call in (lamella.load, lambda p: lamella.save(1, p)):
        with pytest.raises(IsADirectoryError):
            call(tmp_path)
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(EOFError, match="is empty"):
        lamella.load(empty)
    lamella.save(1, os.devnull)
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)
    for call in (lambda: lamella.load(3.5), lambda: lamella.save(1, 3.5), lambda: lamella.save(1, io.StringIO()),
                 lambda: lamella.load(io.StringIO("x"))):  # fmt: skip
        with pytest.raises(TypeError, match="argument 'f'"):
            call()
    with pytest.raises(ValueError, match="argument 'format'"):
        lamella.save(1, empty, format="zip")


OBJECT = {"a": [1, 2], "big": lamella.arange(300_000), "small": lamella.ones(3)}


def check(got):
    assert got["a"] == [1, 2] and got["big"].tolist() == list(range(300_000)) and got["small"].tolist() == [1, 1, 1]


def test_file_objects(tmp_path):
    path = tmp_path / "x"
    with open(path, "w+b") as f:
        f.write(b"before")
        lamella.save(OBJECT, f)
        f.seek(6)
        check(lamella.load(f))
        assert f.tell() == path.stat().st_size
    with open(path, "rb", buffering=0) as f:
        f.seek(6)
        mapped = lamella.load(f, mmap=True)
    check(mapped)
    with gzip.open(tmp_path / "x.gz", "wb") as f:
        lamella.save(OBJECT, f)
    with gzip.open(tmp_path / "x.gz", "rb") as f:
        check(lamella.load(f))


def test_mapped_memory_is_private(tmp_path):
    path = tmp_path / "x"
    lamella.save(OBJECT, path)
    before = path.read_bytes()
    got = lamella.load(path, mmap=True)
    check(got)
    got["big"][0] = -1
    lamella.save({"another": 1}, path)
    assert got["big"][:3].tolist() == [-1, 1, 2] and got["small"].data_ptr() % 64 == 0
    lamella.save(OBJECT, path)
    assert path.read_bytes() == before
    data = bytearray(before)
    data[before.index(lamella.arange(300_000).numpy()[1000:1100].tobytes())] ^= 1
    path.write_bytes(data)
    lamella.load(path, mmap=True)  # checksums of mapped tensors are compared on request
    for keywords in ({}, {"mmap": True, "verify": True}):
        with pytest.raises(serialization.CheckpointError, match="member 'data/0' is damaged"):
            lamella.load(path, **keywords)


def test_some_tensors_by_name(tmp_path):
    path = tmp_path / "x"
    t = lamella.arange(4.0)
    lamella.save({"model": {"0.weight": t, "list": [lamella.ones(1), (t[1:],)]}, 3: lamella.zeros(1)}, path)
    got = lamella.load(path, tensors=["model.list.1.0", "model.0.weight", "3"], weights_only=True)
    assert list(got) == ["model.list.1.0", "model.0.weight", "3"] and got["model.list.1.0"].tolist() == [1, 2, 3]
    got["model.0.weight"][1] = 9
    assert got["model.list.1.0"][0].item() == 9
    with pytest.raises(KeyError, match="no tensor 'model.0.wight'; did you mean 'model.0.weight'"):
        lamella.load(path, tensors=["model.0.wight"])
    assert serialization.list_tensors(path)["3"] == (lamella.float32, (1,))


def test_map_location(tmp_path):
    path = tmp_path / "x"
    lamella.save({"t": lamella.ones(2), "n": [1]}, path)
    for location in ("meta", lamella.device("meta"), {"cpu": "meta"}):
        got = lamella.load(path, location)
        assert got["t"].device.type == "meta" and got["t"].shape == (2,)
    for location in (None, "cpu", {"other": "meta"}, lambda storage, place: None, lambda storage, place: storage):
        assert lamella.load(path, map_location=location, weights_only=False)["t"].tolist() == [1, 1]
    seen = []
    lamella.load(path, lambda storage, place: seen.append((storage.nbytes(), place)))
    assert seen == [(8, "cpu")]
    with pytest.raises(ZeroDivisionError):
        lamella.load(path, lambda storage, place: 1 / 0)
    with pytest.raises(TypeError, match="'map_location' must return None or a storage of"):
        lamella.load(path, lambda storage, place: 5)
    with pytest.raises(TypeError, match="argument 'map_location'"):
        lamella.load(path, 3)
    with pytest.raises(serialization.CheckpointError, match="map_location='cpu'"):
        lamella.load(path, "nowhere")


def test_the_import_is_lazy():
    code = (
        "import sys, lamella; assert lamella.save and lamella.load and 'lamella.serialization.index' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# ---- shards ----


def test_shards(tmp_path):
    shared = lamella.arange(1000.0)
    obj = {
        "a": shared,
        "b": shared[10:],
        "c": [lamella.zeros(500), lamella.ones(3)],
        "meta": lamella.empty(9**9, device="meta"),
    }
    names = serialization.save_sharded(obj, tmp_path / "f", "3KB")
    assert len(names) == 3 and sorted(os.listdir(tmp_path / "f")) == sorted(names)
    got = serialization.load_sharded(tmp_path / "f")
    got["a"][10] = -5
    assert got["b"][0].item() == -5 and got["c"][1].tolist() == [1, 1, 1] and got["c"][0].tolist() == [0] * 500
    again = serialization.save_sharded(obj, tmp_path / "f", 10**6, durable=False)
    assert sorted(os.listdir(tmp_path / "f")) == sorted(again) and len(again) == 2
    os.unlink(tmp_path / "f" / again[1])
    with pytest.raises(FileNotFoundError):
        serialization.load_sharded(tmp_path / "f")
    with pytest.raises(ValueError, match="max_shard_size"):
        serialization.save_sharded(obj, tmp_path, "many")


def test_a_part_of_the_shards(tmp_path):
    names = serialization.save_sharded({"a": lamella.ones(10), "b": lamella.zeros(10)}, tmp_path, 40)
    os.unlink(tmp_path / names[2])
    assert serialization.load_sharded(tmp_path, tensors=["a"], mmap=True)["a"].tolist() == [1] * 10


def test_a_killed_save_of_shards_leaves_the_old_ones(tmp_path):
    serialization.save_sharded({"n": 1, "t": lamella.ones(9)}, tmp_path, 10)
    before = set(os.listdir(tmp_path))
    real = serialization.sharded.replacing

    def dying(path, durable=True):
        if os.path.basename(path) == serialization.sharded.INDEX:
            os._exit(9)
        return real(path, durable)

    def work():
        serialization.sharded.replacing = dying
        serialization.save_sharded({"n": 2, "t": lamella.ones(9)}, tmp_path, 10)

    assert os.waitstatus_to_exitcode(os.waitpid(forked(work), 0)[1]) == 9
    assert set(os.listdir(tmp_path)) > before and serialization.load_sharded(tmp_path)["n"] == 1
    names = serialization.save_sharded({"n": 3}, tmp_path)
    assert os.listdir(tmp_path) == names


def test_a_shard_of_another_save(tmp_path):
    first = serialization.save_sharded([lamella.ones(9)], tmp_path / "a")
    second = serialization.save_sharded([lamella.zeros(9)], tmp_path / "b")
    os.replace(tmp_path / "a" / first[1], tmp_path / "b" / second[1])
    with pytest.raises(serialization.CheckpointError, match="shard of another checkpoint"):
        serialization.load_sharded(tmp_path / "b")


class Moving(io.BytesIO):
    """A file whose write() calls share_memory_() on a tensor, as another thread may do at that time."""

    def __init__(self, tensor):
        super().__init__()
        self.tensor, self.error = tensor, None

    def write(self, data):
        if self.error is None and len(data) > 4096:
            try:
                self.tensor.share_memory_()
                self.error = "it was moved"
            except RuntimeError as error:
                self.error = str(error)
            self.filling = lamella.full(self.tensor.shape, 7.0)  # would reuse the memory if it were freed
        return super().write(data)


def test_memory_stays_while_a_file_object_is_written():
    t = lamella.arange(1 << 16, dtype=lamella.float32)
    f = Moving(t)
    lamella.save({"t": t}, f)
    assert "held in 1 places" in f.error
    f.seek(0)
    assert lamella.equal(lamella.load(f)["t"], t)
    assert t.share_memory_().is_shared()  # after the save the memory can move
