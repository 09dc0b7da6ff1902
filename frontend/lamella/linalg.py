"""Linear algebra over batches of matrices, under the names of torch.linalg.

The last two dimensions of a tensor are those of its matrices, and the dimensions before them are the batch.
Factorizations and solvers take float32, float64, complex64 and complex128. Their operators are contributed to this
module; a matrix that a factorization cannot take raises :class:`LinAlgError`, whose text names the matrix.

>>> lamella.linalg.solve(lamella.tensor([[2.0, 0.0], [0.0, 4.0]]), lamella.tensor([2.0, 2.0]))
tensor([1.0000, 0.5000])
"""

from __future__ import annotations

from lamella.library import error_class

__all__ = ["LinAlgError"]

LinAlgError = error_class("LinAlgError")
