"""Matrices of low rank that approximate a matrix, by random projections, and LU factors in torch's older form.

Source: Halko, Martinsson and Tropp, Finding structure with randomness, 2009: algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella._C import Tensor

__all__ = ["lu", "pca_lowrank", "svd_lowrank"]

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
