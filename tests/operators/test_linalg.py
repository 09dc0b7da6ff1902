"""Linear algebra: products of factors, orthogonality, errors of single matrices of a batch, and sizes of zero."""

import lamella
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

L = lamella.linalg
DTYPES = ["float32", "float64", "complex64", "complex128"]
BATCHES = st.sampled_from([(), (1,), (3,), (2, 2), (0,)])
SIZES = st.integers(0, 40)
EPS = {"float32": 2.0**-23, "complex64": 2.0**-23, "float64": 2.0**-52, "complex128": 2.0**-52}


def drawn(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    made = rng.normal(size=shape)
    return (made + 1j * rng.normal(size=shape) if dtype.startswith("complex") else made).astype(dtype)


def laid(x, layout):
    """Returns a tensor of the array's elements in another layout in memory."""
    t = lamella.tensor(x)
    if layout == "columns":
        return t.mT.contiguous().mT
    if layout == "gaps":
        wide = lamella.full((*x.shape, 2), float("nan"), dtype=t.dtype)
        wide[..., 0] = t
        return wide[..., 0]
    return t


LAYOUTS = st.sampled_from(["rows", "columns", "gaps"])


@st.composite
def inputs(draw, square=False):
    """Draws the sizes, the layout and the seed of matrices."""
    m = draw(SIZES)
    n = m if square else draw(SIZES)
    return (*draw(BATCHES), m, n), draw(LAYOUTS), draw(st.integers(0, 1000))


def array(t):
    return t.numpy()


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def size_of(x):
    """Returns the Frobenius norm of each matrix, at least the smallest normal number."""
    return np.sqrt(np.sum(np.abs(x) ** 2, (-2, -1), dtype=np.float64))


def assert_close(got, want, dtype, scale, factor=20):
    """Compares by the norm of the difference of each matrix, relative to `scale`; rounding grows with the order."""
    order = max(*want.shape[-2:], 1)
    assert got.shape == want.shape
    assert np.all(size_of(got - want) <= factor * order * EPS[dtype] * np.maximum(scale, 1e-30))


def assert_orthonormal(q, dtype):
    n = q.shape[-1]
    assert_close(adjoint(q) @ q, np.broadcast_to(np.eye(n), (*q.shape[:-2], n, n)), dtype, np.sqrt(max(n, 1)))


# ---- products of the factors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs(), mode=st.sampled_from(["reduced", "complete"]))
def test_qr(dtype, given_, mode):
    shape, layout, seed = given_
    x = drawn(shape, dtype, seed)
    q, r = map(array, L.qr(laid(x, layout), mode))
    assert_close(q @ r, x, dtype, size_of(x))
    assert_orthonormal(q, dtype)
    assert np.array_equal(r, np.triu(r))
    alone = L.qr(laid(x, layout), "r")
    assert alone.Q.shape == (0,)
    assert_close(array(alone.R), np.triu(r)[..., : min(shape[-2:]), :], dtype, size_of(x))


@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs())
def test_reflectors(dtype, given_):
    shape, layout, seed = given_
    x = drawn(shape, dtype, seed)
    k = min(shape[-2:])
    a, tau = lamella.geqrf(laid(x, layout))
    q = L.householder_product(a[..., :k], tau)
    assert_close(array(q) @ np.triu(array(a)[..., :k, :]), x, dtype, size_of(x))
    turned = array(lamella.ormqr(a, tau, lamella.tensor(x), transpose=True))
    assert_close(turned, np.triu(array(a)), dtype, size_of(x))


@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs())
def test_lu(dtype, given_):
    shape, layout, seed = given_
    x = drawn(shape, dtype, seed)
    p, low, up = map(array, L.lu(laid(x, layout)))
    assert_close(p @ low @ up, x, dtype, size_of(x), 100)
    assert np.array_equal(p @ adjoint(p), np.broadcast_to(np.eye(shape[-2]), p.shape))
    assert np.all(np.abs(low) <= 1.5)  # the pivots are the largest of their columns, by |re| + |im|
    factors, pivots = lamella.linalg.lu_factor_ex(laid(x, layout))[:2]
    for one, other in zip(lamella.lu_unpack(factors, pivots), (p, low, up), strict=True):
        assert np.array_equal(array(one), other)


@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs(square=True), upper=st.booleans())
def test_cholesky(dtype, given_, upper):
    shape, layout, seed = given_
    half = drawn(shape, dtype, seed)
    x = half @ adjoint(half) + np.eye(shape[-1], dtype=dtype)
    other = np.tril(np.full(shape, np.nan), -1) if upper else np.triu(np.full(shape, np.nan), 1)
    found = array(L.cholesky(laid(x, layout), upper=upper))
    assert_close(adjoint(found) @ found if upper else found @ adjoint(found), x, dtype, size_of(x))
    assert np.array_equal(found, np.triu(found) if upper else np.tril(found))
    if not upper:  # the upper triangle is not read
        assert np.array_equal(array(L.cholesky(laid((x + other).astype(dtype), layout))), found)


@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs(square=True), triangle=st.sampled_from("LU"))
def test_eigh(dtype, given_, triangle):
    shape, layout, seed = given_
    x = drawn(shape, dtype, seed)
    x = (x + adjoint(x)) / 2
    values, vectors = map(array, L.eigh(laid(x, layout), triangle))
    assert_close((vectors * values[..., None, :]) @ adjoint(vectors), x, dtype, size_of(x))
    assert_orthonormal(vectors, dtype)
    assert np.all(np.diff(values) >= 0)
    wide = x.astype(np.complex128)
    bound = 20 * max(shape[-1], 1) * EPS[dtype] * np.maximum(size_of(x), 1e-30)[..., None]
    for found in (values, array(L.eigvalsh(laid(x, layout), triangle))):
        assert np.all(np.abs(found - np.linalg.eigvalsh(wide)) <= bound)


@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs(square=True))
def test_eig(dtype, given_):
    shape, layout, seed = given_
    x = drawn(shape, dtype, seed)
    values, vectors = map(array, L.eig(laid(x, layout)))
    assert values.dtype.kind == vectors.dtype.kind == "c"
    assert_close(x @ vectors, vectors * values[..., None, :], dtype, size_of(x))
    assert np.allclose(np.linalg.norm(vectors, axis=-2), 1, atol=1e-5)
    traces = np.trace(x, axis1=-2, axis2=-1)
    alone = array(L.eigvals(laid(x, layout)))
    for found in (values, alone):
        assert np.all(np.abs(found.sum(-1) - traces) <= 1e4 * EPS[dtype] * np.maximum(size_of(x), 1e-30))


@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs(), full=st.booleans())
def test_svd(dtype, given_, full):
    shape, layout, seed = given_
    x = drawn(shape, dtype, seed)
    u, s, vh = map(array, L.svd(laid(x, layout), full))
    k = min(shape[-2:])
    assert_close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, dtype, size_of(x))
    assert_orthonormal(u, dtype)
    assert_orthonormal(adjoint(vh), dtype)
    assert np.all(np.diff(s) <= 0) and np.all(s >= 0)
    if 0 not in shape:
        want = np.linalg.svd(x.astype(np.complex128), compute_uv=False)
        for found in (s, array(L.svdvals(laid(x, layout)))):
            assert np.all(np.abs(found - want) <= 20 * max(shape[-2:]) * EPS[dtype] * size_of(x)[..., None])


@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs(square=True), count=st.integers(0, 5), left=st.booleans())
def test_solve(dtype, given_, count, left):
    shape, layout, seed = given_
    n = shape[-1]
    x = drawn(shape, dtype, seed) + (2 * np.sqrt(n) * np.eye(n)).astype(dtype)
    x = np.roll(x, 1, -2)  # so that rows are exchanged
    b = drawn((*shape[:-2], *((n, count) if left else (count, n))), dtype, seed + 1)
    a, right = laid(x, layout), laid(b, layout)
    factors = L.lu_factor(a)
    for found in (L.solve(a, right, left=left), L.lu_solve(*factors, right, left=left)):
        y = array(found)
        assert_close(x @ y if left else y @ x, b, dtype, size_of(x) * size_of(y))
    y = array(L.lu_solve(*factors, right, left=left, adjoint=True))
    assert_close(adjoint(x) @ y if left else y @ adjoint(x), b, dtype, size_of(x) * size_of(y))
    inverse = array(L.inv(a))
    unit = np.broadcast_to(np.eye(n), inverse.shape)
    assert_close(x @ inverse, unit, dtype, size_of(x) * size_of(inverse))


@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs(square=True), hermitian=st.booleans())
def test_ldl(dtype, given_, hermitian):
    shape, layout, seed = given_
    x = drawn(shape, dtype, seed)
    x = x + (adjoint(x) if hermitian else np.swapaxes(x, -1, -2))
    b = drawn((*shape[:-1], 2), dtype, seed + 1)
    factors = L.ldl_factor_ex(laid(x, layout), hermitian=hermitian)
    y = array(L.ldl_solve(factors.LD, factors.pivots, lamella.tensor(b), hermitian=hermitian))
    assert_close(x @ y, b, dtype, size_of(x) * size_of(y), 200)


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("dtype", DTYPES)
@given(given_=inputs())
def test_lstsq(dtype, driver, given_):
    """The residual is orthogonal to the columns; of several solutions it is the shortest."""
    shape, layout, seed = given_
    x = drawn(shape, dtype, seed)
    b = drawn((*shape[:-1], 2), dtype, seed + 1)
    y = array(L.lstsq(laid(x, layout), laid(b, layout), driver=driver).solution)
    assert y.shape == (*shape[:-2], shape[-1], 2)
    scale = size_of(x) * (size_of(x) * size_of(y) + size_of(b))
    assert_close(adjoint(x) @ (x @ y - b), np.zeros_like(y), dtype, scale, 100)


# ---- errors ----------------------------------------------------------------------------------------------------------


def singular(*batch):
    x = np.broadcast_to(np.eye(3), (2, 3, 3, 3)).copy()
    x[batch] = 0
    return lamella.tensor(x)


SINGULAR = {
    "linalg.inv": L.inv,
    "inverse": lamella.inverse,
    "linalg.solve": lambda x: L.solve(x, x),
    "linalg.lu_factor": L.lu_factor,
    "linalg.cholesky": L.cholesky,
    "cholesky": lamella.cholesky,
    "linalg.ldl_factor": L.ldl_factor,
    "linalg.inv_ex": lambda x: L.inv_ex(x, check_errors=True),
    "linalg.solve_ex": lambda x: L.solve_ex(x, x, check_errors=True),
    "linalg.cholesky_ex": lambda x: L.cholesky_ex(x, check_errors=True),
    "linalg.lu_factor_ex": lambda x: L.lu_factor_ex(x, check_errors=True),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_the_error_names_the_matrix_of_the_batch(name):
    with pytest.raises(L.LinAlgError) as error:
        SINGULAR[name](singular(1, 2))
    assert "(1, 2)" in str(error.value) or "[1, 2]" in str(error.value)
    assert issubclass(L.LinAlgError, RuntimeError)
    with pytest.raises(L.LinAlgError, match="the matrix"):
        SINGULAR[name](lamella.zeros(2, 2))


def test_info_in_place_of_errors():
    for info in (
        L.inv_ex(singular(0, 1))[1],
        L.cholesky_ex(singular(0, 1))[1],
        L.solve_ex(singular(0, 1), singular())[1],
    ):
        assert info.dtype == lamella.int32 and np.argwhere(info.numpy()).tolist() == [[0, 1]]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals"])
def test_numbers_that_are_not_finite(name, bad):
    """A call ends, with an error or with NaN."""
    x = lamella.eye(4, dtype=lamella.float64)
    x[1, 1] = bad
    try:
        found = getattr(L, name)(x)
    except L.LinAlgError:
        return
    values = found if isinstance(found, lamella.Tensor) else found[1 if name == "svd" else 0]
    assert not lamella.isfinite(values).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_factors_of_numbers_that_are_not_finite(bad):
    x = lamella.eye(3, dtype=lamella.float64)
    x[2, 2] = bad
    for f in (L.inv, lambda x: L.solve(x, x), lambda x: L.lu_factor(x)[0], lambda x: L.qr(x)[1], L.det):
        try:
            found = f(x)
        except L.LinAlgError:
            continue
        # The inverse of inf is 0, and its products with the zeros beside it are NaN or 0, as LAPACK orders them.
        assert f is L.inv or not lamella.isfinite(found).all()


# ---- out= ------------------------------------------------------------------------------------------------------------


def test_out_receives_every_result():
    x = lamella.tensor(drawn((2, 4, 4), "float64", 1))
    spd = x @ x.mH + lamella.eye(4, dtype=lamella.float64)
    calls = {
        L.qr: (x,),
        L.svd: (x,),
        L.eigh: (spd,),
        L.slogdet: (x,),
        L.lu_factor: (x,),
        L.lu: (x,),
        L.cholesky_ex: (spd,),
    }
    for f, args in calls.items():
        want = f(*args)
        outs = tuple(lamella.empty(0, dtype=w.dtype) for w in want)
        f(*args, out=outs)
        for o, w in zip(outs, want, strict=True):
            assert np.array_equal(o.numpy(), w.numpy())


# ---- threads ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["inv", "cholesky", "qr", "eigh", "svd", "eig", "det"])
def test_values_do_not_depend_on_threads(name):
    x = drawn((50, 12, 12), "float64", 2)
    t = lamella.tensor(x @ adjoint(x) + np.eye(12))
    found = []
    for threads in (1, 2, 3):
        lamella.set_num_threads(threads)
        made = getattr(L, name)(t)
        found.append([r.numpy().tobytes() for r in (made if isinstance(made, tuple) else (made,))])
    assert found[0] == found[1] == found[2]
