"""Functions of the package in the scripted language, which scripts call in place of those of Python.

Those of Python choose by the types of their arguments when they run, or read defaults of this process.
"""

from __future__ import annotations

from typing import Any, List, Optional

import lamella
from lamella import Tensor

# ---- tensors ---------------------------------------------------------------------------------------------------------


def transposed(x: Tensor) -> Tensor:
    if x.dim() <= 2:
        return x.t()
    return x.permute([x.dim() - 1 - i for i in range(x.dim())])


def sum_of_tensors(xs: List[Tensor]) -> Tensor:
    total = xs[0] + 0
    for i in range(1, len(xs)):
        total = total + xs[i]
    return total


def product(sizes: List[int]) -> int:
    n = 1
    for size in sizes:
        n = n * size
    return n


def type_as(self: Tensor, other: Tensor) -> Tensor:
    return self.to(other.dtype)


def cpu(self: Tensor) -> Tensor:
    return self.to("cpu")


def cuda(self: Tensor) -> Tensor:
    return self.to("cuda")


def view_as(self: Tensor, other: Tensor) -> Tensor:
    return self.view(other.size())


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    return self.reshape(other.size())


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    return self.expand(other.size())


def new_zeros(
    self: Tensor, size: List[int], dtype: Optional[lamella.dtype] = None, device: Optional[lamella.device] = None
) -> Tensor:
    return lamella.zeros(
        size, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device
    )


def new_ones(
    self: Tensor, size: List[int], dtype: Optional[lamella.dtype] = None, device: Optional[lamella.device] = None
) -> Tensor:
    return lamella.ones(
        size, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device
    )


def new_empty(
    self: Tensor, size: List[int], dtype: Optional[lamella.dtype] = None, device: Optional[lamella.device] = None
) -> Tensor:
    return lamella.empty(
        size, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device
    )


def new_full(
    self: Tensor,
    size: List[int],
    fill_value: lamella.types.Number,
    dtype: Optional[lamella.dtype] = None,
    device: Optional[lamella.device] = None,
) -> Tensor:
    return lamella.full(
        size, fill_value, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device
    )


def adjoint(self: Tensor) -> Tensor:
    return self.transpose(-2, -1)


def resolve_conj(self: Tensor) -> Tensor:
    return self


def resolve_neg(self: Tensor) -> Tensor:
    return self


def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    return bool(lamella.isclose(self, other, rtol, atol, equal_nan).all())


def nonzero(input: Tensor) -> Tensor:
    return lamella.ops.aten.nonzero(input)


# ---- replacements ----------------------------------------------------------------------------------------------------

_REPLACEMENTS: dict[Any, Any] = {
    lamella.allclose: allclose,
    lamella.adjoint: adjoint,
    lamella.resolve_conj: resolve_conj,
    lamella.resolve_neg: resolve_neg,
}


def replacement(target: Any) -> Any:
    """Returns the function of this file that scripts call for a function of the package; None for another object."""
    return _REPLACEMENTS.get(target)


__all__ = ["lamella"]
