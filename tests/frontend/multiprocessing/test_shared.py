"""Memory that processes share: how tensors move there, errors, and that nothing is left."""

import gc
import os
import resource
import subprocess
import sys

import lamella
import numpy
import pytest
from children import holders
from lamella import _C, nn


def files():
    """Returns how many files of shared memory this process has open."""
    found = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            found += "memfd:lamella" in os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            pass
    return found


def test_all_tensors_over_a_storage_follow():
    t = lamella.arange(12.0).reshape(3, 4)
    row, other, storage, version = t[1], t.detach()[2], t.untyped_storage(), t._version
    assert not t.is_shared() and not storage.is_shared()
    assert row.share_memory_() is row
    assert t.is_shared() and other.is_shared() and storage.is_shared() and t.untyped_storage() is storage
    assert t._version == version
    t += 1
    assert row.tolist() == [5, 6, 7, 8] and other.tolist() == [9, 10, 11, 12]
    assert row.data_ptr() == t.data_ptr() + 16 == storage.data_ptr() + 16
    at = t.data_ptr()
    assert t.share_memory_().data_ptr() == at


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (5000,)])
def test_shapes(shape):
    t = lamella.ones(shape, dtype=lamella.float64)
    assert t.share_memory_().is_shared() and t.shape == shape and t.sum().item() == t.numel()
    assert lamella.ones(4).untyped_storage().share_memory_().is_shared()


def test_holders_that_cannot_follow():
    t = lamella.ones(3)
    array = t.numpy()
    with pytest.raises(RuntimeError, match="share_memory_: the memory is held in 1 places"):
        t.share_memory_()
    assert not t.is_shared() and (array == 1).all()
    del array
    assert t.share_memory_().is_shared()
    with pytest.raises(RuntimeError, match="no memory"):
        lamella.ones(1, device="meta").share_memory_()


def test_numpy_sees_shared_memory():
    t = lamella.zeros(3).share_memory_()
    array = t.numpy()
    array[1] = 5
    assert t.tolist() == [0, 5, 0]


def test_modules():
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    weight = model[0].weight
    model(lamella.ones(4, 3)).sum().backward()
    assert model.share_memory() is model and model[0].weight is weight and weight.requires_grad
    assert all(t.is_shared() for t in [*model.parameters(), *model.buffers()])
    assert all(p.grad.is_shared() for p in model.parameters())
    model(lamella.ones(4, 3)).sum().backward()


def test_what_others_use_does_not_grow():
    t, array = lamella.ones(2).share_memory_(), numpy.ones(2)
    for foreign in (t, lamella.from_numpy(array)):
        with pytest.raises(RuntimeError, match="memory belongs to others.*resize a clone"):
            foreign.resize_(100)
        assert foreign.tolist() == [1, 1] and foreign.resize_(1).tolist() == [1]
    assert t.is_shared()


def test_memory_goes_with_its_last_tensor():
    gc.collect()
    before = files()
    made = [lamella.ones(100_000).share_memory_() for _ in range(3)]
    view = made[0][:1]
    assert files() == before + 3
    del made
    assert files() == before + 1
    del view
    assert files() == before


def test_small_ones_share_files():
    before = files()
    made = [lamella.ones(10).share_memory_() for _ in range(2000)]
    assert files() <= before + 2 and all(t[0].item() == 1 for t in made)
    addresses = {t.data_ptr() for t in made}
    assert len(addresses) == 2000


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda b: _C._shared_empty(-1), ValueError, "negative"),
        (lambda b: _C._shared_empty(1 << 50), lamella.OutOfMemoryError, "reserving"),
        (lambda b: _C._shared_from_fd(987654, 1), RuntimeError, "Bad file descriptor"),
        (lambda b: _C._shared_from_fd(_C._shared_fd(b), 1 << 17), RuntimeError, "the file has 65536"),
        (lambda b: _C._shared_from_fd(_C._shared_fd(b), 1, -1), RuntimeError, "from -1 on"),
        (lambda b: _C._shared_fd(3), TypeError, "expected a Tensor"),
    ],
)
def test_errors(call, error, words):
    base = _C._shared_empty(1 << 16)
    with pytest.raises(error, match=words):
        call(base)


def test_files_that_could_shrink_are_refused():
    fd = os.memfd_create("other")
    try:
        os.ftruncate(fd, 4096)
        with pytest.raises(RuntimeError, match="sealed against shrinking"):
            _C._shared_from_fd(fd, 4096)
        with pytest.raises(OSError):
            os.ftruncate(_C._shared_fd(_C._shared_empty(1 << 16)), 0)
    finally:
        os.close(fd)


def test_too_many_files():
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    made = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, limits[1]))
    try:
        with pytest.raises(RuntimeError, match="too many files open"):
            for _ in range(200):
                made.append(_C._shared_empty(1 << 15))
        made.clear()
        assert _C._shared_empty(1 << 15).is_shared()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_one_mapping_for_a_file():
    base = _C._shared_empty(1 << 16)
    again = _C._shared_from_fd(_C._shared_fd(base), 1 << 16)
    assert again.data_ptr() == base.data_ptr() and numpy.shares_memory(again.numpy(), base.numpy())


def test_kill_leaves_nothing():
    """Files without names end with the last process that has them open; no other process and no folder has them."""
    named = set(os.listdir("/dev/shm"))
    code = (
        "import lamella, os, sys; t = lamella.ones(1 << 20).share_memory_()\n"
        "place = os.fstat(lamella._C._shared_fd(t)); print(place.st_nlink, place.st_ino, flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        links, inode = map(int, process.stdout.readline().split())
        assert links == 0 and holders(inode) == {process.pid}
    finally:
        process.kill()
        process.communicate(timeout=60)
    assert process.returncode == -9 and holders(inode) == set() and set(os.listdir("/dev/shm")) <= named
