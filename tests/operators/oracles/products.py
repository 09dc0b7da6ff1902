"""Oracles of products and convolutions, and of pools over lines and images."""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.signal

from oracles.base import entries

# ---- products --------------------------------------------------------------------------------------------------------


def added(product):
    def go(x, a, b, beta=1, alpha=1):
        return (0 if beta == 0 else beta * x) + alpha * product(a, b)

    return go


def scaled_sums(x, w, zero=None, input_scale=None, scale=None, bias=None, weight_sums=None):
    by_row = lambda n: np.reshape(n, (-1, 1)) if np.size(n) == 1 else np.reshape(n, (*x.shape[:-1], 1))  # noqa: E731
    wide = x.astype(np.int64) if zero is None else x.astype(np.int64) - by_row(zero).astype(np.int64)
    sums = np.matmul(wide, w.astype(np.int64).T).reshape(*x.shape[:-1], len(w))
    if scale is None:
        return sums
    by = scale if input_scale is None else by_row(input_scale) * scale
    return (sums * by).reshape(sums.shape) + (0 if bias is None else bias)


def by_weight(x, w, scale, bias=None):
    if w.dtype == np.uint8:
        both = np.stack([w & 15, w >> 4], -1).reshape(len(w), -1).astype(np.int64)
        w = np.where(both > 7, both - 16, both)
    values = w * np.repeat(scale, w.shape[1] // scale.shape[1], 1)
    return np.matmul(x, values.T) + (0 if bias is None else bias)


entries(
    mm=np.matmul,
    _int_mm=lambda x, y: np.matmul(x.astype(np.int32), y.astype(np.int32)),
    _int_linear=scaled_sums,
    _weight_linear=by_weight,
    bmm=np.matmul,
    matmul=np.matmul,
    mv=np.matmul,
    dot=np.dot,
    vdot=np.vdot,
    outer=np.outer,
    inner=np.inner,
    addmm=added(np.matmul),
    baddbmm=added(np.matmul),
    addmv=added(np.matmul),
    addr=added(np.outer),
    addbmm=added(lambda a, b: np.matmul(a, b).sum(0)),
    linear=lambda x, w, b=None: x @ w.T + (0 if b is None else b),
    einsum=lambda e, ts: np.einsum(e, *ts),
    tensordot=lambda x, y, a=2, b=None: np.tensordot(x, y, a if b is None else (a, b)),
    kron=np.kron,
    trace=np.trace,
)


# ---- convolutions and pooling ----------------------------------------------------------------------------------------


def pairs(v, n):
    v = tuple(np.atleast_1d(v))
    return v * n if len(v) == 1 else v


def dilated(w, dilation):
    shape = [(k - 1) * d + 1 for k, d in zip(w.shape, dilation, strict=True)]
    made = np.zeros(shape, w.dtype)
    made[tuple(slice(None, None, d) for d in dilation)] = w
    return made


def conv(dims):
    def go(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
        batched = x if x.ndim == dims + 2 else x[None]
        stride, dilation = pairs(stride, dims), pairs(dilation, dims)
        span = [(k - 1) * d for k, d in zip(w.shape[2:], dilation, strict=True)]
        if isinstance(padding, str):
            around = [(s // 2, s - s // 2) if padding == "same" else (0, 0) for s in span]
        else:
            around = [(p, p) for p in pairs(padding, dims)]
        padded = np.pad(batched, [(0, 0), (0, 0), *around])
        sizes = [(n - s - 1) // t + 1 for n, s, t in zip(padded.shape[2:], span, stride, strict=True)]
        made = np.zeros([len(padded), len(w), *sizes], np.result_type(x, w))
        per, steps = len(w) // groups, tuple(slice(None, None, s) for s in stride)
        for n, o, c in itertools.product(range(len(padded)), range(len(w)), range(w.shape[1])):
            channel = padded[n, o // per * w.shape[1] + c]
            made[n, o] += scipy.signal.correlate(channel, np.conj(dilated(w[o, c], dilation)), "valid", "direct")[steps]
        made = made if bias is None else made + bias.reshape(-1, *[1] * dims)
        return made if x.ndim == dims + 2 else made[0]

    return go


def windows(x, kernel, stride, padding, dilation, ceil, fill):
    """Returns every window of a padded array, flattened; with ceil_mode the last one may extend over the end."""
    sizes, around = [], []
    for n, k, s, p, d in zip(x.shape[-len(kernel) :], kernel, stride, padding, dilation, strict=True):
        span = (k - 1) * d + 1
        count = (n + 2 * p - span + (s - 1 if ceil else 0)) // s + 1
        if ceil and (count - 1) * s >= n + p:
            count -= 1
        sizes.append(count)
        around.append((p, max(0, (count - 1) * s + span - n - p)))
    padded = np.pad(x, [(0, 0)] * (x.ndim - len(kernel)) + around, constant_values=fill)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    dims = tuple(range(-len(kernel), 0))
    seen = np.lib.stride_tricks.sliding_window_view(padded, spans, dims)
    pick = tuple(slice(0, (c - 1) * s + 1, s) for c, s in zip(sizes, stride, strict=True))
    inner = tuple(slice(None, None, d) for d in dilation)
    return seen[(..., *pick, *inner)]


def flat_windows(seen, dims):
    return seen.reshape(*seen.shape[:-dims], math.prod(seen.shape[-dims:]))


def pool_arguments(dims, kernel, stride, padding):
    kernel, given = pairs(kernel, dims), stride is not None and np.size(stride)
    return kernel, pairs(stride, dims) if given else kernel, pairs(padding, dims)


def max_pool(dims):
    def go(x, kernel, stride=None, padding=0, dilation=1, ceil_mode=False):
        kernel, stride, padding = pool_arguments(dims, kernel, stride, padding)
        return flat_windows(windows(x, kernel, stride, padding, pairs(dilation, dims), ceil_mode, -np.inf), dims).max(
            -1
        )

    return go


def max_pool_indices(x, kernel, stride=None, padding=0, dilation=1, ceil_mode=False):
    kernel, stride, padding = pool_arguments(2, kernel, stride, padding)
    rest = (kernel, stride, padding, pairs(dilation, 2), ceil_mode)
    seen = flat_windows(windows(x, *rest, -np.inf), 2)
    at = np.broadcast_to(np.arange(np.prod(x.shape[-2:])).reshape(x.shape[-2:]), x.shape)
    places = flat_windows(windows(at, *rest, -1), 2)
    best = seen.argmax(-1)[..., None]
    return np.take_along_axis(seen, best, -1)[..., 0], np.take_along_axis(places, best, -1)[..., 0]


def avg_pool(dims):
    def go(x, kernel, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        kernel, stride, padding = pool_arguments(dims, kernel, stride, padding)
        ones = (1,) * dims
        total = flat_windows(windows(x, kernel, stride, padding, ones, ceil_mode, 0), dims).sum(-1)
        around = [(p, p) for p in padding]
        inside = np.pad(np.ones(x.shape[-dims:]), around, constant_values=float(count_include_pad))
        counted = flat_windows(windows(inside, kernel, stride, (0,) * dims, ones, ceil_mode, 0), dims).sum(-1)
        counted = counted[tuple(slice(n) for n in total.shape[-dims:])]
        return total / (divisor_override or counted)

    return go


def adaptive(dims):
    def go(x, size):
        for d, n in zip(range(-dims, 0), pairs(size, dims), strict=True):
            length = x.shape[d]
            parts = [
                np.take(x, range(i * length // n, -(-(i + 1) * length // n)), axis=d).mean(axis=d) for i in range(n)
            ]
            x = np.stack(parts, axis=d)
        return x

    return go


# ---- backward: every tap adds its share of the gradient at the places that it read -----------------------------------


def taps(w, x, places, stride, padding, dilation):
    """Yields each tap of a kernel, the padded image, and the index of the elements that it reads for all places."""
    around = [(0, 0), (0, 0), *((p, p + s * n) for p, s, n in zip(padding, stride, w[2:], strict=True))]
    padded = np.pad(x, around)
    for tap in itertools.product(*map(range, w[2:])):
        begins = [t * d for t, d in zip(tap, dilation, strict=True)]
        ends = [b + (n - 1) * s + 1 for b, n, s in zip(begins, places, stride, strict=True)]
        yield tap, padded, (..., *(slice(*b) for b in zip(begins, ends, stride, strict=True)))


def conv_backward(g, x, w, bias, stride, padding, dilation, transposed, output_padding, groups, mask):
    if transposed:  # the plain convolution takes g's sizes to x's
        of_weight = conv_backward(x, g, w, None, stride, padding, dilation, False, None, groups, [True] * 3)[1]
        of_input = conv(w.ndim - 2)(g, w, None, stride, padding, dilation, groups)
        made = of_input, of_weight, g.sum((0, *range(2, g.ndim)))
        return [m for m, wanted in zip(made, mask, strict=True) if wanted]
    outs = len(w) // groups
    apart = g.reshape(len(g), groups, outs, *g.shape[2:])
    weight = w.reshape(groups, outs, *w.shape[1:])
    of_weight, of_padded = np.zeros_like(weight), None
    for tap, padded, at in taps(w.shape, x, g.shape[2:], stride, padding, dilation):
        of_padded = np.zeros_like(padded) if of_padded is None else of_padded
        share = np.einsum("ngo...,goi->ngi...", apart, np.conj(weight[(..., *tap)]))
        of_padded[at] += share.reshape(padded[at].shape)
        seen = np.conj(padded[at]).reshape(share.shape)
        of_weight[(..., *tap)] = np.einsum("ngo...,ngi...->goi...", apart, seen).sum(tuple(range(3, 3 + len(tap))))
    inside = tuple(slice(p, p + n) for p, n in zip(padding, x.shape[2:], strict=True))
    of_input = of_padded[(..., *inside)]
    made = of_input, of_weight.reshape(w.shape), g.sum((0, *range(2, g.ndim)))
    return [m for m, wanted in zip(made, mask, strict=True) if wanted]


def max_pool_backward(g, x, kernel, stride, padding, dilation, ceil, indices):
    made = np.zeros_like(x)
    for plane in itertools.product(*map(range, x.shape[:-2])):
        np.add.at(made[plane].reshape(-1), indices[plane], g[plane])
    return made


def backward_of(pool):
    """Returns a linear operator's gradient: a place's weights are the result for an image that is 1 there, else 0."""

    def go(g, x, *rest):
        made = np.zeros(x.shape)
        for at in itertools.product(*map(range, x.shape[-2:])):
            one = np.zeros((1, *x.shape[-2:]))
            one[(0, *at)] = 1
            share = pool(one, *(rest or (g.shape[-2:],)))[0]
            made[(..., *at)] = np.where(share != 0, g * share, 0).sum((-2, -1))
        return made

    return go


entries(
    conv1d=conv(1),
    conv2d=conv(2),
    conv3d=conv(3),
    convolution=lambda x, w, *a: conv(w.ndim - 2)(x, w, *a),
    _int_conv=lambda x, w, *a, zero_point=0: conv(w.ndim - 2)(
        x.astype(np.int64) - zero_point, w.astype(np.int64), None, *a
    ),
    max_pool1d=max_pool(1),
    max_pool2d=max_pool(2),
    max_pool2d_with_indices=max_pool_indices,
    adaptive_avg_pool1d=adaptive(1),
    adaptive_avg_pool2d=adaptive(2),
    convolution_backward=conv_backward,
    _convolution_backward_input=lambda g, w, size, s, p, d, n: conv_backward(
        g, np.zeros(size, g.dtype), w, None, s, p, d, False, None, n, [True] * 3
    )[0],
    _convolution_backward_weight=lambda g, x, size, s, p, d, n: conv_backward(
        g, x, np.zeros(size, g.dtype), None, s, p, d, False, None, n, [True] * 3
    )[1],
    max_pool2d_with_indices_backward=max_pool_backward,
    avg_pool2d_backward=backward_of(avg_pool(2)),
    _adaptive_avg_pool2d_backward=backward_of(adaptive(2)),
)
