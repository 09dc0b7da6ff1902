"""The functions of ``lamella.sparse``, under torch's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lamella
from lamella import Tensor

from .library import layout_number, operators
from .tensor import converted, number_of


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """Multiplies two matrices, of which one or both are sparse. The product of two sparse ones is sparse.

    A gradient of a sparse operand has its places, one of a dense operand is dense.

    >>> a = lamella.tensor([[0.0, 2.0]]).to_sparse().requires_grad_()
    >>> lamella.sparse.mm(a, lamella.tensor([[1.0], [3.0]])).sum().backward()
    >>> a.grad.to_dense()
    tensor([[0., 3.]])
    """
    return lamella.mm(mat1, mat2)  # type: ignore[attr-defined]


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Returns ``beta mat + alpha (mat1 @ mat2)`` with a sparse factor.

    >>> lamella.sparse.addmm(lamella.ones(1, 1), lamella.tensor([[2.0]]).to_sparse(), lamella.tensor([[3.0]]))
    tensor([[7.]])
    """
    return lamella.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[attr-defined]


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0, out: Tensor | None = None
) -> Tensor:
    """Returns ``beta input + alpha (mat1 @ mat2)`` at the places of ``input``, which has layout ``sparse_csr``. Only
    these elements of the product are computed.

    >>> x = lamella.tensor([[0.0, 1.0]]).to_sparse_csr()
    >>> lamella.sparse.sampled_addmm(x, lamella.tensor([[2.0]]), lamella.tensor([[3.0, 4.0]])).to_dense()
    tensor([[0., 9.]])
    """
    made = operators().sampled_addmm(input, mat1, mat2, beta, alpha)
    return made if out is None else out.copy_(made)


def sum(input: Tensor, dim: int | Sequence[int] | None = None, dtype: Any = None) -> Tensor:
    """Sums over dimensions of a sparse tensor, by default over all. The sum is sparse as long as a sparse dimension is
    left, else dense.

    >>> lamella.sparse.sum(lamella.tensor([[0.0, 1.0], [2.0, 3.0]]).to_sparse(), 0).to_dense()
    tensor([2., 4.])
    """
    if dim is None:
        return lamella.sum(input, dtype=dtype)  # type: ignore[attr-defined]
    return lamella.sum(input, [dim] if isinstance(dim, int) else list(dim), dtype=dtype)  # type: ignore[attr-defined]


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Returns the softmax over a dimension of a COO tensor. Elements without an entry count as minus infinity, so that
    they stay without one.

    >>> lamella.sparse.softmax(lamella.tensor([[0.0, 1.0, 1.0]]).to_sparse(), 1).to_dense()
    tensor([[0.0000, 0.5000, 0.5000]])
    """
    return operators().softmax(input, dim, False, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Returns the logarithm of `softmax`, at the places of the entries.

    >>> lamella.sparse.log_softmax(lamella.tensor([[0.0, 1.0, 1.0]]).to_sparse(), 1).values()
    tensor([-0.6931, -0.6931])
    """
    return operators().softmax(input, dim, True, dtype)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: Any = None) -> Tensor:
    """Makes a sparse matrix of the rows of ``diagonals``. Column j of the matrix has the elements of column j of
    ``diagonals``: row k stands on the diagonal ``offsets[k]``, which is above the main one if it is positive.

    Args:
        diagonals: a matrix, or a vector for one diagonal
        offsets: int64, distinct, one for each row of ``diagonals``; a number for a vector
        shape: of the result, two numbers
        layout: ``lamella.sparse_coo`` by default

    Raises:
        RuntimeError: the shapes do not fit, or two offsets are equal

    >>> lamella.sparse.spdiags(lamella.tensor([[1.0, 2.0]]), lamella.tensor([1]), (2, 2)).to_dense()
    tensor([[0., 2.],
            [0., 0.]])
    """
    rows = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    at = offsets.reshape(1) if offsets.ndim == 0 else offsets
    if rows.ndim != 2 or at.ndim != 1 or rows.shape[0] != at.shape[0]:
        shapes = f"{tuple(diagonals.shape)} and {tuple(offsets.shape)}"
        raise RuntimeError(
            f"spdiags: arguments 'diagonals' and 'offsets': expected a row for each offset, got {shapes}"
        )
    if at.dtype != lamella.int64:
        raise RuntimeError(f"spdiags: argument 'offsets' must be int64, got {at.dtype}")
    if len(shape) != 2 or min(shape) < 0:
        raise RuntimeError(f"spdiags: argument 'shape' must be two sizes, got {tuple(shape)}")
    if len(set(at.tolist())) != at.shape[0]:
        raise RuntimeError(f"spdiags: argument 'offsets' has equal elements: {at.tolist()}")
    number = 1 if layout is None else number_of("spdiags", layout)
    if not number:
        raise RuntimeError("spdiags: argument 'layout' must be sparse_coo, sparse_csr or sparse_csc, got strided")
    columns = lamella.arange(rows.shape[1], device=rows.device).expand(rows.shape)  # type: ignore[attr-defined]
    lines = columns - at.unsqueeze(1)
    inside = (lines >= 0) & (lines < shape[0]) & (columns < shape[1])
    places = lamella.stack([lines[inside], columns[inside]])  # type: ignore[attr-defined]
    made = operators()._coo(places, rows[inside], list(shape), False, False)
    return converted("spdiags", operators().coalesce(made), number, None, None, None)


def as_sparse_gradcheck(gradcheck: Callable[..., bool]) -> Callable[..., bool]:
    """Makes a function that checks gradients, as ``lamella.autograd.gradcheck``, take and return sparse tensors.

    Sparse inputs are varied at their places; of sparse results the values are compared.

    >>> check = lamella.sparse.as_sparse_gradcheck(lamella.autograd.gradcheck)
    >>> x = lamella.eye(2, dtype=lamella.float64).to_sparse().requires_grad_()
    >>> check(lambda x: x.sin(), (x,))
    True
    """

    def check(func: Callable[..., Any], inputs: Any, **options: Any) -> bool:
        given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
        masks = [t.detach() if isinstance(t, Tensor) and layout_number(t) else None for t in given]
        masks = [m.coalesce() if m is not None and layout_number(m) == 1 else m for m in masks]  # type: ignore[attr-defined]

        def by_values(*values: Any) -> Any:
            args = [v if m is None else operators()._with_values(m, v) for m, v in zip(masks, values, strict=True)]
            found = func(*args)
            results = found if isinstance(found, tuple | list) else (found,)
            plain = [operators()._values(r) if isinstance(r, Tensor) and layout_number(r) else r for r in results]
            return tuple(plain) if isinstance(found, tuple | list) else plain[0]

        varied = [
            t if m is None else operators()._values(m).detach().clone().requires_grad_(t.requires_grad)
            for m, t in zip(masks, given, strict=True)
        ]
        return gradcheck(by_values, tuple(varied), **options)

    return check


def rows_of_table(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False) -> Tensor:
    """Returns the rows of a table at indices. The gradient of the table is sparse, with an entry for each index; see
    ``lamella.nn.functional.embedding``, whose ``sparse=True`` calls this function.

    >>> table = lamella.zeros(4, 2).requires_grad_()
    >>> lamella.sparse.rows_of_table(table, lamella.tensor([2, 2])).sum().backward()
    >>> table.grad
    tensor(indices=tensor([[2, 2]]),
           values=tensor([[1., 1.],
                          [1., 1.]]),
           size=(4, 2), nnz=2, layout=lamella.sparse_coo)
    """
    return operators().embedding(weight, indices, padding_idx, scale_grad_by_freq)


__all__ = [
    "addmm",
    "as_sparse_gradcheck",
    "log_softmax",
    "mm",
    "rows_of_table",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]
