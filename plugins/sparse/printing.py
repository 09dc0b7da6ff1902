"""The printed form of sparse tensors, which shows indices and values as torch prints them."""

from __future__ import annotations

from typing import Any

from lamella import Tensor

from . import library

PARTS = {
    1: (("indices", "_outer"), ("values", "_values")),
    2: (("crow_indices", "_outer"), ("col_indices", "_inner"), ("values", "_values")),
    3: (("ccol_indices", "_outer"), ("row_indices", "_inner"), ("values", "_values")),
}


def part_text(part: Tensor, indent: int) -> str:
    """Returns the text of a part: its elements, or ``...`` and its size if it has none or they cannot be read."""
    from lamella._tensor import printing

    if part.device.type == "meta":
        return f"..., size={tuple(part.shape)}"
    if part.numel() == 0:
        return f"[], size={tuple(part.shape)}"
    return printing.body(part, indent)


def text(tensor: Tensor) -> str | None:
    """Returns the printed form of a sparse tensor; None for another one."""
    layout = library.layout_number(tensor)
    if not layout:
        return None
    import lamella
    from lamella._devices import host
    from lamella._tensor import printing
    from lamella.plugins import contributions

    detached: Any = tensor.detach()
    operators = library.operators()
    kind = type(tensor)
    start = "tensor(" if kind is Tensor else f"{kind.__name__}("
    lines = []
    for name, operator in PARTS[layout]:
        prefix = f"{name}=tensor("
        found = getattr(operators, operator)(detached).detach()
        lines.append(f"{prefix}{part_text(found, len(start) + len(prefix))})")
    made = start + (",\n" + " " * len(start)).join(lines)
    notes = []
    if tensor.device.type != host().type:
        notes.append(f"device='{tensor.device}'")
    numbers = library.described(detached)
    assert numbers is not None
    notes += [f"size={tuple(tensor.shape)}", f"nnz={numbers['nnz']}"]
    natural = {lamella.get_default_dtype(), lamella.int64, lamella.bool}
    if tensor.dtype not in natural:
        notes.append(f"dtype={tensor.dtype}")
    notes.append(f"layout={library.LAYOUTS[layout]}")
    notes += [said for note in contributions.place("repr").objects if (said := note(tensor)) is not None]
    if layout == 1:  # the notes begin a line of their own
        made += ",\n" + " " * len(start) + notes.pop(0)
    return printing.append(made, notes, len(start))
