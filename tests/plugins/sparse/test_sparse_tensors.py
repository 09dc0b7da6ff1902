"""Sparse tensors: how they are made, read, converted, printed, copied and stored; and what is refused."""

import copy
import io
import pickle

import lamella
import numpy as np
import pytest
import scipy.sparse
from patterns import LAYOUTS, entries, layout, made, matrix, refused, same

pytestmark = pytest.mark.needs("autograd", "sparse")
SHAPES = [((4,), 6, ()), ((3, 5), 9, ()), ((3, 5), 0, ()), ((2, 3, 4), 10, ()), ((4, 3), 7, (2,)), ((3,), 5, (2, 2))]
DTYPES = ["float32", "float64", "complex64", "complex128", "int64", "int32", "int16", "uint8", "float16"]


@pytest.mark.parametrize("shape, count, dense", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_coo(shape, count, dense, dtype):
    at, values, array = entries(shape, count, dtype, dense)
    t = made(at, values, shape)
    assert t.layout is lamella.sparse_coo and t.is_sparse and not t.is_sparse_csr and t.is_opaque
    assert (t.sparse_dim(), t.dense_dim(), t._nnz()) == (len(shape), len(dense), count)
    same(t, array)
    c = t.coalesce()
    assert c.is_coalesced() and c.coalesce() is c
    places = np.argwhere(np.any(array != 0, axis=tuple(range(len(shape), array.ndim)))) if count else at.T
    assert {tuple(p) for p in places.tolist()} <= {tuple(p) for p in c.indices().numpy().T.tolist()}
    assert c.indices().tolist() == np.unique(at, axis=1).tolist()
    same(c, array)
    same(lamella.tensor(array).to_sparse(len(shape)), array)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    at, values, array = entries((6, 5), 20, dtype)
    t = made(at, values, (6, 5))
    if dtype == "uint8":
        array = np.zeros((6, 5), dtype)
        np.add.at(array, tuple(at), values)
    same(t, array, 1e-2 if dtype == "float16" else None)
    same(t.coalesce(), array, 1e-2 if dtype == "float16" else None)
    same(t + t, array + array, 1e-2 if dtype == "float16" else None)
    truth = made(at, values != 0, (6, 5)).coalesce().to_dense().numpy()
    expected = np.zeros((6, 5), bool)
    expected[tuple(at)] = (values != 0) | expected[tuple(at)]
    for p, v in zip(at.T, values != 0, strict=True):
        expected[tuple(p)] |= v
    assert (truth == expected).all()


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("other", LAYOUTS)
@pytest.mark.parametrize("count", [0, 1, 12])
def test_conversions(name, other, count):
    t, array = matrix(count=count, name=name)
    assert t.layout is layout(name)
    u = t.to_sparse(layout=layout(other))
    assert u.layout is layout(other)
    same(u, array)
    same(getattr(t, f"to_{other}")(), array)
    assert t.to_sparse(layout=lamella.strided).layout is lamella.strided


def test_compressed_parts_are_those_of_scipy():
    t, array = matrix(name="sparse_csr")
    s = scipy.sparse.csr_array(array)
    assert t.crow_indices().tolist() == s.indptr.tolist() and t.col_indices().tolist() == s.indices.tolist()
    assert t.values().tolist() == s.data.tolist()
    t, s = t.to_sparse_csc(), scipy.sparse.csc_array(array)
    assert t.ccol_indices().tolist() == s.indptr.tolist() and t.row_indices().tolist() == s.indices.tolist()
    with_dense = lamella.tensor(np.stack([array, array], 2)).to_sparse_csr(dense_dim=1)
    assert with_dense.dense_dim() == 1
    same(with_dense, np.stack([array, array], 2))


def test_batches():
    t = lamella.sparse_csr_tensor([[0, 1, 2], [0, 2, 2]], [[1, 0], [0, 1]], [[1.0, 2.0], [3.0, 4.0]])
    expected = np.array([[[0, 1], [2, 0]], [[3, 4], [0, 0]]], np.float32)
    same(t, expected)
    same(t.to_sparse_coo(), expected)
    same(t.transpose(1, 2), expected.transpose(0, 2, 1))
    same(-t, -expected)
    same(lamella.bmm(t, lamella.ones(2, 2, 3)), expected @ np.ones((2, 2, 3), np.float32))
    with refused("to_sparse", "batch", error=NotImplementedError):
        t.to_sparse_csc()


def test_sizes_follow_from_the_indices():
    assert lamella.sparse_coo_tensor([[0, 2], [1, 0]], [1.0, 2.0]).shape == (3, 2)
    assert lamella.sparse_coo_tensor((3, 2)).shape == (3, 2)
    assert lamella.sparse_csr_tensor([0, 1], [4], [1.0]).shape == (1, 5)
    assert lamella.sparse_csc_tensor([0, 1], [4], [1.0]).shape == (5, 1)
    t = lamella.sparse_coo_tensor([[0]], [1], dtype=lamella.float64, requires_grad=True)
    assert t.dtype is lamella.float64 and t.requires_grad and t.is_leaf


def test_printing():
    t = lamella.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    assert repr(t) == (
        "tensor(indices=tensor([[0, 1],\n                       [2, 0]]),\n       values=tensor([3., 4.]),\n"
        "       size=(2, 3), nnz=2, layout=lamella.sparse_coo)"
    )
    assert repr(t.to_sparse_csr().requires_grad_()) == (
        "tensor(crow_indices=tensor([0, 1, 2]),\n       col_indices=tensor([2, 0]),\n"
        "       values=tensor([3., 4.]), size=(2, 3), nnz=2, layout=lamella.sparse_csr,\n       requires_grad=True)"
    )
    assert "indices=tensor([], size=(2, 0))" in repr(lamella.sparse_coo_tensor((2, 3)))
    assert "device='meta'" in repr(t.to("meta"))


@pytest.mark.parametrize("name", LAYOUTS)
def test_copies_files_and_pickles(name, tmp_path):
    t, array = matrix(name=name)
    buffer = io.BytesIO()
    lamella.save({"t": t}, buffer)
    buffer.seek(0)
    for u in (t.clone(), copy.deepcopy(t), pickle.loads(pickle.dumps(t)), lamella.load(buffer)["t"], t.cpu()):
        assert u.layout is t.layout
        same(u, array)
    clone = t.clone()
    (clone.values() if name != "sparse_coo" else clone._values()).zero_()
    same(t, array)
    assert t.to(lamella.float32).dtype is lamella.float32 and t.to(lamella.float32).layout is t.layout
    assert t.to("meta").device.type == "meta" and t.to("meta").layout is t.layout
    same(lamella.zeros_like(t), np.zeros_like(array))
    assert lamella.zeros_like(t).layout is t.layout and lamella.empty_like(t).layout is t.layout
    assert copy.deepcopy(t.requires_grad_()).requires_grad


def test_a_pickle_is_loaded_by_a_fresh_process(host):
    data = pickle.dumps(matrix(name="sparse_csr")[0])
    host.run(f"import pickle, lamella; t = pickle.loads({data!r}); assert t.layout is lamella.sparse_csr, t")


FORGED = [
    {"outer": lamella.tensor([[0, 9], [0, 1]])},
    {"outer": lamella.tensor([[0, -1], [0, 1]])},
    {"outer": lamella.tensor([[0, 1, 1], [0, 1, 1]])},
    {"outer": lamella.tensor([[0.0, 1.0], [0.0, 1.0]])},
    {"values": lamella.ones(2, 2)},
    {"values": lamella.ones(2, dtype=lamella.float64)},
    {"values": 3},
    {"layout": "sparse_bsr"},
    {"layout": 7},
    {"coalesced": 1.5},
    {"layout": "sparse_csr", "inner": lamella.tensor([0, 1])},
    {"layout": "sparse_csr", "outer": lamella.tensor([0, 5, 2]), "inner": lamella.tensor([0, 1])},
    {"layout": "sparse_csr", "outer": lamella.tensor([0, 1, 2]), "inner": lamella.tensor([0, 7])},
]


@pytest.mark.parametrize("change", FORGED)
def test_forged_pickles(change):
    t = lamella.eye(2).to_sparse()
    function, args, *_ = t.__reduce_ex__(2)
    name, state = args[-1][0]
    with pytest.raises((ValueError, RuntimeError)):
        function(*args[:-1], [(name, {**state, **change})])
    with pytest.raises((ValueError, RuntimeError)):
        function(*args[:-1], [(name, {k: v for k, v in state.items() if k != "values"})])


def test_a_file_cannot_say_that_unsorted_entries_are_coalesced():
    t = lamella.sparse_coo_tensor([[1, 0]], [1.0, 2.0], is_coalesced=True)
    assert t.is_coalesced() and not pickle.loads(pickle.dumps(t)).is_coalesced()


# ---- scipy --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_scipy_shares_memory(form, kind):
    array = matrix()[1]
    s = getattr(scipy.sparse, f"{form}_{kind}")(array)
    t = lamella.sparse.from_scipy(s)
    assert t.layout is layout(f"sparse_{form}")
    same(t, array)
    s.data[0] = 40
    same(t, s.toarray())
    back = lamella.sparse.to_scipy(t)
    assert back.format == form and np.shares_memory(back.data, s.data)
    if form != "coo":
        assert np.shares_memory(back.indices, s.indices) and np.shares_memory(back.indptr, s.indptr)
    np.testing.assert_array_equal(back.toarray(), s.toarray())


def test_scipy_refusals():
    with refused("from_scipy", "'matrix'", "dia", error=TypeError):
        lamella.sparse.from_scipy(scipy.sparse.dia_array(np.eye(2)))
    with refused("from_scipy", "list", error=TypeError):
        lamella.sparse.from_scipy([1])
    bad = scipy.sparse.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    with refused("sorted and distinct"):
        lamella.sparse.from_scipy(bad)
    with refused("to_scipy", error=TypeError):
        lamella.sparse.to_scipy(lamella.ones(2))
    with refused("to_scipy", "detach"):
        lamella.sparse.to_scipy(lamella.eye(2).to_sparse().requires_grad_())


# ---- bad input ------------------------------------------------------------------------------------------------------

COO, CSR = "sparse_coo_tensor", "sparse_csr_tensor"
BAD = [
    (COO, ([[0, 5]], [1.0, 2.0], (3,)), RuntimeError, ["'indices'", "index 5", "size 3"]),
    (COO, ([[0, -1]], [1.0, 2.0], (3,)), RuntimeError, ["'indices'", "index -1"]),
    (COO, ([[0, -1]], [1.0, 2.0]), RuntimeError, ["'indices'", "negative"]),
    (COO, ([[0.5, 1]], [1.0, 2.0], (3,)), TypeError, ["'indices'", "integers"]),
    (COO, ([[0, 1]], [1.0], (3,)), RuntimeError, ["'values'", "1 entries", "2"]),
    (COO, ([[0, 1]], [1.0, 2.0], (3, 3)), RuntimeError, ["'size'", "1 sparse"]),
    (COO, ([0, 1], [1.0, 2.0], (3,)), RuntimeError, ["'indices'", "(2,)"]),
    (COO, ([[0]], [[1.0, 2.0]], (3, 4)), RuntimeError, ["'values'", "dense"]),
    (COO, ([[0]], [1.0], (-3,)), RuntimeError, ["'size'", "negative"]),
    (COO, ([[0]], None, (3,)), TypeError, ["'values'"]),
    (CSR, ([0, 2, 1], [0, 1], [1.0, 2.0], (2, 2)), RuntimeError, ["'crow_indices'", "end with"]),
    (CSR, ([0, 3, 2], [0, 1], [1.0, 2.0], (2, 2)), RuntimeError, ["'crow_indices'", "decrease"]),
    (CSR, ([1, 1, 2], [0, 1], [1.0, 2.0], (2, 2)), RuntimeError, ["'crow_indices'", "begin with 0"]),
    (CSR, ([0, 2, 2], [0, 5], [1.0, 2.0], (2, 2)), RuntimeError, ["'col_indices'", "5"]),
    (CSR, ([0, 2, 2], [0, -5], [1.0, 2.0], (2, 2)), RuntimeError, ["'col_indices'", "-5"]),
    (CSR, ([0, 2, 2], [1, 0], [1.0, 2.0], (2, 2)), RuntimeError, ["row 0", "sorted and distinct"]),
    (CSR, ([0, 2, 2], [1, 1], [1.0, 2.0], (2, 2)), RuntimeError, ["row 0", "sorted and distinct"]),
    (CSR, ([0.5, 2, 2], [0, 1], [1.0, 2.0], (2, 2)), TypeError, ["'crow_indices'", "integers"]),
    (CSR, ([0, 2], [0, 1], [1.0, 2.0], (2, 2)), RuntimeError, ["'crow_indices'", "3"]),
    (CSR, ([0, 1, 2], [0, 1], [1.0], (2, 2)), RuntimeError, ["'values'", "1 entries"]),
    (CSR, ([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2, 2)), RuntimeError, ["'size'"]),
    ("sparse_csc_tensor", ([0, 2, 2], [1, 0], [1.0, 2.0], (2, 2)), RuntimeError, ["column 0", "sorted"]),
    ("sparse_bsr_tensor", (), NotImplementedError, ["sparse_bsr"]),
]


@pytest.mark.parametrize("function, args, error, words", BAD)
def test_bad_parts(function, args, error, words):
    with refused(*words, error=error):
        getattr(lamella, function)(*args)


@pytest.mark.parametrize("function, args", [row[:2] for row in BAD[:2] + BAD[10:17]])
def test_unchecked_parts_do_not_crash(function, args):
    t = getattr(lamella, function)(*args, check_invariants=False)
    n = t.shape[-1]
    uses = [t.to_dense, lambda: t @ lamella.ones(n), lambda: t @ lamella.ones(n, 3), lambda: lamella.ones(2) @ t,
            lambda: t + t, lambda: t * t, lambda: repr(t), lambda: t.to_sparse_coo().coalesce(), t.t,
            lambda: pickle.loads(pickle.dumps(t)), lambda: t.to_sparse_csc(), lambda: t.sum(),
            lambda: lamella.sparse.sum(t, 0)]  # fmt: skip
    for use in uses:
        try:
            use()
        except (RuntimeError, IndexError, ValueError, NotImplementedError):
            pass


def test_checks_can_be_switched_off():
    check = lamella.sparse.check_sparse_tensor_invariants
    assert check.is_enabled()
    with check(False):
        assert not check.is_enabled()
        lamella.sparse_csr_tensor([0, 2], [1, 0], [1.0, 2.0])
    with refused("sorted"):
        lamella.sparse_csr_tensor([0, 2], [1, 0], [1.0, 2.0])

    @check(False)
    def unchecked():
        return lamella.sparse_csr_tensor([0, 2], [1, 0], [1.0, 2.0])

    assert unchecked()._nnz() == 2


REFUSED = [
    lambda t: t + 1,
    lambda t: t.exp(),
    lambda t: t.cos(),
    lambda t: t.view(-1),
    lambda t: t.reshape(-1),
    lambda t: t == t,
    lambda t: lamella.where(t, t, t),
    lambda t: t.cumsum(0),
    lambda t: t.sort(),
    lambda t: t.fill_(1),
    lambda t: lamella.ones_like(t),
    lambda t: t.pow(-1),
    lambda t: t.pow(0),
    lambda t: lamella.ones(5, 7).mul_(t),
    lambda t: lamella.ones(5, 7).copy_(t),
    lambda t: t.copy_(lamella.ones(5, 7)),
    lambda t: t / lamella.ones(5, 7),
    lambda t: t + t[:4],
]


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_has_no_rule_is_refused(name, number):
    t, array = matrix(name=name)
    with pytest.raises((RuntimeError, NotImplementedError, TypeError)) as caught:
        REFUSED[number](t)
    assert "sparse" in str(caught.value) or "shape" in str(caught.value), str(caught.value)
    same(t, array)


def test_no_array_of_a_sparse_tensor():
    t = matrix()[0]
    for use in (
        t.numpy,
        t.tolist,
        t.data_ptr,
        lambda: np.asarray(t),
        lambda: lamella.utils.dlpack.to_dlpack(t) if hasattr(lamella.utils, "dlpack") else t.__dlpack__(),
    ):
        with pytest.raises((TypeError, BufferError, RuntimeError)):
            use()
    with refused("layout", error=TypeError):
        lamella.zeros(2, layout=lamella.sparse_coo)


def test_accessors_name_the_layout():
    t = matrix()[0]
    for name in ("indices", "values"):
        with refused(name, "coalesce"):
            getattr(t, name)()
    with refused("crow_indices", "sparse_csr", "sparse_coo"):
        t.crow_indices()
    with refused("indices", "strided"):
        lamella.ones(2).indices()
    with refused("coalesce", "sparse_csr"):
        t.to_sparse_csr().coalesce()
    assert lamella.ones(2).sparse_dim() == 0 and lamella.ones(2).dense_dim() == 1
    assert lamella.ones(2).layout is lamella.strided and not lamella.ones(2).is_sparse


@pytest.mark.parametrize("name", ["indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices"])
def test_copies_of_parts_share_no_memory(name):
    layout = {"crow_indices": "csr", "col_indices": "csr", "ccol_indices": "csc", "row_indices": "csc"}.get(name, "coo")
    x = getattr(lamella.tensor([[0.0, 5.0], [7.0, 0.0]]), f"to_sparse_{layout}")()
    part, copy = getattr(x, name)(), getattr(lamella, f"{name}_copy")(x)
    np.testing.assert_array_equal(copy, part)
    assert copy.data_ptr() != part.data_ptr()


def test_sspaddmm_adds_a_product_to_a_sparse_matrix():
    x, y = np.array([[0.0, 5.0], [7.0, 0.0]]), np.array([[1.0, 2.0], [0.0, 4.0]])
    a = lamella.tensor(x).to_sparse()
    found = lamella.sspaddmm(a, a, lamella.tensor(y), beta=0.5, alpha=2)
    assert found.layout == lamella.sparse_coo
    np.testing.assert_allclose(found.to_dense(), 0.5 * x + 2 * x @ y)
    with pytest.raises(RuntimeError, match="sspaddmm: expected a tensor of layout sparse_coo, got strided"):
        lamella.sspaddmm(lamella.tensor(x), a, lamella.tensor(y))
