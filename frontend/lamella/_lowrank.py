"""Matrices of low rank that approximate a matrix, some of its eigenpairs, and LU factors in torch's older form.

Source: Halko, Martinsson and Tropp, Finding structure with randomness, 2009: algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamella import _C
from lamella._C import Tensor

__all__ = ["lobpcg", "lu", "pca_lowrank", "svd_lowrank"]

_lu_factor_ex = _C._packet("aten::linalg_lu_factor_ex")
_qr = _C._packet("aten::linalg_qr")
_randn = _C._packet("aten::randn")
_svd = _C._packet("aten::linalg_svd")


def _adjoint(x: Tensor) -> Tensor:
    return x.mH if x.is_complex() else x.mT


def _range_of(A: Any, q: int, niter: int, M: Tensor | None) -> Tensor:
    """Returns q orthonormal columns whose span is near that of the largest singular vectors of A - M."""

    def forward(x: Tensor) -> Tensor:
        y = A @ x
        return y if M is None else y - M @ x

    def backward(x: Tensor) -> Tensor:
        y = _adjoint(A) @ x
        return y if M is None else y - _adjoint(M) @ x

    start = _randn((*A.shape[:-2], A.shape[-1], q), dtype=A.dtype, device=A.device)
    basis = _qr(forward(start))[0]
    for _ in range(niter):
        basis = _qr(backward(basis))[0]
        basis = _qr(forward(basis))[0]
    return basis


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns U, S and V with U diag(S) Vᴴ near A - M: about the q largest singular values and their vectors.

    Args:
        A: (*, m, n)
        q: how many columns are found; a few more than the rank that matters
        niter: how many iterations sharpen the random subspace
        M: (*, m, n), or broadcast to it: subtracted from A

    Returns:
        (*, m, q), (*, q) and (*, n, q)

    >>> a = lamella.tensor([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    >>> lamella.svd_lowrank(a, q=2)[1]
    tensor([3.0000, 2.0000])
    """
    if not isinstance(A, Tensor):
        raise TypeError(f"svd_lowrank: argument 'A': expected a Tensor, got {type(A).__name__}")
    q = 6 if q is None else q
    m, n = A.shape[-2:]
    if not 0 <= q <= min(m, n):
        raise ValueError(f"svd_lowrank: argument 'q': expected 0 to {min(m, n)}, the smaller size of A, got {q}")
    niter = 2 if niter is None else niter
    if niter < 0:
        raise ValueError(f"svd_lowrank: argument 'niter': expected at least 0, got {niter}")
    if M is not None:
        M = M.expand(A.shape)
    if m < n:  # the adjoint has fewer columns
        basis = _range_of(_adjoint(A), q, niter, None if M is None else _adjoint(M))
        B = A @ basis if M is None else A @ basis - M @ basis
        U, S, Vh = _svd(B, full_matrices=False)
        return U, S, basis @ _adjoint(Vh)
    basis = _range_of(A, q, niter, M)
    B = _adjoint(basis) @ A if M is None else _adjoint(basis) @ (A - M)
    U, S, Vh = _svd(B, full_matrices=False)
    return basis @ U, S, _adjoint(Vh)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Returns U, S and V of the principal components of A, whose rows are samples: the columns of V are the directions.

    Args:
        A: (*, m, n)
        q: how many components are found; min(6, m, n) by default
        center: whether the mean of the rows is subtracted first
        niter: how many iterations sharpen the random subspace

    >>> a = lamella.tensor([[1.0, 0.0], [3.0, 0.0], [5.0, 0.0]])
    >>> lamella.pca_lowrank(a, q=1)[1]
    tensor([2.8284])
    """
    if not isinstance(A, Tensor):
        raise TypeError(f"pca_lowrank: argument 'A': expected a Tensor, got {type(A).__name__}")
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"pca_lowrank: argument 'q': expected 0 to {min(m, n)}, the smaller size of A, got {q}")
    if niter < 0:
        raise ValueError(f"pca_lowrank: argument 'niter': expected at least 0, got {niter}")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter=niter)


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Callable[[Any], Any] | None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns E and X, the k largest or smallest eigenvalues of A X = B X diag(E), and their vectors, with XᴴBX = I.

    The matrices are only multiplied with blocks of n vectors, so large sparse ones can be given. A and B must be
    Hermitian, and B positive-definite; neither is checked. ``lamella._lobpcg`` names the papers.

    Gradients of A and B exist if these are dense. Those of a vector need a simple eigenvalue, as with ``linalg.eigh``.

    Args:
        A: (*, m, m), float32, float64, complex64 or complex128, dense or, without a batch, sparse
        k: how many eigenpairs are found; the columns of X by default, or 1
        B: of A's shape, or one matrix for all of a batch; the identity by default
        X: (*, m, n), the vectors at the beginning; random ones by default
        n: how many vectors are in a block, if X is not given; k by default. More of them converge in fewer steps.
        iK: (*, m, m), the preconditioner: near the inverse of A - shift * B for the wanted end of the spectrum
        niter: the largest number of steps, 1000 by default; -1 for any number
        tol: an eigenpair has converged when its residual, divided by the norms of the terms, is smaller; by default the
            square root of the dtype's eps
        largest: whether the largest eigenvalues are found, in descending order, or the smallest, in ascending order
        method: "ortho", which searches in an orthonormal basis, or "basic", whose steps are cheaper and can fail
        tracker: it is called before the first step and after each one, with an object that has the state of the
            iteration: A, B, iK, E, X, R, S, and the dictionaries iparams, fparams, bparams, ivars, fvars, bvars and
            tvars. ``bvars["force_stop"] = True`` ends the iteration.
        ortho_iparams: "ortho_i_max", "ortho_j_max": how often an orthogonalization is repeated, 3 times by default
        ortho_fparams: "ortho_tol", "ortho_tol_drop", "ortho_tol_replace": when vectors are orthonormal, or dependent
        ortho_bparams: "ortho_use_drop": whether dependent directions are left out, or their sizes replaced

    Returns:
        (*, k) and (*, m, k)

    Raises:
        AssertionError: a shape does not fit
        ValueError: m is smaller than 3 n, or k, n or method is not one of those above
        LinAlgError: A or B has infinities or NaN, or B is not positive-definite; with "basic", the search directions
            became dependent

    >>> a = lamella.tensor([[2.5, 0.0, 0.0], [0.0, 1.5, 0.0], [0.0, 0.0, 0.5]])
    >>> lamella.lobpcg(a, k=1)[0]
    tensor([2.5000])
    """
    if not isinstance(A, Tensor):
        raise TypeError(f"lobpcg: argument 'A': expected a Tensor, got {type(A).__name__}")
    import lamella._lobpcg as _lobpcg

    if A.dtype not in (_C.float32, _C.float64, _C.complex64, _C.complex128):
        raise RuntimeError(
            f"lobpcg: argument 'A': expected float32, float64, complex64 or complex128, got {A.dtype}; convert it"
        )
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise AssertionError(f"lobpcg: argument 'A': expected square matrices, got the shape {tuple(A.shape)}")
    m = A.shape[-1]
    for name, matrix in (("B", B), ("iK", iK)):
        if matrix is not None and matrix.shape not in (A.shape, A.shape[-2:]):
            raise AssertionError(
                f"lobpcg: argument '{name}': expected the shape {tuple(A.shape)} of A, got {tuple(matrix.shape)}"
            )
    if X is not None:
        if X.dim() < 2 or X.shape[-2] != m or X.shape[:-2] not in (A.shape[:-2], ()):
            expected = (*A.shape[:-1], "n")
            raise AssertionError(f"lobpcg: argument 'X': expected the shape {expected}, got {tuple(X.shape)}")
        n, X = X.shape[-1], X.detach() if getattr(X, "requires_grad", False) else X
    if k is None:
        k = 1 if X is None or n is None else n
    n = k if n is None else n
    if not 1 <= k <= n:
        raise ValueError(f"lobpcg: argument 'k': expected 1 to {n}, the number of vectors in a block, got {k}")
    if m < 3 * n:
        raise ValueError(
            f"lobpcg: argument 'A': expected at least {3 * n} rows for blocks of {n} vectors, got {m}; use linalg.eigh"
        )
    method = "ortho" if method is None else method
    if method not in ("basic", "ortho"):
        raise ValueError(f"lobpcg: argument 'method': expected 'basic' or 'ortho', got {method!r}")
    from lamella._dtypes import finfo

    settings = (
        {**(ortho_iparams or {}), "m": m, "n": n, "k": k, "niter": 1000 if niter is None else niter},
        {**(ortho_fparams or {}), "tol": finfo(A.dtype).eps ** 0.5 if tol is None else tol},
        {**(ortho_bparams or {}), "largest": True if largest is None else largest},
        method,
        tracker,
    )
    recorded = any(getattr(t, "requires_grad", False) for t in (A, B))
    found = _lobpcg.with_gradients if recorded else _lobpcg.solve
    return found(A, B, X, iK, settings)


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> tuple[Tensor, ...]:
    """Returns ``linalg.lu_factor_ex(A, pivot=pivot)``, the last result only with ``get_infos``.

    Raises:
        LinAlgError: without ``get_infos``, an element of the diagonal of U is 0

    >>> lamella.lu(lamella.tensor([[1.0, 2.0], [2.0, 2.0]]))[1]
    tensor([2, 2], dtype=lamella.int32)
    """
    found = _lu_factor_ex(A, pivot=pivot, check_errors=not get_infos)
    if out is not None:
        for target, source in zip(out, found, strict=False):
            target.resize_(source.shape).copy_(source)
        found = out
    return tuple(found) if get_infos else tuple(found)[:2]


def methods() -> dict[str, Any]:
    return {"lu": lu}
