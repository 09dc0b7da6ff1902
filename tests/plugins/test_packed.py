"""The example of opaque tensors, installed as another package: numbers, copies, refusals, counted unpacking."""

import pytest

SETUP = """
import copy, io, pickle
import lamella, lamella_packed
import numpy as np

lamella.manual_seed(0)

def packed_by_numpy(x):  # what four bits leave of a matrix, worked out apart
    x = np.asarray(x)
    out = np.empty_like(x)
    for row in range(x.shape[0]):
        for begin in range(0, x.shape[1], 64):
            part = x[row, begin : begin + 64]
            scale = np.float32(np.abs(part).max()) / np.float32(7) or np.float32(1)
            out[row, begin : begin + 64] = np.clip(np.round(part / scale), -7, 7) * scale
    return out

def close(a, b, scale=1e-5):
    return np.allclose(np.asarray(a), np.asarray(b), rtol=scale, atol=scale * 100)

def refused(call, *texts, kind=Exception):
    try:
        call()
    except kind as error:
        said = str(error) + " ".join(getattr(error, "__notes__", ()))
        assert all(t in said for t in texts), said
        return
    raise AssertionError(f"not refused: {texts}")

x = lamella.randn(6, 100)
w = x.pack_int4()
plain = packed_by_numpy(x)
"""


def run(guest, code):
    guest.run(SETUP + code)


def test_its_numbers_and_products(guest):
    run(
        guest,
        """
assert w.is_opaque and not x.is_opaque and w.shape == x.shape and w.dtype == x.dtype and w.device == x.device
assert close(w.unpack_int4(), plain)
for rows, columns in [(1, 1), (3, 63), (2, 64), (5, 65), (4, 129), (0, 8), (130, 200)]:
    m = lamella.randn(rows, columns)
    p, by_hand = m.pack_int4(), packed_by_numpy(m)
    a, b = lamella.randn(3, columns), lamella.randn(3, rows)
    bias = lamella.randn(rows)
    assert close(p.unpack_int4(), by_hand)
    assert close(lamella.nn.functional.linear(a, p), np.asarray(a) @ by_hand.T)
    assert close(lamella.nn.functional.linear(a[0], p, bias), by_hand @ np.asarray(a[0]) + np.asarray(bias))
    assert close(b @ p, np.asarray(b) @ by_hand)
refused(lambda: lamella.ones(3).pack_int4(), "pack_int4", "float32 matrix")
refused(lambda: lamella.ones(3, 3, dtype=lamella.float64).pack_int4(), "float32 matrix")
refused(lambda: w.pack_int4(), "packed already")
refused(lambda: x.unpack_int4(), "not packed")
""",
    )


def test_each_exit_of_data_asks_the_layer(guest):
    run(
        guest,
        """
assert close(w.tolist(), plain) and close(w.numpy(), plain) and close(np.asarray(w), plain)
assert close(memoryview(w), plain) and close(np.from_dlpack(w), plain)
assert repr(w).startswith("tensor([[") and "opaque" in repr(w) and repr(w.unpack_int4())[:40] == repr(w)[:40]
one = lamella.full((1, 1), 3.0).pack_int4()
assert one.item() == float(one) == 3 and bool(one) and f"{lamella.full((1, 1), 3.0).pack_int4().item()}" == "3.0"
refused(lambda: w.data_ptr(), "opaque", "'packed' (lamella-packed)")
for view in (lambda: w.storage(), lambda: lamella.ones(2).set_(w, 0, (2,))):
    refused(view, "opaque", kind=NotImplementedError)
""",
    )


def test_its_manners(guest):
    run(
        guest,
        """
import lamella_bank
twins = [w.detach(), w.clone(), copy.copy(w), copy.deepcopy(w), pickle.loads(pickle.dumps(w)), w.to("cpu", copy=True)]
for twin in twins:
    assert twin.is_opaque and twin is not w and close(twin.unpack_int4(), plain)
    assert close(lamella.ones(1, 100) @ twin.unpack_int4().t(), plain.sum(1)[None])
far = w.to("bank")
assert far.is_opaque and far.device.type == "bank" and close(far.unpack_int4().cpu(), plain)
assert close(far.to("cpu").numpy(), plain) and "device='bank" in repr(far)
a = lamella.randn(2, 100)
assert close(lamella.nn.functional.linear(a.to("bank"), far).cpu(), np.asarray(a) @ plain.T)
assert pickle.loads(pickle.dumps(far)).device.type == "bank"
for view in (lambda: w[0], lambda: w.t(), lambda: w.view(-1), lambda: w.narrow(1, 0, 4), lambda: w.expand(2, 6, 100)):
    refused(view, "no views", kind=NotImplementedError)
class Weight(lamella.Tensor):
    pass
mine = lamella.Tensor.__new__(Weight, w)
assert type(mine) is Weight and mine.is_opaque and close(mine.unpack_int4(), plain)
again = pickle.loads(pickle.dumps(w, protocol=2))
assert close(again, plain)
meta = w.to("meta")
assert meta.is_opaque and meta.device.type == "meta" and meta.shape == w.shape and meta.nbytes == w.nbytes
""",
    )


def test_it_stands_over_its_integers(guest):
    run(
        guest,
        """
import lamella_bank
memory = w.untyped_storage()
bytes_of_rows = 6 * 50  # two elements in a byte
assert w.nbytes == memory.nbytes() == bytes_of_rows and memory.data_ptr() != 0
assert w.detach().untyped_storage() is memory
by_hand = np.frombuffer(bytes(memory.tolist()), np.uint8).reshape(6, 50)
scales = np.abs(np.asarray(x)[:, :64]).max(1) / 7
low = (by_hand & 15).astype(np.float32) - 8  # the even columns
assert close(low[:, :32] * scales[:, None], plain[:, 0:64:2])

# A write to the integers counts the version of the tensors over them, and of no copy.
copies = [w.clone(), copy.deepcopy(w), pickle.loads(pickle.dumps(w)), w.to("bank"), w.to("cpu", copy=True)]
lamella.save(w, "one.lamella")
copies.append(lamella.load("one.lamella"))
over = [w, w.detach(), w[2:5], w[2:5][1:]]
for t in copies:
    assert t.nbytes == bytes_of_rows and t.untyped_storage() is not memory
before, of_copies = w._version, [t._version for t in copies]
memory.fill_(0x88)  # two zeros
assert [t._version for t in over] == [before + 1] * 4 and [t._version for t in copies] == of_copies
assert all(not np.asarray(t).any() for t in over) and all(close(t.cpu(), plain) for t in copies)

# So does a copy: it is no alias.
one, other = copies[:2]
one.untyped_storage().fill_(0x88)
assert not np.asarray(one).any() and close(other, plain)

# What is saved for backward is refused once the integers are written, also those of a view.
for write in (lambda t: t.untyped_storage().fill_(0x88), lambda t: t[:1].untyped_storage().copy_(memory)):
    w = x.pack_int4()
    a = lamella.randn(4, 100, requires_grad=True)
    y = lamella.nn.functional.linear(a, w)
    write(w)
    refused(lambda: y.sum().backward(), "version", kind=RuntimeError)
y = lamella.nn.functional.linear(a, w.clone())
w.untyped_storage().fill_(0)
y.sum().backward()
assert a.grad is not None
""",
    )


def test_views_of_whole_rows(guest):
    run(
        guest,
        """
views = {
    "slice": (w[1:4], plain[1:4]),
    "of a view": (w[1:5][1:3], plain[2:4]),
    "narrow": (w.narrow(0, 5, 1), plain[5:]),
    "empty": (w[6:], plain[6:]),
    "as_strided": (w.as_strided((2, 100), (100, 1), 300), plain[3:5]),
    "as_strided of a view": (w[1:5].as_strided((2, 100), (100, 1), 200), plain[2:4]),
    "same": (w.view(6, 100), plain),
    "split": (w.split(4)[1], plain[4:]),
}
a = lamella.randn(3, 100)
for name, (view, rows) in views.items():
    assert view.is_opaque and view._base is w and view.nbytes == w.nbytes, name
    assert view.untyped_storage() is w.untyped_storage(), name
    assert view.shape == rows.shape and close(view.unpack_int4(), rows), name
    assert close(lamella.nn.functional.linear(a, view), np.asarray(a) @ rows.T), name
    for twin in (view.clone(), view.detach(), copy.deepcopy(view), pickle.loads(pickle.dumps(view))):
        assert twin.is_opaque and twin._base is None and close(twin, rows), name
lamella.save({"part": w[1:3], "whole": w}, "rows.lamella")
got = lamella.load("rows.lamella")
assert close(got["part"], plain[1:3]) and close(got["part"][1:], plain[2:3]) and close(got["whole"], plain)
for cut in [((2, 100), (100, 1), 500), ((2, 100), (200, 1), 0), ((2, 100), (100, 1), 1), ((2, 50), (100, 1), 0)]:
    refused(lambda: w.as_strided(*cut), "no views but of whole rows", kind=NotImplementedError)
refused(lambda: w[2:].as_strided((2, 100), (100, 1), 0), "no views", kind=NotImplementedError)  # before its first row
refused(lambda: w.as_strided((2, 100), (100, 1), -100), "-100", kind=RuntimeError)
refused(lambda: w.as_strided((2**40, 100), (2**40, 1), 0), "reach beyond", kind=RuntimeError)
refused(lambda: w.resize_(2, 100), "the slot 'packed'", kind=NotImplementedError)
""",
    )


def test_batches_come_from_workers_as_without_workers(guest):
    run(
        guest,
        """
from lamella.utils.data import DataLoader

# The package has no kernel of `stack`. This one puts the rows of packed matrices below each other.
aten = lamella.library.Library("aten", "IMPL")
aten.impl("stack", lambda call, all, dim=0: lamella.cat([t.unpack_int4() for t in all]).pack_int4(), "packed")
samples = [{"row": w[i : i + 1], "number": i} for i in range(6)]
samples += [{"row": x[i : i + 1].pack_int4(), "number": i} for i in range(6)]
values = np.concatenate([plain, plain])
for workers in (0, 1):
    how = {"multiprocessing_context": "fork", "timeout": 100} if workers else {}
    batches = list(DataLoader(samples, batch_size=4, num_workers=workers, **how))
    assert [b["row"].is_opaque for b in batches] == [True] * 3, workers
    for i, batch in enumerate(batches):
        assert close(batch["row"], values[4 * i : 4 * i + 4]), (workers, i)
        assert batch["number"].tolist() == [n % 6 for n in range(4 * i, 4 * i + 4)]
        assert close(lamella.nn.functional.linear(lamella.ones(1, 100), batch["row"]), values[4 * i : 4 * i + 4].sum(1))
for n, batch in enumerate(DataLoader(x, batch_size=4, num_workers=1, **how)):
    assert batch.tolist() == x[4 * n : 4 * n + 4].tolist()
aten.close()
""",
    )


def test_memory_that_is_assigned_and_tensors_that_trade_places(guest):
    run(
        guest,
        """
t = lamella.zeros(2)
t.data = w
assert t.is_opaque and t.shape == w.shape and close(t.unpack_int4(), plain) and close(w.unpack_int4(), plain)
t.data = lamella.ones(3)
assert not t.is_opaque and t.tolist() == [1, 1, 1] and repr(t) == "tensor([1., 1., 1.])"
refused(lambda: t.unpack_int4(), "not packed")
lamella.utils.swap_tensors(t, w)
assert t.is_opaque and close(t, plain) and w.tolist() == [1, 1, 1]
lamella.utils.swap_tensors(t, w)
refused(lambda: w.resize_(3), "the slot 'packed'", kind=NotImplementedError)
assert t.set_(w) is t and t.is_opaque and close(t, plain)
for out in (lamella.zeros(6, 100).pack_int4(), lamella.zeros(2, 2).pack_int4()):
    refused(lambda: lamella.exp(x, out=out), "exp: argument 'out' is opaque")
    assert out.is_opaque and close(out, np.zeros(out.shape))
""",
    )


def test_composites_in_python_get_them_as_they_are(guest):
    run(
        guest,
        """
lib = lamella.library.Library("opaque_test", "DEF")
lib.define("columns(Tensor self) -> Tensor")
lib.impl("columns", lambda t: lamella.full((1,), -1.0), "cpu")
lib.impl("columns", lambda t: lamella.full((1,), float(t.shape[1])), "composite")
assert lamella.ops.opaque_test.columns(x).tolist() == [-1] and lamella.ops.opaque_test.columns(w).tolist() == [100]

# What answers for the values must have some.
answers = lamella.library.Library("aten", "IMPL")
handle = answers.impl("_materialize", lambda call, t, *_, **__: t.detach(), "packed")
for read in (lambda: w.item(), lambda: lamella.ones(1, 1).pack_int4().item(), lambda: w.numpy(), lambda: w.tolist()):
    refused(read, kind=RuntimeError)
answers.close()
import lamella_bank
answers = lamella.library.Library("aten", "IMPL")
answers.impl("_materialize", lambda call, t, *_, **__: t.unpack_int4().to("bank"), "packed")
refused(lambda: lamella.full((1, 1), 3.0).pack_int4().item(), "one element in memory, on the same device")
refused(lambda: memoryview(w), "lies on device 'bank:0'", kind=BufferError)
answers.close()
assert close(w.numpy(), plain)
""",
    )


def test_everything_else_is_refused_or_counted(guest):
    run(
        guest,
        """
for name, call in {
    "add": lambda: w + 1, "mul": lambda: x * w, "sum": lambda: w.sum(), "cat": lambda: lamella.cat([x, w]),
    "sort": lambda: w.sort(), "add_": lambda: w.add_(1), "copy_": lambda: x.clone().copy_(w),
    "zero_": lambda: w.zero_(), "to": lambda: w.to(lamella.float64), "mm": lambda: w @ x.t(),
    "index": lambda: w[lamella.tensor([0])], "exp": lambda: lamella.exp(x, out=w),
}.items():
    refused(call, "packed" if name in ("mm", "index") else "opaque", kind=NotImplementedError)
refused(lambda: w + 1, "add: argument 'self' is opaque", "'packed' (lamella-packed)", "lamella_packed.unpacking()")
assert lamella_packed.unpacked() == {} and close(w, plain)
with lamella_packed.unpacking():
    assert close(w + 1, plain + 1) and close(lamella.cat([x, w]), np.concatenate([np.asarray(x), plain]))
    refused(lambda: w.add_(1), "packed numbers are never written")
assert lamella_packed.unpacked() == {"aten::add": 1, "aten::copy_": 1}, lamella_packed.unpacked()
refused(lambda: w + 1, "opaque")
assert lamella.zeros_like(w).shape == w.shape and not lamella.zeros_like(w).is_opaque
""",
    )


def test_it_is_saved_for_backward(guest):
    run(
        guest,
        """
from lamella.autograd import graph
a, b = lamella.randn(4, 100, requires_grad=True), lamella.randn(4, 6)
y = lamella.nn.functional.linear(a, w)
(y * b).sum().backward()
assert close(a.grad, np.asarray(b) @ plain)
leaf = x.clone().requires_grad_()
p = leaf.pack_int4()  # the gradient goes through
assert p.requires_grad and p.is_opaque
y = lamella.nn.functional.linear(a.detach(), p)
(y * b).sum().backward()
assert close(leaf.grad, np.asarray(b).T @ np.asarray(a.detach()))
assert not p.detach().requires_grad and close(p.detach(), plain)
with graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
    y = lamella.nn.functional.linear(a, w)
a.grad = None
y.sum().backward()
assert close(a.grad, np.ones((4, 6), np.float32) @ plain)
""",
    )


PICKLES = """
import pickle
class Sly:  # a pickle whose numbers do not fit
    def __reduce__(self):
        from lamella import _storage
        return _storage.rebuild_opaque, (lamella.Tensor, "cpu", lamella.float32, SIZE, STRIDE, {}, SLOTS)
refused(lambda: pickle.loads(pickle.dumps(Sly())), TEXT)
"""
GOOD = "lamella.zeros(6, 50, dtype=lamella.uint8), lamella.ones(6, 2)"


@pytest.mark.parametrize(
    "size, slots, text",
    [
        ("(6, 200)", f"[('packed', [{GOOD}])]", "does not fit a matrix of shape (6, 200)"),
        ("(6, 100)", "[('packed', [lamella.ones(6, 2)])]", "two tensors"),
        ("(6, 100)", "[('packed', 3)]", "two tensors"),
        ("(6, 100)", "[('nonesuch', 3)]", "no loaded plugin has its slots"),
        ("(6, -1)", f"[('packed', [{GOOD}])]", "negative"),
        ("(2**62, 2**62)", f"[('packed', [{GOOD}])]", "more bytes than 63 bits"),
    ],
)
def test_forged_pickles_are_errors(guest, size, slots, text):
    code = PICKLES.replace("SIZE", size).replace("STRIDE", "(100, 1)").replace("SLOTS", slots)
    run(guest, code.replace("TEXT", repr(text)))


def test_it_travels_in_checkpoints(guest):
    run(
        guest,
        """
import os
import lamella_bank
from lamella import serialization

state = {"w": w, "again": w, "rows": [w.clone()], "x": x}
lamella.save(state, "packed.lamella")
assert os.path.getsize("packed.lamella") < 2 * x.nbytes + 3000  # the packed numbers, not what they stand for
for options in ({}, {"mmap": True}, {"mmap": True, "verify": True}):
    got = lamella.load("packed.lamella", **options)
    assert got["w"] is got["again"] and got["w"].is_opaque and got["x"].tolist() == x.tolist()
    assert close(got["w"], plain) and close(got["rows"][0], plain)
    a = lamella.randn(2, 100)
    assert close(lamella.nn.functional.linear(a, got["w"]), np.asarray(a) @ plain.T)
some = lamella.load("packed.lamella", tensors=["rows.0"])
assert list(some) == ["rows.0"] and close(some["rows.0"], plain)
assert serialization.list_tensors("packed.lamella")["w"] == (lamella.float32, (6, 100))
names = serialization.save_sharded(state, "shards", 600)
assert len(names) > 2 and close(serialization.load_sharded("shards")["w"], plain)
for location in ("bank", {"cpu": "bank"}, lamella.device("bank:1")):
    far = lamella.load("packed.lamella", location)["w"]
    assert far.is_opaque and far.device.type == "bank" and close(far.to("cpu"), plain)
lamella.save(w.to("bank"), "far.lamella")
assert lamella.load("far.lamella").device.type == "bank" and close(lamella.load("far.lamella").to("cpu"), plain)
assert close(lamella.load("far.lamella", "cpu"), plain)
""",
    )
    guest.run(
        """
import lamella
with fails(lamella.serialization.CheckpointError, "no loaded plugin has its slots: ['packed']"):
    lamella.load("packed.lamella")
assert lamella.load("packed.lamella", tensors=["x"])["x"].shape == (6, 100)
""",
        LAMELLA_PLUGINS="cpu,autograd",
    )
