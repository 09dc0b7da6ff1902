"""Reading and writing at indices."""

from __future__ import annotations

from typing import Any

import lamella

from ..table import row, rows
from .views import permuted


def by_integers(given: dict[str, Any]) -> bool:
    """Returns whether all indices are integers; how many elements a mask takes is known when the graph runs."""
    return all(i is None or i.dtype is not lamella.bool for i in given["indices"])


def one_mask(given: dict[str, Any]) -> bool:
    indices = given["indices"]
    one = len(indices) == 1 and indices[0] is not None and indices[0].dtype is lamella.bool
    return one and given["values"].numel() == 1 and not given["accumulate"]


def laid_out(g: Any, x: Any, indices: list[Any]) -> tuple[Any, Any, list[int]]:
    """Returns the tensor with the indexed dimensions first, the indices with one tuple of places in the last dimension,
    and the order of the dimensions."""
    dims = [d for d, i in enumerate(indices) if i is not None]
    order = dims + [d for d in range(x.ndim) if d not in dims]
    parts = [g.cast(indices[d], lamella.int64) for d in dims]
    if len(parts) > 1:
        total = parts[0]
        for part in parts[1:]:  # a sum has the shape to which all are broadcast
            total = g.Add(total, part)
        shape = g.Shape(total)
        parts = [g.Expand(part, shape) for part in parts]
    places = g.Concat(*(g.Unsqueeze(part, [-1]) for part in parts), axis=-1)
    return permuted(g, x, order), places, order


def taken(g: Any, x: Any, indices: list[Any]) -> Any:
    dims = [d for d, i in enumerate(indices) if i is not None]
    if len(dims) == 1:
        return g.Gather(x, indices[dims[0]], axis=dims[0])
    turned, places, _ = laid_out(g, x, indices)
    made = g.GatherND(turned, places)
    if dims[0] and side_by_side(dims):
        rank = len(g.result.shape)
        k = rank - (x.ndim - len(dims))
        made = g.Transpose(made, perm=[*range(k, k + dims[0]), *range(k), *range(k + dims[0], rank)])
    return made


def put(g: Any, x: Any, indices: list[Any], values: Any, accumulate: bool = False) -> Any:
    values = g.cast(values, x.dtype)
    if indices[0] is not None and indices[0].dtype is lamella.bool:
        mask = indices[0]
        mask = g.Reshape(mask, [*mask.shape, *[1] * (x.ndim - mask.ndim)]) if x.ndim > mask.ndim else mask
        return g.Where(mask, g.Reshape(values, [1] * x.ndim) if x.ndim else g.Squeeze(values), x)
    dims = [d for d, i in enumerate(indices) if i is not None]
    turned, places, order = laid_out(g, x, indices)
    k, rest = max(indices[d].ndim for d in dims), x.ndim - len(dims)
    before = dims[0] if side_by_side(dims) else 0  # dimensions of the values before those of the indices
    shape = g.Shape(places, end=-1)
    if rest:
        sizes = g.Shape(turned, start=len(dims))
        parts = g.Slice(sizes, [0], [before], [0]), shape, g.Slice(sizes, [before], [rest], [0])
        shape = g.Concat(*parts, axis=0)
    values = g.Expand(values, shape)
    if before:
        values = g.Transpose(values, perm=[*range(before, before + k), *range(before), *range(before + k, k + rest)])
    made = g.ScatterND(turned, places, values, reduction="add" if accumulate else "none")
    back = [order.index(d) for d in range(x.ndim)]
    return made if back == list(range(x.ndim)) else g.Transpose(made, perm=back)


def side_by_side(dims: list[int]) -> bool:
    """Returns whether the indexed dimensions are neighbours; then those of the indices stand in their place."""
    return dims == list(range(dims[0], dims[0] + len(dims)))


def scattered(g: Any, x: Any, dim: int, index: Any, src: Any, reduce: str | None = None) -> Any:
    src = g.Expand(g.number(src, x.dtype), g.Shape(index)) if not isinstance(src, str) else src
    src = cut(g, src, index)
    reduction = {None: "none", "multiply": "mul"}.get(reduce, reduce)
    if not x.ndim:
        made = g.ScatterElements(*(g.Reshape(t, [1]) for t in (x, index, src)), axis=0, reduction=reduction)
        return g.Squeeze(made, [0])
    return g.ScatterElements(x, index, src, axis=dim, reduction=reduction)


def cut(g: Any, src: Any, index: Any) -> Any:
    """Cuts the source of a scatter to the sizes of the index, which ONNX wants to be the same."""
    if getattr(src, "shape", ()) in ((), index.shape):
        return src
    return g.Slice(src, [0] * index.ndim, list(index.shape), list(range(index.ndim)))


def filled(g: Any, x: Any, mask: Any, value: Any) -> Any:
    value = g.cast(value, g.dtype) if isinstance(value, str) else value
    return g.Where(g.flags(mask), value, g.cast(x, g.dtype))


rows(
    {
        "gather": lambda g, x, dim, index: g.GatherElements(x, index, axis=dim) if x.ndim else x,
        "index_select": lambda g, x, dim, index: g.Gather(x, vector(g, index), axis=dim) if x.ndim else x,
        "take": lambda g, x, index: g.Gather(g.Reshape(x, [-1]), index, axis=0),
        "embedding": lambda g, weight, indices, padding_idx=-1: g.Gather(weight, indices, axis=0),
        "masked_fill": filled,
        "scatter.src": scattered,
        "scatter.value": scattered,
        "scatter_add": lambda g, x, dim, index, src: scattered(g, x, dim, index, src, "add"),
    }
)
row("index.Tensor", when=by_integers)(taken)
row("index_put", when=lambda given: by_integers(given) or one_mask(given))(put)


def vector(g: Any, index: Any) -> Any:
    return index if index.ndim else g.Reshape(index, [1])


@row("one_hot", when=lambda given: given.get("num_classes", -1) > 0)
def one_hot(g: Any, x: Any, classes: Any) -> Any:
    every = g.Range(*(g.number(v, lamella.int64) for v in (0, classes, 1)))
    return g.Cast(g.Equal(g.Unsqueeze(x, [-1]), every), to=7)
