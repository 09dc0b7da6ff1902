"""Matrix products against numpy: mm, bmm and matmul within n·eps, in every layout."""

import lattis
import numpy as np
import pytest
from arrays import layouts, lt_dtype, name_of, pairs, to_lattis, to_numpy, values
from hypothesis import given
from hypothesis import strategies as st

FLOATS = ("float32", "float64")


def assert_product(result, x, y, name):
    """Within n·eps of the product of magnitudes, componentwise (Higham, "Accuracy and Stability", 3.5)."""
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
    for result in (lattis.mm(a, b), a.mm(b), a @ b, lattis.matmul(a, b)):
        assert_product(result, x, y, name)


@pytest.mark.parametrize("name", FLOATS)
@given(data=st.data())
def test_bmm(name, data):
    (x, a), (y, b) = data.draw(factors(name, (data.draw(st.integers(0, 3)),)))
    assert_product(lattis.bmm(a, b), x, y, name)
    assert_product(a @ b, x, y, name)


@pytest.mark.parametrize("name", FLOATS)
@given(data=st.data())
def test_matmul_of_every_rank(name, data):
    """Vectors are a row on the left and a column on the right; leading dimensions broadcast."""
    n, k, m = (data.draw(st.integers(0, 4)) for _ in range(3))
    batch = data.draw(st.lists(st.integers(0, 3), max_size=2))
    ones = [1 if data.draw(st.booleans()) else b for b in batch]
    left = data.draw(st.sampled_from([(k,), (n, k), (*batch, n, k), (*ones, n, k)]))
    right = data.draw(st.sampled_from([(k,), (k, m), (*batch, k, m), (*ones[1:], k, m)]))
    (x, a), (y, b) = data.draw(pairs(name, left, low=-4, high=4)), data.draw(pairs(name, right, low=-4, high=4))
    assert_product(lattis.matmul(a, b), x, y, name)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("n, k, m", [(1, 1, 1), (2, 2, 2), (16, 16, 16), (17, 31, 5), (64, 1000, 100), (257, 129, 300)])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_sizes_and_transposes(name, n, k, m, left, right):
    x, y = values(name, n * k, 1, -3, 3).reshape(n, k), values(name, k * m, 2, -3, 3).reshape(k, m)
    a = to_lattis(np.ascontiguousarray(x.T)).t() if left else to_lattis(x)
    b = to_lattis(np.ascontiguousarray(y.T)).t() if right else to_lattis(y)
    for threads in (1, 2):
        lattis.set_num_threads(threads)
        assert_product(a @ b, x, y, name)


@pytest.mark.parametrize("name", FLOATS)
def test_integers_in_floats_are_exact(name):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-50, 50, s).astype(name) for s in ((33, 77), (77, 21)))
    np.testing.assert_array_equal(to_numpy(to_lattis(x) @ to_lattis(y)), x @ y)


@pytest.mark.parametrize("name", FLOATS)
@given(data=st.data())
def test_out(name, data):
    (x, a), (y, b) = data.draw(factors(name))
    layout = data.draw(layouts((x.shape[0], y.shape[1]), expanded=False))
    out = layout.tensor(lattis.zeros(layout.span, dtype=lt_dtype(name)))
    address, strides = out.data_ptr(), out.stride()
    assert lattis.mm(a, b, out=out) is out and (out.data_ptr(), out.stride()) == (address, strides)
    assert_product(out, x, y, name)
    out.fill_(7)
    assert lattis.matmul(a, b, out=out) is out and out.data_ptr() == address
    assert_product(out, x, y, name)


def test_out_may_be_an_operand():
    x = values("float64", 9, 4, -3, 3).reshape(3, 3)
    a = to_lattis(x)
    lattis.mm(a, a, out=a)
    assert_product(a, x, x, "float64")
    b = to_lattis(x)
    lattis.mm(b, b.t(), out=b)
    assert_product(b, x, x.T, "float64")


def test_nan_and_infinity_pass():
    a = lattis.tensor([[float("nan"), 1.0], [float("inf"), 1.0]])
    r = (a @ lattis.tensor([[0.0], [2.0]])).tolist()
    assert r[0][0] != r[0][0] and r[1][0] != r[1][0]
    assert (a[1:] @ lattis.tensor([[1.0], [2.0]])).item() == float("inf")


def test_nothing_to_add_gives_zeros():
    assert (lattis.ones(2, 0) @ lattis.ones(0, 3)).tolist() == [[0.0] * 3] * 2
    assert (lattis.ones(0) @ lattis.ones(0)).item() == 0.0
    assert (lattis.ones(0, 3) @ lattis.ones(3, 2)).shape == (0, 2)


@pytest.mark.parametrize(
    "f, a, b, text",
    [
        (lattis.mm, (2, 3), (2, 3), r"mm: shapes \(2, 3\) .* and \(2, 3\) .* do not multiply"),
        (lattis.mm, (3,), (3, 2), r"mm: argument 'self'.*2 dimensions.*\(3,\)"),
        (lattis.mm, (2, 3), (1, 3, 2), r"mm: argument 'mat2'.*2 dimensions"),
        (lattis.bmm, (2, 3, 4), (3, 4, 5), "bmm: shapes .* do not multiply"),
        (lattis.bmm, (3, 4), (4, 5), "bmm: argument 'self'.*3 dimensions"),
        (lattis.matmul, (), (2,), "matmul: argument 'self'.*zero-dim"),
        (lattis.matmul, (3,), (4,), r"matmul: shapes \(3,\) .* and \(4,\) .* do not multiply"),
        (lattis.matmul, (2, 3, 4), (3, 4, 5), "matmul: shapes .* do not broadcast"),
    ],
)
def test_shapes_that_do_not_multiply(f, a, b, text):
    with pytest.raises(RuntimeError, match=text):
        f(lattis.ones(a), lattis.ones(b))


def test_dtypes_must_agree():
    with pytest.raises(RuntimeError, match=r"mm: .*dtype.*\.to\("):
        lattis.mm(lattis.ones(2, 2), lattis.ones(2, 2, dtype=lattis.float64))


def test_bools_have_no_product():
    ones = lattis.ones(2, 2, dtype=lattis.bool)
    for f in (lattis.mm, lattis.matmul):
        with pytest.raises(NotImplementedError, match=rf"{f.__name__}: argument 'self'.*\.to\("):
            f(ones, ones)


def test_meta():
    a, b = lattis.empty(10**6, 10**6, device="meta"), lattis.empty(10**6, 3, device="meta")
    assert (a @ b).shape == (10**6, 3) and lattis.bmm(a[None], b[None]).shape == (1, 10**6, 3)


ADDED = {
    "addmm": lambda m, **k: lattis.addmm(m, m, m, **k),
    "baddbmm": lambda m, **k: lattis.baddbmm(m[None], m[None], m[None], **k),
    "addbmm": lambda m, **k: lattis.addbmm(m, m[None], m[None], **k),
    "addmv": lambda m, **k: lattis.addmv(m[0], m, m[0], **k),
    "addr": lambda m, **k: lattis.addr(m, m[0], m[0], **k),
}


@pytest.mark.parametrize("name", ADDED)
def test_factors_that_do_not_fit(name):
    ones = {kind: lattis.ones(2, 2, dtype=getattr(lattis, kind)) for kind in ("float32", "int64", "int8")}
    for kind, number in (("float32", 1j), ("int64", 1j), ("int64", 0.5), ("int8", 300)):
        for factor in ("alpha", "beta"):
            with pytest.raises(RuntimeError, match=f"{name}: argument '{factor}'.*{kind}"):
                ADDED[name](ones[kind], **{factor: number})


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("dtype, zero", [("float32", 0), ("complex64", 0), ("complex64", 0j)])
def test_nothing_of_a_nan(name, dtype, zero):
    """With beta 0, self is not read."""
    ones = lattis.ones(2, 2, dtype=getattr(lattis, dtype))
    nan = lattis.full_like(ones, float("nan"))
    calls = {
        "addmm": lambda: lattis.addmm(nan, ones, ones, beta=zero),
        "baddbmm": lambda: lattis.baddbmm(nan[None], ones[None], ones[None], beta=zero),
        "addbmm": lambda: lattis.addbmm(nan, ones[None], ones[None], beta=zero),
        "addmv": lambda: lattis.addmv(nan[0], ones, ones[0], beta=zero),
        "addr": lambda: lattis.addr(nan, ones[0], ones[0], beta=zero),
    }
    got = calls[name]()
    assert not lattis.isnan(got).any()
