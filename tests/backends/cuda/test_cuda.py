"""The CUDA backend over the stand-in driver: memory, streams, copies, graphs, faults, and refusals without a driver."""

import subprocess
import sys

import pytest
from children import Guest, clean_environment, run
from standins import HERE, guest, make

NUMPY = """
    import lamella
    import numpy as np
"""


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    return guest(tmp_path_factory)


@pytest.fixture
def fresh(tmp_path_factory, tmp_path):
    """With a cache of kernels of its own, for altered texts."""

    def run_altered(program, *arguments, alter, **env):
        folder = make(tmp_path_factory)
        usual = {"LD_LIBRARY_PATH": str(folder), "LAMELLA_CUDA_CACHE": str(tmp_path / "kernels")}
        return Guest(sys.executable, tmp_path, usual | {"STANDIN_ALTER": alter}).run(program, *arguments, **env)

    return run_altered


# ---- absent ----------------------------------------------------------------------------------------------------------


def refused(tmp_path, **env):
    """Why the device cannot be used."""
    program = """
        import lamella
        assert not lamella.cuda.is_available() and lamella.cuda.device_count() == 0
        found = lamella.accelerator.current_accelerator()
        assert found is None or found.type != "cuda"
        try:
            lamella.ones(1, device="cuda")
        except RuntimeError as error:
            print(error)
        else:
            raise SystemExit("no error")
    """
    return Guest(sys.executable, tmp_path, {"LD_LIBRARY_PATH": str(tmp_path), **env}).run(program)


def test_refusals_say_why(tmp_path_factory, tmp_path):
    folder = make(tmp_path_factory)
    (tmp_path / "libcuda.so.1").symlink_to(folder / "libcuda.so.1")
    there = lambda **env: refused(tmp_path, **env)  # noqa: E731
    assert "finds no device" in there(STANDIN_DEVICES="0")
    assert "CUDA 11; CUDA 12 or later is needed" in there(STANDIN_VERSION="11040")
    (tmp_path / "libnvrtc.so.13").symlink_to(folder / "libnvrtc.so.13")
    assert "NVRTC is of CUDA 13, the driver of CUDA 12" in there(STANDIN_VERSION="12040")
    for name in ("libcuda.so.1", "libnvrtc.so.13"):
        (tmp_path / name).unlink()
    (tmp_path / "libcuda.so.1").write_text("no library")
    assert "libcuda.so.1 cannot be opened" in there()


def test_cupy_and_the_backend_are_not_imported_without_the_device(cuda):
    cuda.run("""
        import sys
        import lamella
        lamella.ones(2) + 1
        assert not [m for m in sys.modules if m.startswith(("cupy", "lamella.backends.cuda."))]
        lamella.ones(2, device="cuda") + 1
        assert "lamella.backends.cuda.plugin" in sys.modules and "cupy" not in sys.modules
        lamella.backends.cuda.matmul.allow_tf32 = True  # torch's switches stand beside it
    """)


# ---- memory ----------------------------------------------------------------------------------------------------------


def test_freed_memory_is_used_again_on_its_stream(cuda):
    cuda.run("""
        import lamella
        cuda = lamella.cuda
        x = lamella.empty(1000, device="cuda")
        place = x.data_ptr()
        del x
        y = lamella.empty(900, device="cuda")
        assert y.data_ptr() == place  # 512-byte units: 4000 and 3600 bytes are one block
        del y
        with cuda.stream(cuda.Stream()):
            z = lamella.empty(1000, device="cuda")
        assert z.data_ptr() != place
        taken = cuda.memory_stats()["num_device_alloc"]
        for _ in range(50):
            lamella.empty(1000, device="cuda") + 1
        assert cuda.memory_stats()["num_device_alloc"] == taken
        big = lamella.empty(30 << 20, dtype=lamella.uint8, device="cuda")
        held = cuda.memory_reserved()
        del big, z
        assert cuda.memory_reserved() == held
        cuda.empty_cache()
        assert cuda.memory_reserved() <= held - (30 << 20) and cuda.memory_allocated() == 0
    """)


def test_memory_of_another_stream_waits_until_that_has_passed(cuda):
    cuda.run(
        """
        import lamella
        cuda = lamella.cuda
        x = lamella.zeros(1000, device="cuda")
        cuda.synchronize()
        other = cuda.Stream()
        with cuda.stream(other):
            lamella.ops.cuda.delay(x, 100000)
            y = x + 1
        x.record_stream(other)
        place = x.data_ptr()
        del x
        z = lamella.full((1000,), 7.0, device="cuda")
        assert z.data_ptr() != place
        other.synchronize()
        again = lamella.empty(1000, device="cuda")
        assert again.data_ptr() == place
        assert y.tolist() == [1.0] * 1000
    """,
        STANDIN_ASYNC="1",
    )


def test_out_of_memory_names_what_is_held_and_cached_blocks_are_tried_first(cuda):
    cuda.run(
        """
        import lamella
        x = lamella.empty(40 << 20, dtype=lamella.uint8, device="cuda")
        del x
        y = lamella.empty(60 << 20, dtype=lamella.uint8, device="cuda")  # fits when the cached block is given back
        try:
            lamella.empty(30 << 20, dtype=lamella.uint8, device="cuda")
        except lamella.OutOfMemoryError as error:
            assert "cuda" in str(error) and str(30 << 20) in str(error) and str(60 << 20) in str(error), error
        else:
            raise SystemExit("no error")
    """,
        STANDIN_MEMORY=str(80 << 20),
    )


# ---- streams, events, copies -----------------------------------------------------------------------------------------


def test_streams_events_and_copies_keep_their_order(cuda):
    cuda.run(
        """
        import lamella
        cuda = lamella.cuda
        x = lamella.zeros(5, device="cuda")
        cuda.synchronize()
        side, ready = cuda.Stream(), cuda.Event(enable_timing=True)
        before = cuda.Event(enable_timing=True)
        with cuda.stream(side):
            before.record()
            lamella.ops.cuda.delay(x, 50000)
            x.add_(1)
            ready.record()
            assert not side.query() and not ready.query()
        cuda.current_stream().wait_event(ready)
        assert (x * 2).tolist() == [2.0] * 5
        assert before.elapsed_time(ready) >= 40
        pinned = lamella.arange(4.0).pin_memory()
        assert pinned.is_pinned()
        there = pinned.to("cuda", non_blocking=True)
        other = there.to("cuda:1")
        assert other.device.index == 1 and (other + 1).tolist() == [1.0, 2.0, 3.0, 4.0]
        target = lamella.empty(4).pin_memory()
        lamella.ops.cuda.delay(there, 50000)
        there.mul_(3)
        target.copy_(there, non_blocking=True)
        cuda.synchronize()
        assert target.tolist() == [0.0, 3.0, 6.0, 9.0]
        host = lamella.ones(3)
        lamella.ops.cuda.delay(there, 50000)
        moved = host.to("cuda")  # pageable memory may be written at once
        host.zero_()
        assert moved.tolist() == [1.0] * 3
    """,
        STANDIN_ASYNC="1",
    )


def test_errors_in_the_data_come_with_the_next_wait_and_once(cuda):
    cuda.run("""
        import lamella
        cuda = lamella.cuda
        x = lamella.tensor([1, 2], device="cuda")
        for wait in (cuda.synchronize, (x + 0).tolist, cuda.current_stream().synchronize):
            x // lamella.tensor([1, 0], device="cuda")
            try:
                wait()
            except RuntimeError as error:
                assert "floor_divide" in str(error) and "division by zero" in str(error), error
            else:
                raise SystemExit("no error")
            assert x.tolist() == [1, 2]
        for bad, words in (
            (lambda: x + lamella.ones(2), ("cuda:0", "cpu")),
            (lambda: x + lamella.ones(2, device="cuda:1"), ("cuda:0", "cuda:1")),
            (lambda: lamella.ones(1, device="cuda:2"), ("cuda:2",)),
            (lambda: cuda.set_device(7), ("7",)),
        ):
            try:
                bad()
            except RuntimeError as error:
                assert all(w in str(error) for w in words), error
            else:
                raise SystemExit(f"no error: {words}")
    """)


def test_a_forked_child_gets_an_error(cuda):
    cuda.run("""
        import os
        import lamella
        x = lamella.ones(2, device="cuda")
        if (child := os.fork()) == 0:
            try:
                x + 1
            except RuntimeError as error:
                os._exit(0 if "forked child" in str(error) and "spawn" in str(error) else 2)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert (x + 1).tolist() == [2, 2]
    """)


def test_graphs_replay_what_was_captured(cuda):
    cuda.run("""
        import lamella
        cuda = lamella.cuda
        x, w = lamella.arange(4.0, device="cuda"), lamella.ones(4, device="cuda")
        g = cuda.CUDAGraph()
        for bad in (g.capture_begin, g.replay, g.capture_end):
            try:
                bad()
            except RuntimeError:
                continue
            raise SystemExit("no error")
        with cuda.graph(g):
            assert cuda.is_current_stream_capturing()
            y = (x * 2 + w).sum()
        held = y.data_ptr()
        g.replay()
        assert y.item() == 16
        x.fill_(5)
        g.replay()
        assert y.item() == 44 and y.data_ptr() == held
        cuda.empty_cache()
        g.replay()
        assert y.item() == 44
        quotient = cuda.CUDAGraph()
        ones = lamella.ones(1, dtype=lamella.int64, device="cuda")
        zeros = ones - 1
        with cuda.graph(quotient):
            ones // zeros
        quotient.replay()
        try:
            cuda.synchronize()
        except RuntimeError as error:
            assert "division by zero" in str(error)
        else:
            raise SystemExit("no error")
        g.reset()
    """)


def test_properties(cuda):
    cuda.run("""
        import lamella
        p = lamella.cuda.get_device_properties(1)
        assert p.name == "Stand-in" and (p.major, p.minor) == (9, 0) == lamella.cuda.get_device_capability()
        assert p.total_memory == lamella.cuda.mem_get_info()[1] and p.multi_processor_count == 4
        assert lamella.cuda.device_count() == 2 and p.uuid.startswith("GPU-01010101-")
    """)


# ---- layouts of operands ---------------------------------------------------------------------------------------------


def test_operands_of_any_layout(cuda):
    """Misaligned, strided, broadcast and transposed ones, more dimensions than a walk has, and numbers of the host."""
    cuda.run(
        NUMPY
        + """
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 3, 2, 2, 3, 2, 2, 3, 2, 2)), rng.standard_normal((2, 3, 1, 2, 3, 1, 2, 3, 2, 1))
    x, y = (lamella.from_numpy(v).to("cuda") for v in (a, b))
    order = (1, 0, 3, 2, 5, 4, 7, 6, 9, 8)
    same = lambda got, wanted: np.testing.assert_allclose(got.cpu().numpy(), wanted, rtol=1e-12)
    same(x.permute(order) * y.permute(order), a.transpose(order) * b.transpose(order))
    same(x.permute(order).contiguous(), a.transpose(order))
    c = rng.standard_normal(1003).astype("float32")
    z = lamella.from_numpy(c).to("cuda")
    for first in (0, 1, 2, 3):  # packs need an alignment, and leave a rest
        same(z[first:] + z[: len(c) - first], c[first:] + c[: len(c) - first])
    out = lamella.zeros(50, 3, device="cuda")
    lamella.mul(z[:50], 2.0, out=out[:, 1])
    same(out[:, 1], c[:50] * 2)
    same(z * lamella.tensor(3.0, dtype=lamella.float64), c * np.float32(3))
    w = z[:900].reshape(30, 30)
    w[1:].copy_(w[:-1])
    d = c[:900].reshape(30, 30).copy()
    d[1:] = d[:-1].copy()
    same(w, d)
    """
    )


def test_reductions_of_many_parts(cuda):
    """Lengths around the parts' and the packs' borders, rows and columns, against numpy."""
    cuda.run(
        NUMPY
        + """
    rng = np.random.default_rng(1)
    shapes = ((65536 * 2 + 5,), (3, 65537), (5, 1025), (1,), (2049, 33), (40, 33))
    for shape, dim in zip(shapes, (0, 1, 1, 0, 0, 0)):
        a = rng.integers(-9, 9, shape)
        x = lamella.from_numpy(a).to("cuda")
        np.testing.assert_array_equal(x.sum(dim).cpu().numpy(), a.sum(dim))
        np.testing.assert_array_equal(x.argmax(dim).cpu().numpy(), a.argmax(dim))
        np.testing.assert_array_equal(x.cumsum(dim).cpu().numpy(), a.cumsum(dim))
        f = x.to(lamella.float32)
        np.testing.assert_allclose(f.var(dim, correction=0).cpu().numpy(), a.var(dim), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(f.mean(dim).cpu().numpy(), a.mean(dim), rtol=1e-5, atol=1e-6)
    """
    )


def test_a_network_learns_as_on_the_cpu(cuda):
    """Convolutions, norms, a loss, Adam and pinned batches, eager and captured; gradients within rounding."""
    cuda.run(
        NUMPY
        + """
    from lamella import nn
    data = lamella.randn(12, 1, 8, 8, generator=lamella.Generator().manual_seed(0)), lamella.arange(12) % 3
    results = {}
    for device in ("cpu", "cuda"):
        lamella.manual_seed(3)
        net = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 3)
        ).to(device)
        optimizer = lamella.optim.Adam(net.parameters(), lr=0.01)
        losses = []
        loader = lamella.utils.data.DataLoader(
            lamella.utils.data.TensorDataset(*data), batch_size=6, pin_memory=device == "cuda"
        )
        for _ in range(3):
            for x, y in loader:
                assert device == "cpu" or x.is_pinned()
                x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(net(x), y)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        results[device] = losses, [p.grad.cpu().numpy() for p in net.parameters()], net.state_dict()
    np.testing.assert_allclose(results["cuda"][0], results["cpu"][0], rtol=1e-4)
    for got, wanted in zip(results["cuda"][1], results["cpu"][1]):
        np.testing.assert_allclose(got, wanted, rtol=2e-3, atol=1e-4)
    assert results["cuda"][0][-1] < results["cuda"][0][0] and not lamella.fallback_counts(), lamella.fallback_counts()
    lamella.save(results["cuda"][2], "net.pt")
    back = lamella.load("net.pt")
    assert all(v.device.type == "cuda" for v in back.values())
    """
    )


# ---- kernels that are wrong are reported -----------------------------------------------------------------------------


def test_a_text_that_does_not_compile_is_kept(fresh, tmp_path):
    told = fresh(
        """
        import lamella
        try:
            lamella.ones(2, device="cuda") + 1
        except RuntimeError as error:
            print(error)
        """,
        alter="DEVICE Pack=>DEVICE Pick",
    )
    path = told.split("messages are in ")[1].split("\n")[0].strip()
    content = open(path).read()
    assert "does not compile" in told and "'Pick'" in content.replace("‘", "'").replace("’", "'"), told
    assert "struct Op" in content


BRANCH = "if (threadIdx.x == 0)\n    for (int w = 1"
SHARED = "warps[threadIdx.x / 32] = mine;"


@pytest.mark.parametrize(
    "alter, wanted",
    [
        (f"{BRANCH}=>if (threadIdx.x < 40) __syncthreads();\n  {BRANCH}", "CUDA_ERROR_LAUNCH_FAILED"),
        (f"{SHARED}\n  __syncthreads();=>{SHARED}", "wrong"),
        ("Fold::join(four[0], four[1]);=>", "wrong"),
    ],
    ids=("barrier in a branch", "missing barrier", "dropped sum"),
)
def test_planted_defects_are_found(fresh, alter, wanted):
    program = """
        import lamella
        x = lamella.arange(1, 5001, dtype=lamella.int64, device="cuda")
        try:
            print("right" if x.sum().item() == 5000 * 5001 // 2 else "wrong")
        except RuntimeError as error:
            print(error)
    """
    assert wanted in fresh(program, alter=alter)


def test_the_samples_program_reports_a_planted_defect(tmp_path_factory, tmp_path):
    folder = make(tmp_path_factory)
    env = {
        "LD_LIBRARY_PATH": str(folder),
        "LAMELLA_CUDA_CACHE": str(tmp_path / "kernels"),
        "STANDIN_ALTER": "warps[w] = run;=>warps[w] = next;",
    }
    command = [sys.executable, HERE / "run_samples.py", "cumsum"]
    done = subprocess.run(command, env=clean_environment(**env), capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and "cumsum" in done.stdout and "1 wrong" in done.stdout, done.stdout + done.stderr


def test_a_profile_times_kernels_by_events(cuda):
    """The profiler knows nothing of this backend but its events."""
    cuda.run("""
        import lamella
        from lamella.profiler import profile
        x = lamella.ones(1000, device="cuda")
        (x + 1).sum().item()
        with profile(activities=["cpu", "cuda"], profile_memory=True) as prof:
            (x + 1).sum().item()
        assert [e.name for e in prof.events() if e.is_device][:2] == ["aten::add", "aten::sum"]
        row = next(r for r in prof.key_averages() if r.key == "aten::add")
        assert row.device_time_total > 0 and row.device_memory_usage >= 4000, row
        (stream,) = prof.device_streams()
        assert stream.device == "cuda:0" and len(stream.work) >= 2 and stream.busy > 0
    """)


def test_samples(tmp_path_factory):
    """A part of the catalogue that changes each day, against the oracles; nothing of it may fall back to the host."""
    folder = make(tmp_path_factory)
    env = {"LD_LIBRARY_PATH": str(folder), "LAMELLA_CUDA_CACHE": str(folder / "kernels")}
    env |= {"STANDIN_RECORD": str(folder / "record"), "LAMELLA_SWEEP": "turn"}
    said = run(sys.executable, HERE / "run_samples.py", cwd=folder, timeout=900, **env)
    assert '{"fallbacks": []}' in said
