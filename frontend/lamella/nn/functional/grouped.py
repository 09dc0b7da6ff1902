"""Grouped products of matrices. The functions for scaled 8-bit numbers exist by name only."""

from __future__ import annotations

from typing import Any

from lamella._C import bfloat16
from lamella.nn.functional._operators import op

__all__ = ["grouped_mm", "scaled_grouped_mm", "scaled_mm"]

_cat, _stack, _zeros, _bmm = op("cat"), op("stack"), op("zeros"), op("bmm")


def _ends(offs: Any, size: int) -> list[int]:
    """Returns the ends of the groups along a dimension of ``size`` elements."""
    if offs is None:
        raise RuntimeError("grouped_mm: argument 'offs' is missing: a 2D operand needs the ends of its groups")
    if offs.ndim != 1 or str(offs.dtype) != "lamella.int32":
        raise RuntimeError(
            f"grouped_mm: argument 'offs': expected one dimension of int32, got {tuple(offs.shape)} of {offs.dtype}"
        )
    ends = offs.tolist()
    if any(a > b for a, b in zip([0, *ends], [*ends, size], strict=True)):
        raise RuntimeError(f"grouped_mm: argument 'offs': expected ascending ends from 0 to {size}, got {ends}")
    return ends


def grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None):
    """Returns a product of matrices for each of several groups.

    Args:
        mat_a: (G, M, K); or 2D, (M, K), with groups along M, or along K if ``mat_b`` is 2D as well
        mat_b: (G, K, N); or 2D, (K, N), with groups along N, or along K if ``mat_a`` is 2D as well
        offs: the ends of the groups of a 2D operand, int32, ascending; rows or columns after the last end are
            ignored, and where the result has them, they are 0
        bias: not supported, as in torch
        out_dtype: None or the dtype of the operands, which is float32, bfloat16 or float16

    >>> a, b = lamella.ones(4, 2), lamella.tensor([[[1.0], [1.0]], [[2.0], [3.0]]])
    >>> lamella.nn.functional.grouped_mm(a, b, offs=lamella.tensor([1, 4], dtype=lamella.int32)).flatten()
    tensor([2., 5., 5., 5.])
    """
    for name, t in (("mat_a", mat_a), ("mat_b", mat_b)):
        if t.ndim not in (2, 3):
            raise RuntimeError(f"grouped_mm: argument '{name}' has to be 2 or 3d, got shape {tuple(t.shape)}")
        if not t.is_floating_point() or t.element_size() > 4:
            raise RuntimeError(f"grouped_mm: argument '{name}': expected Float32, BFloat16 or Float16, got {t.dtype}")
    if bias is not None:
        raise RuntimeError("grouped_mm: argument 'bias': Bias not supported yet; add it to the result")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError(f"grouped_mm: argument 'out_dtype': must be that of `mat_a`, {mat_a.dtype}, got {out_dtype}")
    if mat_a.shape[-1] != mat_b.shape[-2]:
        raise RuntimeError(
            "grouped_mm: contraction dimension of mat_a and mat_b must match, got shapes "
            f"{tuple(mat_a.shape)} and {tuple(mat_b.shape)}"
        )
    if mat_a.ndim == mat_b.ndim == 3:
        if offs is not None:
            raise RuntimeError(
                "grouped_mm: argument 'offs': two 3D operands have their groups without it, so leave it None"
            )
        return _bmm(mat_a, mat_b)
    grouped = mat_a.shape[-1] if mat_a.ndim == mat_b.ndim else mat_a.shape[0] if mat_a.ndim == 2 else mat_b.shape[1]
    ends = _ends(offs, grouped)
    spans = list(zip([0, *ends], ends, strict=False))
    both = mat_a if mat_a.ndim == 3 else mat_b
    if both.ndim == 3 and both.shape[0] != len(ends):
        raise RuntimeError(f"grouped_mm: argument 'offs': {len(ends)} groups, but an operand has {both.shape[0]}")
    if both.ndim == 2:
        return _stack([mat_a[:, first:end] @ mat_b[first:end] for first, end in spans])
    left = mat_a.ndim == 2
    parts = [
        mat_a[first:end] @ mat_b[i] if left else mat_a[i] @ mat_b[:, first:end] for i, (first, end) in enumerate(spans)
    ]
    rest = grouped - (ends[-1] if ends else 0)
    if rest:
        shape = (rest, mat_b.shape[-1]) if left else (mat_a.shape[1], rest)
        parts.append(_zeros(shape, dtype=mat_a.dtype, device=mat_a.device))
    return _cat(parts, 0 if left else 1)


def _refuse(who: str) -> None:
    raise NotImplementedError(f"{who}: there are no numbers of 8 bits or less here, which it multiplies; use matmul")


def scaled_mm(
    mat_a,
    mat_b,
    scale_a,
    scale_recipe_a,
    scale_b,
    scale_recipe_b,
    swizzle_a=None,
    swizzle_b=None,
    bias=None,
    output_dtype=bfloat16,
    contraction_dim=(),
    use_fast_accum=False,
):
    """Raises NotImplementedError, since there are no numbers of 8 bits or less here, which it multiplies.

    >>> lamella.nn.functional.scaled_mm(lamella.ones(2, 2), lamella.ones(2, 2), None, None, None, None)
    Traceback (most recent call last):
    NotImplementedError: scaled_mm: there are no numbers of 8 bits or less here, which it multiplies; use matmul
    """
    _refuse("scaled_mm")


def scaled_grouped_mm(
    mat_a,
    mat_b,
    scale_a,
    scale_recipe_a,
    scale_b,
    scale_recipe_b,
    swizzle_a=None,
    swizzle_b=None,
    bias=None,
    offs=None,
    output_dtype=bfloat16,
    contraction_dim=(),
    use_fast_accum=False,
):
    """Raises NotImplementedError, since there are no numbers of 8 bits or less here, which it multiplies.

    >>> lamella.nn.functional.scaled_grouped_mm(lamella.ones(2, 2), lamella.ones(2, 2), None, None, None, None)
    Traceback (most recent call last):
    NotImplementedError: scaled_grouped_mm: there are no numbers of 8 bits or less here, which it multiplies; use matmul
    """
    _refuse("scaled_grouped_mm")
