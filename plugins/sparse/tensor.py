"""The methods of tensors that make sparse tensors and read them, and products, under torch's names."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import Tensor

from .library import LAYOUTS, described, layout_number, number_of, operators


def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiplies two matrices, of which one or both are sparse: ``lamella.mm``.

    >>> lamella.spmm(lamella.eye(2).to_sparse(), lamella.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return lamella.mm(input, mat2)  # type: ignore[attr-defined]


def dsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Another name of ``spmm``, which torch has."""
    return spmm(input, mat2)


def hsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Another name of ``spmm``, which torch has."""
    return spmm(input, mat2)


def smm(input: Tensor, mat: Tensor) -> Tensor:
    """Multiplies a sparse matrix with a dense one, and returns the product as a sparse tensor.

    >>> lamella.smm(lamella.eye(2).to_sparse(), lamella.ones(2, 1)).layout
    lamella.sparse_coo
    """
    return to_sparse(spmm(input, mat))


def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """Multiplies a sparse COO matrix with a dense one. The product is sparse in its rows, and its columns are dense.

    >>> lamella.hspmm(lamella.eye(2).to_sparse(), lamella.ones(2, 1)).dense_dim()
    1
    """
    return to_sparse(spmm(mat1, mat2), 1)


def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Returns ``beta input + alpha (mat1 @ mat2)`` as a sparse tensor: ``input`` and ``mat1`` are sparse COO matrices,
    and ``mat2`` is dense.

    >>> x = lamella.eye(2).to_sparse()
    >>> lamella.sspaddmm(x, x, lamella.ones(2, 2)).to_dense()
    tensor([[2., 1.],
            [1., 2.]])
    """
    expected("sspaddmm", input, 1)
    return (input * beta).add(smm(mat1, mat2), alpha=alpha)


# ---- methods ------------------------------------------------------------------------------------------------------


def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """Returns a tensor of layout strided with the elements of a sparse one; a strided tensor itself.

    Args:
        masked_grad: False is refused for a sparse tensor that requires a gradient, which has the places of the tensor

    >>> lamella.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (2,)).to_dense()
    tensor([3., 0.])
    """
    if not layout_number(self):
        return self if dtype is None else self.to(dtype)
    if masked_grad is False and getattr(self, "requires_grad", False):
        raise NotImplementedError("to_dense: argument 'masked_grad': a gradient has the places of the sparse tensor")
    return operators().to_dense(self, dtype)


def converted(
    name: str, self: Tensor, layout: int, sparse_dim: int | None, dense_dim: int | None, blocksize: Any
) -> Tensor:
    if blocksize is not None or layout > 3:
        raise NotImplementedError(f"{name}: layouts of blocks are not here; to_sparse_csr() has single elements")
    if not layout:
        return to_dense(self)
    if sparse_dim is None and dense_dim is None and layout_number(self) == layout:
        return self
    return operators().to_sparse(self, layout, sparse_dim, dense_dim)


def to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Any = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:
    """Returns a sparse tensor with the elements of a tensor that are not 0, or with the entries of a sparse one.

    Args:
        sparse_dim: the number of sparse dimensions; the others are dense. By default all are sparse
        layout: ``lamella.sparse_coo`` (by default), ``sparse_csr`` or ``sparse_csc``
        dense_dim: the number of dense dimensions, for the compressed layouts

    >>> lamella.tensor([0.0, 5.0]).to_sparse()
    tensor(indices=tensor([[1]]),
           values=tensor([5.]),
           size=(2,), nnz=1, layout=lamella.sparse_coo)
    """
    if sparse_dim is not None and not isinstance(sparse_dim, int):
        sparse_dim, layout = None, sparse_dim
    number = 1 if layout is None else number_of("to_sparse", layout)
    return converted("to_sparse", self, number, sparse_dim, dense_dim, blocksize)


def to_sparse_coo(self: Tensor) -> Tensor:
    """Returns the tensor with layout ``sparse_coo``.

    >>> lamella.eye(2).to_sparse_csr().to_sparse_coo().indices().tolist()
    [[0, 1], [0, 1]]
    """
    return converted("to_sparse_coo", self, 1, None, None, None)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """Returns a matrix with layout ``sparse_csr``. The last ``dense_dim`` dimensions stay dense.

    >>> lamella.eye(2).to_sparse_csr().crow_indices()
    tensor([0, 1, 2])
    """
    return converted("to_sparse_csr", self, 2, None, dense_dim, None)


def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """Returns a matrix with layout ``sparse_csc``. The last ``dense_dim`` dimensions stay dense.

    >>> lamella.eye(2).to_sparse_csc().ccol_indices()
    tensor([0, 1, 2])
    """
    return converted("to_sparse_csc", self, 3, None, dense_dim, None)


def to_sparse_bsr(self: Tensor, blocksize: Any = None, dense_dim: int | None = None) -> Tensor:
    """Raises NotImplementedError: matrices of blocks are not here; `to_sparse_csr` has single elements."""
    return converted("to_sparse_bsr", self, 4, None, dense_dim, blocksize)


def to_sparse_bsc(self: Tensor, blocksize: Any = None, dense_dim: int | None = None) -> Tensor:
    """Raises NotImplementedError: matrices of blocks are not here; `to_sparse_csc` has single elements."""
    return converted("to_sparse_bsc", self, 5, None, dense_dim, blocksize)


def expected(name: str, self: Tensor, *layouts: int) -> dict[str, int]:
    """Returns the numbers of a tensor of one of these layouts; raises for another one."""
    found = described(self)
    if found is None or found["layout"] not in layouts:
        wanted = " or ".join(str(LAYOUTS[n]).rpartition(".")[2] for n in layouts)
        have = str(LAYOUTS[found["layout"] if found else 0]).rpartition(".")[2]
        raise RuntimeError(
            f"{name}: expected a tensor of layout {wanted}, got {have}; to_sparse(layout=...) converts it"
        )
    return found


def coalesced_part(name: str, self: Tensor, operator: str) -> Tensor:
    found = expected(name, self, 1) if name == "indices" else expected(name, self, 1, 2, 3)
    if not found["coalesced"]:
        raise RuntimeError(
            f"{name}: the tensor is not coalesced, and places may have several entries; call .coalesce() first"
        )
    return getattr(operators(), operator)(self)


def indices(self: Tensor) -> Tensor:
    """Returns the indices of a coalesced COO tensor, int64 of shape (sparse dimensions, entries).

    >>> lamella.tensor([0.0, 5.0]).to_sparse().indices()
    tensor([[1]])
    """
    return coalesced_part("indices", self, "_outer")


def values(self: Tensor) -> Tensor:
    """Returns the values of a compressed or a coalesced COO tensor: its own memory, not a copy.

    >>> lamella.tensor([0.0, 5.0]).to_sparse().values()
    tensor([5.])
    """
    return coalesced_part("values", self, "_values")


def _indices(self: Tensor) -> Tensor:
    """Returns the indices of a COO tensor, coalesced or not."""
    expected("_indices", self, 1)
    return operators()._outer(self)


def _values(self: Tensor) -> Tensor:
    """Returns the values of a COO tensor, coalesced or not, without history."""
    expected("_values", self, 1)
    return operators()._values(self.detach())


def _nnz(self: Tensor) -> int:
    """Returns the number of entries of a sparse tensor; of each matrix of a batch."""
    return expected("_nnz", self, 1, 2, 3)["nnz"]


def crow_indices(self: Tensor) -> Tensor:
    """Returns the row pointers of a tensor of layout ``sparse_csr``."""
    expected("crow_indices", self, 2)
    return operators()._outer(self)


def col_indices(self: Tensor) -> Tensor:
    """Returns the column indices of a tensor of layout ``sparse_csr``."""
    expected("col_indices", self, 2)
    return operators()._inner(self)


def ccol_indices(self: Tensor) -> Tensor:
    """Returns the column pointers of a tensor of layout ``sparse_csc``."""
    expected("ccol_indices", self, 3)
    return operators()._outer(self)


def row_indices(self: Tensor) -> Tensor:
    """Returns the row indices of a tensor of layout ``sparse_csc``."""
    expected("row_indices", self, 3)
    return operators()._inner(self)


def coalesce(self: Tensor) -> Tensor:
    """Returns a COO tensor with each place once, in order; itself if it is so already. Values of one place are added.

    >>> lamella.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 3.0]).coalesce().values()
    tensor([2., 4.])
    """
    expected("coalesce", self, 1)
    return operators().coalesce(self)


def is_coalesced(self: Tensor) -> bool:
    """Returns True if a COO tensor is known to have each place once, in order."""
    return bool(expected("is_coalesced", self, 1)["coalesced"])


def sparse_dim(self: Tensor) -> int:
    """Returns the number of sparse dimensions; 0 for a strided tensor."""
    found = described(self)
    return found["sparse_dim"] if found else 0


def dense_dim(self: Tensor) -> int:
    """Returns the number of dense dimensions: all of them for a strided tensor."""
    found = described(self)
    return found["dense_dim"] if found else self.ndim


def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """Returns a sparse tensor with the places of ``mask`` and the elements of ``self`` there.

    >>> x = lamella.tensor([1.0, 2.0])
    >>> x.sparse_mask(lamella.tensor([0.0, 1.0]).to_sparse()).to_dense()
    tensor([0., 2.])
    """
    if not layout_number(mask):
        raise RuntimeError("sparse_mask: argument 'mask' must be a sparse tensor, got a strided one; call to_sparse()")
    return operators().sparse_mask(self, mask)


def _layout(self: Tensor) -> Any:
    """The layout of the elements: ``lamella.strided``, or a sparse one.

    >>> lamella.ones(1).layout
    lamella.strided
    """
    return LAYOUTS[layout_number(self)]


def _is_sparse(self: Tensor) -> bool:
    """True if the layout is ``sparse_coo``."""
    return layout_number(self) == 1


def _is_sparse_csr(self: Tensor) -> bool:
    """True if the layout is ``sparse_csr``."""
    return layout_number(self) == 2


def indices_copy(input: Tensor) -> Tensor:
    """Returns a copy of ``input.indices()``.

    >>> lamella.indices_copy(lamella.tensor([0.0, 5.0]).to_sparse())
    tensor([[1]])
    """
    return indices(input).clone()


def values_copy(input: Tensor) -> Tensor:
    """Returns a copy of ``input.values()``."""
    return values(input).clone()


def crow_indices_copy(input: Tensor) -> Tensor:
    """Returns a copy of ``input.crow_indices()``."""
    return crow_indices(input).clone()


def col_indices_copy(input: Tensor) -> Tensor:
    """Returns a copy of ``input.col_indices()``."""
    return col_indices(input).clone()


def ccol_indices_copy(input: Tensor) -> Tensor:
    """Returns a copy of ``input.ccol_indices()``."""
    return ccol_indices(input).clone()


def row_indices_copy(input: Tensor) -> Tensor:
    """Returns a copy of ``input.row_indices()``."""
    return row_indices(input).clone()


COPIES = (indices_copy, values_copy, crow_indices_copy, col_indices_copy, ccol_indices_copy, row_indices_copy)
functions = {f.__name__: f for f in (spmm, dsmm, hsmm, smm, hspmm, sspaddmm, *COPIES)}
methods: dict[str, Any] = {
    f.__name__: f
    for f in (
        to_dense,
        to_sparse,
        to_sparse_coo,
        to_sparse_csr,
        to_sparse_csc,
        to_sparse_bsr,
        to_sparse_bsc,
        indices,
        values,
        _indices,
        _values,
        _nnz,
        crow_indices,
        col_indices,
        ccol_indices,
        row_indices,
        coalesce,
        is_coalesced,
        sparse_dim,
        dense_dim,
        sparse_mask,
        smm,
        sspaddmm,
    )
}
methods |= {"_dimI": sparse_dim, "_dimV": dense_dim}
methods |= {
    "layout": property(_layout),
    "is_sparse": property(_is_sparse),
    "is_sparse_csr": property(_is_sparse_csr),
}
