"""The tenant of quantized tensors: its numbers, views, writes, copies, files, gradients and refusals on each device."""

import shutil
from pathlib import Path

import pytest
from children import Guest, run
from compiled import compile_library
from environments import PIP, fresh_environment

HERE = Path(__file__).resolve().parent


def package(folder, library):
    """Makes the package of the tenant in a folder; returns the folder."""
    module = folder / "tiny_quantized"
    module.mkdir(parents=True)
    shutil.copy(HERE / "quantized.py", module / "__init__.py")
    shutil.copy(library, module / "quantized.so")
    info = folder / "tiny_quantized-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-quantized\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[lamella.plugins]\nquantized = tiny_quantized\n")
    return folder


@pytest.fixture(scope="module")
def guest(tmp_path_factory, wheels):
    """Makes an environment with the tenant and the example backend."""
    root = tmp_path_factory.mktemp("quantized")
    python = fresh_environment(root / "venv")
    install = ("install", "-q", "--no-deps", "--no-index", "--force-reinstall", "--find-links", wheels, "lamella-bank")
    run(*PIP, "--python", python, *install, cwd=root)
    packages = package(root / "packages", compile_library(tmp_path_factory, HERE / "quantized.cpp"))
    # The plugin that the package ships has a layer and a namespace of the same names, which only one plugin can have.
    return Guest(python, root, {"PYTHONPATH": str(packages), "LAMELLA_PLUGINS": "-quantization"})


SETUP = """
import copy, pickle
import lamella, tiny_quantized
import numpy as np

PLACE = "cpu"
SCALE, ZERO = 0.05, 3
q8 = lamella.ops.quantized
rng = np.random.default_rng(0)
a = rng.normal(size=(4, 6)).astype(np.float32)
b = rng.normal(size=(5, 6)).astype(np.float32)
scales = np.array([0.01, 0.02, 0.05, 0.1], np.float32)

def integers(x, scale=SCALE, zero=ZERO):  # worked out apart
    return np.clip(np.round(np.asarray(x) / np.asarray(scale, np.float32)) + zero, -128, 127).astype(np.int8)

def numbers(x, scale=SCALE, zero=ZERO):
    return (integers(x, scale, zero).astype(np.float32) - zero) * np.asarray(scale, np.float32)

def here(x):
    return lamella.tensor(x).to(PLACE)

def host(t):
    return t.detach().to("cpu").numpy()

def same(got, wanted, tolerance=1e-6, opaque=True):
    assert got.is_opaque is opaque and tuple(got.shape) == np.shape(wanted), (got, wanted)
    assert got.dtype == lamella.float32 and got.device.type == PLACE
    if PLACE != "meta":
        np.testing.assert_allclose(host(q8.dequantize(got.detach()) if opaque else got), wanted, tolerance, tolerance)

def refused(call, *texts, kind=NotImplementedError):
    try:
        call()
    except kind as error:
        assert all(t in str(error) for t in texts), str(error)
        return
    raise AssertionError(f"not refused: {texts}")

x = here(a)
q, values = q8.quantize_per_tensor(x, SCALE, ZERO), numbers(a)
p, by_channel = q8.quantize_per_channel(x, here(scales), -2, 0), numbers(a, scales[:, None], -2)
"""


def runs(guest, place):
    """Returns a function that runs a program after SETUP, with its tensors on a device."""
    setup = SETUP.replace('PLACE = "cpu"', f'PLACE = "{place}"')
    return lambda program, **env: guest.run(setup + program, **env)


@pytest.fixture(params=["cpu", "meta", "bank"])
def everywhere(guest, request):
    return runs(guest, request.param)


@pytest.fixture(params=["cpu", "bank"])
def in_memory(guest, request):
    return runs(guest, request.param)


@pytest.fixture
def on_cpu(guest):
    return runs(guest, "cpu")


@pytest.mark.long
def test_its_numbers(everywhere):
    everywhere("""
same(q, values)
same(p, by_channel)
codes = q8.int_repr(q)
assert codes.dtype == lamella.int8 and not codes.is_opaque and codes.device.type == PLACE
if PLACE != "meta":
    assert (host(codes) == integers(a)).all() and (host(q8.int_repr(p)) == integers(a, scales[:, None], -2)).all()
wide = np.array([-1e9, -6.55, -6.5, -0.024, 0, 0.026, 6.2, 6.25, np.inf, -np.inf], np.float32)
same(q8.quantize_per_tensor(here(wide), SCALE, ZERO), numbers(wide))
same(q8.quantize_per_tensor(here(np.zeros((0, 3), np.float32)), 1.0), np.zeros((0, 3)))
same(q8.quantize_per_tensor(here(np.float32(2.5)), 0.5), np.float32(2.5))
for axis in (0, 1):
    s = np.linspace(0.01, 0.1, a.shape[axis]).astype(np.float32)
    along = s[:, None] if axis == 0 else s
    same(q8.quantize_per_channel(x, here(s), 0, axis), numbers(a, along, 0))
assert q.nbytes == q.untyped_storage().nbytes() == a.size and q._version == codes._version
assert q.shape == x.shape and q.dtype == x.dtype and q.device == x.device and q.quantization["axis"] == -1
refused(lambda: q8.quantize_per_tensor(x, 0.0), "scale", "positive", kind=ValueError)
refused(lambda: q8.quantize_per_tensor(x.to(lamella.float64), 1.0), "float32", kind=TypeError)
refused(lambda: q8.quantize_per_tensor(q, 1.0), "not quantized yet", kind=TypeError)
refused(lambda: q8.quantize_per_channel(x, here(scales), 0, 1), "scale for each index", kind=ValueError)
refused(lambda: q8.quantize_per_channel(x, here(scales), 0, 2), "axis", kind=ValueError)
refused(lambda: q8.dequantize(x), "not quantized", kind=RuntimeError)
refused(lambda: q8.int_repr(x), "not quantized", kind=RuntimeError)
""")


def test_views(everywhere):
    everywhere("""
views = {
    "select": lambda t: t[1], "negative": lambda t: t[-1, 2], "t": lambda t: t.T, "slices": lambda t: t[1:, :4],
    "steps": lambda t: t[::2, 1::3], "reshape": lambda t: t.reshape(3, 8), "flatten": lambda t: t.reshape(-1),
    "of views": lambda t: t[1:].T[::2][1], "new axis": lambda t: t[:, None], "row of t": lambda t: t.T[3],
    "copied to reshape": lambda t: t.T.reshape(3, 8),
}
for name, view in views.items():
    same(view(q), view(values))
same(q.flatten(), values.ravel())
same(q.t().flatten(), values.T.ravel())
same(q[0].expand(3, 6), np.broadcast_to(values[0], (3, 6)))
same(q.t()[1].expand(2, 4), np.broadcast_to(values.T[1], (2, 4)))
same(q.unsqueeze(1).squeeze(1), values)
same(q.diagonal(), values.diagonal())
same(q.unfold(1, 2, 2)[1], values[1].reshape(3, 2))
same(q.chunk(2)[1], values[2:])
same(q.as_strided((2, 2), (6, 1), 7), np.lib.stride_tricks.as_strided(values.ravel()[7:], (2, 2), (24, 4)))
same(q[1:].as_strided((3,), (6,), 0), values[:3, 0])
same(q.detach(), values)
assert q.t()[1:]._base is q and q[0].untyped_storage() is q.untyped_storage() and q[0]._version == q._version
refused(lambda: q.as_strided((5, 6), (6, 1), 0), "beyond", kind=RuntimeError)
refused(lambda: q.view(lamella.int32), "float32")

same(p.t(), by_channel.T)
same(p[None].permute(2, 0, 1), by_channel[None].transpose(2, 0, 1))
same(p.t().unsqueeze(0).squeeze(0).t(), by_channel)
same(p.t().contiguous(), by_channel.T)
assert p.t().quantization["axis"] == 1 and p[None].permute(2, 0, 1).quantization["axis"] == 2
for view in (lambda t: t[0], lambda t: t[:, ::2], lambda t: t.flatten(), lambda t: t.expand(2, 4, 6)):
    refused(lambda: view(p), "scale for each index")
square = q8.quantize_per_channel(here(a[:, :4]), here(scales), 0)
same(square.t(), numbers(a[:, :4], scales[:, None], 0).T)
""")


def test_views_in_place(everywhere):
    everywhere("""
same(q.clone().t_(), values.T)
same(q.clone().unsqueeze_(0), values[None])
same(p.clone().transpose_(0, 1), by_channel.T)
c = q.clone()
before = c._version
c.t_()
assert c._version > before and c.stride() == (1, 6)
""")


def test_writes(in_memory):
    in_memory("""
wanted = values.copy()
def wrote(change, by_numpy):
    before = c._version
    change(c)
    by_numpy(wanted)
    assert c._version == before + 1, (before, c._version)
    same(c, wanted, 1e-5)
def row(value):
    def write(t): t[0] = value
    return write
c = q.clone()
wrote(row(1.0), row(1))
wrote(lambda t: t.t()[3].fill_(0.5), lambda t: t.T[3].fill(0.5))
wrote(lambda t: t[1].copy_(q[2]), lambda t: np.copyto(t[1], values[2]))
wrote(lambda t: t[2].copy_(here(b[0])), lambda t: np.copyto(t[2], numbers(b[0])))
wrote(lambda t: t[::2, 1].add_(1), lambda t: np.add(t[::2, 1], 1, out=t[::2, 1]))
wrote(lambda t: t.relu_(), lambda t: np.maximum(t, 0, out=t))
wrote(lambda t: t.zero_(), lambda t: t.fill(0))
wrote(lambda t: t.fill_(9.0), lambda t: t.fill(124 * SCALE))  # the largest integer
wrote(lambda t: t.copy_(here(a[0])), lambda t: np.copyto(t, values[0]))
same(q, values)
d = p.clone()
d.copy_(q)
same(d, numbers(values, scales[:, None], -2))
d.copy_(here(a[0]))
same(d, numbers(np.broadcast_to(a[0], a.shape), scales[:, None], -2))
out = here(np.zeros((4, 6), np.float32))
same(out.copy_(q), values, opaque=False)
same(lamella.add(q, q, out=out), values + values, opaque=False)
same(out.mul_(q), (values + values) * values, opaque=False)
assert lamella.add(q, q, out=c) is c
same(c, numbers(2 * values))
c = q.clone()
q8.int_repr(c).fill_(ZERO)
same(c, np.zeros((4, 6)))
q8.int_repr(c)[1:].t_()
same(c, np.zeros((4, 6)))
""")


def test_rules(everywhere):
    everywhere("""
plain = {"opaque": False, "tolerance": 1e-5}
same(q + q, values + values, **plain)
same(q + 1, values + 1, **plain)
same(lamella.add(x, q, alpha=2), a + 2 * values, **plain)
same(q * x, values * a, **plain)
same(q * 3, values * 3, **plain)
same(q.relu(), np.maximum(values, 0), **plain)
same(p.relu(), np.maximum(by_channel, 0), **plain)
y = here(b)
linear = lamella.nn.functional.linear
same(linear(y, q), b @ values.T, **plain)
same(linear(y, p, here(scales)), b @ by_channel.T + scales, **plain)
same(y @ q.t(), b @ values.T, **plain)
same(q @ p.t(), values @ by_channel.T, **plain)

# The products of the integers, which are exact.
w, v = integers(a).astype(np.int64) - ZERO, integers(b, 0.02, -7).astype(np.int64) + 7
same(linear(q8.quantize_per_tensor(y, 0.02, -7), q), (v @ w.T) * (0.02 * SCALE), **plain)

same(lamella.cat([q, q[:1]]), np.concatenate([values, values[:1]]))
same(lamella.cat([q.t(), q.t()], 1), np.concatenate([values.T, values.T], 1))
same(lamella.cat([q, x]), np.concatenate([values, a]), **plain)
same(lamella.cat([q, q8.quantize_per_tensor(x, 0.1, 0)]), np.concatenate([values, numbers(a, 0.1, 0)]), **plain)
same(lamella.cat([p, p]), np.concatenate([by_channel, by_channel]), **plain)
same(lamella.stack([q, q]), np.stack([values, values]))
same(lamella.stack([q[0], q[1]], 1), np.stack([values[0], values[1]], 1))
assert lamella.zeros_like(q).shape == q.shape and not lamella.zeros_like(q).is_opaque
refused(lambda: q.to(lamella.float64), "opaque")
for call in (lambda: q.sum(), lambda: q.sort(), lambda: q.exp(), lambda: q / 2, lambda: x.pow(q), lambda: q.exp_()):
    if PLACE != "meta":  # the shapes that arithmetic sees
        refused(call, "is opaque", "'quantized' (tiny-quantized)")
""")


def test_exits_of_values(on_cpu):
    on_cpu("""
for given, wanted in ((q, values), (p, by_channel), (q.t(), values.T)):
    assert np.array_equal(given.numpy(), wanted) and given.tolist() == wanted.tolist()
    assert np.array_equal(np.asarray(given), wanted) and np.array_equal(memoryview(given), wanted)
assert q[1, 2].item() == float(q[1, 2]) == float(values[1, 2])
assert np.array_equal(q.to("bank").to("cpu").numpy(), values)
text = repr(q8.quantize_per_tensor(lamella.tensor([0.5, 1.0]), 0.5, 3))
assert text == "tensor([0.5000, 1.0000], opaque, scale=0.5, zero_point=3)", text
assert "device='bank:0'" in repr(q.to("bank")) and "scale=0.05, zero_point=3" in repr(q.to("bank"))
assert "scale=one for each index along dimension 1, zero_point=-2" in repr(p.t()).replace("\\n" + " " * 7, " ")
assert repr(q.to("meta")) == "tensor(..., opaque, device='meta', size=(4, 6), scale=0.05, zero_point=3)"
assert "scale" not in repr(x)
""")


def test_copies(in_memory):
    in_memory("""
def copies(t):
    lamella.save({"t": t, "again": t, "rows": [t.clone()]}, "quantized.lamella")
    read = lamella.load("quantized.lamella")
    assert read["t"] is read["again"]
    return [t.clone(), t.clone(memory_format=lamella.contiguous_format), t.to(PLACE, copy=True), copy.copy(t),
            copy.deepcopy(t), pickle.loads(pickle.dumps(t)), pickle.loads(pickle.dumps(t, protocol=2)), read["t"],
            read["rows"][0], lamella.load("quantized.lamella", mmap=True)["t"]]

# Also of tensors that are not dense: the copy has elements of its own.
given = {"all": (q, values), "t": (q.t(), values.T), "steps": (q[1:, ::2], values[1:, ::2]),
         "row": (q.t()[2], values.T[2]), "none": (q[4:], values[4:]), "one": (q[1, 1], values[1, 1]),
         "expanded": (q[0].expand(3, 6), np.broadcast_to(values[0], (3, 6))),
         "channels": (p, by_channel), "channels, t": (p.t(), by_channel.T)}
for name, (t, wanted) in given.items():
    for twin in copies(t):
        same(twin, wanted)
        scheme, other = t.quantization, twin.quantization
        assert {k: type(v) for k, v in scheme.items()} == {k: type(v) for k, v in other.items()}
        assert (scheme["axis"], scheme["zero_point"]) == (other["axis"], other["zero_point"])
for twin in (q.clone(), copy.deepcopy(q), pickle.loads(pickle.dumps(q)), q.to(PLACE, copy=True)):
    twin.zero_()
    same(q, values)
    assert twin.nbytes == q.nbytes == 24
assert q.contiguous() is q and q.t().contiguous().is_contiguous() and q.t().clone().stride() == (1, 6)
same(q.t().contiguous(), values.T)

for elsewhere in ("cpu", "bank", "meta"):
    for t, wanted in given.values():
        far = t.to(elsewhere)
        assert far.is_opaque and far.device.type == elsewhere and far.shape == t.shape and far.quantization["axis"] == (
            t.quantization["axis"])
        if elsewhere != "meta":
            same(far.to(PLACE), wanted)
lamella.save(q, "one.lamella")
for elsewhere in ("cpu", "bank"):
    far = lamella.load("one.lamella", elsewhere)
    assert far.device.type == elsewhere
    same(far.to(PLACE), values)
t = here(np.zeros(2, np.float32))
t.data = q
same(t, values)
""")


def test_modules(on_cpu):
    on_cpu("""
from lamella import nn
parameter = nn.Parameter(q)
assert type(parameter) is nn.Parameter and parameter.requires_grad
same(parameter, values)
same(nn.Parameter(p, requires_grad=False), by_channel)
m = nn.Linear(6, 4)
m.load_state_dict({"weight": p, "bias": lamella.zeros(4)}, assign=True)
same(m.weight, by_channel)
same(m(lamella.tensor(b)), b @ by_channel.T, 1e-5, opaque=False)
lamella.save(m.state_dict(), "module.lamella")
state = lamella.load("module.lamella")
same(state["weight"], by_channel)
other = nn.Linear(6, 4)
other.load_state_dict(state)  # the values
same(other.weight, by_channel, opaque=False)
other.load_state_dict(state, assign=True)
same(other.weight, by_channel)
same(copy.deepcopy(m).weight, by_channel)
same(pickle.loads(pickle.dumps(m)).weight, by_channel)
m.to("bank")
assert m.weight.is_opaque and m.weight.device.type == "bank"
""")


def test_gradients(in_memory):
    in_memory("""
linear = lamella.nn.functional.linear
g = rng.normal(size=(5, 4)).astype(np.float32)
def backward(y):
    (y * here(g)).sum().backward()
for w, wanted in ((q, values), (p, by_channel), (q.t().contiguous().t(), values)):
    leaf = here(b).requires_grad_()
    backward(linear(leaf, w))
    same(leaf.grad, g @ wanted, 1e-5, opaque=False)

# The gradient of the weight goes straight through.
for quantize in (lambda t: q8.quantize_per_tensor(t, SCALE, ZERO), lambda t: q8.quantize_per_channel(t, here(scales))):
    weight = here(a).requires_grad_()
    w = quantize(weight)
    assert w.requires_grad and w.is_opaque
    backward(linear(here(b), w))
    same(weight.grad, g.T @ b, 1e-5, opaque=False)
    weight.grad = None
    (q8.dequantize(q8.quantize_per_tensor(weight, SCALE, ZERO).t()[1:]) * here(b[:, :4])).sum().backward()
    wanted = np.zeros_like(a)
    wanted.T[1:] = b[:, :4]
    same(weight.grad, wanted, opaque=False)
parameter = lamella.nn.Parameter(q)
backward(linear(here(b), parameter))
same(parameter.grad, g.T @ b, 1e-5, opaque=False)
""")


def test_writes_after_saving_are_caught(in_memory):
    in_memory("""
leaf = here(b).requires_grad_()
def row(t): t[0] = 1.0
writes = {
    "integers": lambda t: q8.int_repr(t).add_(1), "a view of them": lambda t: q8.int_repr(t)[0].zero_(),
    "integers of a view": lambda t: q8.int_repr(t[1:]).zero_(), "an element": row, "all": lambda t: t.zero_(),
    "bytes": lambda t: t.untyped_storage().fill_(0),
}
for name, write in writes.items():
    w = q.clone()
    before = w._version
    y = lamella.nn.functional.linear(leaf, w)
    write(w)
    assert w._version == before + 1, name
    refused(lambda: y.sum().backward(), "version", kind=RuntimeError)
w = q.clone()
y = lamella.nn.functional.linear(leaf, w)
q8.int_repr(w.clone()).zero_()  # a copy
y.sum().backward()
same(leaf.grad, np.broadcast_to(values.sum(0), (5, 6)), 1e-5, opaque=False)
""")


@pytest.mark.parametrize("workers", [0, 2])
def test_batches(on_cpu, workers):
    on_cpu(f"""
from lamella.utils.data import DataLoader
batches = list(DataLoader([q[i] for i in range(4)], batch_size=2, num_workers={workers}))
assert len(batches) == 2
for i, batch in enumerate(batches):
    same(batch, values[2 * i : 2 * i + 2])
    assert batch.quantization["scale"] == SCALE and batch.quantization["zero_point"] == ZERO
pairs = list(DataLoader([(q[i], i) for i in range(4)], batch_size=4, num_workers={workers}))
same(pairs[0][0], values)
assert pairs[0][1].tolist() == [0, 1, 2, 3]
""")


def test_forged_pickles_are_errors(on_cpu):
    on_cpu("""
class Sly:  # a pickle whose parts do not fit
    def __init__(self, of, parts):
        self.of, self.parts = of, parts
    def __reduce__(self):
        rebuild, (kind, device, dtype, size, stride, held, [(name, saved)]), *_ = self.of.__reduce__()
        saved = {k: v for k, v in {**saved, **self.parts}.items() if v is not None}
        return rebuild, (kind, device, dtype, size, stride, held, [(name, saved)])
def forged(of, **parts):
    refused(lambda: pickle.loads(pickle.dumps(Sly(of, parts))), "quantized: ", kind=ValueError)
same(pickle.loads(pickle.dumps(Sly(q, {}))), values)

codes = q8.int_repr(q)
for of in (q, p):
    for parts in ({"integers": None}, {"scale": None}, {"zero_point": None}, {"axis": None}, {"axis": 2}, {"axis": -2},
                  {"axis": 1.0}, {"axis": "0"}, {"zero_point": 0.5}, {"zero_point": codes}, {"scale": "1"},
                  {"scale": 3}, {"integers": 3}, {"integers": codes[:3]}, {"integers": codes.to(lamella.int16)},
                  {"integers": codes.to("bank")}, {"integers": codes.t().contiguous().t()}):
        forged(of, **parts)
for scale in (0.0, -1.0, float("nan"), float("inf"), here(scales)):
    forged(q, scale=scale)
for scale in (1.0, here(scales)[:3], here(scales)[None], here(scales).to(lamella.float64), here(scales).to("bank")):
    forged(p, scale=scale)
forged(p, axis=1)
forged(p, axis=-1)
forged(q, axis=0)
""")


@pytest.mark.parametrize(
    "saved, channels", [("static_cast<double>(s.axis)", "q, p"), ("int64_t{-1}", "p"), ("true", "q, p")]
)
@pytest.mark.long
def test_a_planted_defect_is_found(on_cpu, tmp_path, tmp_path_factory, saved, channels):
    """A slot that saves its axis with another type, or without its value, cannot be read."""
    library = compile_library(tmp_path_factory, HERE / "quantized.cpp", f"-DQUANTIZED_SAVED_AXIS={saved}")
    on_cpu(
        f"""
for t in ({channels},):
    refused(lambda: pickle.loads(pickle.dumps(t)), "quantized: ", kind=ValueError)
    refused(lambda: copy.deepcopy(t), "quantized: ", kind=ValueError)
    lamella.save(t, "planted.lamella")
    refused(lambda: lamella.load("planted.lamella"), "quantized: ", kind=lamella.serialization.CheckpointError)
""",
        PYTHONPATH=str(package(tmp_path / "packages", library)),
    )


def test_it_is_written_by_public_names_alone():
    text = (HERE / "quantized.py").read_text() + (HERE / "quantized.cpp").read_text()
    assert "._" not in text.replace("aten::_materialize", "") and " _C" not in text
    assert len(text.splitlines()) < 250
