"""Pickles and copies of tensors, of shared storages, and of dtypes, devices and named results."""

import copy
import pickle
import sys

import lamella
import numpy as np
import pytest
from arrays import DTYPES, assert_same, pairs
from children import run
from hypothesis import given
from hypothesis import strategies as st
from lamella import _storage

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def pickled(protocol):
    return lambda x: pickle.loads(pickle.dumps(x, protocol))


ROUNDS = {**{f"protocol {p}": pickled(p) for p in PROTOCOLS}, "deepcopy": copy.deepcopy}


@pytest.fixture(params=ROUNDS)
def again(request):
    return ROUNDS[request.param]


class Tagged(lamella.Tensor):
    """A subclass whose constructor has another argument."""

    def __new__(cls, tensor, tag):
        made = super().__new__(cls, tensor)
        made.tag = tag
        return made


class Remade(lamella.Tensor):
    def __reduce__(self):
        return Remade, (lamella.full((3,), 7.0),)


class RemadeByProtocol(lamella.Tensor):
    def __reduce_ex__(self, protocol):
        made, args = Remade.__reduce__(self)
        return RemadeByProtocol, args, {"protocol": protocol}


class Stateful(lamella.Tensor):
    def __getstate__(self):
        return ("state", self)

    def __setstate__(self, state):
        self.got = state


class Slotted(lamella.Tensor):
    __slots__ = ("tag",)


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_elements_and_layout_survive(dtype, data):
    x, t = data.draw(pairs(dtype, tuple(data.draw(st.lists(st.integers(0, 4), max_size=4)))))
    for f in ROUNDS.values():
        u = f(t)
        assert_same(u, x)
        assert (u.dtype, u.stride(), u.storage_offset()) == (t.dtype, t.stride(), t.storage_offset())
        assert u.device == t.device and u._storage_id() != t._storage_id()


def test_views_go_on_sharing(again):
    t = lamella.arange(6.0)
    view, other = t[2:].view(2, 2).t(), lamella.zeros(6)
    u, v, w = again((t, view, other))
    u[2] = 50
    assert v[0, 0].item() == 50 and w[2].item() == 0 and t[2].item() == 2
    assert v.stride() == (1, 2) and v.storage_offset() == 2
    first, second = again([t, t])
    assert first is second


def test_a_view_alone_takes_its_storage_along():
    v = lamella.arange(1000)[5:7]
    u = pickle.loads(pickle.dumps(v))
    assert u.untyped_storage().nbytes() == 8000 and u.tolist() == [5, 6]


def test_a_shallow_copy_is_a_window():
    t = lamella.zeros(3)
    u = copy.copy(t)
    u[1] = 1
    assert t.tolist() == [0.0, 1.0, 0.0] and u is not t


def test_attributes_and_subclasses(again):
    t = lamella.ones(2)
    t.note = [1, {"a": t}]
    u = again(t)
    assert u.note[0] == 1 and u.note[1]["a"] is u and u.note is not t.note
    s = again(Tagged(t, "weights"))
    assert type(s) is Tagged and s.tag == "weights" and s.tolist() == [1.0, 1.0]


def test_subclasses_may_say_how_they_are_copied(again):
    for kind in (Remade, RemadeByProtocol):
        t = again(kind(lamella.ones(2)))
        assert type(t) is kind and t.tolist() == [7, 7, 7]
    assert t.protocol >= 2


@pytest.mark.parametrize("leaf", [False, True])
def test_the_state_is_the_users_alone(again, leaf):
    word, u = again(Stateful(lamella.ones(2)).requires_grad_(leaf)).got
    assert word == "state" and u.got[1] is u and u.tolist() == [1, 1] and u.requires_grad == leaf


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no object.__getstate__ before Python 3.11: use that or newer")
def test_slots(again):
    t = Slotted(lamella.ones(2))
    t.tag, t.note = ["mine"], t
    u = again(t)
    assert u.tag == ["mine"] and u.tag is not t.tag and u.note is u


def test_meta_has_no_bytes(again):
    t = lamella.empty(3, 10**6, device="meta")[1:]
    assert len(pickle.dumps(t)) < 1000
    u = again(t)
    assert u.device.type == "meta" and u.shape == t.shape and u.storage_offset() == t.storage_offset()


def test_out_of_band_buffers():
    t = lamella.arange(1000)
    buffers = []
    data = pickle.dumps([t, t[5:]], 5, buffer_callback=buffers.append)
    assert len(data) < 1000 and len(buffers) == 1 and buffers[0].raw().nbytes == 8000
    for given_ in (buffers, [bytes(b) for b in buffers]):
        u, v = pickle.loads(data, buffers=given_)
        u[5] = 0  # a writable copy, whatever the buffers are
        assert v[0].item() == 0 and t[5].item() == 5


def test_another_process_reads_it(tmp_path):
    path = tmp_path / "t.pickle"
    path.write_bytes(pickle.dumps(lamella.tensor([[1.5, 2.5]], dtype=lamella.bfloat16).t()))
    code = f"import pickle; t = pickle.load(open({str(path)!r}, 'rb')); print(t.tolist(), t.dtype)"
    assert run(sys.executable, "-c", code, cwd=tmp_path) == "[[1.5], [2.5]] lamella.bfloat16\n"


def test_one_object_for_each_storage():
    t, u = lamella.ones(4), lamella.ones(4)
    s = t.untyped_storage()
    assert t[1:].untyped_storage() is s and u.untyped_storage() is not s
    assert s.nbytes() == len(s) == 16 and s.data_ptr() == t.data_ptr() and s.device == t.device
    assert repr(s) == "<storage of 16 bytes on cpu>"


@pytest.mark.parametrize("what", ["strided", "contiguous_format", "preserve_format", "float32", "bool", "add"])
def test_constants_come_back_as_themselves(what, again):
    assert again(getattr(lamella, what)) is getattr(lamella, what)


def test_sizes_and_devices(again):
    size = again(lamella.Size([2, 3]))
    assert type(size) is lamella.Size and size == (2, 3) and size.numel() == 6
    assert again(lamella.device("meta")) == lamella.device("meta")


def test_generators_go_on_where_they_were(again):
    g = lamella.Generator().manual_seed(5)
    g.set_state((5, 40))
    h = again(g)
    assert h is not g and h.get_state() == g.get_state() == (5, 40) and h.device == g.device


# ---- forged pickles --------------------------------------------------------------------------------------------------

FLAT = lamella.zeros(4).untyped_storage()


@pytest.mark.parametrize(
    "size, stride, offset",
    [
        ((5,), (1,), 0),
        ((4,), (1,), 1),
        ((2,), (4,), 0),
        ((1,), (1,), 4),
        ((1,), (1,), -1),
        ((-1,), (1,), 0),
        ((2,), (-1,), 3),
        ((2,), (1, 1), 0),
        ((2**62, 4), (1, 1), 0),
        ((2**62,), (0,), 0),
        ((2, 2), (2**62, 2**62), 0),
        ((2,), (2**63 - 1,), 2**63 - 1),
        ((1.5,), (1,), 0),
        (("a",), (1,), 0),
        ((1,) * 65, (1,) * 65, 0),
    ],
)
def test_no_window_leaves_its_storage(size, stride, offset):
    with pytest.raises((ValueError, TypeError, OverflowError), match="storage|int"):
        _storage.rebuild_tensor(lamella.Tensor, FLAT, lamella.float32, size, stride, offset)


def test_windows_at_the_edge():
    make = _storage.rebuild_tensor
    assert make(lamella.Tensor, FLAT, lamella.float32, (4,), (1,), 0).tolist() == [0.0] * 4
    assert make(lamella.Tensor, FLAT, lamella.float64, (2,), (1,), 0).tolist() == [0.0] * 2
    assert make(lamella.Tensor, FLAT, lamella.float32, (0, 2**40), (1, 1), 99).tolist() == []
    assert make(lamella.Tensor, FLAT, lamella.float32, (10**6,), (0,), 3).shape == (10**6,)


@pytest.mark.parametrize(
    "call",
    [
        lambda: _storage.rebuild_storage("cpu", 8, b"1234567"),
        lambda: _storage.rebuild_storage("cpu", 7, b"12345678"),
        lambda: _storage.rebuild_tensor(int, FLAT, lamella.float32, (1,), (1,), 0),
        lambda: _storage.rebuild_tensor(lamella.Tensor, "storage", lamella.float32, (1,), (1,), 0),
    ],
)
def test_forged_parts(call):
    with pytest.raises(pickle.UnpicklingError):
        call()


def test_a_device_that_is_not_here():
    with pytest.raises(RuntimeError, match="nowhere"):
        _storage.rebuild_storage("nowhere:1", 1, b"1")


def test_numpy_memory_is_copied_into_the_pickle():
    x = np.arange(4)
    t = pickle.loads(pickle.dumps(lamella.from_numpy(x)))
    t[0] = 9
    assert x[0] == 0


@pytest.mark.parametrize(
    "make", [lambda x: x.max(1), lambda x: x.sort(), lambda x: x.sort(stable=True), lambda x: x.topk(1)]
)
def test_named_results(make):
    """pickle finds the types by name, also in a process that has not used them before."""
    results = make(lamella.tensor([[1.0, 3.0, 2.0]]))
    text = pickle.dumps(results)
    for again in (pickle.loads(text), copy.deepcopy(results)):
        assert type(again) is type(results) and again.values.tolist() == results.values.tolist()
    code = f"import pickle; print(pickle.loads({text!r}).indices.tolist())"
    assert run(sys.executable, "-c", code, cwd=".") == f"{results.indices.tolist()}\n"
