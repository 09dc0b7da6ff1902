"""Oracles of indexing and sorting."""

from __future__ import annotations

import numpy as np

from oracles.base import ORACLES, entries

# ---- indexing --------------------------------------------------------------------------------------------------------


def at(x, dim, index):
    """Returns numpy's index for the places that gather reads and scatter writes."""
    grid = list(np.indices(index.shape))
    if x.ndim:
        grid[dim] = index
    return tuple(grid)


def scatter(x, dim, index, src, reduce=None, include_self=True):
    made = x.copy()
    values = (
        src[tuple(slice(n) for n in index.shape)] if isinstance(src, np.ndarray) else np.full(index.shape, src, x.dtype)
    )
    places = at(x, dim, index)
    ufunc = {
        "add": np.add,
        "sum": np.add,
        "multiply": np.multiply,
        "prod": np.multiply,
        "mean": np.add,
        "amax": np.maximum,
        "amin": np.minimum,
    }.get(reduce)
    if ufunc is None:
        made[places] = values
        return made
    if not include_self:
        made[places] = {"prod": 1, "amax": values, "amin": values}.get(reduce, 0)
    ufunc.at(made, places, values)
    if reduce == "mean":
        count = np.full(x.shape, int(include_self))
        np.add.at(count, places, 1)
        made = made / np.maximum(count, 1) if made.dtype.kind == "f" else made // np.maximum(count, 1)
    return made


def along(x, dim, index):
    return (slice(None),) * (dim % x.ndim) + (index,)


def index_add(x, dim, index, source, alpha=1):
    made = x.copy()
    np.add.at(made, along(x, dim, index), alpha * source)
    return made


def index_set(x, dim, index, source):
    made = x.copy()
    made[along(x, dim, index)] = source
    return made


def numpy_index(indices):
    return tuple(slice(None) if i is None else i for i in indices)


def index_put(x, indices, values, accumulate=False):
    made = x.copy()
    if accumulate:
        np.add.at(made, numpy_index(indices), values)
    else:
        made[numpy_index(indices)] = values
    return made


def masked_scatter(x, mask, source):
    x, mask = np.broadcast_arrays(x, mask)
    made = x.copy()
    made[mask] = source.ravel()[: mask.sum()]
    return made


def one_hot(x, classes=-1):
    return np.eye(classes if classes >= 0 else x.max() + 1, dtype=np.int64)[x]


def put(x, index, source, accumulate=False):
    made = x.copy()
    (np.add.at if accumulate else np.put)(made.reshape(-1), index, source)
    return made


def nonzero(x, as_tuple=False):
    return list(np.nonzero(np.atleast_1d(x))) if as_tuple else np.argwhere(x)


def select_broadcast(x, mask):
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


def searchsorted(b, x, right=False, side=None, out_int32=False, sorter=None):
    side = "right" if right else side or "left"
    b = b if sorter is None else np.take_along_axis(b, sorter, -1)
    if b.ndim == 1:
        return np.searchsorted(b, x, side)
    return np.stack([searchsorted(r, y, side=side) for r, y in zip(b, x, strict=True)])


def replaced(x, src, view):
    """Returns a copy of x in which a view has been overwritten."""
    made = np.array(x)
    view(made)[...] = src
    return made


def diagonal_square(x, offset):
    """Returns the square view of the last two dimensions whose main diagonal is the given diagonal."""
    x = x[..., max(-offset, 0) :, max(offset, 0) :]
    n = min(x.shape[-2:])
    return x[..., :n, :n]


def index_reduce(x, dim, index, source, reduce, include_self=True):
    places = np.broadcast_to(index.reshape([-1 if d == dim % x.ndim else 1 for d in range(x.ndim)]), source.shape)
    return scatter(x, dim, places, source, reduce, include_self)


def fill_diagonal(x, value, wrap=False):
    made = np.array(x)
    if made.size:
        np.fill_diagonal(made, value, wrap)
    return made


def nonzero_static(x, size, fill_value=-1):
    found = np.argwhere(x)[:size]
    return np.concatenate([found, np.full((size - len(found), x.ndim), fill_value)])


entries(
    gather=lambda x, dim, index: x[at(x, dim, index)],
    scatter=scatter,
    scatter_reduce=scatter,
    _scatter_fold=scatter,
    scatter_add=lambda x, dim, index, src: scatter(x, dim, index, src, "add"),
    index_select=lambda x, dim, index: np.take(x, index, axis=dim),
    index_add=index_add,
    index_copy=index_set,
    index_fill=index_set,
    index=lambda x, indices: x[numpy_index(indices)],
    index_put=index_put,
    put=put,
    index_reduce=index_reduce,
    select_scatter=lambda x, src, dim, i: replaced(x, src, lambda y: np.moveaxis(y, dim, 0)[i]),
    slice_scatter=lambda x, src, dim=0, start=None, end=None, step=1: replaced(
        x, src, lambda y: np.moveaxis(np.moveaxis(y, dim, 0)[start:end:step], 0, dim)
    ),
    diagonal_scatter=lambda x, src, offset=0, dim1=0, dim2=1: replaced(
        x, src, lambda y: np.einsum("...ii->...i", diagonal_square(np.moveaxis(y, (dim1, dim2), (-2, -1)), offset))
    ),
    fill_diagonal_=fill_diagonal,
    nonzero_static=nonzero_static,
    narrow_copy=lambda x, dim, start, n: np.take(x, range(start % x.shape[dim], start % x.shape[dim] + n), axis=dim),
    take=lambda x, index: np.take(x, index),
    nonzero=nonzero,
    argwhere=np.argwhere,
    take_along_dim=lambda x, index, dim=None: (
        np.take(x, index) if dim is None else np.take_along_axis(*broadcast_but(x, index, dim), dim)
    ),
    masked_fill=lambda x, mask, value: np.where(mask, np.asarray(value).astype(x.dtype), x),
    masked_select=select_broadcast,
    masked_scatter=masked_scatter,
    embedding=lambda w, i, *a: w[i],
    one_hot=one_hot,
    isin=lambda x, y, invert=False, assume_unique=False: np.isin(x, y, invert=invert),
    bincount=lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength),
    bucketize=lambda x, b, right=False, out_int32=False: np.searchsorted(b, x, "right" if right else "left"),
    searchsorted=searchsorted,
)


def broadcast_but(x, index, dim):
    """Broadcasts both arrays to the same sizes in every dimension but one."""
    shape = list(np.broadcast_shapes(*(s[:dim] + (1,) + s[dim % len(s) + 1 :] for s in (x.shape, index.shape))))
    sizes = [shape[:dim] + [a.shape[dim]] + shape[dim % len(shape) + 1 :] for a in (x, index)]
    return np.broadcast_to(x, sizes[0]), np.broadcast_to(index, sizes[1])


# ---- sorting ---------------------------------------------------------------------------------------------------------


def order_of(x, dim, descending):
    """Returns the indices of a stable sort, NaN last (first when descending)."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    return np.flip(x.shape[dim] - 1 - np.argsort(np.flip(x, dim), axis=dim, kind="stable"), dim)


def sort(x, dim=-1, descending=False, stable=None):
    x1 = np.atleast_1d(x)
    order = order_of(x1, dim, descending)
    return np.take_along_axis(x1, order, dim).reshape(x.shape), order.reshape(x.shape)


def topk(x, k, dim=-1, largest=True, sorted=True):
    values, order = sort(np.atleast_1d(x), dim, largest)
    taken = np.take(values, range(k), axis=dim), np.take(order, range(k), axis=dim)
    return taken if x.ndim else tuple(t.reshape(()) for t in taken)


def kthvalue(x, k, dim=-1, keepdim=False):
    values, order = sort(x, dim)
    picked = np.take(values, [k - 1], axis=dim), np.take(order, [k - 1], axis=dim)
    return picked if keepdim else tuple(p.squeeze(dim) for p in picked)


def unique(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=dim)
    shape = x.shape if dim is None else (x.shape[dim],)
    return values, inverse.reshape(shape) if return_inverse else None, counts if return_counts else None


def unique_consecutive(x, return_inverse=False, return_counts=False, dim=None):
    flat = x.ravel() if dim is None else np.moveaxis(x, dim, 0)
    differ = np.any(flat[1:] != flat[:-1], axis=tuple(range(1, flat.ndim)))
    start = np.concatenate([[True], differ]) if len(flat) else np.zeros(0, bool)
    at = np.flatnonzero(start)
    inverse = (np.cumsum(start) - 1).reshape(x.shape if dim is None else len(flat))
    values = flat[at] if dim is None else np.moveaxis(flat[at], 0, dim)
    return values, inverse if return_inverse else None, np.diff([*at, len(flat)]) if return_counts else None


entries(
    sort=sort,
    msort=lambda x: np.sort(x, 0),
    topk=topk,
    kthvalue=kthvalue,
    _unique2=unique,
    argsort=lambda x, dim=-1, descending=False, stable=None: sort(x, dim, descending)[1],
    unique_dim=lambda x, dim, *a: unique(x, *a, dim=dim),
    unique_consecutive=unique_consecutive,
)
ORACLES["_unique_consecutive"] = unique_consecutive
