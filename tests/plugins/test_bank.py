"""The example backend: tensors and copies on two devices, pointwise values against numpy, errors, late kernels."""

import signal
import subprocess
import textwrap
from pathlib import Path

import lamella
import pytest
from children import clean_environment, run
from environments import EXAMPLES

OPERATORS = """
    import numpy as np
    import lamella

    rng = np.random.default_rng(0)

    def data(kind, shape):
        if kind == "bool":
            return rng.integers(0, 2, shape).astype(bool)
        if kind.startswith("int"):
            return rng.integers(-9, 9, shape).astype(kind)
        return (rng.standard_normal(shape) * 2).astype(kind)

    def same(got, wanted, **limits):
        assert got.device == lamella.device("bank:1"), got.device
        got = got.to("cpu").numpy()
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), (got, wanted)
        np.testing.assert_allclose(got, wanted, **limits)
"""


def test_loaded_when_first_named(guest):
    guest.run("""
        import sys
        import lamella

        state = lambda: next(p.state for p in lamella.plugins.status() if p.name == "bank")
        assert state() == "found" and "lamella_bank" not in sys.modules
        x = lamella.ones(2, 3, device="bank")
        assert state() == "loaded" and "lamella_bank" in sys.modules
        assert str(x.device) == "bank:0" or x.device == lamella.device("bank", 0), x.device
        assert x.device.type == "bank" and x.device.index == 0
    """)


def test_creation_and_repr(guest):
    guest.run("""
        import numpy as np
        import lamella

        for make in (
            lambda d: lamella.zeros(2, 3, device=d),
            lambda d: lamella.full((2,), 7.5, device=d),
            lambda d: lamella.full((3,), True, device=d),
            lambda d: lamella.ones(2, dtype=lamella.int64, device=d),
            lambda d: lamella.tensor([[1, 2], [3, 4]], device=d),
            lambda d: lamella.tensor(1.5, device=d),
            lambda d: lamella.empty(0, 3, device=d),
            lambda d: lamella.full((2,), 1 + 2j, device=d),
        ):
            for index in (0, 1):
                x, wanted = make(f"bank:{index}"), make("cpu")
                assert x.device == lamella.device("bank", index) and wanted.device.type == "cpu"
                assert x.dtype == wanted.dtype and x.shape == wanted.shape
                np.testing.assert_array_equal(x.to("cpu").numpy(), wanted.numpy())
                assert "bank:%d" % index in repr(x), repr(x)
    """)


def test_copies_between_all_devices(guest):
    """Every pair of devices and dtypes, strided on either side, against numpy's astype."""
    guest.run("""
        import itertools
        import numpy as np
        import lamella

        a = np.arange(24).reshape(4, 6) % 7
        places = ["cpu", "bank:0", "bank:1"]
        kinds = ["bool", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
        real = [k for k in kinds if not k.startswith("complex")]
        for one, other in itertools.product(places, places):
            for has, to in itertools.product(kinds, kinds):
                if has not in real and to in real:
                    continue  # numpy warns of what it drops
                x = lamella.from_numpy(a.astype(has)).to(one)
                wanted = a.astype(has).astype(to)
                kind = getattr(lamella, to)
                got = x.to(other, kind)
                assert got.device == lamella.device(other) and got.dtype == kind, (one, other, has, to)
                np.testing.assert_array_equal(got.to("cpu").numpy(), wanted, f"{one} {other} {has} {to}")
                target = lamella.zeros(6, 8, dtype=kind, device=other)
                view = target[:, ::2]  # (6, 4), strided
                view.copy_(x.t())
                np.testing.assert_array_equal(view.to("cpu").numpy(), wanted.T)
                assert not target[:, 1::2].to("cpu").numpy().any()
    """)


def test_every_byte_but_0_of_a_bool_is_true(guest):
    guest.run("""
        import lamella

        m = lamella.tensor([0, 1, 2, 255], dtype=lamella.uint8).view(lamella.bool).to("bank")
        x = lamella.tensor([1.0, 2.0, 3.0, 4.0], device="bank")
        assert m.sum() == 3 and m.count_nonzero() == 3 and m.float().tolist() == [0, 1, 1, 1]
        assert (~m).tolist() == [True, False, False, False] and (m == True).tolist() == [False, True, True, True]
        assert (m ^ True).tolist() == [True, False, False, False] and m[1:].all() and not m.all()
        assert lamella.where(m, x, -x).tolist() == [-1, 2, 3, 4] and x.masked_fill(m, 0).tolist() == [1, 0, 0, 0]
        assert x[m].tolist() == [2, 3, 4] and m.max(0).indices == 1 and m.cumsum(0).tolist() == [0, 1, 2, 3]
        assert m.sort(descending=True, stable=True).indices.tolist() == [1, 2, 3, 0]
        assert m.clamp_min(lamella.tensor(False)).tolist() == [False, True, True, True]
        assert x.clamp(min=float("nan")).isnan().all() and x.long().clamp(max=float("nan")).isnan().all()
    """)


def test_indices_of_any_integer_dtype(guest):
    """The bank's kernels read int64 indices; the dispatcher converts what callers give."""
    guest.run("""
        import numpy as np
        import lamella

        a = np.arange(1.0, 13.0).reshape(3, 4)
        at = np.array([[0, 2, 1, 1], [2, 0, 0, 1]])
        for kind in (lamella.int64, lamella.int32):
            x, i = lamella.tensor(a).to("bank"), lamella.tensor(at).to("bank", kind)
            same = lambda got, wanted: np.testing.assert_array_equal(got.to("cpu").numpy(), wanted)
            same(x.gather(0, i), np.take_along_axis(a, at, 0))
            wanted = np.zeros((3, 4))
            np.put_along_axis(wanted, at, a[:2], 0)
            same(lamella.zeros(3, 4, dtype=x.dtype, device="bank").scatter_(0, i, x), wanted)
            wanted = np.zeros((3, 4))
            np.add.at(wanted, (at, np.arange(4)), a[:2])
            same(lamella.zeros_like(x).scatter_add(0, i, x), wanted)
            assert i.dtype == kind and x.to("meta").gather(0, i.to("meta")).shape == (2, 4)
        for kind in (lamella.int64, lamella.int32, lamella.int16):
            i = lamella.tensor(at[0]).to("bank", kind)
            same(x.index_select(0, i), a[at[0]])
            same(x.take(i), a.take(at[0]))
            same(x[i], a[at[0]])
            same(x[i[:2], i[1:3]], a[at[0][:2], at[0][1:3]])
            same(lamella.nn.functional.embedding(i, x), a[at[0]])
            same(x.index_put([i[:2]], x[:2]), np.stack([a[0], a[1], a[1]])[[0, 1, 2]])
    """)


def test_copy_within_one_storage(guest):
    guest.run("""
        import numpy as np
        import lamella

        x = lamella.tensor(list(range(10)), device="bank:1")
        x[1:].copy_(x[:-1])
        np.testing.assert_array_equal(x.to("cpu").numpy(), [0] + list(range(9)))
        y = lamella.tensor([[1, 2], [3, 4]], device="bank:0")
        y.copy_(y.t())
        np.testing.assert_array_equal(y.to("cpu").numpy(), [[1, 3], [2, 4]])
    """)


def test_bfloat16_rounds_to_nearest_even(guest):
    guest.run("""
        import ml_dtypes
        import numpy as np
        import lamella

        a = np.random.default_rng(0).standard_normal(999).astype("float32")
        x = lamella.from_numpy(a).to("bank:0").to(lamella.bfloat16).to(lamella.float32)
        np.testing.assert_array_equal(x.to("cpu").numpy(), a.astype(ml_dtypes.bfloat16).astype("float32"))
    """)


def test_numbers_beside_its_tensors(guest):
    """An operand may be a Python number or a zero-dim host tensor, but not a tensor of another device."""
    guest.run(
        OPERATORS
        + """
    a, i = data("float32", (3, 4)), np.array([7, -7, 9], "int64")
    bank = lambda a: lamella.from_numpy(a).to("bank:1")
    for two in (2.0, lamella.tensor(2.0), lamella.tensor(2.0, dtype=lamella.float64)):
        same(bank(a) - two, a - np.float32(2))
        same(two - bank(a), np.float32(2) - a)
    same(bank(i) / 2, (i / 2).astype("float32"))
    same(lamella.div(bank(i), 2, rounding_mode="trunc"), np.array([3, -3, 4]))
    """
    )


def test_halves_are_computed_in_float32(guest):
    guest.run(
        OPERATORS
        + """
    a, b = data("float16", (300,)), data("float16", (300,))
    x, y = (lamella.from_numpy(v).to("bank:1") for v in (a, b))
    wanted = (a.astype("float32") * b.astype("float32")).astype("float16")
    same(x * y, wanted)
    same(x[::3] * y[::3], wanted[::3])
    same(x < y, a < b)
    """
    )


def test_in_place_and_out(guest):
    guest.run(
        OPERATORS
        + """
    a, b = data("float32", (4, 4)), data("float32", (4, 4))
    x, y = (lamella.from_numpy(v.copy()).to("bank:1") for v in (a, b))
    where = x.data_ptr()
    x += y
    x.mul_(2)
    assert x.data_ptr() == where
    same(x, (a + b) * 2)
    x.add_(x.t())
    same(x, (a + b) * 2 + ((a + b) * 2).T)
    out = lamella.empty(4, 4, dtype=lamella.float64, device="bank:1")
    where = out.data_ptr()
    assert lamella.add(y, y, out=out) is out and out.data_ptr() == where
    same(out, (b + b).astype("float64"))
    strided = lamella.zeros(4, 8, device="bank:1")
    lamella.mul(y, y, out=strided[:, ::2])
    same(strided[:, ::2], b * b)
    same(strided[:, 1::2], np.zeros((4, 4), "float32"))
    """
    )


def test_an_operator_it_never_heard_of(guest):
    """Another package's composite runs on the device; an operator with a host kernel alone falls back, counted."""
    guest.run("""
        import lamella

        lib = lamella.library.Library("stranger", "DEF", owner="a test")
        lib.define("twice(Tensor self) -> Tensor")
        lib.impl("twice", lambda x: x + x, "composite")
        lib.define("host_only(Tensor self) -> Tensor")
        lib.impl("host_only", lambda x: x * 3, "cpu")
        lib.define("nobodys(Tensor self) -> Tensor")
        x = lamella.ops.stranger.twice(lamella.ones(2, device="bank:1"))
        assert x.device == lamella.device("bank:1") and x.to("cpu").tolist() == [2, 2]
        y = lamella.ops.stranger.host_only(x)
        assert y.device == lamella.device("bank:1") and y.tolist() == [6, 6]
        assert [f[:3] for f in lamella.fallback_counts()] == [("bank", "stranger::host_only", 1)]
        with fails(NotImplementedError, "stranger::nobodys", "bank:1"):
            lamella.ops.stranger.nobodys(x)
    """)


def test_errors_say_what_to_do(guest):
    guest.run("""
        import lamella

        def refused(kind, *words):
            def check(f):
                with fails(kind, *words):
                    f()
            return check

        x, y, host = lamella.ones(2, 2, device="bank:0"), lamella.ones(2, 2, device="bank:1"), lamella.ones(2, 2)
        refused(IndexError, "gather", "'index'", "7", "2")(
            lambda: x.gather(0, lamella.tensor([[7]], device="bank:0")).tolist()
        )
        refused(lamella.OutOfMemoryError, "bank")(lambda: lamella.empty(10**12, device="bank"))
        refused(RuntimeError, "add", "bank:0", "bank:1", "self", "other")(lambda: x + y)
        refused(RuntimeError, "add", "bank:0", "cpu")(lambda: x + host)
        refused(RuntimeError, "bank:2")(lambda: lamella.ones(1, device="bank:2"))
        refused(RuntimeError, "bank:2")(lambda: host.to("bank:2"))
        refused(RuntimeError, "nobank", "bank")(lambda: lamella.ones(1, device="nobank"))
        refused(RuntimeError, "division by zero")(
            lambda: (lamella.ones(1, dtype=lamella.int64, device="bank") // 0).tolist()
        )
        refused(TypeError, "bank")(lambda: x.numpy())
        assert x.to("cpu").tolist() == y.to("cpu").tolist() == [[1, 1], [1, 1]]
    """)


def test_reading_values(guest):
    guest.run("""
        import lamella

        x = lamella.tensor([[1.5, 2.5]], device="bank:1")
        assert x[0, 1].item() == 2.5 and x.tolist() == [[1.5, 2.5]] and float(x[0, 0]) == 1.5
        assert bool(lamella.tensor([True], device="bank:0"))
    """)


def test_views_need_no_kernel(guest):
    guest.run("""
        import numpy as np
        import lamella

        a = np.arange(24.0).reshape(2, 3, 4)
        x = lamella.from_numpy(a).to("bank:0")
        views = [lambda t: t[0], lambda t: t[:, 1:], lambda t: t[..., ::2], lambda t: t.reshape(6, 4)]
        views += [lambda t: t[None], lambda t: t[1, 2]]
        for f in views:
            view = f(x)
            np.testing.assert_array_equal(view.to("cpu").numpy(), f(a))
            assert view.storage().data_ptr() == x.storage().data_ptr()
        x[0].fill_(7)
        x[1, :, 0] = 5
        a[0], a[1, :, 0] = 7, 5
        np.testing.assert_array_equal(x.to("cpu").numpy(), a)
    """)


def test_meta_stands_beside_it(guest):
    guest.run("""
        import lamella

        x = lamella.ones(3, 4, device="bank:1")
        m = lamella.empty_like(x, device="meta")
        assert m.device.type == "meta" and m.shape == x.shape
        assert (m + m).shape == (x + x).shape and (m + m).device.type == "meta"
        back = lamella.empty_like(m, device="bank:1")
        assert back.device == x.device
        with fails(NotImplementedError, "meta"):
            m.to("bank:1")
    """)


def test_default_device(guest):
    guest.run("""
        import lamella

        lamella.set_default_device("bank:1")
        x = lamella.ones(2) * 3
        assert x.device == lamella.device("bank:1") and x.to("cpu").tolist() == [3, 3]
    """)


def test_a_python_kernel_that_came_before_the_device(guest):
    """A kernel for a device that is not loaded yet waits for it, and is then called like any device's kernel."""
    guest.run("""
        import lamella

        lib = lamella.library.Library("early", "DEF", owner="a test")
        lib.define("one(Tensor self) -> Tensor")
        seen = []
        lib.impl("one", lambda *args: seen.append(args) or args[-1].clone(), "bank")
        x = lamella.ones(2, device="bank")
        lamella.ops.early.one(x)
        assert len(seen) == 1 and len(seen[0]) == 1 and seen[0][0] is x, seen
    """)


def test_memory_comes_back(guest):
    guest.run("""
        import gc
        import lamella
        from lamella import _C

        lamella.ones(1, device="bank:1")
        before = _C._memory_stats("bank:1")["live_bytes"]
        x = [lamella.ones(1000, device="bank:1") for _ in range(10)]
        assert _C._memory_stats("bank:1")["live_bytes"] >= before + 40000
        del x
        gc.collect()
        assert _C._memory_stats("bank:1")["live_bytes"] == before
    """)


@pytest.mark.long
def test_dlpack_orders_the_consumers_stream(guest):
    guest.run("""
        import lamella
        from lamella.utils.cpp_extension import load_inline

        streams = load_inline(
            "streams",
            cpp_sources='''
                static const lamella_backend* bank() {
                  int32_t id;
                  lamella::check(lamella::api().find_backend("bank", &id));
                  return lamella::api().backend_description(id);
                }
                int64_t create() {
                  void* s;
                  lamella::check(bank()->stream_create(bank()->context, 0, 0, &s));
                  return reinterpret_cast<int64_t>(s);
                }
                void set_current(int64_t s) {
                  lamella::check(bank()->stream_set_current(bank()->context, 0, reinterpret_cast<void*>(s)));
                }
            ''',
            functions=["create", "set_current"],
        )
        x = lamella.zeros(1000, device="bank")
        x.cpu()
        other = streams.create()
        lamella.ops.bank.delay(x, 50000)
        x.add_(1)
        capsule = x.__dlpack__(stream=other)  # which waits for the default stream, where x is written
        streams.set_current(other)
        assert (lamella.from_dlpack(capsule) * 1).tolist() == [1] * 1000
        lamella.ops.bank.delay(x, 50000)
        x.add_(1)
        capsule = x.__dlpack__()  # for the default stream
        streams.set_current(0)
        assert (lamella.from_dlpack(capsule) * 1).tolist() == [2] * 1000

        class Exporter:
            def __dlpack_device__(self):
                return x.__dlpack_device__()

            def __dlpack__(self, *, stream=None, max_version=None):
                self.stream = stream
                return x.__dlpack__(stream=stream, max_version=max_version)

        exporter = Exporter()
        streams.set_current(other)
        lamella.from_dlpack(exporter)
        assert exporter.stream == other, (exporter.stream, other)
        x.__dlpack__(stream=-1)
        for t, stream, error in ((x, "s", TypeError), (x, -2, BufferError), (lamella.ones(1), 1, BufferError)):
            with fails(error, "stream"):
                t.__dlpack__(stream=stream)
        lamella.ones(1).__dlpack__(stream=None), lamella.ones(1).__dlpack__(stream=-1)
    """)


def test_pinned_memory(guest):
    guest.run("""
        import lamella

        x = lamella.arange(6.0).reshape(2, 3)
        with fails(RuntimeError, "no loaded device pins"):
            x.pin_memory()
        lamella.ones(1, device="bank")
        assert not x.is_pinned()
        p = x.pin_memory()
        assert p.is_pinned() and p.tolist() == x.tolist() and p.pin_memory() is p and p.view(6).is_pinned()
        assert x.t().pin_memory().tolist() == x.t().tolist()
        made = (
            lamella.zeros(2, 3, pin_memory=True),
            lamella.empty(2, pin_memory=True),
            lamella.empty_like(x, pin_memory=True),
            lamella.ones_like(x.t(), pin_memory=True),
            lamella.full((2,), 3, pin_memory=True),
            lamella.arange(5, pin_memory=True),
            lamella.linspace(0, 1, 5, pin_memory=True),
            lamella.rand(3, pin_memory=True),
            lamella.tensor([1.0, 2.0], pin_memory=True),
            lamella.empty_strided((2, 3), (1, 2), pin_memory=True),
        )
        assert all(t.is_pinned() for t in made), [t.is_pinned() for t in made]
        assert not any(lamella.zeros(2, 3, pin_memory=p).is_pinned() for p in (False, None))
        far = p.to("bank", non_blocking=True)
        assert far.cpu().tolist() == x.tolist() and not far.is_pinned()
        back = lamella.empty(2, 3, pin_memory=True).copy_(far * 2, non_blocking=True)
        lamella._C._synchronize("bank:0")
        assert back.tolist() == (x * 2).tolist()
        for wrong in (lambda: far.pin_memory(), lambda: lamella.zeros(2, device="bank", pin_memory=True)):
            with fails(RuntimeError, "host"):
                wrong()
    """)


def test_layers_see_its_calls(guest):
    guest.run("""
        import lamella
        from lamella_flops import native, twin

        x = lamella.ones(3, 4, device="bank:1")
        with native.on(), twin.on():
            (x + x) * 2
            x.to("cpu")
        assert native.counts() == {"aten::add": 12, "aten::mul": 12} == twin.counts()
    """)


def test_from_two_threads_at_once(guest):
    guest.run("""
        import threading
        import lamella

        barrier, found = threading.Barrier(8), []
        def work(i):
            barrier.wait()
            found.append((lamella.ones(5, device=f"bank:{i % 2}") + i).to("cpu").tolist())
        workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for w in workers: w.start()
        for w in workers: w.join()
        assert sorted(found) == [[1 + i] * 5 for i in range(8)], found
    """)


SOURCES = sorted((EXAMPLES / "backend_plugin/src").glob("*.*"))


def test_it_is_small():
    assert sum(len(f.read_text().splitlines()) for f in SOURCES) <= 1160
    assert all(len(line) <= 120 for f in SOURCES for line in f.read_text().splitlines())


def test_it_stands_on_the_public_headers_alone():
    included = {line.split()[1] for f in SOURCES for line in f.read_text().splitlines() if line.startswith("#include")}
    ours = {name for name in included if "lamella" in name or name.startswith('"')}
    public = {"<lamella/extension.h>", "<lamella/device_trace.h>", "<lamella/dispatcher.h>"}
    assert ours == {*public, '"bank.h"', '"streams.h"'}


def test_a_stray_access_is_a_fault(guest):
    """A host access to device memory kills the process, whether or not a kernel runs; only the device can read it."""
    program = """
        import ctypes, sys
        import lamella

        x = lamella.ones(4, device="bank:1")
        print(x.tolist(), flush=True)
        if sys.argv[1] == "busy":
            y = [x.sort() for _ in range(1000)]
        if sys.argv[1] == "write":
            ctypes.memset(x.data_ptr(), 0, 4)
        ctypes.string_at(x.data_ptr(), 4)
        print("still alive")
    """
    for how in ("idle", "busy", "write"):
        command = [guest.python, "-c", textwrap.dedent(program), how]
        done = subprocess.run(command, cwd=guest.folder, env=clean_environment(), capture_output=True, text=True)
        assert done.returncode == -signal.SIGSEGV, (how, done.returncode, done.stderr)
        assert done.stdout == "[1.0, 1.0, 1.0, 1.0]\n"


def test_errors_come_late_and_once(guest):
    """A kernel's error is raised by the next copy to the host, synchronize or nonzero, and writes nothing."""
    guest.run("""
        import lamella

        def late(start, end):
            start()  # returns
            try:
                end()
            except (IndexError, RuntimeError) as error:
                return type(error).__name__, str(error)
            raise SystemExit("no error")

        x = lamella.zeros(3, device="bank:1")
        far, one = lamella.tensor([0, 9], device="bank:1"), lamella.ones(2, device="bank:1")
        ends = [x.tolist, lambda: lamella._C._synchronize("bank:1"), x.nonzero]
        for end in ends:
            kind, text = late(lambda: x.scatter_(0, far, one), end)
            assert kind == "IndexError" and "scatter_: argument 'index': 9" in text, (kind, text)
            assert x.tolist() == [0, 0, 0]  # the second time there is no error
        lamella._C._synchronize("bank:0")
        kind, text = late(lambda: x.gather(0, far), lambda: x.sum().item())
        assert "gather" in text
    """)


def test_kernels_run_in_order(guest):
    """Memory that is freed while queued kernels use it is used again only after them."""
    guest.run("""
        import numpy as np
        import lamella

        rng = np.random.default_rng(0)
        total, x = np.zeros((50, 40), "float32"), lamella.zeros(50, 40, device="bank:0")
        for i in range(300):
            a = rng.standard_normal((50, 40)).astype("float32")
            x = x + lamella.from_numpy(a).to("bank:0")  # the old x, and the operand, are freed at once
            lamella.full((50, 40), float(i), device="bank:0").exp()  # would spoil them
            total = total + a
        np.testing.assert_array_equal(x.to("cpu").numpy(), total)
    """)


def test_copies_between_banks_and_meta(guest):
    guest.run("""
        import itertools
        import lamella

        places = ["cpu", "bank:0", "bank:1"]
        for one, other in itertools.product(places, places):
            x = lamella.arange(6, device=one).reshape(2, 3)
            y = lamella.zeros(2, 3, dtype=lamella.int64, device=other)
            assert y.copy_(x) is y and y.tolist() == [[0, 1, 2], [3, 4, 5]], (one, other)
            assert x.t().to(other).tolist() == [[0, 3], [1, 4], [2, 5]]
        for place in places:
            meta = lamella.ones(2, 3, device=place).to("meta")
            assert meta.device.type == "meta" and meta.shape == (2, 3)
            with fails(NotImplementedError, "meta"):
                meta.to(place)
    """)


def test_what_serves_each_operator(guest):
    """`lamella ops list --device bank`: linear algebra alone falls back, and the native ones are the primitive set."""
    listed = run(guest.python, "-m", "lamella.cli", "ops", "list", "--device", "bank", cwd=guest.folder)
    rows = [line.split() for line in listed.splitlines() if "aten::" in line]
    kinds = {kind for kind, *_ in rows}
    assert kinds == {"native", "shape", "composite", "fallback"}
    category = {o["name"]: o["category"] for o in lamella._C._operators()}
    assert {category[name] for kind, name, *_ in rows if kind == "fallback"} == {"linalg"}
    assert ["native", "aten::bmm"] in rows and ["composite", "aten::mm"] in rows
    assert listed.splitlines()[-1].startswith("bank: ")


def test_a_forked_child_goes_on(guest):
    """The child sees the results of the parent's kernels, also of queued ones, and has a thread for its own kernels."""
    guest.run("""
        import os
        import signal
        import lamella

        x = lamella.arange(100000, device="bank:1")
        y = (x * 2 + 1).cumsum(0)  # on its way
        other = lamella.ones(3, device="bank:0")
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            good = y[-1].item() == 10**10 and (y - y).sum().item() == 0 and (other + 1).tolist() == [2, 2, 2]
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert y[-1].item() == 10**10 and (other + 2).tolist() == [3, 3, 3]
    """)


@pytest.mark.long
def test_every_sample_of_every_operator(guest):
    """On the primitive set the whole catalogue gives the oracles' values; the host computes linear algebra alone."""
    operators = Path(__file__).resolve().parents[1] / "operators"
    guest.run(
        """
        import lamella
        from catalogue import BY_TITLE, SAMPLED, array, flat, run
        from compare import differences, expected, has_oracle
        from lamella.operators import samples

        def faults(sample):
            try:
                found = flat(run(sample, "bank"))
                here = [r.to("cpu") if isinstance(r, lamella.Tensor) else r for r in found]
            except Exception as error:
                return [f"{type(error).__name__}: {error}"]
            if sample.tag == "free" or not has_oracle(sample.operator):
                return []
            random = BY_TITLE[sample.operator]["category"] == "random"
            return differences([array(r) for r in here], expected(sample), size=float(random))

        found = [f"{s}: {what}" for name in SAMPLED for s in samples.of(name) for what in faults(s)]
        assert not found, f"{len(found)} faults\\n" + "\\n".join(found)
        hosted = {c.operator.removeprefix("aten::") for c in lamella.fallback_counts()}
        assert hosted and {BY_TITLE[title]["category"] for title in hosted} == {"linalg"}, hosted
        """,
        PYTHONPATH=str(operators),
        timeout=300,
    )


MLP = f"""
    import sys
    import numpy as np
    sys.path.insert(0, {str(EXAMPLES)!r})
    import lamella, mlp

    def losses(device):
        x, y, _, _ = mlp.split_digits(device)
        w1, w2 = mlp.new_weights(device)
        steps = [mlp.step(x[i : i + 64], y[i : i + 64], w1, w2) for _ in range(2) for i in range(0, len(x), 64)]
        return np.array([s.item() for s in steps])
"""


@pytest.mark.parametrize("withdrawn", [False, True])
@pytest.mark.long
def test_the_main_job(guest, withdrawn):
    """The two-layer network trains without a fallback, also with no kernel of the cpu but creation and copies."""
    guest.run(
        MLP
        + """
    wanted = losses("cpu")
    lamella.set_fallback("error")
    if sys.argv[1] == "True":
        operators = {o["name"] + (o["overload"] and "." + o["overload"]) for o in lamella._C._operators()
                     if o["form"] == "functional" and o["category"] not in ("creation", "copy")}
        disabled = lamella.library.kernels_disabled(sorted(operators), "cpu")
        x, y, _, _ = mlp.split_digits("bank:1")
        w1, w2 = mlp.new_weights("bank:1")
        with disabled:
            for i in range(0, len(x), 64):
                loss = mlp.step(x[i : i + 64], y[i : i + 64], w1, w2)
            loss = loss.item()
        np.testing.assert_allclose(loss, wanted[i // 64], rtol=1e-4)
    else:
        np.testing.assert_allclose(losses("bank:1"), wanted, rtol=1e-4)
    assert lamella.fallback_counts() == []
    """.replace("\n    ", "\n    "),
        str(withdrawn),
        timeout=300,
    )
