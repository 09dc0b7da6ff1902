"""Maps from matrices to matrices with orthonormal columns, and the decompositions that their inverses need.

They consist of matrix products and elementwise operators only, so that every device supports them and their gradients.
"""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella._C import Tensor

# The degree of the Taylor polynomial: its error is below float64's rounding for matrices of norm one half at most.
DEGREE = 16


def joined(left: Any, right: Any) -> Any:
    """Returns two matrices, or batches of them, side by side."""
    return lamella.cat([left, right], dim=-1)


def _identity(like: Any, rows: int, columns: int) -> Any:
    return lamella.eye(rows, columns, dtype=like.dtype, device=like.device)


def exponential(A: Any) -> Any:
    """Returns exp(A), by a Taylor polynomial of A / 2^s that is then squared s times."""
    norm = float(A.detach().abs().sum(-2).max()) if A.numel() else 0.0
    squarings = max(0, math.ceil(math.log2(norm)) + 1) if norm > 0 and math.isfinite(norm) else 0
    A = A / 2.0**squarings
    one = _identity(A, A.size(-1), A.size(-1))
    result = one + A / DEGREE
    for i in range(DEGREE - 1, 0, -1):
        result = one + (A / i) @ result
    for _ in range(squarings):
        result = result @ result
    return result


def solve(A: Any, B: Any) -> Any:
    """Returns A^-1 B by Gaussian elimination without pivoting, for matrices whose Hermitian part is positive
    definite."""
    n = A.size(-1)
    both = joined(A, B)
    for i in range(n):
        row = both[..., i : i + 1, :] / both[..., i : i + 1, i : i + 1]
        column = both[..., :, i : i + 1]
        here = _identity(both, n, n)[:, i : i + 1]
        both = both - (column - here) @ row
    return both[..., n:]


def reflected(V: Any, tau: Any) -> Any:
    """Returns the first k columns of the product of all H_i = I - tau_i v_i v_i^H, where V has k columns.
    v_i is column i of V below the diagonal, 1 on the diagonal and 0 above it."""
    n, k = V.size(-2), V.size(-1)
    one = _identity(V, n, k)
    V = V.tril(-1) + one
    Q = one.expand(V.shape)
    for i in range(k - 1, -1, -1):
        v = V[..., :, i : i + 1]
        Q = Q - (tau[..., i : i + 1].unsqueeze(-1) * v) @ (v.mH @ Q)
    return Q


def decomposed(A: Any) -> tuple[Any, Any]:
    """Returns Householder reflectors below the diagonal with R on and above it, and tau, like LAPACK's geqrf. It writes
    in place, so its callers switch autograd off."""
    A = A.clone()
    n, k = A.size(-2), A.size(-1)
    tau = A.new_zeros((*A.shape[:-2], k))
    for i in range(min(n, k)):
        x = A[..., i:, i]
        alpha = x[..., 0]
        below = (x[..., 1:] * x[..., 1:].conj()).real.sum(-1) if x.is_complex() else x[..., 1:].square().sum(-1)
        real = alpha.real if x.is_complex() else alpha
        imag = alpha.imag.square() if x.is_complex() else lamella.zeros_like(real)
        length = (real.square() + imag + below).sqrt()
        beta = lamella.where(real >= 0, -length, length)
        trivial = (below == 0) & (imag == 0)
        beta = lamella.where(trivial, real, beta)
        safe = lamella.where(trivial, lamella.ones_like(beta), beta)
        t = lamella.where(trivial, lamella.zeros_like(alpha), (safe - alpha) / safe)
        scale = lamella.where(trivial, lamella.ones_like(alpha), alpha - beta)
        v = x / scale.unsqueeze(-1)
        v[..., 0] = 1
        rest = A[..., i:, i + 1 :]
        A[..., i:, i + 1 :] = rest - (t.conj().unsqueeze(-1) * v).unsqueeze(-1) @ (v.conj().unsqueeze(-2) @ rest)
        A[..., i + 1 :, i] = lamella.where(trivial.unsqueeze(-1), lamella.zeros_like(v[..., 1:]), v[..., 1:])
        A[..., i, i] = beta.to(A.dtype)
        tau[..., i] = t
    return A, tau


def nearest(A: Any) -> Any:
    """Returns the orthogonal factor of the QR decomposition whose R has a positive diagonal."""
    X, tau = decomposed(A)
    diagonal = X.diagonal(dim1=-2, dim2=-1)
    return reflected(X, tau) * diagonal.sgn().unsqueeze(-2)


def is_orthogonal(Q: Any) -> bool:
    n, k = Q.size(-2), Q.size(-1)
    eps = 10.0 * n * lamella.finfo(Q.dtype).eps
    return bool(((Q.mH @ Q - _identity(Q, k, k)).abs() <= eps).all())


def reflectors(Q: Any) -> Any:
    """Returns the matrix from which ``householder`` computes Q, which has orthonormal columns."""
    A, tau = decomposed(Q)
    diagonal = A.diagonal(dim1=-2, dim2=-1)
    signs = diagonal.sign()
    diagonal.copy_(lamella.where(tau == 0, -signs, signs))
    return A


# ---- the maps --------------------------------------------------------------------------------------------------------


def _skew(X: Any) -> Any:
    """Returns the skew-Hermitian matrix with the lower triangle of a tall matrix."""
    n, k = X.size(-2), X.size(-1)
    X = X.tril()
    if n != k:
        X = joined(X, X.new_zeros((*X.shape[:-2], n, n - k)))
    return X - X.mH


def matrix_exp(X: Tensor) -> Any:
    return exponential(_skew(X))[..., : X.size(-1)]


def cayley(X: Tensor) -> Any:
    """Returns the first k columns of (I - A / 2)^-1 (I + A / 2), where A is ``_skew(X)`` and X has k columns."""
    A = _skew(X)
    one = _identity(A, A.size(-1), A.size(-1))
    return solve(one - A / 2, one + A / 2)[..., : X.size(-1)]


def householder(X: Tensor) -> Any:
    """Returns the first k columns of the product of the reflections at the k columns of X below its diagonal.
    Column i is multiplied by the integer part of X's diagonal element i, which is 1 or -1 in results of ``reflectors``.
    """
    A = X.tril(-1)
    tau = 2.0 / (1.0 + A.square().sum(-2))
    signs = X.diagonal(dim1=-2, dim2=-1).to(lamella.int32)
    return reflected(A, tau) * signs.unsqueeze(-2)


MAPS = {"matrix_exp": matrix_exp, "cayley": cayley, "householder": householder}
