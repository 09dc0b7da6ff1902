"""Arguments of linear algebra that LAPACK itself would follow out of the memory that it was given."""

import lamella
import numpy as np
import pytest

L = lamella.linalg


@pytest.mark.parametrize("pivots", [[-1, 2], [1, -2], [-1, -3], [0, 1], [3, 1]])
def test_pivots_of_ldl_are_rows_or_pairs(pivots):
    with pytest.raises(RuntimeError, match="argument 'pivots': expected rows from 1 to 2, or pairs of their negatives"):
        L.ldl_solve(lamella.eye(2), lamella.tensor(pivots, dtype=lamella.int32), lamella.ones(2, 1))


def test_a_single_pivot_is_no_pair():
    with pytest.raises(RuntimeError, match="at position 0"):
        L.ldl_solve(lamella.eye(1), lamella.tensor([-1], dtype=lamella.int32), lamella.ones(1, 1))


def test_pairs_of_pivots_are_taken():
    a = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 5.0]])
    factors, pivots = L.ldl_factor(lamella.tensor(a))
    assert (pivots < 0).any()
    b = np.arange(3.0)[:, None]
    np.testing.assert_allclose(L.ldl_solve(factors, pivots, lamella.tensor(b)).numpy(), np.linalg.solve(a, b))


@pytest.mark.parametrize("pivots", [[0, 1], [3, 1], [-1, 1]])
def test_pivots_of_lu_are_rows(pivots):
    with pytest.raises(RuntimeError, match="argument 'pivots': expected rows from 1 to 2"):
        L.lu_solve(lamella.eye(2), lamella.tensor(pivots, dtype=lamella.int32), lamella.ones(2, 1))


def test_the_batches_of_least_squares_are_compared():
    with pytest.raises(RuntimeError, match="argument 'B': expected the batch of 'A'"):
        lamella.ops.aten._linalg_lstsq(lamella.ones(4, 3, 2), lamella.ones(1, 3, 2), 0.1, "gelsy")


@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.parametrize("dtype", [lamella.float64, lamella.complex128])
def test_the_other_triangle_is_not_read(n, dtype):
    a = np.diag(np.arange(1.0, n + 1))
    broken = a + np.triu(np.full((n, n), np.nan), 1)
    x = lamella.tensor(broken).to(dtype)
    np.testing.assert_allclose(L.eigvalsh(x).numpy(), np.arange(1.0, n + 1))
    np.testing.assert_allclose(L.eigvalsh(x.mT, UPLO="U").numpy(), np.arange(1.0, n + 1))
    with pytest.raises(L.LinAlgError, match="infinities or NaN"):
        L.eigvalsh(x, UPLO="U")


@pytest.mark.parametrize(
    "call",
    [
        lambda b: L.solve_triangular(lamella.eye(2), b, upper=True),
        lambda b: lamella.cholesky_solve(b, lamella.eye(2)),
        lambda b: lamella.triangular_solve(b, lamella.eye(2)),
    ],
)
@pytest.mark.parametrize("b", [lamella.ones(2), lamella.ones(())])
def test_vectors_are_no_matrices(call, b):
    with pytest.raises(RuntimeError, match="argument 'B': expected matrices, of at least 2 dimensions"):
        call(b)


def test_broadcast_equations_factor_each_matrix_once():
    a, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.arange(12.0).reshape(3, 2, 2)
    x, info = L.solve_ex(lamella.tensor(a), lamella.tensor(b))
    np.testing.assert_allclose(x.numpy(), np.linalg.solve(a, b))
    assert info.shape == () and info.dtype == lamella.int32
