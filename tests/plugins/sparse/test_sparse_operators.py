"""Operators on sparse tensors, beside numpy on the dense arrays; kernels beside composites and scipy."""

import lamella
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from patterns import DEVICE, LAYOUTS, entries, here, made, matrix, refused, same

pytestmark = pytest.mark.needs("autograd", "sparse")
FLOATS = ["float32", "float64", "complex64", "complex128"]
ops = lamella.ops


def dense(shape, dtype="float64", seed=9):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if "complex" in dtype else x).astype(dtype)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_products(name, dtype):
    t, a = matrix(dtype=dtype, name=name)
    for k in (1, 3, 8, 64, 77):
        x, y = dense((7, k), dtype), dense((k, 5), dtype)
        same(t @ here(x), a @ x)
        same(here(y) @ t, y @ a)
    v, w = dense(7, dtype), dense(5, dtype)
    same(t @ here(v), a @ v)
    same(lamella.mv(t, here(v)), a @ v)
    same(here(w) @ t, w @ a)
    same(lamella.sparse.mm(t, here(x)), a @ x)
    same(lamella.spmm(t, here(x)), a @ x)
    same(lamella.smm(t, here(x)), a @ x)
    c = dense((5, 77), dtype)
    same(
        lamella.addmm(here(c), t, here(x), beta=2, alpha=0.5),
        2 * c + (a @ x) * 0.5,
        2e-5 if "64" not in dtype or dtype == "complex64" else None,
    )
    same(lamella.nn.functional.linear(here(x.T.copy()), t), x.T @ a.T)
    z = dense((2, 7, 3), dtype)
    same(t @ here(z), a @ z)
    z = dense((2, 4, 5), dtype)
    same(here(z) @ t, z @ a)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("other", LAYOUTS)
def test_products_of_two_sparse_ones(name, other):
    t, a = matrix(name=name)
    u, b = matrix((7, 4), 9, name=other, seed=3)
    made = t @ u
    assert made.layout is not lamella.strided
    same(made, a @ b)


def test_products_of_batches():
    at, values, a = entries((3, 4, 5), 20)
    t, x = made(at, values, (3, 4, 5)), dense((3, 5, 2))
    same(lamella.bmm(t, here(x)), a @ x)
    same(t @ here(x), a @ x)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "float16"])
def test_kernels_and_composites(index, dtype):
    s = scipy.sparse.random(30, 40, 0.2, format="csr", random_state=1)
    values = dense(s.nnz, dtype) if dtype != "int64" else np.arange(s.nnz)
    p, i, v = (here(x) for x in (s.indptr.astype(index), s.indices.astype(index), values))
    a = scipy.sparse.csr_array(
        (values.astype("float64") if dtype == "float16" else values, s.indices, s.indptr), shape=s.shape
    )
    tolerance = 0.05 if dtype == "float16" else 1e-5
    for k in ((), (1,), (5,), (70,)):
        x, y = (
            dense((n, *k), dtype) if dtype != "int64" else np.arange(n * max(1, *k, 1)).reshape(n, *k) for n in (40, 30)
        )
        calls = {
            "csr_matmul": (p, i, v, here(x)),
            "csr_matmul_transposed": (p, i, v, here(y), 40),
            "csr_sampled": (p, i, here(y), here(x)),
        }
        rows = np.repeat(np.arange(30), np.diff(s.indptr))
        products = y[rows] * x[s.indices]
        expected = [a @ x, a.T @ y, products.sum(-1) if k else products]
        for (name, args), want in zip(calls.items(), expected, strict=True):
            op = getattr(ops.sparse, name).default
            for call in (op, lamella._C._get_kernel(op, "composite")):
                got = call(*args)
                assert got.dtype == v.dtype
                np.testing.assert_allclose(got.cpu().numpy(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.skipif(DEVICE != "cpu", reason="the kernels are the host's")
def test_kernels_check_the_indices_that_they_follow():
    for width in (1, 64):
        x = lamella.ones(3, width)
        for p, i in (([0, 1], [3]), ([0, 1], [-1]), ([0, 2], [0]), ([-1, 1], [0]), ([0, 2**40], [0]), ([1, 0], [0])):
            p, i, v = here(p), here(i), lamella.ones(1)
            with pytest.raises(IndexError):
                ops.sparse.csr_matmul(p, i, v, x)
            with pytest.raises(IndexError):
                ops.sparse.csr_matmul_transposed(p, i, v, lamella.ones(1, width), 3)
            with pytest.raises(IndexError):
                ops.sparse.csr_sampled(p, i, lamella.ones(1, width), x)


@pytest.mark.parametrize("count", [0, 1, 40, 200000])
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int32", "bool", "float16"])
def test_coalesced(count, dtype):
    shape = (300, 700) if count > 1000 else (5, 4)
    at, values, _ = entries(shape, count, "float32")
    values = (values > 0) if dtype == "bool" else np.round(values * 4).astype(dtype)
    call = ops.sparse.coalesced.default
    got = call(here(at), here(values), list(shape))
    composite = lamella._C._get_kernel(call, "composite")(here(at), here(values), list(shape))
    places, inverse = np.unique(at, axis=1, return_inverse=True)
    sums = np.zeros(places.shape[1], values.dtype)
    (np.logical_or if dtype == "bool" else np.add).at(sums, inverse.reshape(-1), values)
    for indices, found in (got, composite):
        assert indices.cpu().numpy().tolist() == places.tolist()
        np.testing.assert_array_equal(found.cpu().numpy(), sums)


def test_coalesced_with_more_bits_than_a_word():
    shape, n = [2**29, 2**29], 100
    rng = np.random.default_rng(0)
    at = np.concatenate([rng.integers(0, 2**29, (2, n // 2))] * 2, 1)
    values = np.arange(1.0 * n)
    t = lamella.sparse_coo_tensor(here(at), here(values), shape).coalesce()
    order = np.lexsort((at[1, : n // 2], at[0, : n // 2]))
    assert t.indices().tolist() == at[:, order].tolist()
    assert t.values().tolist() == (values[: n // 2] + values[n // 2 :])[order].tolist()
    assert t.sparse_mask(t).values().tolist() == t.values().tolist()
    with refused("63 bits"):
        lamella.sparse_coo_tensor([[1], [1]], [1.0], [2**40, 2**40])


UNARY = [
    "abs", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "expm1", "floor", "frac", "log1p", "neg",
    "rad2deg", "relu", "round", "sgn", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "isnan",
    "isinf",
]  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("op", UNARY)
def test_pointwise_of_one(name, op):
    t, a = matrix(name=name)
    t, a = (t * 0.05).abs(), np.abs(a * 0.05)
    want = getattr(lamella, op)(lamella.tensor(a)).numpy()
    got = getattr(lamella, op)(t)
    assert got.layout is t.layout
    same(got, want)
    if op not in ("isnan", "isinf"):
        u = t.clone()
        assert getattr(u, f"{op}_")() is u
        same(u, want)


@pytest.mark.parametrize("name", LAYOUTS)
def test_sums_and_products(name):
    t, a = matrix(name=name)
    u, b = matrix(count=9, name=name, seed=4)
    d = dense((5, 7))
    x = here(d)
    same(t + u, a + b)
    same(t - u, a - b)
    same(lamella.add(t, u, alpha=2.5), a + 2.5 * b)
    same(x + t, d + a)
    same(t + x, d + a)
    same(x - t, d - a)
    same(t * u, a * b)
    same(t * x, a * d)
    same(x * t, a * d)
    same(t * x[0], a * d[0])
    same(t * x[:, :1], a * d[:, :1])
    same(t * 3, a * 3)
    same(3 * t, a * 3)
    same(t / 2, a / 2)
    same(t * here(np.float64(2.0)), a * 2)
    same(t**2, a**2)
    same(-t, -a)
    w = t.clone()
    w += u
    same(w, a + b)
    w *= 2
    same(w, (a + b) * 2)
    y = x.clone()
    y += t
    same(y, d + a)
    y = x.clone().t().contiguous().t()
    y.sub_(t, alpha=2)
    same(y, d - 2 * a)
    same(t.zero_(), np.zeros_like(a))


@pytest.mark.parametrize("name", LAYOUTS)
def test_reductions(name):
    t, a = matrix(name=name)
    same(t.sum(), np.array(a.sum()))
    for dim in (0, 1, -1, (0, 1)):
        same(lamella.sparse.sum(t, dim), np.array(a.sum(dim)))
    same(t.sum(0, keepdim=True), a.sum(0, keepdims=True))
    np.testing.assert_allclose(t.norm().item(), np.linalg.norm(a))
    at, values, b = entries((3, 4), 6, "float64", (2,))
    u = made(at, values, (3, 4))
    for dim in (0, 1, 2, (0, 2), (0, 1), (1, 2)):
        same(lamella.sparse.sum(u, dim), b.sum(dim))
    at, values, c = entries((3, 4), 6, "int32")
    assert made(at, values, (3, 4)).sum(0).dtype is lamella.int64


def test_softmax():
    t, a = matrix((4, 6), 10)
    for dim in (0, 1):
        places = np.zeros((4, 6), bool)
        places[tuple(t.coalesce().indices().cpu().numpy())] = True
        x = np.where(places, a, -np.inf)
        with np.errstate(invalid="ignore"):
            e = np.exp(x - x.max(dim, keepdims=True))
            want = np.nan_to_num(e / e.sum(dim, keepdims=True))
        same(lamella.sparse.softmax(t, dim), want)
        got = lamella.sparse.log_softmax(t, dim).coalesce()
        np.testing.assert_allclose(np.exp(got.values().cpu().numpy()), want[tuple(got.indices().cpu().numpy())])
    at, values, b = entries((3,), 2, "float64", (4,), seed=8)
    u = made(at, values, (3,)).coalesce()
    e = np.exp(b - b.max(1, keepdims=True))
    rows = u.indices().cpu().numpy()[0]
    np.testing.assert_allclose(lamella.sparse.softmax(u, 1).values().cpu().numpy(), (e / e.sum(1, keepdims=True))[rows])


@pytest.mark.parametrize("name", LAYOUTS)
def test_moves(name):
    t, a = matrix(name=name)
    same(t.t(), a.T)
    same(t.transpose(0, 1), a.T)
    same(t.permute(1, 0), a.T)
    same(t.mT if hasattr(t, "mT") else t.t(), a.T)
    same(lamella.cat([t, t]), np.concatenate([a, a]))
    same(lamella.cat([t, t * 2], 1), np.concatenate([a, a * 2], 1))
    at = np.array([3, 3, 0])
    same(t.index_select(0, here(at)), a[at])
    same(t.index_select(1, here(at)), a[:, at])
    same(t[2], a[2])
    same(t.select(1, -1), a[:, -1])
    same(t.narrow_copy(1, 2, 3), a[:, 2:5])
    if name == "sparse_coo":
        same(lamella.stack([t, t]), np.stack([a, a]))
        same(t.unsqueeze(1), a[:, None])
    with pytest.raises(IndexError):
        t.index_select(0, here([5]))
    with pytest.raises(IndexError):
        t[5]


def test_moves_of_dense_dimensions():
    at, values, a = entries((3, 4), 6, "float64", (2, 3))
    t = made(at, values, (3, 4))
    same(t.permute(1, 0, 3, 2), a.transpose(1, 0, 3, 2))
    same(lamella.cat([t, t], 2), np.concatenate([a, a], 2))
    same(t.index_select(3, here([2, 0])), a[..., [2, 0]])
    same(t.select(2, 1), a[:, :, 1])
    same(t.unsqueeze(4), a[..., None])
    with refused("sparse dimension"):
        t.transpose(0, 2)


def test_masks():
    t, a = matrix()
    d = dense((5, 7))
    places = a != 0
    same(here(d).sparse_mask(t), np.where(places, d, 0))
    same(here(d).sparse_mask(t.to_sparse_csr()), np.where(places, d, 0))
    u, b = matrix(count=9, seed=4)
    same(u.sparse_mask(t), np.where(places, b, 0))
    x, y = dense((5, 3)), dense((3, 7))
    got = lamella.sparse.sampled_addmm(t.to_sparse_csr(), here(x), here(y), beta=0.5, alpha=2.0)
    same(got, np.where(places, 0.5 * a + 2 * (x @ y), 0))


def test_diagonals():
    d = np.arange(1.0, 13).reshape(3, 4)
    for shape in ((4, 4), (3, 6), (6, 3)):
        want = scipy.sparse.spdiags(d, [-1, 0, 2], *shape).toarray()
        for name in LAYOUTS:
            got = lamella.sparse.spdiags(here(d), here([-1, 0, 2]), shape, getattr(lamella, name))
            assert got.layout is getattr(lamella, name)
            same(got, want)
    with refused("spdiags", "equal"):
        lamella.sparse.spdiags(here(d), here([0, 0, 1]), (4, 4))


def test_wrong_operands():
    t, _ = matrix()
    with refused("matmul", "shape"):
        t @ here(np.ones((3, 3)))
    with refused("float64", "float32"):
        t @ here(np.ones((7, 3), np.float32))
    with refused("layout", "sparse_csr"):
        t + t.to_sparse_csr()
    with refused("'tensors'", "layouts"):
        lamella.cat([t, t.to_sparse_csr()])
    with refused("sampled_addmm", "sparse_csr"):
        lamella.sparse.sampled_addmm(t, here(np.ones((5, 1))), here(np.ones((1, 7))))


@st.composite
def tensors(draw):
    """Draws a shape, a number of entries, dense dimensions and a seed."""
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    dense_shape = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    return shape, draw(st.integers(0, 15)), dense_shape, draw(st.integers(0, 10**6))


@given(tensors())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_properties(drawn):
    shape, count, dense_shape, seed = drawn
    at, values, a = entries(shape, count, "float64", dense_shape, seed)
    t = made(at, values, shape)
    same(t, a)
    same(t.coalesce(), a)
    same(t + t, a + a)
    same(t * t, a * a)
    same(t.sin(), np.sin(a))
    same(t.neg().abs(), np.abs(a))
    for d in range(a.ndim):
        same(lamella.sparse.sum(t, d), np.array(a.sum(d)))
        same(t.select(d, -1), np.array(a.take(-1, d)))
    same(here(a).to_sparse(len(shape)), a)
    assert lamella.equal(t, t.coalesce())
    if len(shape) == 2 and not dense_shape:
        for name in LAYOUTS[1:]:
            u = t.to_sparse(layout=getattr(lamella, name))
            same(u.t(), a.T)
            same(u @ t.t(), a @ a.T)
