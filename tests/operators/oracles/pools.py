"""Oracles of pools by windows cut one by one: of volumes, adaptive, at random places; of unpooling and of columns."""

from __future__ import annotations

import itertools

import numpy as np

from oracles.base import entries, floating
from oracles.products import adaptive, avg_pool, max_pool, pairs, pool_arguments


def largest(x, edges):
    """Returns the largest element of each window, given by begins and ends in each dimension, and its flat index."""
    dims = len(edges)
    places = [len(e) for e in edges]
    values = np.zeros((*x.shape[:-dims], *places), x.dtype)
    indices = np.full(values.shape, -1, np.int64)
    for lead in np.ndindex(x.shape[:-dims]):
        for at in np.ndindex(*places):
            taps = [range(*edge[i]) for edge, i in zip(edges, at, strict=True)]
            best = max(itertools.product(*taps), key=lambda tap: x[(*lead, *tap)])  # noqa: B023, the first of equals
            values[(*lead, *at)] = x[(*lead, *best)]
            indices[(*lead, *at)] = np.ravel_multi_index(best, x.shape[-dims:])
    return values, indices


def even(n, m):
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_max(dims):
    def go(x, size):
        return largest(x, [even(n, m) for n, m in zip(x.shape[-dims:], pairs(size, dims), strict=True)])

    return go


def strided(n, k, s, p, d, ceil):
    """Returns begins, ends and steps of the windows inside n elements, as torch's documentation defines them."""
    reach = d * (k - 1) + 1
    count = -(-(n + 2 * p - reach) // s) + 1 if ceil else (n + 2 * p - reach) // s + 1
    if ceil and (count - 1) * s >= n + p:
        count -= 1
    begins = [i * s - p for i in range(count)]
    return [(b if b >= 0 else b % d, min(b + reach, n), d) for b in begins]


def max_indices(dims):
    def go(x, kernel, stride=None, padding=0, dilation=1, ceil_mode=False):
        kernel, stride, padding = pool_arguments(dims, kernel, stride, padding)
        rows = zip(x.shape[-dims:], kernel, stride, padding, pairs(dilation, dims), strict=True)
        return largest(x, [strided(*row, ceil_mode) for row in rows])

    return go


def averages(dims):
    """Makes an oracle of averages; those of integers are rounded toward zero."""

    def go(x, *rest, **more):
        made = avg_pool(dims)(x, *rest, **more)
        return np.trunc(made).astype(x.dtype) if x.dtype.kind == "i" else made

    return go


def begins(u, n, m, k):
    step = (n - k) / (m - 1) if m > 1 else 0
    return [int((i + u) * step) - int(u * step) for i in range(m - 1)] + [n - k]


def fractional(dims):
    order = [1, 0] if dims == 2 else [0, 1, 2]

    def go(x, kernel, size, samples):
        kernel, size = pairs(kernel, dims), pairs(size, dims)
        batched = x if x.ndim == dims + 2 else x[None]
        values = np.zeros((*batched.shape[:2], *size), x.dtype)
        indices = np.zeros(values.shape, np.int64)
        for at in np.ndindex(batched.shape[:2]):
            starts = [begins(samples[at][order[d]], batched.shape[2 + d], size[d], kernel[d]) for d in range(dims)]
            edges = [[(b, b + k) for b in line] for line, k in zip(starts, kernel, strict=True)]
            values[at], indices[at] = largest(batched[at], edges)
        return (values, indices) if x.ndim == dims + 2 else (values[0], indices[0])

    return go


def unpool(dims):
    def go(x, indices, size, *_):
        made = np.zeros((*x.shape[:-dims], *pairs(size, dims)), x.dtype)
        for lead in np.ndindex(x.shape[:-dims]):
            made[lead].reshape(-1)[indices[lead].reshape(-1)] = x[lead].reshape(-1)
        return made

    return go


def blocks(height, width, kernel, dilation, padding, stride):
    """Yields for each column the rows and columns of its window in the padded image."""
    kernel, dilation, padding, stride = (pairs(v, 2) for v in (kernel, dilation, padding, stride))
    starts = [
        range(0, n + 2 * p - d * (k - 1), s)
        for n, k, d, p, s in zip((height, width), kernel, dilation, padding, stride, strict=True)
    ]
    for top, left in itertools.product(*starts):
        yield np.ix_(
            [top + i * dilation[0] for i in range(kernel[0])], [left + i * dilation[1] for i in range(kernel[1])]
        )


def im2col(x, kernel, dilation, padding, stride):
    around = [(p, p) for p in pairs(padding, 2)]
    padded = np.pad(x, [(0, 0)] * (x.ndim - 2) + around)
    rows = x.shape[-3] * int(np.prod(pairs(kernel, 2)))
    windows = blocks(*x.shape[-2:], kernel, dilation, padding, stride)
    seen = [padded[(..., *at)].reshape(*x.shape[:-3], rows) for at in windows]
    return np.stack(seen, -1)


def col2im(x, size, kernel, dilation, padding, stride):
    size, taps, around = pairs(size, 2), pairs(kernel, 2), pairs(padding, 2)
    lead = (*x.shape[:-2], x.shape[-2] // int(np.prod(taps)))
    padded = np.zeros((*lead, size[0] + 2 * around[0], size[1] + 2 * around[1]), x.dtype)
    for column, at in enumerate(blocks(*size, kernel, dilation, padding, stride)):
        padded[(..., *at)] += x[..., column].reshape(*lead, *taps)
    return padded[..., around[0] : around[0] + size[0], around[1] : around[1] + size[1]]


entries(
    avg_pool1d=averages(1),
    avg_pool2d=averages(2),
    avg_pool3d=averages(3),
    max_pool3d=floating(max_pool(3)),
    max_pool1d_with_indices=max_indices(1),
    max_pool3d_with_indices=max_indices(3),
    adaptive_avg_pool3d=adaptive(3),
    adaptive_max_pool1d=adaptive_max(1),
    adaptive_max_pool2d=adaptive_max(2),
    adaptive_max_pool3d=adaptive_max(3),
    fractional_max_pool2d=fractional(2),
    fractional_max_pool3d=fractional(3),
    max_unpool2d=unpool(2),
    max_unpool3d=unpool(3),
    im2col=im2col,
    col2im=col2im,
)
