"""The functions that make sparse tensors, under torch's names."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import Tensor

from .library import LAYOUTS, number_of, operators

checks: list[bool] = [True]  # check_invariants of calls that do not give it; see invariants.py
ROWS, COLUMNS = ("crow_indices", "col_indices"), ("ccol_indices", "row_indices")


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
        lines, width = p.shape[-1] - 1, int(i.max().tolist()) + 1 if i.numel() else 0
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


functions = {
    f.__name__: f
    for f in (
        sparse_coo_tensor,
        sparse_compressed_tensor,
        sparse_csr_tensor,
        sparse_csc_tensor,
        sparse_bsr_tensor,
        sparse_bsc_tensor,
    )
}
