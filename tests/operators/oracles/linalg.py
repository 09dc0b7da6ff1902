"""Oracles of linear algebra by numpy and scipy. None stands for a result that is not unique, such as eigenvectors:
test_linalg.py compares the products of such factors."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import get_lapack_funcs

from oracles.base import entries


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def each(function, x, *rest, matrix=2):
    """Calls a function with each matrix of a batch, and with the parts of `rest`; stacks each of its results."""
    batch = x.shape[: x.ndim - matrix]
    if 0 in batch:
        like = function(np.eye(*x.shape[-2:]).astype(x.dtype), *(r[(0,) * len(batch)] if r.size else r for r in rest))
        made = [[np.asarray(m)] for m in (like if isinstance(like, tuple) else (like,))]
        found = [np.zeros((*batch, *m[0].shape), m[0].dtype) for m in made]
    else:
        made = [function(x[at], *(r[at] for r in rest)) for at in np.ndindex(*batch)]
        rows = [m if isinstance(m, tuple) else (m,) for m in made]
        found = [np.stack(column).reshape((*batch, *np.shape(column[0]))) for column in zip(*rows, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def info_of(x):
    return np.zeros(x.shape[:-2], np.int32)


# ---- factors ---------------------------------------------------------------------------------------------------------


def cholesky_ex(x, upper=False, check_errors=False):
    def one(a):
        (potrf,) = get_lapack_funcs(("potrf",), (a,))
        made, info = potrf(a, lower=not upper, clean=True)
        return made, np.int32(info)

    made, info = each(one, x) if x.shape[-1] else (x, info_of(x))
    return None if np.any(info) else made, info  # None: no factor is compared if a matrix has none


def cholesky(x, upper=False):
    found = np.linalg.cholesky(x)
    return adjoint(found) if upper else found


def lu_ex(x, pivot=True, check_errors=False):
    def one(a):
        m, n = a.shape
        k = min(m, n)
        if k == 0:
            return a, np.zeros(0, np.int32), np.int32(0)
        if pivot:
            (getrf,) = get_lapack_funcs(("getrf",), (a,))
            made, pivots, info = getrf(a)
            return made, (pivots + 1).astype(np.int32), np.int32(info)
        made = a.copy()
        for i in range(k):
            made[i + 1 :, i] /= made[i, i]
            made[i + 1 :, i + 1 :] -= np.outer(made[i + 1 :, i], made[i, i + 1 :])
        return made, np.arange(1, k + 1, dtype=np.int32), np.int32(0)

    return each(one, x)


def order_of(pivots, size):
    def one(p):
        order = np.arange(size)
        for i, other in enumerate(p):
            order[[i, other - 1]] = order[[other - 1, i]]
        return order

    return (
        each(one, pivots, matrix=1)
        if pivots.shape[-1]
        else np.broadcast_to(np.arange(size), (*pivots.shape[:-1], size))
    )


def unpacked(factors, pivots, unpack_data=True, unpack_pivots=True):
    m, n = factors.shape[-2:]
    k = min(m, n)
    p, lower, upper = np.zeros(0), np.zeros(0), np.zeros(0)
    if unpack_data:
        lower = np.tril(factors[..., :k], -1) + np.eye(m, k)
        upper = np.triu(factors[..., :k, :])
    if unpack_pivots:
        p = np.swapaxes(np.eye(m)[order_of(pivots, m)], -1, -2)
    return p, lower, upper


def plu(factors, pivots):
    p, lower, upper = unpacked(factors, pivots)
    return p @ lower @ upper


def solve(a, b, left=True):
    vector = b.ndim == 1 or b.shape == a.shape[:-1]
    b = b[..., None] if vector else b
    if left:
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])
        x = np.linalg.solve(a, b) if a.shape[-1] and b.size and 0 not in a.shape else np.zeros(shape, a.dtype)
    else:
        x = np.swapaxes(solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)
    return x[..., 0] if vector else x


def lu_solve(factors, pivots, b, left=True, adjoint_=False, adjoint=None):
    a = plu(factors, pivots)
    return solve(np.conj(np.swapaxes(a, -1, -2)) if (adjoint_ if adjoint is None else adjoint) else a, b, left)


def triangle(a, upper, unitriangular):
    a = np.triu(a) if upper else np.tril(a)
    n = a.shape[-1]
    return np.where(np.eye(n, dtype=bool), 1, a) if unitriangular else a


def solve_triangular(a, b, upper, left=True, unitriangular=False):
    return solve(triangle(a, upper, unitriangular), b, left)


def triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    whole = triangle(a, upper, unitriangular)
    return solve(np.swapaxes(whole, -1, -2) if transpose else whole, b), a


def qr(x, mode="reduced"):
    if 0 in x.shape:
        m, n = x.shape[-2:]
        k = m if mode == "complete" else min(m, n)
        q = np.broadcast_to(np.eye(m, k), (*x.shape[:-2], m, k))
        return q.astype(x.dtype), np.zeros((*x.shape[:-2], k, n), x.dtype)
    return tuple(np.linalg.qr(x, mode))


def geqrf(x):
    k = min(x.shape[-2:])
    if 0 in x.shape:
        return x, np.zeros((*x.shape[:-2], k), x.dtype)

    def one(a):
        (raw, tau), _ = scipy.linalg.qr(a, mode="raw")
        return raw, tau

    return each(one, x)


def product_of_reflectors(vectors, tau):
    m = vectors.shape[0]
    made = np.eye(m, dtype=vectors.dtype)
    for i, t in enumerate(tau):
        v = np.concatenate([np.zeros(i), [1], vectors[i + 1 :, i]])
        made = made @ (np.eye(m) - t * np.outer(v, np.conj(v)))
    return made


def householder_product(x, tau):
    n = x.shape[-1]
    if 0 in x.shape:
        return x
    return each(lambda a, t: product_of_reflectors(a, t)[:, :n], x, tau)


def ormqr(x, tau, other, left=True, transpose=False):
    if 0 in tau.shape or 0 in x.shape:
        return other
    q = each(product_of_reflectors, x, tau)
    q = adjoint(q) if transpose else q
    return q @ other if left else other @ q


def ldl_ex(x, hermitian=False, check_errors=False):
    if 0 in x.shape:
        return x, np.zeros(x.shape[:-1], np.int32), info_of(x)

    def one(a):
        name = "hetrf" if hermitian and np.iscomplexobj(a) else "sytrf"
        (trf,) = get_lapack_funcs((name,), (a,))
        made, pivots, info = trf(a, lower=1)
        return np.tril(made), pivots.astype(np.int32), np.int32(info)

    return each(one, x)


def ldl_solve(factors, pivots, b, hermitian=False):
    if 0 in factors.shape or 0 in b.shape:
        return b
    shape = np.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    factors = np.broadcast_to(factors, (*shape, *factors.shape[-2:]))
    pivots = np.broadcast_to(pivots, (*shape, pivots.shape[-1]))

    def one(a, p, right):
        name = "hetrs" if hermitian and np.iscomplexobj(a) else "sytrs"
        return solved_by(name, a, p, right)

    return each(one, factors, pivots, np.broadcast_to(b, (*shape, *b.shape[-2:])))


def solved_by(name, a, pivots, b):
    """Multiplies the factors of LAPACK's sytrf or hetrf, and solves the equations of the product."""
    n = len(pivots)
    whole = np.zeros_like(a)
    turn = (lambda x: np.conj(x.T)) if name == "hetrs" else (lambda x: x.T)
    lower, middle, k = np.eye(n, dtype=a.dtype), whole, 0
    while k < n:
        size = 1 if pivots[k] > 0 else 2
        at = abs(pivots[k + size - 1]) - 1
        swap = np.eye(n)
        swap[[k + size - 1, at]] = swap[[at, k + size - 1]]
        step = np.eye(n, dtype=a.dtype)
        step[k + size :, k : k + size] = a[k + size :, k : k + size]
        lower = lower @ swap @ step
        if size == 1:
            middle[k, k] = a[k, k].real if name == "hetrs" else a[k, k]
        else:
            block = np.tril(a[k : k + 2, k : k + 2])
            off = np.tril(block, -1)
            diagonal = np.diag(np.diag(block).real if name == "hetrs" else np.diag(block))
            middle[k : k + 2, k : k + 2] = diagonal + off + turn(off)
        k += size
    return np.linalg.solve(lower @ middle @ turn(lower), b)


entries(
    _linalg_cholesky=cholesky_ex,
    linalg_cholesky_ex=cholesky_ex,
    linalg_cholesky=cholesky,
    cholesky=cholesky,
    cholesky_solve=lambda b, factor, upper=False: solve(
        adjoint(np.triu(factor)) @ np.triu(factor) if upper else np.tril(factor) @ adjoint(np.tril(factor)), b
    ),
    cholesky_inverse=lambda factor, upper=False: np.linalg.inv(
        adjoint(np.triu(factor)) @ np.triu(factor) if upper else np.tril(factor) @ adjoint(np.tril(factor))
    ),
    _linalg_lu=lu_ex,
    linalg_lu_factor_ex=lu_ex,
    linalg_lu_factor=lambda x, pivot=True: lu_ex(x, pivot)[:2],
    linalg_lu=lambda x, pivot=True: unpacked(*lu_ex(x, pivot)[:2]),
    lu_unpack=unpacked,
    _linalg_permutation=order_of,
    _linalg_lu_solve=lu_solve,
    linalg_lu_solve=lu_solve,
    lu_solve=lambda b, factors, pivots: lu_solve(factors, pivots, b),
    _linalg_solve=lambda a, b, left: (solve(a, b, left), *lu_ex(a)),
    linalg_solve=solve,
    linalg_solve_ex=lambda a, b, left=True, check_errors=False: (
        solve(a, b, left),
        np.zeros(a.shape[:-2], np.int32),
    ),
    linalg_inv=np.linalg.inv,
    inverse=np.linalg.inv,
    linalg_inv_ex=lambda x, check_errors=False: (np.linalg.inv(x), info_of(x)),
    _linalg_triangular=solve_triangular,
    linalg_solve_triangular=solve_triangular,
    triangular_solve=triangular_solve,
    linalg_qr=qr,
    qr=lambda x, some=True: qr(x, "reduced" if some else "complete"),
    geqrf=geqrf,
    linalg_householder_product=householder_product,
    ormqr=ormqr,
    _linalg_ldl=ldl_ex,
    linalg_ldl_factor_ex=ldl_ex,
    linalg_ldl_factor=lambda x, hermitian=False: ldl_ex(x, hermitian)[:2],
    _linalg_ldl_solve=ldl_solve,
    linalg_ldl_solve=ldl_solve,
    linalg_tensorinv=np.linalg.tensorinv,
    linalg_tensorsolve=lambda a, b, dims=None: np.linalg.tensorsolve(a, b, dims),
)


# ---- values ----------------------------------------------------------------------------------------------------------


def eigh_ex(x, triangle="L", vectors=True):
    return eigvalsh(x, triangle), None if vectors else np.zeros(0), info_of(x)


def eigvalsh(x, triangle="L"):
    return np.linalg.eigvalsh(x, triangle.upper())


def eig_ex(x, vectors=True):
    return np.linalg.eigvals(x).astype(np.complex128), None if vectors else np.zeros(0), info_of(x)


def singular_values(x, driver=None):
    if 0 in x.shape:
        return np.zeros((*x.shape[:-2], min(x.shape[-2:])))
    return np.linalg.svd(x, compute_uv=False)


def svd(x, some=True, compute_uv=True):
    zeros = [np.zeros((*x.shape[:-2], n, n)) for n in x.shape[-2:]]
    return (None, singular_values(x), None) if compute_uv else (zeros[0], singular_values(x), zeros[1])


def lstsq_ex(a, b, rcond, driver):
    m, n = a.shape[-2:]
    x = np.linalg.pinv(a, rcond) @ b
    rank = np.linalg.matrix_rank(a)
    values = singular_values(a) if driver in ("gelsd", "gelss") else np.zeros((*a.shape[:-2], 0))
    return x if m <= n else None, rank if driver != "gels" else None, values, info_of(a)


def lstsq(a, b, rcond=None, driver=None):
    m, n = a.shape[-2:]
    vector = b.ndim == 1 or b.shape == a.shape[:-1]
    b = b[..., None] if vector else b
    x = np.linalg.pinv(a) @ b
    left = np.sum(np.abs(a @ x - b) ** 2, -2) if m > n else np.zeros(0)
    values = singular_values(a) if driver in ("gelsd", "gelss") else np.zeros(0)
    rank = np.linalg.matrix_rank(a) if driver != "gels" else np.zeros(0, np.int64)
    return x[..., 0] if vector else x, left, rank, values


def bound(values, x, atol, rtol):
    eps = np.finfo(np.float32 if x.dtype.itemsize == 4 else x.dtype).eps * max(x.shape[-2:])
    largest = values.max(-1, initial=0)
    if rtol is None:
        rtol = eps if atol is None else np.where(np.asarray(atol) > 0, 0, eps)
    return np.maximum(0 if atol is None else atol, rtol * largest)[..., None]


def sizes_of(x, hermitian):
    return np.abs(np.linalg.eigvalsh(x)) if hermitian else singular_values(x)


def matrix_rank(x, tol=None, hermitian=False, atol=None, rtol=None):
    values = sizes_of(x, hermitian)
    atol, rtol = (tol, 0) if tol is not None else (atol, rtol)
    return np.sum(values > bound(values, x, atol, rtol), -1)


def pinv(x, rcond=None, hermitian=False, atol=None, rtol=None):
    if 0 in x.shape:
        return np.swapaxes(x, -1, -2)
    atol, rtol = (0, rcond) if rcond is not None else (atol, rtol)
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    kept = s > bound(s, x, atol, rtol)
    return adjoint(vh) * (kept / np.where(kept, s, 1))[..., None, :] @ adjoint(u)


def slogdet(x):
    return tuple(np.linalg.slogdet(x))


def logdet(x):
    sign, size = np.linalg.slogdet(x)
    return np.log(sign) + size if np.iscomplexobj(x) else np.where(sign == -1, np.nan, size)


def matrix_norm(x, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    return np.linalg.norm(x, ord, tuple(dim), keepdim)


def norm(x, ord=None, dim=None, keepdim=False, dtype=None):
    if ord is None and dim is None:
        made = np.linalg.norm(x.ravel())
        return made.reshape((1,) * x.ndim) if keepdim else made
    return np.linalg.norm(x, ord, dim if dim is None or len(dim) > 1 else dim[0], keepdim)


def cond(x, p=None):
    if p in (None, 2, -2):
        s = singular_values(x)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    if np.any(np.linalg.matrix_rank(x) < x.shape[-1]):
        return np.where(np.linalg.matrix_rank(x) < x.shape[-1], np.inf, 0)
    return matrix_norm(x, p) * matrix_norm(np.linalg.inv(x), p)


entries(
    _linalg_eigh=eigh_ex,
    linalg_eigh=lambda x, UPLO="L": (eigvalsh(x, UPLO), None),
    linalg_eigvalsh=lambda x, UPLO="L": eigvalsh(x, UPLO),
    _linalg_eig=eig_ex,
    linalg_eig=lambda x: eig_ex(x)[:2],
    linalg_eigvals=lambda x: eig_ex(x)[0],
    _linalg_svd=lambda x, full, vectors, driver=None: (
        *((None, singular_values(x), None) if vectors else (np.zeros(0), singular_values(x), np.zeros(0))),
        info_of(x),
    ),
    linalg_svd=lambda x, full_matrices=True, driver=None: (None, singular_values(x), None),
    linalg_svdvals=singular_values,
    svd=svd,
    linalg_det=np.linalg.det,
    det=np.linalg.det,
    _linalg_det=lambda x: (np.linalg.det(x), *lu_ex(x)[:2]),
    linalg_slogdet=slogdet,
    slogdet=slogdet,
    _linalg_slogdet=lambda x: (*slogdet(x), *lu_ex(x)[:2]),
    logdet=logdet,
    linalg_matrix_rank=matrix_rank,
    linalg_pinv=pinv,
    pinverse=lambda x, rcond=1e-15: pinv(x, rcond),
    _linalg_lstsq=lstsq_ex,
    linalg_lstsq=lstsq,
    linalg_matrix_norm=matrix_norm,
    linalg_norm=norm,
    linalg_cond=cond,
    linalg_multi_dot=lambda ts: np.linalg.multi_dot(ts),
    chain_matmul=lambda ts: ts[0] if len(ts) == 1 else np.linalg.multi_dot(ts),
    linalg_matrix_power=np.linalg.matrix_power,
    matrix_power=np.linalg.matrix_power,
    linalg_matrix_exp=lambda x: scipy.linalg.expm(x) if x.size else x,
    matrix_exp=lambda x: scipy.linalg.expm(x) if x.size else x,
    linalg_vander=lambda x, N=None: x[..., None] ** np.arange(x.shape[-1] if N is None else N),
    linalg_vecdot=lambda x, y, dim=-1: np.sum(np.conj(x) * y, dim),
    linalg_diagonal=lambda x, offset=0, dim1=-2, dim2=-1: np.diagonal(x, offset, dim1, dim2),
    linalg_matmul=np.matmul,
)
