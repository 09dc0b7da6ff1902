"""Oracles of resampled images: each axis is multiplied by a matrix, which has the weights of each place."""

from __future__ import annotations

import numpy as np

from oracles.base import entries


def keys(x, a):
    x = np.abs(x)
    inner, outer = (a + 2) * x**3 - (a + 3) * x**2 + 1, a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, inner, np.where(x < 2, outer, 0))


def lanczos(x):
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


SMOOTH = {
    "hat": (lambda x: np.maximum(1 - np.abs(x), 0), 1),
    "keys": (lambda x: keys(x, -0.5), 2),
    "lanczos": (lanczos, 3),
}


def nearest(n, m, align, scale, shift):
    step = np.float32(1 / scale) if scale else np.float32(n) / np.float32(m)
    at = np.floor((np.arange(m, dtype=np.float32) + np.float32(shift)) * step).astype(int)
    return np.eye(n)[np.minimum(at, n - 1)]


def step_of(n, m, align, scale):
    return ((n - 1) / (m - 1) if m > 1 else 0) if align else 1 / scale if scale else n / m


def linear(n, m, align, scale):
    step, place = step_of(n, m, align, scale), np.arange(m)
    at = np.clip(place * step if align else (place + 0.5) * step - 0.5, 0, n - 1)
    return np.maximum(1 - np.abs(at[:, None] - np.arange(n)), 0)


def cubic(n, m, align, scale):
    step, place = step_of(n, m, align, scale), np.arange(m)
    at = place * step if align else (place + 0.5) * step - 0.5
    reach = np.arange(-3 * n - 3 * m, 4 * n + 3 * m)  # the edge elements are repeated outside
    made = np.zeros((m, n))
    for j in reach:
        made[:, min(max(j, 0), n - 1)] += keys(at - j, -0.75)
    return made


def smooth(name):
    def matrix(n, m, align, scale):
        height, half = SMOOTH[name]
        step = step_of(n, m, align, scale)
        wide, centre = max(step, 1), (np.arange(m) + 0.5) * step
        distance = np.arange(n) + 0.5 - centre[:, None]
        made = np.where(np.abs(distance) <= half * wide, height(distance / wide), 0)
        return made / made.sum(1, keepdims=True)

    return matrix


def along(x, matrix, axis):
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


def picked(matrix, x, axis):
    """Takes rows of x, of any dtype, by a matrix of zeros and ones."""
    return np.take(x, matrix.argmax(1), axis)


def in_bytes(x, matrix, axis):
    """Multiplies by weights in fixed point, with as many bits as leave the largest within 16; rounds to bytes."""
    bits = next(b for b in range(23) if b == 22 or int(0.5 + matrix.max() * 2 ** (b + 1)) >= 2**15)
    whole = np.trunc(matrix * 2.0**bits + np.where(matrix < 0, -0.5, 0.5)).astype(np.int64)
    return np.clip(along(x.astype(np.int64), whole, axis) + (1 << bits >> 1) >> bits, 0, 255)


def up(matrix, picks=False):
    def go(x, size, *rest):
        align, scales = (False, rest) if picks else (rest[0], rest[1:])
        if x.dtype == np.uint8 and not picks:
            for i in (1, 0):  # the last axis first
                if size[i] != x.shape[2 + i]:
                    x = in_bytes(x, matrix(x.shape[2 + i], size[i], align, scales[i] if scales else None), 2 + i)
            return x.astype(np.uint8)
        for i, m in enumerate(size):
            scale, n = (scales[i] if scales else None), x.shape[2 + i]
            x = (picked if picks else lambda made, y, axis: along(y, made, axis))(matrix(n, m, align, scale), x, 2 + i)
        return x

    return go


def down(matrix, picks=False):
    def go(g, size, input_size, *rest):
        align, scales = (False, rest) if picks else (rest[0], rest[1:])
        for i, m in enumerate(size):
            scale = scales[i] if scales else None
            g = along(g, matrix(input_size[2 + i], m, align, scale).T, 2 + i)
        return g

    return go


def tables(sizes, taps, index, weight, inputs):
    """Yields the matrix of each axis."""
    at = 0
    for m, k, n in zip(sizes, taps, inputs, strict=True):
        made = np.zeros((m, n), np.float64)
        where, w = index[at : at + m * k].reshape(k, m), None if weight is None else weight[at : at + m * k]
        np.add.at(made, (np.broadcast_to(np.arange(m), (k, m)), where), 1 if w is None else w.reshape(k, m))
        at += m * k
        yield made


def resample(x, size, taps, index, weight=None):
    first = x.ndim - len(size)
    for i, made in enumerate(tables(size, taps, index, weight, x.shape[first:])):
        x = picked(made, x, first + i) if weight is None else along(x, made, first + i)
    return x


def resample_backward(g, size, input_size, taps, index, weight=None):
    first = g.ndim - len(size)
    for i, made in enumerate(tables(size, taps, index, weight, input_size[first:])):
        g = along(g, made.T, first + i)
    return g


ORIGIN, MIDDLE = (lambda *a: nearest(*a, 0)), (lambda *a: nearest(*a, 0.5))
NAMES = {f"upsample_nearest{d}d": (ORIGIN, True) for d in (1, 2, 3)}
NAMES |= {f"_upsample_nearest_exact{d}d": (MIDDLE, True) for d in (1, 2, 3)}
NAMES |= {name: (linear, False) for name in ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")}
NAMES |= {"upsample_bicubic2d": (cubic, False), "_upsample_bilinear2d_aa": (smooth("hat"), False)}
NAMES |= {"_upsample_bicubic2d_aa": (smooth("keys"), False), "_upsample_lanczos2d_aa": (smooth("lanczos"), False)}

entries(
    _resample=resample,
    _resample_backward=resample_backward,
    **{name: up(*how) for name, how in NAMES.items()},
    **{name + "_backward": down(*how) for name, how in NAMES.items()},
)
