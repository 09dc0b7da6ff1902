"""The CUDA backend on a GPU, or over the stand-in driver: memory, streams, copies, graphs, faults; and refusals without
a driver."""

import datetime
import json
import subprocess
import sys
import textwrap

import pytest
from children import Guest, clean_environment, run
from standins import DECLINING, HERE, on_standin

NUMPY = """
    import lamella
    import numpy as np
"""


@pytest.fixture
def fresh(standin, tmp_path):
    """Runs programs over altered texts, with a cache of kernels of their own."""

    def run_altered(program, *arguments, alter, **env):
        usual = {"LD_LIBRARY_PATH": str(standin), "LAMELLA_CUDA_CACHE": str(tmp_path / "kernels")}
        return Guest(sys.executable, tmp_path, usual | {"STANDIN_ALTER": alter}).run(program, *arguments, **env)

    return run_altered


# ---- absent ----------------------------------------------------------------------------------------------------------


def refused(tmp_path, **env):
    """Returns the error of a program that uses the device."""
    program = """
        import lamella
        assert not lamella.cuda.is_available() and lamella.cuda.device_count() == 0
        found = lamella.accelerator.current_accelerator()
        assert found is None or found.type != "cuda"
        with fails(RuntimeError) as error:
            lamella.ones(1, device="cuda")
        print(error)
    """
    return Guest(sys.executable, tmp_path, {"LD_LIBRARY_PATH": str(tmp_path), **env}).run(program)


def test_refusals_say_why(standin, tmp_path):
    (tmp_path / "libcuda.so.1").symlink_to(standin / "libcuda.so.1")
    there = lambda **env: refused(tmp_path, **env)  # noqa: E731
    assert "finds no device" in there(STANDIN_DEVICES="0")
    assert "CUDA 11; CUDA 12 or later is needed" in there(STANDIN_VERSION="11040")
    (tmp_path / "libnvrtc.so.13").symlink_to(standin / "libnvrtc.so.13")
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
        lamella.backends.cuda.matmul.allow_tf32 = True  # the module also has torch's switches
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
        lamella.ops.cuda.delay(x, 1)  # kernels are compiled before time is measured
        held = x + 1, lamella.full((1000,), 7.0, device="cuda")
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


def test_out_of_memory_names_what_is_held_and_cached_blocks_are_tried_first(tmp_path_factory, standin):
    on_standin(tmp_path_factory).run(
        """
        import lamella
        x = lamella.empty(40 << 20, dtype=lamella.uint8, device="cuda")
        del x
        y = lamella.empty(60 << 20, dtype=lamella.uint8, device="cuda")  # fits if the cached block is freed
        with fails(lamella.OutOfMemoryError) as error:
            lamella.empty(30 << 20, dtype=lamella.uint8, device="cuda")
        assert "cuda" in str(error) and str(30 << 20) in str(error) and str(60 << 20) in str(error), error
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
        lamella.ops.cuda.delay(x, 1)  # kernels are compiled before time is measured
        (x.add_(0) * 2).mul_(3)
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
        last = cuda.device_count() - 1
        other = there.to(f"cuda:{last}")
        assert other.device.index == last and (other + 1).tolist() == [1.0, 2.0, 3.0, 4.0]
        target = lamella.empty(4).pin_memory()
        lamella.ops.cuda.delay(there, 50000)
        there.mul_(3)
        target.copy_(there, non_blocking=True)
        cuda.synchronize()
        assert target.tolist() == [0.0, 3.0, 6.0, 9.0]
        host = lamella.ones(3)
        lamella.ops.cuda.delay(there, 50000)
        moved = host.to("cuda")  # the copy has read the pageable memory
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
            with fails(RuntimeError, "floor_divide", "division by zero"):
                wait()
            assert x.tolist() == [1, 2]
        count = cuda.device_count()
        for bad, words in (
            (lambda: x + lamella.ones(2), ("cuda:0", "cpu")),
            (lambda: x + lamella.ones(2, device="cuda:1"), ("cuda:0", "cuda:1") if count > 1 else ("cuda:1",)),
            (lambda: lamella.ones(1, device=f"cuda:{count}"), (f"cuda:{count}",)),
            (lambda: cuda.set_device(77), ("77",)),
        ):
            with fails(RuntimeError, *words):
                bad()
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
        with fails(RuntimeError, "division by zero"):
            cuda.synchronize()
        g.reset()
    """)


def test_replays_draw_what_the_calls_would_draw(cuda):
    cuda.run("""
        import lamella
        cuda = lamella.cuda
        own = lamella.Generator("cuda").manual_seed(5)

        def calls():
            x = lamella.rand(5, device="cuda")
            y = lamella.empty(7, device="cuda").normal_(generator=own)
            drop = lamella.nn.functional.dropout(lamella.ones(9, device="cuda"), 0.5)
            q = lamella.ones(1, 1, 9, 8, device="cuda", requires_grad=True)
            weighed = lamella.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
            slope, = lamella.autograd.grad(weighed.sum(), q)  # takes the words of the same replay
            return x, y, drop, weighed.detach(), slope, lamella.randn(3, dtype=lamella.float64, device="cuda")

        calls()  # kernels are compiled
        lamella.manual_seed(3), own.manual_seed(4)
        wanted = [[t.tolist() for t in calls()] for _ in range(3)]
        g = cuda.CUDAGraph()
        with cuda.graph(g):
            captured = calls()
        lamella.manual_seed(3), own.manual_seed(4)
        for w in wanted:
            g.replay()
            assert [t.tolist() for t in captured] == w
        again = cuda.CUDAGraph()
        with cuda.graph(again):
            x = lamella.rand(5, device="cuda")
        lamella.manual_seed(3)
        assert lamella.rand(5, device="cuda").tolist() == wanted[0][0]  # outside of a graph nothing changes
        again.replay()
        assert x.tolist() != wanted[0][0]
    """)


def test_properties(tmp_path_factory, standin):
    on_standin(tmp_path_factory).run("""
        import lamella
        p = lamella.cuda.get_device_properties(1)
        assert p.name == "Stand-in" and (p.major, p.minor) == (9, 0) == lamella.cuda.get_device_capability()
        assert p.total_memory == lamella.cuda.mem_get_info()[1] and p.multi_processor_count == 4
        assert lamella.cuda.device_count() == 2 and p.uuid.startswith("GPU-01010101-")
    """)


# ---- layouts of operands ---------------------------------------------------------------------------------------------


def test_operands_of_any_layout(cuda):
    """Misaligned, strided, broadcast and transposed operands, more dimensions than a walk has, numbers of the host."""
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


def test_every_byte_but_0_of_a_bool_is_true(cuda):
    cuda.run("""
        import lamella

        m = lamella.tensor([0, 1, 2, 254, 255], dtype=lamella.uint8).view(lamella.bool).to("cuda")
        x = lamella.tensor([1.0, 2.0, 3.0, 4.0, 5.0], device="cuda")
        truth = [False, True, True, True, True]
        assert m.sum() == 4 and m.count_nonzero() == 4 and m.float().tolist() == [0, 1, 1, 1, 1]
        assert m.to(lamella.uint8).tolist() == [0, 1, 1, 1, 1] and m.half().tolist() == [0, 1, 1, 1, 1]
        assert (~m).tolist() == [not t for t in truth] and (m == True).tolist() == truth and (m & m).tolist() == truth
        assert (m ^ True).tolist() == [not t for t in truth] and m[1:].all() and not m.all() and m.any()
        assert lamella.where(m, x, -x).tolist() == [-1, 2, 3, 4, 5] and x[m].tolist() == [2, 3, 4, 5]
        assert m.max(0).indices == 1 and m.cumsum(0).tolist() == [0, 1, 2, 3, 4] and m.nonzero().numel() == 4
        assert m.sort(descending=True, stable=True).indices.tolist() == [1, 2, 3, 4, 0]
        assert lamella.tensor([0, 1 + 0j, 1j], device="cuda").bool().tolist() == [False, True, True]
        assert x.clamp(min=float("nan")).isnan().all() and x.clamp(max=float("nan")).isnan().all()
    """)


def test_reductions_of_many_parts(cuda):
    """Lengths around the borders of parts and packs, rows and columns, compared with numpy."""
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


# ---- other libraries' arrays -----------------------------------------------------------------------------------------


def test_the_cuda_array_interface(cuda):
    """Tensors on the device have the interface, and arrays that have it are read without a copy."""
    cuda.run(
        NUMPY
        + """
    import gc
    import weakref

    class Array:
        def __init__(self, **given):
            self.given = given

        @property
        def __cuda_array_interface__(self):
            return self.given

    host = lamella.ones(2)
    empty = lamella.as_tensor(Array(shape=(0, 3), typestr="<i8", data=(0, False), version=3))  # loads the backend
    assert empty.shape == (0, 3) and empty.device.type == "cuda" and empty.dtype == lamella.int64
    last = lamella.cuda.device_count() - 1
    x = lamella.arange(12.0, device=f"cuda:{last}").reshape(3, 4)
    assert x.__cuda_array_interface__ == dict(
        version=3, shape=(3, 4), typestr="<f4", data=(x.data_ptr(), False), strides=None, stream=1
    )
    side = lamella.cuda.Stream(last)
    with side:
        assert x.t().__cuda_array_interface__["strides"] == (4, 16)
        assert x.__cuda_array_interface__["stream"] == side.native_handle
    for dtype, name in ((lamella.bool, "|b1"), (lamella.int8, "|i1"), (lamella.complex64, "<c8")):
        assert x.to(dtype).__cuda_array_interface__["typestr"] == name
    assert not hasattr(host, "__cuda_array_interface__")
    assert not hasattr(x.to(lamella.bfloat16), "__cuda_array_interface__")
    with fails(RuntimeError, "requires grad"):
        x.clone().requires_grad_().__cuda_array_interface__

    source = Array(**x.t().__cuda_array_interface__)
    alive = weakref.ref(source)
    y = lamella.as_tensor(source)
    assert y.data_ptr() == x.data_ptr() and y.stride() == (1, 4) and y.device == x.device
    assert lamella.asarray(source, copy=False).data_ptr() == x.data_ptr()
    assert lamella.as_tensor(source, device="cpu").tolist() == x.t().tolist()
    y.fill_(3)
    assert x.sum().item() == 36
    del source
    gc.collect()
    assert alive() is not None
    del y
    gc.collect()
    assert alive() is None  # the tensor held it

    memory = np.ones(4, "f4")
    good = dict(shape=(4,), typestr="<f4", data=(x.data_ptr(), False), version=3)
    for change, words in (
        (dict(data=(memory.ctypes.data, False)), "not one of device memory"),
        (dict(data=(lamella.ones(4).pin_memory().data_ptr(), False)), "not one of device memory"),
        (dict(data=(x.data_ptr(), True)), "read-only"),
        (dict(data=(x.data_ptr() + 1, False)), "no multiple of the 4 bytes"),
        (dict(typestr=">f4"), "'>f4'"),
        (dict(typestr="|V2"), "'|V2'"),
        (dict(strides=(3,)), "no multiples"),
        (dict(strides=(-4,)), "negative stride"),
        (dict(stream=0), "stream 0"),
        (dict(mask=1), "mask"),
    ):
        with fails(BufferError, words):
            lamella.as_tensor(Array(**(good | change)))
    del empty
    gc.collect()
    from lamella.backends.cuda import arrays
    assert not arrays.held
    """
    )


def test_dlpack_refuses_memory_of_the_host(cuda):
    cuda.run(
        NUMPY
        + """
    lamella.ones(1, device="cuda")
    from lamella.backends.cuda import arrays
    import ctypes
    memory, sizes = np.ones(4, "f4"), (ctypes.c_int64 * 1)(4)
    managed = arrays.Managed(memory.ctypes.data, arrays.CUDA, 0, 1, arrays.KINDS["f"], 32, 1, ctypes.addressof(sizes))
    with fails(BufferError, "memory of the host"):
        lamella.from_dlpack(arrays.new_capsule(ctypes.addressof(managed), arrays.NAME, None))
    """
    )


def test_an_array_is_read_behind_the_stream_that_it_names(cuda):
    cuda.run(
        """
        import lamella
        cuda = lamella.cuda

        class Array:
            pass

        x = lamella.zeros(1000, device="cuda")
        lamella.ops.cuda.delay(x, 1)
        (x.fill_(0) + 0).cpu()
        cuda.synchronize()
        for name in ("array", "dlpack"):
            side, reader = cuda.Stream(), cuda.Stream()
            with side:
                lamella.ops.cuda.delay(x, 50000)
                x.fill_(5)
                Array.__cuda_array_interface__ = x.__cuda_array_interface__
                if name == "dlpack":  # the consumer's stream waits for the current one
                    capsule = x.__dlpack__(stream=reader.native_handle)
            assert not side.query()
            with reader:
                y = lamella.from_dlpack(capsule) if name == "dlpack" else lamella.as_tensor(Array())
                assert (y + 0).tolist() == [5.0] * 1000, name
            x.fill_(0)
            cuda.synchronize()
        """,
        STANDIN_ASYNC="1",
    )


# ---- training --------------------------------------------------------------------------------------------------------


def test_a_captured_step_trains_as_an_eager_one(cuda):
    cuda.run("""
        import lamella
        import numpy as np
        from lamella import nn
        cuda = lamella.cuda
        x, y = (t.to("cuda") for t in (lamella.randn(16, 6, generator=lamella.Generator().manual_seed(1)),
                                       lamella.arange(16) % 3))
        losses = {}
        for captured in (False, True):
            lamella.manual_seed(2)
            net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).to("cuda")
            optimizer = lamella.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)

            def step():
                optimizer.zero_grad(set_to_none=False)
                loss = nn.functional.cross_entropy(net(x), y)
                loss.backward()
                optimizer.step()
                return loss.detach()

            side, found = cuda.Stream(), []
            with side:
                found += [step().item() for _ in range(3)]
            cuda.synchronize()
            if captured:
                graph = cuda.CUDAGraph()
                with cuda.graph(graph):
                    loss = step()
                for _ in range(5):
                    graph.replay()
                    found.append(loss.item())
            else:
                found += [step().item() for _ in range(5)]
            losses[captured] = found
        np.testing.assert_allclose(losses[True], losses[False], rtol=1e-5)
        assert losses[True][-1] < losses[True][0], losses
    """)


def test_random_numbers_are_the_cpus(cuda):
    cuda.run(
        NUMPY
        + """
    def draw(device):
        lamella.manual_seed(5)
        at = dict(device=device)
        made = [lamella.rand(1003, **at), lamella.randint(0, 99, (50, 7), **at), lamella.randperm(100, **at)]
        made += [lamella.rand(40, **at).bernoulli(), lamella.nn.functional.dropout(lamella.ones(77, **at), 0.3)]
        made += [lamella.randn(1003, **at)]
        return [m.cpu().numpy() for m in made]

    *exact, normal = zip(draw("cuda"), draw("cpu"))
    for got, wanted in exact:
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_allclose(*normal, rtol=1e-5, atol=1e-6)
    """
    )


def test_checkpoints_move_between_devices(cuda):
    cuda.run("""
        import lamella
        x = lamella.arange(6.0, device="cuda").reshape(2, 3)
        lamella.save({"x": x, "view": x.t(), "host": lamella.ones(2)}, "all.lt")
        for where in ("cpu", "cuda"):
            back = lamella.load("all.lt", map_location=where)
            assert {t.device.type for t in back.values()} == {where}
            assert back["view"].tolist() == x.t().tolist() and back["view"].data_ptr() == back["x"].data_ptr()
        assert lamella.load("all.lt")["host"].device.type == "cpu"
        back = lamella.load("all.lt", map_location={"cuda:0": "cpu"})
        assert back["x"].device.type == "cpu"
    """)


def test_an_index_out_of_range_is_raised_by_its_stream(cuda):
    cuda.run(
        """
        import lamella
        cuda = lamella.cuda
        x, bad = lamella.arange(4.0, device="cuda"), lamella.tensor([1, 9], device="cuda")
        cuda.synchronize()
        side, other = cuda.Stream(), cuda.Stream()
        with side:
            lamella.ops.cuda.delay(x, 20000)
            x.index_select(0, bad)
        with other:
            assert (x + 1).tolist() == [1, 2, 3, 4]
        other.synchronize()
        with fails(IndexError, "9 is out of range"):
            side.synchronize()
        cuda.synchronize()
        """,
        STANDIN_ASYNC="1",
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


@pytest.mark.long
def test_the_samples_program_reports_a_planted_defect(standin, tmp_path):
    env = {
        "LD_LIBRARY_PATH": str(standin),
        "LAMELLA_CUDA_CACHE": str(tmp_path / "kernels"),
        "STANDIN_ALTER": "warps[w] = run;=>warps[w] = next;",
    }
    command = [sys.executable, HERE / "run_samples.py", "cumsum"]
    done = subprocess.run(command, env=clean_environment(**env), capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and "cumsum" in done.stdout and "1 wrong" in done.stdout, done.stdout + done.stderr


def test_a_profile_times_kernels_by_events(cuda):
    """The profiler uses nothing of this backend but its events."""
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


@pytest.mark.parametrize(
    "operator, alter, reported",
    [("cumsum", "warps[w] = run;=>warps[w] = next;", "gradient_faults"), ("t", "no text=>", "strides are")],
    ids=("a wrong sum", "another layout"),
)
@pytest.mark.long
def test_the_gradients_program_reports_planted_defects(standin, tmp_path, operator, alter, reported):
    program = """
        import sys
        import run_gradients as program
        described = program.described
        if sys.argv[1] == "t":  # the strides of the device's results are reversed
            program.described = lambda rs: [
                (shape, strides[:: -1 if rs[0].device.type == "cuda" else 1], dtype)
                for shape, strides, dtype in described(rs)
            ]
        raise SystemExit(program.main("run_gradients", sys.argv[1:], program.faults))
    """
    env = {"LD_LIBRARY_PATH": str(standin), "LAMELLA_CUDA_CACHE": str(tmp_path / "kernels"), "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), operator],
        env=clean_environment(**env, STANDIN_ALTER=alter),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 1 and reported in done.stdout and "1 wrong" in done.stdout, done.stdout + done.stderr


@pytest.mark.long
def test_the_program_for_the_sanitizer_runs(cuda):
    """Runs a part of the program, another one each day."""
    names = "pointwise reductions scans sorts rows norms attention convolutions pools indexing random products updates"
    part = names.split()[datetime.date.today().toordinal() % len(names.split())]
    said = run(sys.executable, HERE / "sanitized.py", part, cwd=cuda.folder, timeout=300, **cuda.env)
    assert said == f"{part}\n"


@pytest.mark.parametrize("program", ["run_samples.py", "run_gradients.py"])
@pytest.mark.long
def test_samples(tmp_path_factory, standin, program):
    """Compares a part of the catalogue, another one each day, with the oracles and the CPU. Only operators
    that decline may fall back. Products are computed by cuBLAS's stand-in here, and without it in test_heavy.py."""
    cuda = on_standin(tmp_path_factory, "blas", "solver")
    said = run(sys.executable, HERE / program, cwd=cuda.folder, timeout=900, **(cuda.env | {"LAMELLA_SWEEP": "turn"}))
    (line,) = [line for line in said.splitlines() if line.startswith('{"fallbacks"')]
    assert set(json.loads(line)["fallbacks"]) <= DECLINING, said
