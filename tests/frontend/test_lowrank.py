"""Eigenpairs by lobpcg, approximations of low rank, and LU factors in torch's older form, beside numpy and scipy."""

import lamella
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from lamella.linalg import LinAlgError

DTYPES = ("float32", "float64", "complex64", "complex128")
EPS = {"float32": 1.2e-7, "complex64": 1.2e-7, "float64": 2.3e-16, "complex128": 2.3e-16}


def numbers(*shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(shape)
    return (made + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else made).astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(*shape, dtype="float64", seed=0):
    made = numbers(*shape, dtype=dtype, seed=seed)
    return (made + adjoint(made)) / 2


def positive(m, dtype="float64", seed=1):
    made = numbers(m, m, dtype=dtype, seed=seed)
    return made @ adjoint(made) / m + np.eye(m, dtype=dtype)


def laplacian(m):
    """Returns the matrix of second differences, whose eigenvalues are 2 - 2 cos(π i / (m + 1))."""
    return scipy.sparse.diags([-np.ones(m - 1), 2 * np.ones(m), -np.ones(m - 1)], [-1, 0, 1]).tocsr()


# ---- lobpcg ----


@pytest.mark.parametrize("method", ["ortho", "basic"])
@pytest.mark.parametrize("with_b", [False, True])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenpairs(dtype, largest, with_b, method):
    lamella.manual_seed(0)
    a, b = hermitian(40, 40, dtype=dtype), positive(40, dtype) if with_b else None
    e, x = lamella.lobpcg(
        lamella.tensor(a), 3, None if b is None else lamella.tensor(b), largest=largest, method=method
    )
    want = scipy.linalg.eigh(a, b, eigvals_only=True)
    want = want[::-1][:3] if largest else want[:3]
    size, eps = abs(a).sum(0).max(), EPS[dtype]
    assert str(x.dtype) == f"lamella.{dtype}" and not e.is_complex() and (e.shape, x.shape) == ((3,), (40, 3))
    assert abs(e.numpy() - want).max() < 100 * eps * size
    e, x, b = e.numpy(), x.numpy(), np.eye(40) if b is None else b
    assert abs(adjoint(x) @ b @ x - np.eye(3)).max() < 30 * eps
    assert np.linalg.norm(a @ x - b @ x * e) < 10 * eps**0.5 * size


@pytest.mark.parametrize("kind", ["to_sparse_csr", "to_sparse", "clone"])
def test_sparse_matrices_beside_scipy(kind):
    a = laplacian(400)
    want = scipy.sparse.linalg.eigsh(a.tocsc(), 4, sigma=0, return_eigenvectors=False)  # those nearest to 0
    given = getattr(lamella.tensor(a.toarray()), kind)()
    inverse = lamella.tensor(np.linalg.inv(a.toarray()))
    e, x = lamella.lobpcg(given, 4, n=8, iK=inverse, largest=False, tol=1e-10)
    assert abs(e.numpy() - np.sort(want)).max() < 1e-13
    assert abs(a @ x.numpy() - x.numpy() * e.numpy()).max() < 1e-8


def test_a_preconditioner_saves_steps():
    a = laplacian(200).toarray()
    steps = {}
    for name, inverse in {"without": None, "with": lamella.tensor(np.linalg.inv(a))}.items():
        lamella.manual_seed(1)
        last = {}
        lamella.lobpcg(lamella.tensor(a), 2, iK=inverse, largest=False, tracker=lambda w, d=last: d.update(w.ivars))
        steps[name] = last["istep"]
    assert 0 < steps["with"] < steps["without"] / 3


@pytest.mark.parametrize("batch", [(3,), (2, 2), (0,)])
def test_batches(batch):
    a = hermitian(*batch, 12, 12)
    b = np.stack([positive(12, seed=i) for i in range(a[..., 0, 0].size)]).reshape(a.shape) if a.size else a
    seen = []
    e, x = lamella.lobpcg(
        lamella.tensor(a), 2, lamella.tensor(b), tol=1e-10, tracker=lambda w: seen.append(w.iparams["batch_index"])
    )
    assert e.shape == (*batch, 2) and x.shape == (*batch, 12, 2)
    assert sorted(set(seen)) == list(range(int(np.prod(batch))))
    for i in np.ndindex(batch):
        assert abs(e.numpy()[i] - scipy.linalg.eigh(a[i], b[i], eigvals_only=True)[::-1][:2]).max() < 1e-12
        assert abs(a[i] @ x.numpy()[i] - b[i] @ x.numpy()[i] * e.numpy()[i]).max() < 1e-7


def test_what_the_vectors_at_the_beginning_do():
    """A start at the solution needs no step; dependent vectors and zeros are filled up; k is their number."""
    a = hermitian(15, 15)
    values, vectors = np.linalg.eigh(a)
    steps = []
    start = lamella.tensor(vectors[:, ::-1][:, :3].copy())
    e, _ = lamella.lobpcg(lamella.tensor(a), X=start, tracker=lambda w: steps.append(w.ivars["istep"]))
    assert steps == [0] and e.shape == (3,) and abs(e.numpy() - values[::-1][:3]).max() < 1e-13
    for start in (np.ones((15, 3)), np.zeros((15, 3))):
        given = lamella.tensor(start)
        e, _ = lamella.lobpcg(lamella.tensor(a), X=given, tol=1e-10)
        assert abs(e.numpy() - values[::-1][:3]).max() < 1e-12
        assert (given.numpy() == start).all()


def test_equal_eigenvalues_and_exact_ones():
    for method in ("ortho", "basic"):
        e, x = lamella.lobpcg(lamella.eye(9), 2, method=method)
        assert abs(e.numpy() - 1).max() < 1e-6 and abs(x.numpy().T @ x.numpy() - np.eye(2)).max() < 1e-5
        assert (lamella.lobpcg(lamella.zeros(9, 9), 2, method=method)[0] == 0).all()
    a = np.diag([5.0, 5.0, 5.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1.0])
    assert abs(lamella.lobpcg(lamella.tensor(a), 3)[0].numpy() - 5).max() < 1e-12


def test_the_tracker():
    a = lamella.tensor(hermitian(60, 60))
    states = []

    def tracker(worker):
        residual = worker.A @ worker.X - worker.X * worker.E
        assert worker.R.allclose(residual) and worker.B is None and worker.iK is None
        assert worker.X.shape == (60, 4) and worker.tvars["rerr"].shape == (4,) and worker.S.shape[0] == 60
        states.append((worker.ivars["istep"], worker.ivars["converged_count"], worker.E.clone()))
        worker.bvars["force_stop"] = worker.ivars["istep"] == 5

    e, _ = lamella.lobpcg(a, 2, n=4, tracker=tracker)
    assert [istep for istep, _, _ in states] == [0, 1, 2, 3, 4, 5]
    assert e.equal(states[-1][2][:2])
    largest = [float(values[0]) for _, _, values in states]
    assert largest == sorted(largest)  # a larger basis never has a smaller Ritz value


def test_the_number_of_steps_and_the_tolerance():
    a = lamella.tensor(hermitian(60, 60))
    seen = []

    def steps(**more):
        seen.clear()
        lamella.manual_seed(3)
        lamella.lobpcg(a, 1, tracker=lambda w: seen.append((w.ivars["istep"], float(w.tvars["rerr"][0]))), **more)
        return seen[-1]

    assert steps(niter=3)[0] == 3 and steps(niter=0)[0] == 0
    loose, tight = steps(tol=1e-3), steps(tol=1e-12, niter=-1)
    assert loose[0] < tight[0] and tight[1] < 1e-12 <= loose[1] < 1e-3


def test_options_of_the_orthogonalization():
    a, seen = hermitian(30, 30), []
    e, _ = lamella.lobpcg(
        lamella.tensor(a),
        2,
        ortho_iparams={"ortho_i_max": 2, "ortho_j_max": 1},
        ortho_fparams={"ortho_tol": 1e-10},
        ortho_bparams={"ortho_use_drop": False},
        tracker=lambda w: seen.append((w.iparams, w.fparams, w.bparams)),
    )
    iparams, fparams, bparams = seen[0]
    assert (iparams["ortho_i_max"], iparams["m"], iparams["n"], iparams["k"]) == (2, 30, 2, 2)
    assert fparams["ortho_tol"] == 1e-10 and not bparams["ortho_use_drop"] and bparams["largest"]
    assert abs(e.numpy() - np.linalg.eigvalsh(a)[::-1][:2]).max() < 1e-12


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda a: lamella.lobpcg([[1.0]]), TypeError, "'A': expected a Tensor"),
        (lambda a: lamella.lobpcg(a.half()), RuntimeError, "'A': expected float32"),
        (lambda a: lamella.lobpcg(a[:5]), AssertionError, "'A': expected square"),
        (lambda a: lamella.lobpcg(a, B=a[:5, :5]), AssertionError, "'B': expected the shape"),
        (lambda a: lamella.lobpcg(a, iK=a[0]), AssertionError, "'iK': expected the shape"),
        (lambda a: lamella.lobpcg(a, X=a[:5, :2]), AssertionError, "'X': expected the shape"),
        (lambda a: lamella.lobpcg(a, 4), ValueError, "expected at least 12 rows .* got 9; use linalg.eigh"),
        (lambda a: lamella.lobpcg(a, 0), ValueError, "'k': expected 1 to 0"),
        (lambda a: lamella.lobpcg(a, 3, n=2), ValueError, "'k': expected 1 to 2, .* got 3"),
        (lambda a: lamella.lobpcg(a, method="best"), ValueError, "'method': expected 'basic' or 'ortho', got 'best'"),
        (lambda a: lamella.lobpcg(a / 0), LinAlgError, "'A' has infinities or NaN"),
        (lambda a: lamella.lobpcg(a, B=a * float("nan")), LinAlgError, "'B' has infinities or NaN"),
        (lambda a: lamella.lobpcg(a, B=-lamella.eye(9)), LinAlgError, "'B' is not positive-definite"),
        (lambda a: lamella.lobpcg(lamella.stack([a, a / 0])), LinAlgError, r"lobpcg \(batch element 1\): .*'A'"),
    ],
)
def test_errors(call, kind, words):
    a = lamella.tensor(hermitian(9, 9, dtype="float32"))
    with pytest.raises(kind, match=words) as caught:
        call(a)
    assert str(caught.value).startswith("lobpcg")


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("with_b", [False, True])
def test_gradients_to_second_order(dtype, with_b):
    a = lamella.tensor(hermitian(9, 9, dtype=dtype) + np.diag(np.arange(9)).astype(dtype)).requires_grad_()
    given = [a, lamella.tensor(positive(9, dtype)).requires_grad_()] if with_b else [a]
    start = lamella.tensor(numbers(9, 3, dtype=dtype))

    def found(a, b=None):
        a, b = (None if t is None else (t + t.mT.conj()) / 2 for t in (a, b))
        e, x = lamella.lobpcg(a, 2, b, start, tol=1e-13)
        return e, x.abs() ** 2  # a vector is determined up to a factor of size 1

    assert lamella.autograd.gradcheck(found, given)
    assert lamella.autograd.gradgradcheck(found, given, atol=1e-4)


@pytest.mark.needs("autograd")
def test_gradients_are_those_of_eigh():
    start = hermitian(2, 12, 12)
    a, b = (lamella.tensor(start).requires_grad_() for _ in range(2))
    e, x = lamella.lobpcg(a, 3, largest=False, tol=1e-12)
    values, vectors = lamella.linalg.eigh(b)
    (e**2).sum().add((x**4).sum()).backward()
    (values[..., :3] ** 2).sum().add((vectors[..., :3] ** 4).sum()).backward()
    want = (b.grad + b.grad.mT) / 2
    assert a.grad.allclose(want, atol=1e-7) and a.grad.equal(a.grad.mT)
    with lamella.no_grad():
        assert not lamella.lobpcg(a, 3)[0].requires_grad


@pytest.mark.needs("autograd")
def test_gradients_of_values_alone_and_of_sparse_matrices():
    a = lamella.eye(9, dtype=lamella.float64).mul(2).requires_grad_()
    lamella.lobpcg(a, 2)[0].sum().backward()  # equal eigenvalues: their sum has a gradient, that of a vector has none
    assert abs(np.linalg.eigvalsh(a.grad.numpy())[-2:] - 1).max() < 1e-10
    s = lamella.tensor(hermitian(9, 9)).to_sparse().requires_grad_()
    e, _ = lamella.lobpcg(s, 1)
    with pytest.raises(ValueError, match=r"lobpcg: the gradient of a sparse matrix .*to_dense"):
        e.sum().backward()


# ---- low rank ----


def of_rank(*shape, rank, dtype="float64"):
    return numbers(*shape[:-1], rank, dtype=dtype) @ numbers(*shape[:-2], rank, shape[-1], dtype=dtype, seed=1)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30), (2, 3, 14, 10), (2, 10, 14)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_svd_lowrank(dtype, shape):
    lamella.manual_seed(0)
    a = of_rank(*shape, rank=4, dtype=dtype)
    u, s, v = (t.numpy() for t in lamella.svd_lowrank(lamella.tensor(a)))
    tol = 100 * EPS[dtype] * abs(a).sum(-1).max()
    assert u.shape == (*shape[:-1], 6) and s.shape == (*shape[:-2], 6) and v.shape == (*shape[:-2], shape[-1], 6)
    assert abs(s - np.linalg.svd(a, compute_uv=False)[..., :6]).max() < tol
    assert abs(u * s[..., None, :] @ adjoint(v) - a).max() < tol
    for columns in (u[..., :4], v[..., :4]):
        assert abs(adjoint(columns) @ columns - np.eye(4)).max() < 300 * EPS[dtype]


@pytest.mark.parametrize("shape", [(20, 9), (9, 20)])
def test_svd_lowrank_of_a_difference_and_its_error(shape):
    """With decreasing singular values, the error is near that of the best matrix of the rank."""
    u, _, vh = np.linalg.svd(numbers(*shape), full_matrices=False)
    a, row = u * 0.1 ** np.arange(9) @ vh, numbers(1, shape[1], seed=4)
    lamella.manual_seed(0)
    u, s, v = (t.numpy() for t in lamella.svd_lowrank(lamella.tensor(a + row), q=4, niter=3, M=lamella.tensor(row)))
    assert abs(s / 0.1 ** np.arange(4) - 1).max() < 1e-6
    assert np.linalg.norm(u * s @ v.T - a, 2) < 1.01e-4


def test_svd_lowrank_of_a_sparse_matrix():
    a = of_rank(20, 12, rank=3)
    a[abs(a) < 1] = 0
    lamella.manual_seed(0)
    s = lamella.svd_lowrank(lamella.tensor(a).to_sparse(), q=12, niter=1)[1]
    assert abs(s.numpy() - np.linalg.svd(a, compute_uv=False)).max() < 1e-10


@pytest.mark.parametrize("shape", [(25, 6), (4, 11, 8)])
def test_pca_lowrank(shape):
    lamella.manual_seed(0)
    a = of_rank(*shape, rank=3) + 5
    u, s, v = (t.numpy() for t in lamella.pca_lowrank(lamella.tensor(a), q=4))
    centered = a - a.mean(-2, keepdims=True)
    assert abs(s - np.linalg.svd(centered, compute_uv=False)[..., :4]).max() < 1e-10
    assert abs(u * s[..., None, :] @ adjoint(v) - centered).max() < 1e-10
    s = lamella.pca_lowrank(lamella.tensor(a), center=False)[1]
    want = np.linalg.svd(a, compute_uv=False)
    assert s.shape[-1] == 6 and abs(s.numpy() - want[..., :6]).max() < 1e-10


@pytest.mark.needs("autograd")
def test_gradients_of_singular_values():
    a = lamella.tensor(of_rank(8, 6, rank=2)).requires_grad_()
    lamella.manual_seed(0)
    lamella.svd_lowrank(a, q=2)[1].sum().backward()
    u, _, vh = np.linalg.svd(a.detach().numpy(), full_matrices=False)
    assert abs(a.grad.numpy() - u[:, :2] @ vh[:2]).max() < 1e-9


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda a: lamella.svd_lowrank(a.numpy()), TypeError, "svd_lowrank: argument 'A': expected a Tensor"),
        (lambda a: lamella.svd_lowrank(a, q=5), ValueError, "svd_lowrank: argument 'q': expected 0 to 4, .* got 5"),
        (lambda a: lamella.svd_lowrank(a, q=2, niter=-1), ValueError, "svd_lowrank: argument 'niter'.* got -1"),
        (lambda a: lamella.pca_lowrank(a, q=-1), ValueError, "pca_lowrank: argument 'q': expected 0 to 4, .* got -1"),
        (lambda a: lamella.pca_lowrank(a, niter=-1), ValueError, "pca_lowrank: argument 'niter'.* got -1"),
        (lambda a: lamella.pca_lowrank(3), TypeError, "pca_lowrank: argument 'A': expected a Tensor"),
    ],
)
def test_errors_of_low_rank(call, kind, words):
    with pytest.raises(kind, match=words):
        call(lamella.ones(4, 7))


# ---- lu ----


@pytest.mark.parametrize("shape", [(5, 5), (3, 4, 4), (6, 4), (2, 3, 5)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lu(dtype, shape):
    a = numbers(*shape, dtype=dtype)
    given = lamella.tensor(a)
    for call in (lamella.lu, lamella.Tensor.lu):
        factors, pivots = (t.numpy() for t in call(given))
        assert factors.shape == shape and pivots.dtype == np.int32
        for i in np.ndindex(shape[:-2]):
            want, wanted_pivots = scipy.linalg.lapack.get_lapack_funcs("getrf", [a[i]])(a[i])[:2]
            assert abs(factors[i] - want).max() < 50 * EPS[dtype] * abs(want).max()
            assert (pivots[i] == wanted_pivots + 1).all()
    assert (given.numpy() == a).all()


def test_lu_of_singular_matrices():
    a = lamella.stack([lamella.eye(3), lamella.ones(3, 3)])
    factors, pivots, infos = lamella.lu(a, get_infos=True)
    assert infos.tolist() == [0, 2] and factors.shape == (2, 3, 3) and pivots.shape == (2, 3)
    with pytest.raises(LinAlgError):
        lamella.lu(a)


def test_lu_without_exchanges_and_with_targets():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    out = lamella.empty(0, dtype=lamella.float64), lamella.empty(0, dtype=lamella.int32)
    found = lamella.lu(lamella.tensor(a), out=out)
    assert found[0] is out[0] and found[1] is out[1]
    assert abs(out[0].numpy() - [[3, 4], [1 / 3, 2 / 3]]).max() < 1e-15 and out[1].tolist() == [2, 2]
