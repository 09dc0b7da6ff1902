"""Tensors that are made of numbers."""

from __future__ import annotations

from typing import Any

from ..table import rows


def full(g: Any, size: list[Any], value: Any = 0) -> Any:
    return g.Expand(g.number(value, g.dtype), list(size))


def like(g: Any, x: Any, value: Any = 0) -> Any:
    return g.Expand(g.number(value, g.dtype), g.Shape(x))


def numbers(g: Any, *bounds: Any) -> Any:
    start, end, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return g.Range(*(g.number(v, g.dtype) for v in (start, end, step)))


def filled(g: Any, x: Any, value: Any = 0) -> Any:
    value = g.cast(value, x.dtype) if isinstance(value, str) else g.number(value, x.dtype)
    return g.Expand(value, g.Shape(x))


rows(
    {
        "zeros": full,
        "ones": lambda g, size: full(g, size, 1),
        "full": full,
        "empty": full,
        "empty_strided": lambda g, size, stride: full(g, size),
        "zeros_like": like,
        "ones_like": lambda g, x: like(g, x, 1),
        "full_like": like,
        "empty_like": like,
        "arange": numbers,
        "scalar_tensor": lambda g, value: g.number(value, g.dtype),
        "fill": filled,
        "zero": filled,
    }
)
