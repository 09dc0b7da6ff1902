"""The standard's extension for linear algebra. The last two dimensions of a tensor are those of its matrices.

>>> xp = lamella.array_api
>>> xp.linalg.solve(xp.asarray([[2.0, 0.0], [0.0, 4.0]]), xp.asarray([2.0, 2.0]))
Array([1.0000, 0.5000])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import lamella
from lamella import Tensor
from lamella import dtype as DType
from lamella.array_api._manipulation import broadcast_shapes, matrix_transpose
from lamella.array_api._reductions import sum as _sum
from lamella.array_api._rules import ANY, FLOATING, NUMERIC, axes_of, checked, pair

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class Eigen(NamedTuple):
    """The result of :func:`eig` and :func:`eigh`; column i of ``eigenvectors`` belongs to eigenvalue i."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QR(NamedTuple):
    """The result of :func:`qr`: x = Q @ R."""

    Q: Tensor
    R: Tensor


class SlogDet(NamedTuple):
    """The result of :func:`slogdet`: the determinant is sign * exp(logabsdet)."""

    sign: Tensor
    logabsdet: Tensor


class SVD(NamedTuple):
    """The result of :func:`svd`: x = U @ diag(S) @ Vh."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """Returns the lower triangular matrix L with x = L @ L.mH, or its adjoint if ``upper`` is true.

    >>> lamella.array_api.linalg.cholesky(lamella.tensor([[4.0]]))
    tensor([[2.]])
    """
    return lamella.linalg.cholesky(checked("cholesky", FLOATING, x), upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Returns the cross products of vectors of three numbers along an axis; the shapes broadcast.

    Raises:
        ValueError: the size along the axis is not 3 in both

    >>> lamella.array_api.linalg.cross(lamella.tensor([1.0, 0, 0]), lamella.tensor([0.0, 1, 0]))
    tensor([0., 0., 1.])
    """
    x1, x2 = pair("cross", NUMERIC, x1, x2)
    _check_axis("cross", x1, x2, axis)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"cross: axis {axis} must have size 3, got shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    shape = broadcast_shapes(x1.shape, x2.shape)
    a, b = (lamella.unbind(lamella.broadcast_to(x, shape), axis) for x in (x1, x2))
    return lamella.stack([a[i] * b[k] - a[k] * b[i] for i, k in ((1, 2), (2, 0), (0, 1))], axis)


def _check_axis(who: str, x1: Tensor, x2: Tensor, axis: int) -> None:
    """An axis from the front could be another one after broadcasting, so it is for tensors of one number of axes."""
    for x in (x1, x2):
        axes_of(who, axis, x.ndim)
    if axis >= 0 and x1.ndim != x2.ndim:
        raise ValueError(f"{who}: argument 'axis' must be negative for {x1.ndim} and {x2.ndim} dimensions, got {axis}")


def det(x: Tensor, /) -> Tensor:
    """Returns the determinants of matrices.

    >>> lamella.array_api.linalg.det(lamella.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor(6.)
    """
    return lamella.linalg.det(checked("det", FLOATING, x))


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Returns a view of diagonal ``offset`` of each matrix, which is above the main one if positive.

    >>> lamella.array_api.linalg.diagonal(lamella.tensor([[1, 2], [3, 4]]), offset=1)
    tensor([2])
    """
    rows, columns = checked("diagonal", ANY, x).shape[-2:]
    return lamella.diagonal(x, min(max(offset, -rows), columns), -2, -1)


def eig(x: Tensor, /) -> Eigen:
    """Returns the complex eigenvalues and eigenvectors of matrices.

    >>> lamella.array_api.linalg.eig(lamella.tensor([[2.0]])).eigenvalues
    tensor([2.+0.j])
    """
    return Eigen(*lamella.linalg.eig(checked("eig", FLOATING, x)))


def eigvals(x: Tensor, /) -> Tensor:
    """Returns the complex eigenvalues of matrices.

    >>> lamella.array_api.linalg.eigvals(lamella.tensor([[2.0]]))
    tensor([2.+0.j])
    """
    return lamella.linalg.eigvals(checked("eigvals", FLOATING, x))


def eigh(x: Tensor, /) -> Eigen:
    """Returns the eigenvalues, ascending, and the eigenvectors of Hermitian matrices; the lower triangle is read.

    >>> lamella.array_api.linalg.eigh(lamella.tensor([[3.0, 0.0], [0.0, 2.0]])).eigenvalues
    tensor([2., 3.])
    """
    return Eigen(*lamella.linalg.eigh(checked("eigh", FLOATING, x)))


def eigvalsh(x: Tensor, /) -> Tensor:
    """Returns the eigenvalues, ascending, of Hermitian matrices; the lower triangle is read.

    >>> lamella.array_api.linalg.eigvalsh(lamella.tensor([[3.0, 0.0], [0.0, 2.0]]))
    tensor([2., 3.])
    """
    return lamella.linalg.eigvalsh(checked("eigvalsh", FLOATING, x))


def inv(x: Tensor, /) -> Tensor:
    """Returns the inverses of matrices.

    >>> lamella.array_api.linalg.inv(lamella.tensor([[2.0]]))
    tensor([[0.5000]])
    """
    return lamella.linalg.inv(checked("inv", FLOATING, x))


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Returns the products of matrices, or of a matrix and a vector, or of two vectors; batches broadcast.

    >>> lamella.array_api.matmul(lamella.tensor([[1, 2]]), lamella.tensor([3, 4]))
    tensor([11])
    """
    return lamella.matmul(*pair("matmul", NUMERIC, x1, x2))


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Returns a norm of each matrix.

    Args:
        ord: "fro", "nuc", 1, -1, 2, -2, inf or -inf

    >>> lamella.array_api.linalg.matrix_norm(lamella.tensor([[3.0, 4.0]]))
    tensor(5.)
    """
    return lamella.linalg.matrix_norm(checked("matrix_norm", FLOATING, x), ord, (-2, -1), keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Returns powers of square matrices; a negative power is one of the inverse.

    >>> lamella.array_api.linalg.matrix_power(lamella.tensor([[2.0]]), 3)
    tensor([[8.]])
    """
    return lamella.linalg.matrix_power(checked("matrix_power", FLOATING, x), n)


def matrix_rank(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """Returns the number of singular values above ``rtol`` times the largest one.

    Args:
        rtol: a number, or a tensor with one for each matrix; None stands for max(M, N) * eps

    >>> lamella.array_api.linalg.matrix_rank(lamella.ones(2, 2))
    tensor(1)
    """
    return lamella.linalg.matrix_rank(checked("matrix_rank", FLOATING, x), rtol=rtol)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Returns the products of each element of one vector with each of another.

    >>> lamella.array_api.linalg.outer(lamella.tensor([1, 2]), lamella.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
    """
    x1, x2 = pair("outer", NUMERIC, x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer: both tensors must be vectors, got shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    return x1[:, None] * x2


def pinv(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """Returns the pseudo-inverses of matrices; singular values up to ``rtol`` times the largest one count as 0.

    >>> lamella.array_api.linalg.pinv(lamella.tensor([[2.0]]))
    tensor([[0.5000]])
    """
    return lamella.linalg.pinv(checked("pinv", FLOATING, x), rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> QR:
    """Returns x = Q @ R, with orthonormal columns in Q and an upper triangular R.

    Args:
        mode: "reduced" gives Q of shape (M, min(M, N)), "complete" a square one

    >>> lamella.array_api.linalg.qr(lamella.ones(3, 2)).Q.shape
    lamella.Size([3, 2])
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: argument 'mode' must be 'reduced' or 'complete', got {mode!r}")
    return QR(*lamella.linalg.qr(checked("qr", FLOATING, x), mode))


def slogdet(x: Tensor, /) -> SlogDet:
    """Returns signs, and logarithms of the absolute values, of the determinants of matrices.

    >>> lamella.array_api.linalg.slogdet(lamella.tensor([[-1.0]])).sign
    tensor(-1.)
    """
    return SlogDet(*lamella.linalg.slogdet(checked("slogdet", FLOATING, x)))


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Returns the solutions y of x1 @ y = x2.

    ``x2`` is a vector if it has one dimension, and else a batch of matrices, in contrast to torch.

    >>> lamella.array_api.linalg.solve(lamella.tensor([[2.0]]), lamella.tensor([3.0]))
    tensor([1.5000])
    """
    x1, x2 = pair("solve", FLOATING, x1, x2)
    if x2.ndim == 1:
        return lamella.linalg.solve(x1, x2[:, None])[..., 0]
    if x2.ndim < x1.ndim:
        x2 = x2.reshape((1,) * (x1.ndim - x2.ndim) + tuple(x2.shape))
    return lamella.linalg.solve(x1, x2)


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVD:
    """Returns x = U @ diag(S) @ Vh, with singular values S in descending order.

    >>> lamella.array_api.linalg.svd(lamella.ones(3, 2), full_matrices=False).U.shape
    lamella.Size([3, 2])
    """
    return SVD(*lamella.linalg.svd(checked("svd", FLOATING, x), full_matrices))


def svdvals(x: Tensor, /) -> Tensor:
    """Returns the singular values of matrices in descending order.

    >>> lamella.array_api.linalg.svdvals(lamella.tensor([[3.0, 0.0], [0.0, -4.0]]))
    tensor([4., 3.])
    """
    return lamella.linalg.svdvals(checked("svdvals", FLOATING, x))


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Returns the sums of products over axes.

    Args:
        axes: the number of the last axes of ``x1`` that meet the first of ``x2``; or the axes of both, in pairs

    >>> lamella.array_api.tensordot(lamella.ones(2, 3), lamella.ones(3, 4), axes=1).shape
    lamella.Size([2, 4])
    """
    x1, x2 = pair("tensordot", NUMERIC, x1, x2)
    if hasattr(axes, "__index__"):
        return lamella.tensordot(x1, x2, axes)
    first, second = axes  # type: ignore[misc]
    dims = [list(axes_of("tensordot", first, x1.ndim)), list(axes_of("tensordot", second, x2.ndim))]
    for a, b in zip(*dims, strict=True):
        if x1.shape[a] != x2.shape[b]:
            raise ValueError(f"tensordot: axis {a} of size {x1.shape[a]} meets axis {b} of size {x2.shape[b]}")
    return lamella.tensordot(x1, x2, dims)


def trace(x: Tensor, /, *, offset: int = 0, dtype: DType | None = None) -> Tensor:
    """Returns the sum of diagonal ``offset`` of each matrix, with the dtype rules of ``sum``.

    >>> lamella.array_api.linalg.trace(lamella.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """
    return _sum(diagonal(checked("trace", NUMERIC, x), offset=offset), axis=-1, dtype=dtype)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Returns the sums of conj(x1) * x2 along an axis, which has one size in both; the other sizes broadcast.

    Raises:
        ValueError: the sizes along the axis differ

    >>> lamella.array_api.vecdot(lamella.tensor([1, 2]), lamella.tensor([3, 4]))
    tensor(11)
    """
    x1, x2 = pair("vecdot", NUMERIC, x1, x2)
    _check_axis("vecdot", x1, x2, axis)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: axis {axis} must have one size, got shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    first = lamella.conj_physical(x1) if x1.dtype.is_complex else x1
    a, b = lamella.movedim(first, axis, -1), lamella.movedim(x2, axis, -1)
    return lamella.sum(a * b, (-1,), dtype=x1.dtype)


def vector_norm(x: Tensor, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """Returns the norm of the elements along the axes, as of one vector; None stands for all axes.

    Args:
        ord: the exponent: any number, inf or -inf

    >>> lamella.array_api.linalg.vector_norm(lamella.tensor([3.0, 4.0]))
    tensor(5.)
    """
    axes = axes_of("vector_norm", axis, checked("vector_norm", FLOATING, x).ndim)
    if not axes:  # each element is a vector of its own
        return lamella.linalg.vector_norm(x[..., None], ord, (x.ndim,))
    return lamella.linalg.vector_norm(x, ord, axes, keepdims)
