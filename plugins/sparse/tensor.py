"""The functions and methods of tensors that make sparse tensors and read them, under torch's names."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import Tensor

from . import library
from .library import LAYOUTS, described, layout_number, number_of, operators

checks: list[bool] = [True]  # whether the elements of indices are checked where a call does not say; see invariants.py
ROWS, COLUMNS = ("crow_indices", "col_indices"), ("ccol_indices", "row_indices")


# ---- functions ----------------------------------------------------------------------------------------------------


def integers(name: str, argument: str, given: Any, device: Any, dtype: Any = None) -> Tensor:
    """Returns indices as a tensor of integers."""
    found = lamella.as_tensor(given, device=device)
    if found.is_floating_point() or found.is_complex() or found.dtype == lamella.bool:
        if found.numel():
            raise TypeError(f"{name}: argument '{argument}' must be integers, got {found.dtype}; convert them first")
        found = found.to(lamella.int64)
    if dtype is None and found.dtype in (lamella.int32, lamella.int64):
        return found
    return found.to(dtype or lamella.int64)


def finished(made: Tensor, requires_grad: bool) -> Tensor:
    return made.detach().requires_grad_() if requires_grad else made


def numbers_of(given: Any, dtype: Any, device: Any) -> Tensor:
    """Returns values as a tensor. A tensor that is given stays part of its graph."""
    if isinstance(given, Tensor):
        return given if dtype is None and device is None else given.to(device or given.device, dtype or given.dtype)
    return lamella.as_tensor(given, dtype=dtype, device=device)


def sizes_of(name: str, size: Any) -> list[int]:
    sizes = [int(n) for n in size]
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"{name}: argument 'size' must not have negative numbers, got {sizes}")
    return sizes


def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """Makes a sparse tensor of layout ``sparse_coo``: values at places. Entries of one place are added up.

    Args:
        indices: integers of shape (sparse dimensions, entries); or the size, with neither values nor size: a tensor
            without entries
        values: of shape (entries, ...); further dimensions are dense
        size: by default the least one that holds the indices
        dtype, device: by default those of ``values``
        check_invariants: False trusts the indices; kernels still check those that they follow
        is_coalesced: True says that the places are distinct and in order; this is not checked

    Raises:
        RuntimeError: the shapes do not fit, or an index is out of range
        TypeError: the indices are not integers

    >>> lamella.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    name = "sparse_coo_tensor"
    if values is None:
        size, given = (indices, None) if size is None else (size, indices)
        if given is not None:
            raise TypeError(f"{name}: argument 'values' is missing")
        sizes = sizes_of(name, size)
        values = lamella.zeros(0, dtype=dtype, device=device)
        indices = lamella.zeros(len(sizes), 0, dtype=lamella.int64, device=values.device)
    values = numbers_of(values, dtype, device)
    if values.ndim == 0 and not isinstance(indices, Tensor) and not indices:
        values = values.reshape(1)
    at = integers(name, "indices", indices, values.device, lamella.int64)
    if at.ndim == 1 and at.numel() == 0:
        at = at.reshape(1, 0) if values.shape[0] == 0 else at.reshape(0, values.shape[0])
    if at.ndim != 2:
        shape = tuple(at.shape)
        raise RuntimeError(f"{name}: argument 'indices' must have shape (sparse dimensions, entries), got {shape}")
    if size is None:
        if at.shape[1] == 0:
            sizes = [0] * at.shape[0]
        else:
            low, high = at.amin(1).tolist(), at.amax(1).tolist()
            if min(low, default=0) < 0:
                raise RuntimeError(f"{name}: argument 'indices': found a negative index, {min(low)}")
            sizes = [n + 1 for n in high]
        sizes += values.shape[1:]
    else:
        sizes = sizes_of(name, size)
    check = checks[-1] if check_invariants is None else check_invariants
    return finished(operators()._coo(at, values, sizes, bool(is_coalesced), check), requires_grad)


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Makes a sparse tensor of layout ``sparse_csr`` or ``sparse_csc``; see `sparse_csr_tensor`.

    Args:
        layout: ``lamella.sparse_csr`` or ``lamella.sparse_csc``

    >>> lamella.sparse_compressed_tensor([0, 1], [0], [5.0], layout=lamella.sparse_csc).to_dense()
    tensor([[5.]])
    """
    name = "sparse_compressed_tensor"
    if layout is None:
        raise RuntimeError(f"{name}: argument 'layout' is missing: lamella.sparse_csr or lamella.sparse_csc")
    number = number_of(name, layout)
    if number < 2:
        raise RuntimeError(f"{name}: argument 'layout' must be a compressed one, as lamella.sparse_csr, got {layout}")
    return compressed(
        name, number, compressed_indices, plain_indices, values, size, dtype, device, requires_grad, check_invariants
    )


def compressed(
    name: str,
    layout: int,
    pointers: Any,
    indices: Any,
    values: Any,
    size: Any,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    check_invariants: bool | None,
) -> Tensor:
    if layout > 3:
        raise NotImplementedError(f"{name}: {LAYOUTS[layout]} is not here; sparse_csr and sparse_csc are")
    outer, inner = ROWS if layout == 2 else COLUMNS
    values = numbers_of(values, dtype, device)
    p = integers(name, outer, pointers, values.device)
    i = integers(name, inner, indices, values.device)
    if p.ndim == 0 or i.ndim == 0 or values.ndim < i.ndim:
        shapes = ", ".join(str(tuple(t.shape)) for t in (p, i, values))
        raise RuntimeError(f"{name}: expected vectors of pointers, indices and values, got shapes {shapes}")
    if size is None:
        lines, width = p.shape[-1] - 1, int(i.amax().item()) + 1 if i.numel() else 0
        matrix = [lines, width] if layout == 2 else [width, lines]
        sizes = [*p.shape[:-1], *matrix, *values.shape[i.ndim :]]
    else:
        sizes = sizes_of(name, size)
    check = checks[-1] if check_invariants is None else check_invariants
    return finished(operators()._compressed(p, i, values, sizes, layout, check), requires_grad)


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Makes a sparse matrix of layout ``sparse_csr``: row r has the entries from ``crow_indices[r]`` up to
    ``crow_indices[r + 1]``.

    Args:
        crow_indices: int64 or int32, of shape (..., rows + 1); dimensions in front make a batch of matrices
        col_indices: of the same dtype, of shape (..., entries); in each row sorted and distinct
        values: of shape (..., entries, ...); dimensions at the end are dense
        size: by default the least one
        check_invariants: False trusts the indices; kernels still check those that they follow

    Raises:
        RuntimeError: the shapes do not fit, or the indices are out of range, unsorted or not distinct
        TypeError: the indices are not integers

    >>> lamella.sparse_csr_tensor([0, 1, 3], [2, 0, 1], [1.0, 2.0, 3.0]).to_dense()
    tensor([[0., 0., 1.],
            [2., 3., 0.]])
    """
    return compressed(
        "sparse_csr_tensor", 2, crow_indices, col_indices, values, size, dtype, device, requires_grad, check_invariants
    )


def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Makes a sparse matrix of layout ``sparse_csc``: `sparse_csr_tensor` with rows and columns exchanged.

    >>> lamella.sparse_csc_tensor([0, 1, 2], [1, 0], [1.0, 2.0]).to_dense()
    tensor([[0., 2.],
            [1., 0.]])
    """
    return compressed(
        "sparse_csc_tensor", 3, ccol_indices, row_indices, values, size, dtype, device, requires_grad, check_invariants
    )


def sparse_bsr_tensor(*args: Any, **kwargs: Any) -> Tensor:
    """Raises NotImplementedError: matrices of blocks are not here; `sparse_csr_tensor` has single elements."""
    raise NotImplementedError("sparse_bsr_tensor: layout sparse_bsr is not here; use sparse_csr_tensor")


def sparse_bsc_tensor(*args: Any, **kwargs: Any) -> Tensor:
    """Raises NotImplementedError: matrices of blocks are not here; `sparse_csc_tensor` has single elements."""
    raise NotImplementedError("sparse_bsc_tensor: layout sparse_bsc is not here; use sparse_csc_tensor")


def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiplies two matrices, of which one or both are sparse: ``lamella.mm``.

    >>> lamella.spmm(lamella.eye(2).to_sparse(), lamella.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return lamella.mm(input, mat2)  # type: ignore[attr-defined]


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
    if masked_grad is False and self.requires_grad:
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
        raise RuntimeError(f"{name}: expected a tensor of layout {wanted}, got {have}; to_sparse(layout=...) converts it")
    return found


def coalesced_part(name: str, self: Tensor, operator: str) -> Tensor:
    found = expected(name, self, 1) if name == "indices" else expected(name, self, 1, 2, 3)
    if not found["coalesced"]:
        raise RuntimeError(f"{name}: the tensor is not coalesced, and places may have several entries; call .coalesce() first")
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
    """Whether a COO tensor is known to have each place once, in order."""
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
    """Whether the layout is ``sparse_coo``."""
    return layout_number(self) == 1


def _is_sparse_csr(self: Tensor) -> bool:
    """Whether the layout is ``sparse_csr``."""
    return layout_number(self) == 2


functions = {
    f.__name__: f
    for f in (
        sparse_coo_tensor,
        sparse_compressed_tensor,
        sparse_csr_tensor,
        sparse_csc_tensor,
        sparse_bsr_tensor,
        sparse_bsc_tensor,
        spmm,
        smm,
        hspmm,
    )
}
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
    )
}
methods |= {"_dimI": sparse_dim, "_dimV": dense_dim}
methods |= {
    "layout": property(_layout),
    "is_sparse": property(_is_sparse),
    "is_sparse_csr": property(_is_sparse_csr),
}
