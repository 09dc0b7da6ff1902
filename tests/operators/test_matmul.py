"""Matrix products equal numpy's within n·eps, in every layout: mm, bmm and matmul."""

import lamella
import numpy as np
import pytest
from arrays import layouts, lt_dtype, name_of, pairs, to_lamella, to_numpy, values
from hypothesis import given
from hypothesis import strategies as st

FLOATS = ("float32", "float64")


def assert_product(result, x, y, name):
    """Requires n·eps of the product of magnitudes, componentwise (Higham, "Accuracy and Stability", 3.5)."""
    wide = [a.astype(np.longdouble) for a in (x, y)]
    exact, magnitude = np.matmul(*wide), np.matmul(*(np.abs(a) for a in wide))
    assert tuple(result.shape) == np.shape(exact) and name_of(result.dtype) == name
    error = np.abs(to_numpy(result).astype(np.longdouble) - exact)
    assert (error <= max(x.shape[-1], 1) * np.finfo(name).eps * magnitude).all()


@st.composite
def factors(draw, name, batch=(), max_size=6):
    n, k, m = (draw(st.integers(0, max_size)) for _ in range(3))
    first = draw(pairs(name, (*batch, n, k), low=-4, high=4))
    return first, draw(pairs(name, (*batch, k, m), low=-4, high=4))


@pytest.mark.parametrize("name", FLOATS)
@given(data=st.data())
def test_mm(name, data):
    (x, a), (y, b) = data.draw(factors(name))
    for result in (lamella.mm(a, b), a.mm(b), a @ b, lamella.matmul(a, b)):
        assert_product(result, x, y, name)


@pytest.mark.parametrize("name", FLOATS)
@given(data=st.data())
def test_bmm(name, data):
    (x, a), (y, b) = data.draw(factors(name, (data.draw(st.integers(0, 3)),)))
    assert_product(lamella.bmm(a, b), x, y, name)
    assert_product(a @ b, x, y, name)


@pytest.mark.parametrize("name", FLOATS)
@given(data=st.data())
def test_matmul_of_every_rank(name, data):
    """A vector is a row on the left and a column on the right; leading dimensions broadcast."""
    n, k, m = (data.draw(st.integers(0, 4)) for _ in range(3))
    batch = data.draw(st.lists(st.integers(0, 3), max_size=2))
    ones = [1 if data.draw(st.booleans()) else b for b in batch]
    left = data.draw(st.sampled_from([(k,), (n, k), (*batch, n, k), (*ones, n, k)]))
    right = data.draw(st.sampled_from([(k,), (k, m), (*batch, k, m), (*ones[1:], k, m)]))
    (x, a), (y, b) = data.draw(pairs(name, left, low=-4, high=4)), data.draw(pairs(name, right, low=-4, high=4))
    assert_product(lamella.matmul(a, b), x, y, name)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("n, k, m", [(1, 1, 1), (2, 2, 2), (16, 16, 16), (17, 31, 5), (64, 1000, 100), (257, 129, 300)])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_sizes_and_transposes(name, n, k, m, left, right):
    x, y = values(name, n * k, 1, -3, 3).reshape(n, k), values(name, k * m, 2, -3, 3).reshape(k, m)
    a = to_lamella(np.ascontiguousarray(x.T)).t() if left else to_lamella(x)
    b = to_lamella(np.ascontiguousarray(y.T)).t() if right else to_lamella(y)
    for threads in (1, 2):
        lamella.set_num_threads(threads)
        assert_product(a @ b, x, y, name)


@pytest.mark.parametrize("name", FLOATS)
def test_integers_in_floats_are_exact(name):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-50, 50, s).astype(name) for s in ((33, 77), (77, 21)))
    np.testing.assert_array_equal(to_numpy(to_lamella(x) @ to_lamella(y)), x @ y)


@pytest.mark.parametrize("name", FLOATS)
@given(data=st.data())
def test_out(name, data):
    (x, a), (y, b) = data.draw(factors(name))
    layout = data.draw(layouts((x.shape[0], y.shape[1]), expanded=False))
    out = layout.tensor(lamella.zeros(layout.span, dtype=lt_dtype(name)))
    address, strides = out.data_ptr(), out.stride()
    assert lamella.mm(a, b, out=out) is out and (out.data_ptr(), out.stride()) == (address, strides)
    assert_product(out, x, y, name)
    out.fill_(7)
    assert lamella.matmul(a, b, out=out) is out and out.data_ptr() == address
    assert_product(out, x, y, name)


def test_out_may_be_an_operand():
    x = values("float64", 9, 4, -3, 3).reshape(3, 3)
    a = to_lamella(x)
    lamella.mm(a, a, out=a)
    assert_product(a, x, x, "float64")
    b = to_lamella(x)
    lamella.mm(b, b.t(), out=b)
    assert_product(b, x, x.T, "float64")


def test_nan_and_infinity_pass():
    a = lamella.tensor([[float("nan"), 1.0], [float("inf"), 1.0]])
    r = (a @ lamella.tensor([[0.0], [2.0]])).tolist()
    assert r[0][0] != r[0][0] and r[1][0] != r[1][0]
    assert (a[1:] @ lamella.tensor([[1.0], [2.0]])).item() == float("inf")


def test_nothing_to_add_gives_zeros():
    assert (lamella.ones(2, 0) @ lamella.ones(0, 3)).tolist() == [[0.0] * 3] * 2
    assert (lamella.ones(0) @ lamella.ones(0)).item() == 0.0
    assert (lamella.ones(0, 3) @ lamella.ones(3, 2)).shape == (0, 2)


@pytest.mark.parametrize(
    "f, a, b, text",
    [
        (lamella.mm, (2, 3), (1, 3, 2), r"mm: argument 'mat2'.*2 dimensions"),
        (lamella.bmm, (3, 4), (4, 5), "bmm: argument 'self'.*3 dimensions"),
        (lamella.matmul, (2, 3, 4), (3, 4, 5), "matmul: shapes .* do not broadcast"),
    ],
)
def test_shapes_that_do_not_multiply(f, a, b, text):
    with pytest.raises(RuntimeError, match=text):
        f(lamella.ones(a), lamella.ones(b))


def test_dtypes_must_agree():
    with pytest.raises(RuntimeError, match=r"mm: .*dtype.*\.to\("):
        lamella.mm(lamella.ones(2, 2), lamella.ones(2, 2, dtype=lamella.float64))


def test_bools_have_no_product():
    ones = lamella.ones(2, 2, dtype=lamella.bool)
    for f in (lamella.mm, lamella.matmul):
        with pytest.raises(NotImplementedError, match=rf"{f.__name__}: argument 'self'.*\.to\("):
            f(ones, ones)


def test_meta():
    a, b = lamella.empty(10**6, 10**6, device="meta"), lamella.empty(10**6, 3, device="meta")
    assert (a @ b).shape == (10**6, 3) and lamella.bmm(a[None], b[None]).shape == (1, 10**6, 3)


ADDED = {
    "addmm": lambda m, **k: lamella.addmm(m, m, m, **k),
    "baddbmm": lambda m, **k: lamella.baddbmm(m[None], m[None], m[None], **k),
    "addbmm": lambda m, **k: lamella.addbmm(m, m[None], m[None], **k),
    "addmv": lambda m, **k: lamella.addmv(m[0], m, m[0], **k),
    "addr": lambda m, **k: lamella.addr(m, m[0], m[0], **k),
}


@pytest.mark.parametrize("name", ADDED)
def test_factors_that_do_not_fit(name):
    ones = {kind: lamella.ones(2, 2, dtype=getattr(lamella, kind)) for kind in ("float32", "int64", "int8")}
    wrong = (("float32", 1j), ("int64", 1j), ("int8", 300), *([("int64", 0.5)] if name == "addr" else []))
    for kind, number in wrong:
        for factor in ("alpha", "beta"):
            with pytest.raises(RuntimeError, match=f"{name}: argument '{factor}'.*{kind}"):
                ADDED[name](ones[kind], **{factor: number})


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("dtype, zero", [("float32", 0), ("complex64", 0), ("complex64", 0j)])
def test_nothing_of_a_nan(name, dtype, zero):
    """With beta 0, self is not read, so its NaN does not matter."""
    ones = lamella.ones(2, 2, dtype=getattr(lamella, dtype))
    nan = lamella.full_like(ones, float("nan"))
    calls = {
        "addmm": lambda: lamella.addmm(nan, ones, ones, beta=zero),
        "baddbmm": lambda: lamella.baddbmm(nan[None], ones[None], ones[None], beta=zero),
        "addbmm": lambda: lamella.addbmm(nan, ones[None], ones[None], beta=zero),
        "addmv": lambda: lamella.addmv(nan[0], ones, ones[0], beta=zero),
        "addr": lambda: lamella.addr(nan, ones[0], ones[0], beta=zero),
    }
    got = calls[name]()
    assert not lamella.isnan(got).any()


def test_tensordot_writes_into_views():
    a, c = lamella.arange(6.0).reshape(2, 3), lamella.arange(12.0).reshape(3, 4)
    turned, wide = lamella.zeros(4, 2), lamella.zeros(2, 8)
    lamella.tensordot(a, c, 1, out=turned.t())
    lamella.tensordot(a, c, 1, out=wide[:, ::2])
    wanted = np.tensordot(a.numpy(), c.numpy(), 1)
    assert np.array_equal(turned.numpy(), wanted.T)
    assert np.array_equal(wide.numpy()[:, ::2], wanted)
    assert not wide[:, 1::2].any()
