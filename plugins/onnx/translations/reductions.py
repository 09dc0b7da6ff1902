"""Reductions, scans and sorts."""

from __future__ import annotations

from typing import Any

import lamella

from ..table import row, rows


def axes_of(x: Any, dim: Any) -> list[int] | None:
    """Returns the axes of a reduction; None for all."""
    return None if dim is None or dim == [] or not x.ndim else [dim] if isinstance(dim, int) else list(dim)


def reduced(node: str) -> Any:
    """Returns a translation of a reduction: it converts to the dtype of the result first."""

    def translate(g: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return getattr(g, node)(g.cast(x, g.dtype), axes_of(x, dim), keepdims=int(keepdim))

    return translate


def chosen(node: str) -> Any:
    """Returns a translation of argmax and argmin."""

    def translate(g: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is not None and x.ndim:
            return getattr(g, node)(x, axis=dim, keepdims=int(keepdim))
        place = getattr(g, node)(g.Reshape(x, [-1]), axis=0, keepdims=0)
        return g.Reshape(place, [1] * x.ndim) if keepdim else place

    return translate


def with_places(largest: bool) -> Any:
    """Returns a translation of max and min along a dimension, which return values and their places."""
    values, places = (reduced("ReduceMax"), chosen("ArgMax")) if largest else (reduced("ReduceMin"), chosen("ArgMin"))
    return lambda g, x, dim, keepdim=False: (values(g, x, dim, keepdim), places(g, x, dim, keepdim))


def of_flags(node: str) -> Any:
    """Returns a translation of any and all: ONNX reduces numbers alone."""

    def translate(g: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        made = getattr(g, node)(g.cast(g.flags(x), lamella.int32), axes_of(x, dim), keepdims=int(keepdim))
        found = g.Greater(made, g.number(0, lamella.int32))
        found.dtype = lamella.bool
        return found  # of uint8 the results are uint8, to which it is converted

    return translate


def norm(g: Any, x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    node = "ReduceL1" if p == 1 else "ReduceL2"
    return getattr(g, node)(g.cast(x, g.dtype), axes_of(x, dim), keepdims=int(keepdim))


def top(g: Any, x: Any, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if not x.ndim:
        return x, g.number(0, lamella.int64)
    return g.TopK(x, [k], outputs=2, axis=dim, largest=int(largest), sorted=int(sorted))


def in_order(g: Any, x: Any, dim: int = -1, descending: bool = False) -> Any:
    """Sorts by TopK of all elements, in which equal ones keep their order."""
    return top(g, x, x.shape[dim] if x.ndim else 1, dim, descending)


rows(
    {
        "sum": reduced("ReduceSum"),
        "mean": reduced("ReduceMean"),
        "prod": reduced("ReduceProd"),
        "amax": reduced("ReduceMax"),
        "amin": reduced("ReduceMin"),
        "max": reduced("ReduceMax"),
        "min": reduced("ReduceMin"),
        "max.dim": with_places(True),
        "min.dim": with_places(False),
        "argmax": chosen("ArgMax"),
        "argmin": chosen("ArgMin"),
        "any": of_flags("ReduceMax"),
        "all": of_flags("ReduceMin"),
        "topk": top,
        "sort": in_order,
        "sort.stable": lambda g, x, *, stable=None, dim=-1, descending=False: in_order(g, x, dim, descending),
        "argsort": lambda g, x, dim=-1, descending=False: in_order(g, x, dim, descending)[1],
        "argsort.stable": lambda g, x, *, stable=None, dim=-1, descending=False: in_order(g, x, dim, descending)[1],
        "cumsum": lambda g, x, dim: g.CumSum(g.cast(x, g.dtype), g.number(dim, lamella.int64)) if x.ndim else x,
    }
)
row("norm", when=lambda given: given.get("p", 2) in (1, 2, None) or given["p"] == "fro")(norm)
