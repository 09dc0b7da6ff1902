"""A disk fills while a checkpoint is written, or a writer of shards is killed: the old checkpoint stays whole."""

import os
import random
import signal
import subprocess
import sys
import time

import lamella
import numpy as np
import pytest
from children import clean_environment
from lamella import serialization
from lamella.serialization import atomic, sharded

MOUNTS = subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
needs_mounts = pytest.mark.skipif(not MOUNTS, reason="unshare(1) may not mount for this user: run as root")

FULL = """
import errno, os, sys
import lamella
from lamella import serialization

folder, elements = sys.argv[1], int(sys.argv[2])
path = os.path.join(folder, "x")
old, new = {"t": lamella.arange(elements)}, {"t": lamella.zeros(4 * elements)}
sharded = sys.argv[3] == "sharded"

def save(obj, durable):
    if sharded:
        serialization.save_sharded(obj, folder, 8 * elements, durable=durable)
    else:
        lamella.save(obj, path, durable=durable)

def load():
    return serialization.load_sharded(folder) if sharded else lamella.load(path)

save(old, True)
names = sorted(os.listdir(folder))
for durable in (True, False):
    try:
        save(new, durable)
    except OSError as error:
        assert error.errno == errno.ENOSPC, error
    else:
        raise AssertionError("the disk is not full")
    assert sorted(os.listdir(folder)) == names and (load()["t"] == old["t"]).all()
rest = os.path.join(folder, "other")
with open(rest, "wb", buffering=0) as f:  # a disk that another program has filled
    try:
        while f.write(bytes(4096)):
            pass
    except OSError:
        pass
try:
    save({"n": lamella.ones(20_000)}, False)
except OSError as error:
    assert error.errno == errno.ENOSPC, error
else:
    raise AssertionError("the disk is not full")
assert (load()["t"] == old["t"]).all()
os.unlink(rest)
save({"n": 3}, True)
assert load() == {"n": 3} and "other" not in os.listdir(folder)
"""


@needs_mounts
@pytest.mark.parametrize("how", ["whole", "sharded"])
@pytest.mark.parametrize("elements, size", [(20_000, "400k"), (1_500_000, "30m")])  # around a reserved block
def test_a_full_disk(elements, size, how, tmp_path):
    mount = f'mount -t tmpfs -o size={size},mode=700 none "$0" && exec "$@"'
    command = ("unshare", "-m", "sh", "-c", mount, tmp_path, sys.executable, "-c", FULL, tmp_path, str(elements), how)
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr


def test_killed_writers_of_shards_leave_a_whole_checkpoint(tmp_path):
    rng = random.Random(0)
    objects = [{"n": n, "t": [lamella.full((40_000,), float(n)) for _ in range(4)]} for n in range(3)]
    serialization.save_sharded(objects[0], tmp_path, 200_000)
    start = time.perf_counter()
    for obj in objects:
        serialization.save_sharded(obj, tmp_path, 200_000, durable=False)
    usual = (time.perf_counter() - start) / 3
    seen, left = set(), 0
    for i in range(400):
        if i >= 40 and len(seen) > 1 and left:
            break
        pid = os.fork()
        if pid == 0:
            try:
                for k in range(i, i + 1000):
                    serialization.save_sharded(objects[k % 3], tmp_path, 200_000, durable=i % 4 == 0)
            finally:
                os._exit(0)
        time.sleep(rng.random() * usual * (2 + i / 4))  # longer each time, in case the machine is slower now
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        left += len(os.listdir(tmp_path)) > 5
        got = serialization.load_sharded(tmp_path)
        assert all((t == got["n"]).all() for t in got["t"])
        seen.add(got["n"])
    assert len(seen) > 1 and left > 0, (seen, left)  # some writers were killed while they wrote
    names = serialization.save_sharded(objects[1], tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_parts_of_living_writers_of_shards_stay(tmp_path):
    serialization.save_sharded([lamella.ones(2)], tmp_path)
    shard = next(n for n in os.listdir(tmp_path) if sharded.SHARD.fullmatch(n))
    with atomic.replacing(tmp_path / shard) as part:
        serialization.save_sharded([lamella.zeros(2)], tmp_path)
        left = [n for n in os.listdir(tmp_path) if n.endswith(atomic.SUFFIX)]
        assert len(left) == 1
        part.write(b"x")
    assert serialization.load_sharded(tmp_path)[0].tolist() == [0, 0]


def test_views_of_an_array_are_saved_each(tmp_path):
    base = np.arange(1000.0)
    obj = [base, base[::-1], base[10:], base.reshape(10, 100).T, base]
    lamella.save(obj, tmp_path / "x")
    assert os.path.getsize(tmp_path / "x") > 4 * base.nbytes - 100
    got = lamella.load(tmp_path / "x")
    assert got[4] is got[0] and all(np.array_equal(a, b) for a, b in zip(got, obj, strict=True))
    got[0][:] = -1
    assert got[1][0] == 999 and got[2][0] == 10 and not any(np.shares_memory(got[0], a) for a in got[1:4])
    t = lamella.from_numpy(base)  # tensors over one array share its memory
    a, b = (lamella.save([t, t[1:]], tmp_path / "x"), lamella.load(tmp_path / "x"))[1]
    a[1] = -5
    assert b[0].item() == -5


def test_an_error_behind_the_index_keeps_its_shards(tmp_path, monkeypatch):
    serialization.save_sharded([lamella.zeros(2)], tmp_path)
    named = []

    def interrupted(folder):
        named.append(folder)
        if os.path.getmtime(tmp_path / "index.lamella") != before:
            raise KeyboardInterrupt

    before = os.path.getmtime(tmp_path / "index.lamella")
    monkeypatch.setattr(atomic, "sync_folder", interrupted)
    with pytest.raises(KeyboardInterrupt):
        serialization.save_sharded([lamella.ones(2)], tmp_path)
    assert len(named) == 2 and serialization.load_sharded(tmp_path)[0].tolist() == [1, 1]
