"""The parts of sparse tensors that their printed form shows: indices and values, as torch prints them."""

from __future__ import annotations

from typing import Any

from lamella import Tensor

from . import library

PARTS = {
    1: (("indices", "_outer"), ("values", "_values")),
    2: (("crow_indices", "_outer"), ("col_indices", "_inner"), ("values", "_values")),
    3: (("ccol_indices", "_outer"), ("row_indices", "_inner"), ("values", "_values")),
}


def parts(tensor: Tensor) -> tuple[dict[str, Tensor], list[str], bool] | None:
    """Returns the parts and notes of a sparse tensor in the form of the point "parts"; None for other tensors."""
    layout = library.layout_number(tensor)
    if not layout:
        return None
    detached: Any = tensor.detach()
    operators = library.operators()
    found = {name: getattr(operators, operator)(detached).detach() for name, operator in PARTS[layout]}
    numbers = library.described(detached)
    assert numbers is not None
    return found, [f"nnz={numbers['nnz']}"], layout == 1
