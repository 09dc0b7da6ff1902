"""Oracles of histograms, segments, fingerprints and slopes of sampled values."""

from __future__ import annotations

import numpy as np

from oracles.base import OF_SAMPLE, entries, narrow_entries, wide

# ---- histograms ------------------------------------------------------------------------------------------------------


def edges_of(column, bins, span):
    """Returns the edges of equal bins, in the dtype of the column."""
    if isinstance(bins, np.ndarray):
        return bins
    low, high = span if span else (column.min(), column.max()) if column.size else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1).astype(column.dtype)


def histogramdd(x, bins, range=None, weight=None, density=False):
    rows = x.reshape(-1, x.shape[-1])
    bins = [bins] * rows.shape[1] if isinstance(bins, int) else bins
    spans = [range[2 * d : 2 * d + 2] if range else None for d in np.arange(rows.shape[1])]
    edges = [edges_of(rows[:, d], b, spans[d]) for d, b in enumerate(bins)]
    keep = ~np.isnan(rows).any(1)
    weights = None if weight is None else weight.reshape(-1)[keep].astype(np.float64)
    with np.errstate(all="ignore"):
        hist = np.histogramdd(rows[keep].astype(np.float64), edges, density=density, weights=weights)[0]
    return [hist, *edges]


def histogram(x, bins=100, range=None, weight=None, density=False):
    return histogramdd(x.reshape(-1, 1), [bins], range, weight, density)


# The edges lie in the dtype of the data, so that both sides count the same elements.
narrow_entries(histogram=histogram, histogramdd=histogramdd)


# ---- segments --------------------------------------------------------------------------------------------------------

REDUCTIONS = {"sum": np.sum, "mean": np.sum, "max": np.max, "min": np.min, "prod": np.prod}
STARTS = {"sum": 0, "mean": 0, "max": -np.inf, "min": np.inf, "prod": 1}


def segment_reduce(data, reduce, lengths=None, offsets=None, axis=0, unsafe=False, initial=None):
    axis %= data.ndim
    lead = data.shape[:axis]
    if offsets is None:
        zero = np.zeros((*lead, 1), np.int64)
        offsets = np.concatenate([zero, np.cumsum(lengths, -1)], -1)
    made = np.zeros((*lead, offsets.shape[-1] - 1, *data.shape[axis + 1 :]))
    for row in np.ndindex(*lead):
        for i in range(offsets.shape[-1] - 1):
            part = data[row][offsets[row][i] : offsets[row][i + 1]]
            start = STARTS[reduce] if initial is None else initial
            value = REDUCTIONS[reduce](part, axis=0, initial=start)
            if reduce == "mean":
                value = value / len(part) if len(part) else np.nan if initial is None else value
            made[(*row, i)] = value
    return made


def hash_tensor(x, dim=(), keepdim=False, mode=0):
    bits = np.ascontiguousarray(x.astype(np.float64) if x.dtype.kind == "f" else x.astype(np.int64)).view(np.uint64)
    axes = (dim,) if isinstance(dim, int) else tuple(dim) or None
    return np.bitwise_xor.reduce(bits.reshape(x.shape), axis=axes, keepdims=keepdim)


entries(segment_reduce=segment_reduce)
narrow_entries(hash_tensor=hash_tensor)


# ---- slopes ----------------------------------------------------------------------------------------------------------


def gradient(x, spacing=1, dim=None, edge_order=1):
    spacing = [wide(s) for s in spacing] if isinstance(spacing, (list, tuple)) else [spacing]
    axes = tuple(range(x.ndim)) if dim is None else tuple(np.atleast_1d(dim))
    made = np.gradient(wide(x), *spacing, axis=axes, edge_order=edge_order)
    return list(made) if isinstance(made, (list, tuple)) else [made]


entries(gradient=gradient)


# ---- parts of memory -------------------------------------------------------------------------------------------------


def as_strided_scatter(sample):
    """Writes into the tensor's storage, and returns the tensor's elements."""
    spec, src, size, strides, *offset = sample.args
    flat = spec.flat().copy()
    at = np.lib.stride_tricks.as_strided
    bytes_of = [s * flat.itemsize for s in strides]
    at(flat[offset[0] if offset else spec.offset :], size, bytes_of)[...] = src.array()
    return at(flat[spec.offset :], spec.shape, [s * flat.itemsize for s in spec.strides]).copy()


def range_(start, end, step=1, dtype=None):
    return start + step * np.arange(int(np.floor((end - start) / step)) + 1)


entries(range=range_)
OF_SAMPLE["as_strided_scatter"] = as_strided_scatter
