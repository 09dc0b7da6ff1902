"""Views, copies and joins: what moves elements and computes nothing."""

from __future__ import annotations

from typing import Any

import lamella

from ..graph import host
from ..table import apart, row, rows

END = 2**63 - 1


def unchanged(g: Any, x: Any, *_: Any) -> Any:
    return x


def reshaped(g: Any, x: Any, *_: Any) -> Any:
    return g.reshape(x, g.result.shape)


def permuted(g: Any, x: Any, order: list[int]) -> Any:
    order = [d % x.ndim for d in order]
    return x if order == list(range(x.ndim)) else g.Transpose(x, perm=order)


def swapped(g: Any, x: Any, a: int = 0, b: int = 1) -> Any:
    order = list(range(x.ndim))
    if x.ndim > 1:
        order[a], order[b] = order[b], order[a]
    return permuted(g, x, order)


def moved(g: Any, x: Any, source: Any, destination: Any) -> Any:
    source, destination = ([d] if isinstance(d, int) else d for d in (source, destination))
    places = dict(zip((d % x.ndim for d in destination), (d % x.ndim for d in source), strict=True))
    rest = iter(d for d in range(x.ndim) if d not in places.values())
    return permuted(g, x, [places[d] if d in places else next(rest) for d in range(x.ndim)])


def squeezed(g: Any, x: Any, dim: Any = None) -> Any:
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    gone = [d for d in dims if x.ndim and x.shape[d] == 1]
    return g.Squeeze(x, gone) if gone else x


def sliced(g: Any, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    start, end = 0 if start is None else start, END if end is None else end
    return x if (start, end, step) == (0, END, 1) else g.Slice(x, [start], [end], [dim], [step])


def narrowed(g: Any, x: Any, dim: int, start: Any, length: Any) -> Any:
    end = start + length
    return sliced(g, x, dim, start, END if isinstance(start, int) and start < 0 and end == 0 else end)


def selected(g: Any, x: Any, dim: int, index: Any) -> Any:
    return g.Gather(x, g.number(index, lamella.int64), axis=dim)


def unbound(g: Any, x: Any, dim: int = 0) -> Any:
    return tuple(selected(g, x, dim, i) for i in range(len(g.results)))


def split_up(g: Any, x: Any, sizes: Any, dim: int = 0) -> Any:
    if len(g.results) == 1:
        return (x,)
    return g.Split(x, [r.shape[dim] for r in g.results], axis=dim, outputs=len(g.results))


def joined(g: Any, tensors: list[Any], dim: int = 0) -> Any:
    tensors = [g.cast(t, g.dtype) for t in tensors if t.shape != (0,) or all(o.shape == (0,) for o in tensors)]
    return g.Concat(*tensors, axis=dim)


def stacked(g: Any, tensors: list[Any], dim: int = 0) -> Any:
    return g.Concat(*(g.Unsqueeze(g.cast(t, g.dtype), [dim]) for t in tensors), axis=dim)


def padded(g: Any, x: Any, pad: list[Any], mode: str = "constant", value: Any = None) -> Any:
    pairs = [(0, 0)] * (x.ndim - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)][::-1]
    pads = [before for before, _ in pairs] + [after for _, after in pairs]
    mode = {"replicate": "edge"}.get(mode, mode)
    return g.Pad(x, pads, g.number(value or 0, g.dtype) if mode == "constant" else None, mode=mode)


def flipped(g: Any, x: Any, dims: list[int]) -> Any:
    return g.Slice(x, [-1] * len(dims), [-END] * len(dims), dims, [-1] * len(dims))


def triangle(upper: int) -> Any:
    return lambda g, x, diagonal=0: g.Trilu(x, g.number(diagonal, lamella.int64), upper=upper)


def put_slice(g: Any, x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """Writes to a slice: the places of the slice are scattered to along the dimension."""
    n = x.shape[dim]
    places = g.Range(*(g.number(v, lamella.int64) for v in (0, n, 1)))
    places = g.Slice(places, [start or 0], [END if end is None else end], [0], [step])
    shape = [1] * x.ndim
    shape[dim] = -1
    index = g.Expand(g.Reshape(places, shape), g.Shape(src))
    return g.ScatterElements(x, index, g.cast(src, x.dtype), axis=dim)


def put_one(g: Any, x: Any, src: Any, dim: int, index: Any) -> Any:
    src = g.Unsqueeze(g.cast(src, x.dtype), [dim])
    places = g.Expand(g.number(index, lamella.int64), g.Shape(src))
    return g.ScatterElements(x, places, src, axis=dim)


def diagonal_places(x: Any, offset: int, dim1: int, dim2: int) -> tuple[list[int], list[int]]:
    """Returns an order of dimensions with the two of a diagonal at the end, and the diagonal's places in these two.

    The sizes of these two must not be dynamic.
    """
    dim1, dim2 = dim1 % x.ndim, dim2 % x.ndim
    order = [d for d in range(x.ndim) if d not in (dim1, dim2)] + [dim1, dim2]
    rows, columns = int(x.shape[dim1]), int(x.shape[dim2])
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    first = max(-offset, 0) * columns + max(offset, 0)
    return order, [first + i * (columns + 1) for i in range(count)]


def diagonal(g: Any, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    order, places = diagonal_places(x, offset, dim1, dim2)
    return g.Gather(g.Reshape(permuted(g, x, order), [0] * (x.ndim - 2) + [-1]), places, axis=-1)


def put_diagonal(g: Any, x: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    order, places = diagonal_places(x, offset, dim1, dim2)
    turned = permuted(g, x, order)
    flat = g.Reshape(turned, [0] * (x.ndim - 2) + [-1])
    src = g.cast(src, x.dtype)
    made = g.ScatterElements(flat, g.Expand(places, g.Shape(src)), src, axis=x.ndim - 2)
    made = g.Reshape(made, g.Shape(turned))
    back = [order.index(d) for d in range(x.ndim)]
    return made if order == back == list(range(x.ndim)) else g.Transpose(made, perm=back)


def window_places(n: Any, size: int, step: int, dilation: int = 1) -> list[list[int]]:
    """Returns the places of the elements of each window of a dimension, whose size must not be dynamic."""
    count = (int(n) - dilation * (size - 1) - 1) // step + 1
    return [[i * step + k * dilation for k in range(size)] for i in range(count)]


def windows(g: Any, x: Any, dim: int, size: int, step: int) -> Any:
    """Takes the windows of a dimension; their elements are the last dimension."""
    if not x.ndim:
        return g.Reshape(x, [1])
    dim = dim % x.ndim
    made = g.Gather(x, host(window_places(x.shape[dim], size, step), lamella.int64), axis=dim)
    return g.Transpose(made, perm=[d for d in range(x.ndim + 1) if d != dim + 1] + [dim + 1])


def columns(g: Any, x: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Takes the windows of both dimensions of images, each as a column."""
    made = padded(g, x, [padding[1], padding[1], padding[0], padding[0]])
    batch = x.ndim - 3
    for d in (0, 1):
        n = x.shape[d - 2] + 2 * padding[d]
        places = host(window_places(n, kernel[d], stride[d], dilation[d]), lamella.int64)
        made = g.Gather(made, places, axis=batch + 1 + 2 * d)
    # from channels, rows, elements of a row's window, columns, elements of a column's window
    order = [batch + d for d in (0, 2, 4, 1, 3)]
    return g.reshape(g.Transpose(made, perm=[*range(batch), *order]), g.result.shape)


rows(dict.fromkeys("view reshape flatten unflatten view_as ravel atleast_1d".split(), reshaped))
rows(dict.fromkeys("detach alias clone contiguous positive".split(), unchanged))
rows(
    {
        "to": lambda g, x, other=None: g.cast(x, g.result.dtype),
        "t": swapped,
        "transpose": swapped,
        "swapaxes": swapped,
        "permute": permuted,
        "diagonal": diagonal,
        "unfold": windows,
        "im2col": columns,
        "movedim": moved,
        "unsqueeze": lambda g, x, dim: g.Unsqueeze(x, [dim]),
        "squeeze": squeezed,
        "expand": lambda g, x, size: g.expand(x, size),
        "expand_as": lambda g, x, other: g.Expand(x, g.Shape(other)),
        "broadcast_to": lambda g, x, size: g.expand(x, size),
        "slice": sliced,
        "narrow": narrowed,
        "select": selected,
        "unbind": unbound,
        "split": split_up,
        "split_with_sizes": split_up,
        "chunk": split_up,
        "cat": joined,
        "stack": stacked,
        "repeat": lambda g, x, times: g.Tile(leading(g, x, len(times)), times),
        "flip": flipped,
        "tril": triangle(0),
        "triu": triangle(1),
        "constant_pad_nd": lambda g, x, pad, value=0: padded(g, x, pad, "constant", value),
        "diagonal_scatter": put_diagonal,
        "slice_scatter": put_slice,
        "select_scatter": put_one,
        "copy": lambda g, x, src: g.Expand(g.cast(src, x.dtype), g.Shape(x)),
    }
)
for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"):
    row(name, when=lambda given: not given["train"] or not given["p"])(unchanged)
row("rrelu", when=lambda given: not given["training"])(
    lambda g, x, lower=1 / 8, upper=1 / 3, training=False: g.LeakyRelu(x, alpha=(lower + upper) / 2)
)
row("pad", when=lambda given: given["mode"] in ("constant", "reflect", "replicate"))(padded)


apart("view.dtype atleast_1d.Sequence")


def leading(g: Any, x: Any, rank: int) -> Any:
    """Adds dimensions of size 1 before the others."""
    return g.Unsqueeze(x, list(range(rank - x.ndim))) if rank > x.ndim else x
