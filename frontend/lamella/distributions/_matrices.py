"""Products and solutions with lower triangular matrices, which distributions of vectors and matrices share."""

from __future__ import annotations

import math
from typing import Any

import lamella


def as_columns(x: Any, dims: int) -> Any:
    """Returns vectors (sample..., batch..., n) as columns (batch..., n, samples), where the batch has ``dims``."""
    batch = x.shape[x.dim() - 1 - dims :]
    return x.reshape((-1, *batch)).movedim(0, -1)


def times(tril: Any, x: Any, dims: int) -> Any:
    """Returns the products of matrices (batch..., n, n) and vectors (sample..., batch..., n)."""
    return (tril @ as_columns(x, dims)).movedim(-1, 0).reshape(x.shape)


def solve(tril: Any, columns: Any) -> Any:
    """Returns the solutions of lower triangular systems."""
    return lamella.linalg.solve_triangular(tril, columns, upper=False)


def squared_distance(tril: Any, x: Any, dims: int) -> Any:
    """Returns |L^-1 x|^2 for lower triangular L, of shape (batch..., n, n), and vectors (sample..., batch..., n)."""
    columns = as_columns(x, dims)
    if tril.dim() - 2 < dims:
        tril = tril.expand(columns.shape[:-2] + tril.shape[-2:])
    found = solve(tril, columns).square().sum(-2)
    return found.movedim(-1, 0).reshape(x.shape[:-1])


def half_log_det(tril: Any) -> Any:
    """Returns the logarithm of the determinant of a lower triangular matrix."""
    return tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def inverse_of_product(tril: Any) -> Any:
    """Returns (L L^T)^-1."""
    inverse = solve(tril, lamella.eye(tril.shape[-1], dtype=tril.dtype, device=tril.device).expand(tril.shape))
    return inverse.mT @ inverse


def tril_of_precision(precision: Any) -> Any:
    """Returns the Cholesky factor of a precision matrix's inverse.

    With the rows and columns in reverse order, the factor of the precision matrix P becomes an upper triangular U with
    P = U U^T, so that L = U^-T is lower triangular and L L^T is the inverse of P.
    """
    upper = lamella.linalg.cholesky(precision.flip((-2, -1))).flip((-2, -1))
    return solve(upper.mT, lamella.eye(upper.shape[-1], dtype=upper.dtype, device=upper.device).expand(upper.shape))


def log_multigamma(a: Any, p: int) -> Any:
    """Returns the logarithm of the multivariate gamma function of order p."""
    steps = lamella.arange(p, dtype=a.dtype, device=a.device) / 2
    return (a.unsqueeze(-1) - steps).lgamma().sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


def one_of_three(name: str, covariance_matrix: Any, precision_matrix: Any, scale_tril: Any) -> tuple[str, Any]:
    """Returns the name and the value of the one matrix that is given; ValueError for none, several, or a vector."""
    given = {
        "covariance_matrix": covariance_matrix,
        "precision_matrix": precision_matrix,
        "scale_tril": scale_tril,
    }
    found = [(n, v) for n, v in given.items() if v is not None]
    if len(found) != 1:
        raise ValueError(
            f"{name}: exactly one of covariance_matrix, precision_matrix and scale_tril must be specified, got "
            f"{len(found)}"
        )
    if found[0][1].dim() < 2:
        raise ValueError(f"{name}: {found[0][0]} must be at least two-dimensional, with optional leading batch")
    return found[0]


def factor(name: str, matrix: Any) -> Any:
    """Returns the lower triangular factor of the covariance from the matrix of that name."""
    if name == "scale_tril":
        return matrix
    return lamella.linalg.cholesky(matrix) if name == "covariance_matrix" else tril_of_precision(matrix)
