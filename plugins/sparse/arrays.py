"""Sparse arrays of scipy, in both directions without a copy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import lamella
from lamella import Tensor

from .library import described
from .library import operators as loaded


def from_scipy(matrix: Any) -> Tensor:
    """Makes a sparse tensor over the memory of a sparse matrix or array of scipy: COO, CSR or CSC.

    The values share their memory, so that a write to one is seen by the other. The indices of CSR and CSC share it,
    too, if they are int32 or int64; those of COO if they are one array of int64, else they are copied.

    Raises:
        TypeError: the argument is no sparse matrix of scipy, or has another format; its ``tocsr()`` converts it
        RuntimeError: the indices are out of range, unsorted or not distinct; ``sum_duplicates()`` puts them in order

    >>> import scipy.sparse
    >>> lamella.sparse.from_scipy(scipy.sparse.eye(2, format="csr")).to_dense()
    tensor([[1., 0.],
            [0., 1.]], dtype=lamella.float64)
    """
    kind = getattr(matrix, "format", None)
    if kind in ("csr", "csc") and hasattr(matrix, "indptr"):
        p, i = lamella.as_tensor(matrix.indptr), lamella.as_tensor(matrix.indices)
        if p.dtype != i.dtype:
            p = p.to(i.dtype)
        layout = 2 if kind == "csr" else 3
        return loaded()._compressed(p, i, lamella.as_tensor(matrix.data), list(matrix.shape), layout, True)
    if kind == "coo" and hasattr(matrix, "data"):
        at = lamella.as_tensor(coordinates(matrix))
        return loaded()._coo(at.to(lamella.int64), lamella.as_tensor(matrix.data), list(matrix.shape), False, True)
    raise TypeError(
        f"from_scipy: argument 'matrix' must be a sparse matrix of scipy in format coo, csr or csc, got "
        f"{type(matrix).__name__}; its tocsr() converts others"
    )


def coordinates(matrix: Any) -> Any:
    """Returns the indices of a COO matrix as one array: that whose rows its index arrays are, or a copy."""
    import numpy

    rows = list(matrix.coords) if hasattr(matrix, "coords") else [matrix.row, matrix.col]
    base = rows[0].base
    if base is not None and base.shape == (len(rows), len(rows[0])):
        if all(r.base is base and r.ctypes.data == base[d].ctypes.data for d, r in enumerate(rows)):
            return base
    return numpy.stack(rows) if rows else numpy.zeros((0, len(matrix.data)), numpy.int64)


def to_scipy(input: Tensor) -> Any:
    """Returns a sparse array of scipy over the memory of a sparse tensor: ``coo_array``, ``csr_array`` or
    ``csc_array``.

    Values and indices share their memory. A tensor of another device is copied to the host.

    Raises:
        TypeError: the tensor is strided, or has dense or batch dimensions
        RuntimeError: it requires a gradient; ``detach()`` it

    >>> lamella.sparse.to_scipy(lamella.eye(2).to_sparse_csr()).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    sparse: Any = import_module("scipy.sparse")
    found = described(input)
    if found is None or found["dense_dim"] or found["batch"]:
        raise TypeError(
            f"to_scipy: argument 'input' must be a sparse tensor without dense and batch dimensions, got layout "
            f"{input.layout} and shape {tuple(input.shape)}"  # type: ignore[attr-defined]
        )
    if getattr(input, "requires_grad", False):  # without autograd no tensor has the attribute
        raise RuntimeError("to_scipy: argument 'input' requires a gradient, which scipy does not follow; detach() it")
    here = input.cpu()
    operators = loaded()
    values, outer = operators._values(here).numpy(), operators._outer(here).numpy()
    shape = tuple(here.shape)
    if found["layout"] == 1:
        if len(shape) == 2:
            return sparse.coo_array((values, (outer[0], outer[1])), shape=shape, copy=False)
        return sparse.coo_array((values, tuple(outer)), shape=shape, copy=False)
    kind = sparse.csr_array if found["layout"] == 2 else sparse.csc_array
    return kind((values, operators._inner(here).numpy(), outer), shape=shape, copy=False)
