"""Functions of the package in the scripted language, which scripts call in place of those of Python.

Those of Python choose by the types of their arguments when they run, or read defaults of this process.
"""

from __future__ import annotations

from typing import Any, List

import lamella
from lamella import Tensor


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


_REPLACEMENTS: dict[Any, Any] = {}


def replacement(target: Any) -> Any:
    """Returns the function of this file that scripts call for a function of the package; None for another object."""
    return _REPLACEMENTS.get(target)


__all__ = ["lamella"]
