"""Derivatives of linear algebra that the sweep over the samples does not reach: singular matrices, phases of complex
vectors, repeated values, and gradients of single results. Finite differences compare them, to second order."""

import lamella
import numpy as np
import pytest
from lamella.autograd import gradcheck, gradgradcheck

A = lamella.ops.aten
DTYPES = ["float64", "complex128"]


def matrices(*shape, dtype="float64", seed=0, large=0.0):
    rng = np.random.default_rng(seed)
    made = rng.uniform(-1, 1, shape) + (1j * rng.uniform(-1, 1, shape) if dtype == "complex128" else 0)
    made = made + large * np.eye(*shape[-2:]) * (1 + np.arange(shape[-1]))
    return lamella.tensor(made.astype(dtype)).requires_grad_()


def assert_derivatives(f, *inputs, second=True):
    gradcheck(f, inputs, atol=1e-6, rtol=1e-5, fast_mode=True)
    if second:
        gradgradcheck(f, inputs, atol=1e-6, rtol=1e-5, fast_mode=True)


def hermitian(x):
    """Returns a Hermitian matrix with separated eigenvalues."""
    return (x + x.mH) / 2 + lamella.diag(lamella.arange(x.shape[-1]).to(x.dtype) * 3)


def sizes(x):
    return lamella.view_as_real(x).square().sum(-1) if x.is_complex() else x.square()


# ---- determinants ----------------------------------------------------------------------------------------------------

SINGULAR = {
    "of rank 2": [[1.0, 2, 3], [2, 4, 6], [0, 1, 5]],
    "of rank 1": [[1.0, 2, 3], [2, 4, 6], [3, 6, 9]],
    "of zeros": [[0.0, 0, 0], [0, 0, 0], [0, 0, 0]],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("which", SINGULAR)
def test_det_of_singular_matrices(which, dtype):
    x = np.array(SINGULAR[which]) * (1 if dtype == "float64" else 1 + 1j)
    assert_derivatives(lamella.linalg.det, lamella.tensor(x.astype(dtype)).requires_grad_())


@pytest.mark.parametrize("dtype", DTYPES)
def test_det_of_a_batch_in_which_one_matrix_is_singular(dtype):
    x = matrices(3, 3, 3, dtype=dtype).detach()
    x[1, 0] = x[1, 2] * 2
    x[1, :, 1] = 0
    assert_derivatives(lamella.linalg.det, x.requires_grad_())


def test_the_gradient_of_det_is_the_matrix_of_cofactors():
    x = lamella.tensor(SINGULAR["of rank 2"], dtype=lamella.float64, requires_grad=True)
    lamella.linalg.det(x).backward()
    minor = lambda i, j: np.linalg.det(np.delete(np.delete(x.detach().numpy(), i, 0), j, 1))  # noqa: E731
    cofactors = [[(-1) ** (i + j) * minor(i, j) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(x.grad.numpy(), cofactors, atol=1e-12)


def test_the_sign_of_a_complex_determinant():
    x = matrices(2, 3, 3, dtype="complex128")
    assert_derivatives(lambda x: lamella.linalg.slogdet(x).sign, x)
    assert_derivatives(lambda x: lamella.linalg.slogdet(x).logabsdet, x)
    assert_derivatives(lamella.logdet, x)


# ---- eigenvalues -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_a_hermitian_matrix(dtype):
    def exponential(x):
        values, vectors = lamella.linalg.eigh(hermitian(x))
        return (vectors * values.exp().unsqueeze(-2)) @ vectors.mH

    assert_derivatives(exponential, matrices(2, 3, 3, dtype=dtype))
    assert_derivatives(lambda x: lamella.linalg.eigvalsh(hermitian(x)), matrices(2, 3, 3, dtype=dtype))
    assert_derivatives(lambda x: sizes(lamella.linalg.eigh(hermitian(x), "U")[1]), matrices(3, 3, dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_a_matrix(dtype):
    def square(x):
        values, vectors = lamella.linalg.eig(x)
        return (vectors * (values * values).unsqueeze(-2)) @ lamella.linalg.inv(vectors)

    x = matrices(2, 3, 3, dtype=dtype, large=2)
    assert_derivatives(square, x)
    assert_derivatives(lamella.linalg.eigvals, x)
    lamella.linalg.eig(x)[0].real.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.broadcast_to(np.eye(3), (2, 3, 3)), atol=1e-12)  # of the trace


def test_eigenvalues_of_rotations_are_pairs():
    assert_derivatives(
        lamella.linalg.eigvals, lamella.tensor([[1.0, -2], [3, 1]], dtype=lamella.float64).requires_grad_()
    )


PHASES = {
    "linalg_eigh": lambda x: lamella.linalg.eigh(hermitian(x))[1],
    "linalg_eig": lambda x: lamella.linalg.eig(x)[1],
    "linalg_svd": lambda x: lamella.linalg.svd(x)[0],
}


@pytest.mark.parametrize("name", PHASES)
def test_a_loss_that_depends_on_phases_is_an_error(name):
    x = matrices(3, 3, dtype="complex128", large=1)
    with pytest.raises(RuntimeError, match=f"{name}: the loss depends on the phases"):
        PHASES[name](x)[0].imag.sum().backward()
    sizes(PHASES[name](x)).sum().backward()
    assert lamella.isfinite(x.grad).all()


def test_equal_eigenvalues():
    """The values have gradients, the vectors have none that is finite."""
    x = lamella.eye(3, dtype=lamella.float64).requires_grad_()
    lamella.linalg.eigvalsh(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.eye(3), atol=1e-12)
    x.grad = None
    lamella.linalg.eigh(x)[1][0, 1].backward()
    assert not lamella.isfinite(x.grad).all()


# ---- singular values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 5), (5, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_svd(shape, dtype, full):
    x = matrices(*shape, dtype=dtype, large=1)

    def parts(x):
        u, s, vh = lamella.linalg.svd(x, full)
        u, vh = u[..., :3], vh[..., :3, :]
        return (u * (s * s).unsqueeze(-2)) @ vh, u @ vh, sizes(u), sizes(vh), s

    assert_derivatives(parts, x)
    for i in range(5):
        assert_derivatives(lambda x, i=i: parts(x)[i], x, second=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_equal_singular_values(dtype):
    """The sum of the singular values, and the pseudoinverse, are smooth where these are equal."""
    x = lamella.eye(3, 2, dtype=getattr(lamella, dtype)).requires_grad_()
    assert_derivatives(lambda x: lamella.linalg.matrix_norm(x, "nuc"), x, second=False)
    assert_derivatives(lamella.linalg.pinv, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sides", [((4, 2), (2, 3)), ((3, 2), (2, 5)), ((3, 1), (1, 3))])
def test_pinv_of_deficient_matrices(sides, dtype):
    a, b = (matrices(*s, dtype=dtype, seed=i) for i, s in enumerate(sides))
    assert_derivatives(lambda a, b: lamella.linalg.pinv(a @ b, rtol=1e-6), a, b)
    right = matrices(sides[0][0], 2, dtype=dtype, seed=3)
    assert_derivatives(lambda a, b, c: lamella.linalg.lstsq(a @ b, c, 1e-6, driver="gelsd").solution, a, b, right)


# ---- factors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 3, 5)])
def test_each_factor_alone(shape, dtype):
    x = matrices(*shape, dtype=dtype, large=1)
    for i in range(2):
        assert_derivatives(lambda x, i=i: lamella.linalg.qr(x)[i], x)
        assert_derivatives(lambda x, i=i: lamella.linalg.lu(x)[i + 1], x)


def test_qr_that_has_no_gradient():
    x = matrices(4, 3)
    for mode, i in (("complete", 0), ("r", 1)):
        with pytest.raises(RuntimeError, match=f"linalg_qr.*mode='{mode}'.*mode='reduced'"):
            lamella.linalg.qr(x, mode)[i].sum().backward()


@pytest.mark.parametrize("f", [lamella.linalg.cholesky, lambda x: lamella.linalg.eigh(x)[1].abs()])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_are_hermitian(f, dtype):
    x = matrices(3, 3, dtype=dtype, large=3).detach()
    x = ((x + x.mH) / 2).requires_grad_()
    f(x).abs().square().sum().add(f(x)[0].abs().sum()).backward()
    np.testing.assert_allclose(x.grad.numpy(), x.grad.mH.numpy(), atol=1e-12)


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reflectors_that_are_not_unitary(k, dtype):
    x, tau = matrices(4, 3, dtype=dtype), matrices(1, k, dtype=dtype)
    assert_derivatives(lambda x, t: lamella.linalg.householder_product(x, t[0]), x, tau)


def test_a_reflector_with_factor_zero():
    tau = lamella.tensor([0.5, 0.0, 1.0], dtype=lamella.float64).requires_grad_()
    assert_derivatives(lamella.linalg.householder_product, matrices(4, 3), tau)


@pytest.mark.parametrize("name", ["geqrf", "_linalg_ldl"])
def test_what_has_no_derivative(name):
    x = matrices(3, 3, large=1)
    result = A.geqrf(x) if name == "geqrf" else A._linalg_ldl(x, False)
    with pytest.raises(NotImplementedError, match=name):
        result[0].sum().backward()
