"""Oracles of integers with scales: float32 quotients, rounded to integers of 64 bits."""

from __future__ import annotations

import numpy as np

from oracles.base import entries


def each(numbers, count, inner, first, dtype=np.int64):
    """Returns the number that belongs to each of ``count`` elements; the numbers are those of blocks."""
    return np.ravel(numbers).astype(dtype)[(np.arange(count) + first) // inner % np.size(numbers)]


def quantize(x, scale, zero_point, inner, low, high, dtype, first=0):
    flat = np.ravel(x).astype(np.float32)
    zero = 0 if zero_point is None else each(zero_point, flat.size, inner, first).astype(np.float64)
    by = each(scale, flat.size, inner, first, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = np.rint((flat / by).astype(np.float32)).astype(np.float64)
    within = np.clip(np.where(np.isnan(nearest), -np.inf, nearest), low - zero, high - zero)
    return (within + zero).astype(np.int64).astype(dtype).reshape(np.shape(x))


def dequantize(codes, scale, zero_point, inner, dtype, first=0):
    flat = np.ravel(codes).astype(np.int64)
    zero = 0 if zero_point is None else each(zero_point, flat.size, inner, first).astype(np.int64)
    by = each(scale, flat.size, inner, first, np.float32)
    return ((flat - zero).astype(np.float32) * by).reshape(np.shape(codes))


def pack_nibbles(codes):
    flat = np.ravel(codes).astype(np.int64) & 15
    flat = np.append(flat, [0] * (flat.size % 2)).astype(np.uint8)
    return flat[::2] | flat[1::2] << 4


def unpack_nibbles(data, size, dtype):
    both = np.stack([data & 15, data >> 4], -1).ravel()[: int(np.prod(size, dtype=np.int64))].astype(np.int64)
    signed = np.where(both > 7, both - 16, both)
    return (signed if np.dtype(dtype).kind == "i" else both).astype(dtype).reshape(size)


entries(
    _quantize=quantize,
    _dequantize=dequantize,
    _pack_nibbles=pack_nibbles,
    _unpack_nibbles=unpack_nibbles,
)
