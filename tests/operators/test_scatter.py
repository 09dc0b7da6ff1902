"""gather, scatter and their relatives equal numpy's, by kernels and by composites."""

from contextlib import nullcontext

import lamella
import numpy as np
import pytest
from arrays import DTYPES, assert_same, pairs, shapes, to_lamella, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from oracles.indexing import along, at, index_add, index_set, scatter

NATIVE = (
    "index.Tensor index_put_ index_put index_select embedding scatter.src scatter.value scatter_.value scatter_add "
    "index_add_ index_add index_copy_ index_copy index_fill_.int_Scalar index_fill_.int_Tensor index_fill.int_Scalar "
    "index_fill.int_Tensor take"
).split()
WAYS = ["native", "composite"]


def way(name):
    """Disables the cpu's kernels that are not primitives, unless the name is "native"."""
    ops = [f"aten::{op}" for op in NATIVE]
    return nullcontext() if name == "native" else lamella.library.kernels_disabled(ops, "cpu")


def index_array(draw, shape, size):
    return np.array([draw(st.integers(0, size - 1)) for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)


@st.composite
def operands(draw, dtype, wide=True):
    """Makes (x, t, dim, index): an index for one dimension of an array, not larger in the other dimensions."""
    shape = draw(shapes(3).filter(len))
    dim = draw(st.integers(0, len(shape) - 1))
    x, t = draw(pairs(dtype, shape, expanded=wide))
    count = draw(st.integers(0, 5)) if shape[dim] else 0
    inner = tuple(count if d == dim else draw(st.integers(0, n)) for d, n in enumerate(shape))
    return x, t, draw(st.sampled_from([dim, dim - len(shape)])), index_array(draw, inner, max(shape[dim], 1))


def transposed(array, draw):
    """Returns a tensor of equal elements, perhaps in another order in memory."""
    order = draw(st.permutations(range(array.ndim)))
    return to_lamella(array.transpose(order).copy()).permute([order.index(d) for d in range(array.ndim)])


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_gather(dtype, data):
    x, t, dim, index = data.draw(operands(dtype))
    assert_same(t.gather(dim, transposed(index, data.draw)), x[at(x, dim, index)])


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_scatter_and_scatter_add(dtype, kind, data):
    x, t, dim, index = data.draw(operands(dtype, wide=False))
    src, s = data.draw(pairs(dtype, tuple(n + data.draw(st.integers(0, 1)) for n in index.shape)))
    i = transposed(index, data.draw)
    with np.errstate(all="ignore"):
        put, filled, added = (scatter(x, dim, index, *more) for more in ((src,), (1,), (src, "add")))
    with way(kind):
        assert_same(t.scatter(dim, i, s), put)
        assert_same(t.scatter(dim, i, 1), filled)
        assert_same(t.scatter_add(dim, i, s), added)
        assert_same(t, x)
        version = t._version
        assert t.scatter_add_(dim, i, s) is t and t._version == version + 1
        assert_same(t, added)
        t.copy_(to_lamella(x))
        assert_same(t.scatter_(dim, i, s), put)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_last_of_equals_stays_and_sums_keep_their_order(threads):
    lamella.set_num_threads(threads)
    rng = np.random.default_rng(5)
    x = rng.standard_normal((300, 500)).astype(np.float32)
    for dim in (0, 1):
        index = rng.integers(0, 7, x.shape)
        put, added = np.zeros_like(x), np.zeros_like(x)
        columns = np.arange(x.shape[1 - dim])
        for k in range(x.shape[dim]):
            where = (index[k], columns) if dim == 0 else (columns, index[:, k])
            put[where] = x[k] if dim == 0 else x[:, k]
            added[where] += x[k] if dim == 0 else x[:, k]
        t, i = to_lamella(x), to_lamella(index)
        assert_same(lamella.zeros(x.shape).scatter_(dim, i, t), put)
        assert_same(lamella.zeros(x.shape).scatter_add_(dim, i, t), added)
        assert_same(lamella.zeros(x.shape).index_put_([i[0], i[1]], t[0], accumulate=True), by_pairs(index, x))


def by_pairs(index, x):
    want = np.zeros_like(x)
    np.add.at(want, (index[0], index[1]), x[0])
    return want


@pytest.mark.parametrize("kind", WAYS)
@given(st.data())
def test_rows_by_a_vector(kind, data):
    shape = data.draw(shapes(3).filter(len))
    dim = data.draw(st.integers(0, len(shape) - 1))
    x, t = data.draw(pairs("float32", shape, expanded=False))
    count = data.draw(st.integers(0, 4)) if shape[dim] else 0
    index = index_array(data.draw, (count,), max(shape[dim], 1))
    i = to_lamella(index).to(getattr(lamella, data.draw(st.sampled_from(["int64", "int32", "uint8"]))))
    source, s = data.draw(pairs("float32", tuple(count if d == dim else n for d, n in enumerate(shape)), -4, 5))
    with way(kind), np.errstate(all="ignore"):
        assert_same(t.index_select(dim, i), x[along(x, dim, index)])
        assert_same(t.index_add(dim, i, s, alpha=2), index_add(x, dim, index, source, np.float32(2)))
        assert_same(t.index_copy(dim, i, s), index_set(x, dim, index, source))
        want = index_set(x, dim, index, 5)
        assert_same(t.index_fill(dim, i, 5), want)
        assert_same(t.index_fill(dim, i, lamella.tensor(5)), want)
        assert_same(t, x)
        assert t.index_fill_(dim, i, 5) is t
        assert_same(t, want)


@pytest.mark.parametrize("kind", WAYS)
@given(st.data())
def test_take(kind, data):
    x, t = data.draw(pairs("int32", data.draw(shapes(3).filter(all))))
    shape = data.draw(shapes(2))
    index = index_array(data.draw, shape, x.size) - data.draw(st.sampled_from([0, x.size]))
    with way(kind):
        assert_same(t.take(to_lamella(index)), x.reshape(-1)[index])


@given(st.data())
def test_take_along_dim(data):
    shape = data.draw(shapes(3).filter(lambda s: s and all(s)))
    dim = data.draw(st.integers(0, len(shape) - 1))
    x, t = data.draw(pairs("int32", shape))
    order = np.argsort(x, dim, kind="stable")
    assert_same(lamella.take_along_dim(t, to_lamella(order), dim), np.take_along_axis(x, order, dim))
    one = order[tuple(slice(None) if d == dim else slice(0, 1) for d in range(x.ndim))]
    assert_same(t.take_along_dim(to_lamella(one), dim), np.take_along_axis(x, one, dim))
    flat = np.argsort(x, None, kind="stable")
    assert_same(t.take_along_dim(to_lamella(flat)), np.take_along_axis(x, flat, None))


@pytest.mark.parametrize("kind", WAYS)
@given(st.data())
def test_embedding(kind, data):
    x, t = data.draw(pairs("float32", (data.draw(st.integers(1, 5)), data.draw(st.integers(0, 70)))))
    index = index_array(data.draw, data.draw(shapes(3)), len(x))
    with way(kind):
        assert_same(lamella.embedding(t, transposed(index, data.draw)), x[index])


def test_one_hot():
    index = np.array([[0, 3], [1, 0]])
    want = np.eye(4, dtype=np.int64)[index]
    assert_same(lamella.ops.aten.one_hot(to_lamella(index)), want)
    assert_same(lamella.ops.aten.one_hot(to_lamella(index), 6), np.eye(6, dtype=np.int64)[index])
    with pytest.raises(IndexError):
        lamella.ops.aten.one_hot(to_lamella(index), 3)
    with pytest.raises(RuntimeError, match="num_classes"):
        lamella.ops.aten.one_hot(lamella.zeros(0, dtype=lamella.int64))


X, INDEX = lamella.zeros(2, 3), lamella.zeros(2, 3, dtype=lamella.int64)
BAD = [
    (lambda: X.gather(0, lamella.zeros(1, 4, dtype=lamella.int64)), RuntimeError, "'index': shape .* is larger"),
    (lambda: X.index_select(0, X[0]), IndexError, "'index': expected integers"),
    (lambda: lamella.zeros(0).take(INDEX), IndexError, "take: argument 'self'"),
]


@pytest.mark.parametrize("call, error, words", BAD)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_bad_index_changes_nothing():
    t, i = lamella.zeros(3), lamella.tensor([0, 1, 3])
    for call in (
        lambda: t.scatter_(0, i, lamella.ones(3)),
        lambda: t.scatter_(0, i, 1),
        lambda: t.scatter_add_(0, i, lamella.ones(3)),
        lambda: t.index_add_(0, i, lamella.ones(3)),
        lambda: t.index_put_([i], lamella.ones(3)),
        lambda: t.index_fill_(0, i, 1),
    ):
        version = t._version
        with pytest.raises(IndexError, match="index 3"):
            call()
        assert t.tolist() == [0, 0, 0] and t._version == version


def test_what_is_written_is_not_read():
    t = lamella.zeros(4)
    with pytest.raises(RuntimeError, match="'src': it shares memory"):
        t.scatter_(0, lamella.tensor([0, 1]), t[:2])
    i = lamella.tensor([1, 0])
    with pytest.raises(RuntimeError, match="'index': it shares memory"):
        i.scatter_(0, i, lamella.tensor([5, 6]))


def test_zero_dim():
    t, i = lamella.tensor(5.0), lamella.tensor(0)
    assert t.gather(0, i).item() == 5 and t.scatter(0, i, 7).item() == 7
    assert t.scatter_add(0, i, lamella.tensor(2.0)).item() == 7
    assert t.index_select(0, i).item() == 5 and to_numpy(t.take(lamella.tensor([[0]]))).tolist() == [[5]]
