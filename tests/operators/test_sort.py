"""sort, topk, kthvalue, median and unique equal numpy's, by kernels and by composites."""

from contextlib import nullcontext

import lamella
import numpy as np
import pytest
from arrays import BOOL, FLOATS, INTEGERS, assert_same, bits, np_dtype, pairs, shapes, to_lamella, to_numpy, values
from hypothesis import given
from hypothesis import strategies as st

ORDERED = BOOL + INTEGERS + FLOATS
WAYS = ["native", "composite"]


def way(name):
    return nullcontext() if name == "native" else lamella.library.kernels_disabled(["aten::topk"], "cpu")


def comparable(x):
    """Converts the array to a dtype that numpy sorts with NaN last."""
    return x.astype(np.float32) if x.dtype.name in ("bfloat16", "float16") else x


def order(x, dim, descending=False):
    """Returns the indices of a stable sort: equal elements keep their order; NaN is the largest."""
    x = comparable(x)
    if not descending:
        return np.argsort(x, dim, kind="stable")
    n = x.shape[dim]
    return np.flip(n - 1 - np.argsort(np.flip(x, dim), dim, kind="stable"), dim)


@st.composite
def rows(draw, dtype):
    shape = draw(shapes(3, 6).filter(len))
    return *draw(pairs(dtype, shape)), draw(st.integers(-len(shape), len(shape) - 1))


@pytest.mark.parametrize("dtype", ORDERED)
@given(data=st.data(), descending=st.booleans())
def test_sort(dtype, data, descending):
    x, t, dim = data.draw(rows(dtype))
    want = order(x, dim, descending)
    for result in (t.sort(dim, descending), lamella.sort(t, stable=True, dim=dim, descending=descending)):
        assert_same(result.indices, want)
        assert_same(result.values, np.take_along_axis(x, want, dim), signed_zeros=True)
    assert_same(t.argsort(dim, descending), want)
    assert_same(lamella.argsort(t, stable=True, dim=dim, descending=descending), want)


@pytest.mark.parametrize("dtype", ORDERED)
@pytest.mark.parametrize("count", [15, 17, 47, 49, 97, 1000, 20000, 70001])
@pytest.mark.parametrize("threads", [1, 2])
def test_long_rows(dtype, count, threads):
    lamella.set_num_threads(threads)
    x = values(dtype, count, count)
    for descending in (False, True):
        want = order(x, 0, descending)
        result = lamella.sort(to_lamella(x), descending=descending)
        assert_same(result.indices, want)
        assert bits(result.values) == x[want].tobytes()
        for k in (1, 3, count // 50, count // 3, count):
            top = lamella.topk(to_lamella(x), k, largest=descending)
            assert_same(top.indices, want[:k])
            assert_same(top.values, x[want[:k]])


@pytest.mark.parametrize("dtype", ORDERED)
@pytest.mark.parametrize("count", [2, 3])
def test_several_long_rows(count, dtype):
    """Rows have different ranges, whether they lie side by side or one after the other."""
    x = np.stack([values(dtype, 300, n) for n in range(count)])
    x[0] = x[0, 0]
    for dim, array in ((1, x), (0, np.ascontiguousarray(x.T))):
        for descending in (False, True):
            want = order(array, dim, descending)
            result = lamella.sort(to_lamella(array), dim, descending)
            assert_same(result.indices, want)
            assert_same(result.values, np.take_along_axis(array, want, dim), signed_zeros=True)


@pytest.mark.parametrize("low, high", [(0, 2), (-100, 100), (2**40, 2**40 + 1000), (-(2**62), 2**62), (-1, 2**32)])
def test_integers_of_any_range(low, high):
    x = np.random.default_rng(3).integers(low, high, 40000)
    want = np.argsort(x, kind="stable")
    result = lamella.sort(to_lamella(x))
    assert_same(result.indices, want)
    assert_same(result.values, x[want])


@pytest.mark.parametrize("low", [4, 20, 36, 50])
def test_digits_that_tell_nothing_apart(low):
    """The numbers share their highest digits and differ only in the lowest."""
    rng = np.random.default_rng(low)
    x = rng.integers(0, 4096, 70001) << 51 | rng.integers(0, 1 << low, 70001)
    got = lamella.sort(to_lamella(x), stable=True, dim=0)
    assert_same(got.indices, np.argsort(x, kind="stable"))
    assert_same(got.values, np.sort(x))


@pytest.mark.parametrize("n", [100, 5000])
def test_runs_that_are_sorted_already(n):
    for x in (np.arange(n, dtype=np.float32), np.arange(n, 0, -1, dtype=np.float32), np.zeros(n, np.float32)):
        assert_same(lamella.sort(to_lamella(x)).indices, np.argsort(x, kind="stable"))
        assert_same(lamella.topk(to_lamella(x), 7).indices, order(x, 0, True)[:7])


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("dtype", ORDERED)
@given(data=st.data(), largest=st.booleans())
def test_topk(dtype, kind, data, largest):
    x, t, dim = data.draw(rows(dtype))
    k = data.draw(st.integers(0, x.shape[dim]))
    want = np.take(order(x, dim, largest), range(k), dim)
    with way(kind):
        result = t.topk(k, dim, largest)
    assert_same(result.indices, want)
    assert_same(result.values, np.take_along_axis(x, want, dim))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bfloat16", "uint8"])
@given(data=st.data(), keepdim=st.booleans())
def test_kthvalue_and_median(dtype, data, keepdim):
    x, t, dim = data.draw(rows(dtype))
    n = x.shape[dim]
    if n == 0:
        with pytest.raises((IndexError, RuntimeError)):
            t.median(dim)
        return
    k = data.draw(st.integers(1, n))
    want = np.take(order(x, dim), [k - 1], dim)
    result = t.kthvalue(k, dim, keepdim)
    assert_same(result.indices, want if keepdim else want.squeeze(dim))
    sorted_ = np.sort(comparable(x), dim)
    middle, last = (np.take(sorted_, [i], dim) for i in ((n - 1) // 2, n - 1))
    middle = np.where(np.isnan(last), last, middle).astype(x.dtype) if dtype in FLOATS else middle
    got = t.median(dim, keepdim)
    assert_same(got.values, middle if keepdim else middle.squeeze(dim))
    back = got.indices if keepdim else got.indices.unsqueeze(dim)
    assert_same(lamella.take_along_dim(t, back, dim), middle)
    flat = np.sort(comparable(x), None)
    if x.size:
        want = np.nan if dtype in FLOATS and np.isnan(flat[-1]) else flat[(x.size - 1) // 2]
        assert_same(t.median(), np.array(want).astype(np_dtype(dtype)))


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "bool"])
@given(data=st.data())
def test_unique(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes(3)), low=0, high=4) if dtype != "bool" else pairs(dtype, (5, 3)))
    want, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    got = lamella.unique(t, return_inverse=True, return_counts=True)
    for g, w in zip(got, (want, inverse.reshape(x.shape), counts), strict=True):
        assert_same(g, w)
    assert_same(t.unique(), want)
    flat = x.reshape(-1)
    starts = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]])) if flat.size else np.zeros(0, np.int64)
    lengths = np.diff([*starts, flat.size]) if flat.size else starts
    got = lamella.unique_consecutive(t, return_inverse=True, return_counts=True)
    runs = np.repeat(np.arange(len(starts)), lengths).reshape(x.shape)
    for g, w in zip(got, (flat[starts], runs, lengths), strict=True):
        assert_same(g, w)
    assert_same(t.unique_consecutive(), flat[starts])


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float16", "bool"])
@given(data=st.data())
def test_unique_along_a_dimension(dtype, data):
    shape = data.draw(shapes(3).filter(lambda s: s and all(s)))
    x, t = data.draw(pairs(dtype, shape, low=0, high=3) if dtype != "bool" else pairs(dtype, shape))
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    want = np.unique(comparable(x), return_inverse=True, return_counts=True, axis=dim)
    for ops in ([], ["aten::_row_order"]):
        with lamella.library.kernels_disabled(ops, "cpu"):
            got = lamella.unique(t, return_inverse=True, return_counts=True, dim=dim)
        assert_same(got[0], want[0].astype(x.dtype))
        assert_same(got[1], want[1].reshape(-1))
        assert_same(got[2], want[2])


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint8"])
def test_many_slices_that_begin_alike(dtype):
    x = np.random.default_rng(5).integers(0, 3, (700, 6)).astype(dtype)
    want = np.unique(x, return_inverse=True, return_counts=True, axis=0)
    for array, dim in ((x, 0), (x.T.copy(), 1)):
        got = lamella.unique(to_lamella(array), return_inverse=True, return_counts=True, dim=dim)
        assert_same(got[0], want[0] if dim == 0 else want[0].T)
        assert_same(got[1], want[1].reshape(-1))
        assert_same(got[2], want[2])


def test_each_nan_is_unique():
    assert to_numpy(lamella.unique(lamella.tensor([np.nan, 1.0, np.nan])))[0] == 1
    assert lamella.unique(lamella.tensor([np.nan, 1.0, np.nan])).shape == (3,)


BAD = [
    (lambda: lamella.zeros(2).kthvalue(0), "kthvalue: argument 'k'"),
    (lambda: lamella.zeros(0, dtype=lamella.int64).median(), "median: argument 'self': an empty tensor"),
]


@pytest.mark.parametrize("call, words", BAD)
def test_wrong_arguments(call, words):
    with pytest.raises((RuntimeError, IndexError), match=words):
        call()


def test_zero_dim_and_out():
    result = lamella.tensor(5).sort()
    assert result.values.item() == 5 and result.indices.item() == 0
    assert lamella.tensor(5).topk(1).values.item() == 5 and lamella.tensor(2.5).median().item() == 2.5
    assert np.isnan(lamella.zeros(2, 0).median().item())
    v, i = lamella.empty(0), lamella.empty(0, dtype=lamella.int64)
    lamella.sort(lamella.tensor([2.0, 1.0]), out=(v, i))
    assert v.tolist() == [1, 2] and i.tolist() == [1, 0]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool", "float32"])
def test_a_number_among_boundaries(dtype, right, native):
    """The number is compared without a conversion to the boundaries' dtype."""
    x = np.array([0, 1] if dtype == "bool" else [1, 2, 3], dtype)
    t = lamella.tensor(x)
    passed_over = [] if native else ["aten::searchsorted.Scalar", "aten::bucketize.Scalar"]
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        for number in (2.5, 2, -1, 300, 0.5, float("inf"), -float("inf"), float("nan"), True):
            want = np.searchsorted(x.astype(np.float64), number, "right" if right else "left")
            assert lamella.searchsorted(t, number, right=right).item() == want, number
            assert lamella.bucketize(number, t, right=right).item() == want, number
        with pytest.raises(RuntimeError, match="searchsorted: argument 'self': a complex"):
            lamella.searchsorted(t, 1j)
