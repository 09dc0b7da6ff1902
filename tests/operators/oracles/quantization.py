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


def requantize(sums, scale, bias, inner, out_scale, zero_point, low, high, dtype):
    flat = np.ravel(sums).astype(np.float32)
    y = flat * each(scale, flat.size, inner, 0, np.float32)
    if bias is not None:
        y = y + each(bias, flat.size, inner, 0, np.float32)
    return quantize(y.reshape(np.shape(sums)), np.float32(out_scale), [zero_point], 1, low, high, dtype)


def pack_nibbles(codes):
    flat = np.ravel(codes).astype(np.int64) & 15
    flat = np.append(flat, [0] * (flat.size % 2)).astype(np.uint8)
    return flat[::2] | flat[1::2] << 4


def unpack_nibbles(data, size, dtype):
    both = np.stack([data & 15, data >> 4], -1).ravel()[: int(np.prod(size, dtype=np.int64))].astype(np.int64)
    signed = np.where(both > 7, both - 16, both)
    return (signed if np.dtype(dtype).kind == "i" else both).astype(dtype).reshape(size)


def quantize_rows(x, low, high, dtype, symmetric=False):
    rows = np.asarray(x).astype(np.float32).reshape(int(np.prod(x.shape[:-1])), x.shape[-1])
    scales, zeros, codes = [], [], []
    for row in rows:
        least, most = np.float32(min(row.min(initial=0), 0)), np.float32(max(row.max(initial=0), 0))
        steps = np.float32(high - low)
        with np.errstate(all="ignore"):
            scale = np.maximum(-least, most) / np.float32(steps / 2) if symmetric else (most - least) / steps
            good = bool(scale > 0) and bool(np.isfinite(scale)) and not np.isnan(row).any()
        scale = np.float32(scale if good else 1)
        zero = (low + high + 1) >> 1 if symmetric else 0
        if good and not symmetric:
            zero = np.clip(low - np.rint(least / scale), low, high)
        zero = int(np.clip(zero, low, high))
        scales.append(scale)
        zeros.append(zero)
        codes.append(quantize(row, scale, [zero], 1, low, high, dtype))
    return (np.array(codes, dtype).reshape(x.shape), np.array(scales, np.float32).reshape(-1),
            np.array(zeros, np.int32).reshape(-1))  # fmt: skip


def within(steps, low, high):
    least = np.where(steps > low, steps, low)
    return np.where(least < high, least, high)


def fake(x, scale, low, high):
    with np.errstate(all="ignore"):
        return within(np.rint(x / scale), low, high) * scale


def fake_backward(grad, x, scale, low, high):
    with np.errstate(all="ignore"):
        steps = np.rint(x / scale)
    return np.where((steps >= low) & (steps <= high), grad, 0)


def fake_by(x, scale, zero, low, high):
    z = within(np.rint(zero), low, high)
    return fake(x, scale, low - z, high - z)


def fake_inside(x, scale, zero, low, high):
    z = within(np.rint(zero), low, high)
    return fake_backward(np.ones(()), x, scale, low - z, high - z)


def fake_slope(x, scale, zero, low, high):
    z = within(np.rint(zero), low, high)
    with np.errstate(all="ignore"):
        steps = np.rint(x / scale)
        bounded = within(steps, low - z, high - z)
        return np.where((steps >= low - z) & (steps <= high - z), bounded - x / scale, bounded)


def fake_tensor(x, scale, zero, low, high, *more):
    if np.ndim(scale):
        scale, zero = scale.reshape(()), zero.reshape(())
    return fake_by(x, scale, zero, low, high)


def fake_channel(x, scale, zero, axis, low, high, *more):
    along = [1] * np.ndim(x)
    along[axis] = -1
    return fake_by(x, scale.reshape(along), zero.reshape(along), low, high)


entries(
    _quantize_rows=quantize_rows,
    _fake_quantize=fake,
    _fake_quantize_backward=fake_backward,
    _fake_quantize_by=fake_by,
    _fake_quantize_inside=fake_inside,
    _fake_quantize_slope=fake_slope,
    fake_quantize_per_tensor_affine=fake_tensor,
    fake_quantize_per_channel_affine=fake_channel,
    _fake_quantize_learnable_per_tensor_affine=fake_tensor,
    _fake_quantize_learnable_per_channel_affine=fake_channel,
    _scale_gradient=lambda x, factor: x,
    _quantize=quantize,
    _dequantize=dequantize,
    _requantize=requantize,
    _pack_nibbles=pack_nibbles,
    _unpack_nibbles=unpack_nibbles,
)
