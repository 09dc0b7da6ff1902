"""Oracles of gradients. Smooth functions are differentiated by the complex step, Im f(x + ih) / h, whose only error is
rounding; at kinks an oracle has torch's slope."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from oracles.base import entries
from oracles.reductions import nll

STEP = 1e-30


def smooth(f):
    """Returns the gradient of a function that works element by element and takes complex numbers."""
    return lambda g, x, *p: g * np.imag(f(x + 1j * STEP, *p)) / STEP


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def elu(x, alpha, scale, input_scale):
    return np.where(x.real > 0, x * scale, np.expm1(np.where(x.real > 0, 0, x) * input_scale) * (alpha * scale))


def log_sigmoid(x):
    return np.where(x.real < 0, x, 0) - np.log1p(np.exp(np.where(x.real < 0, x, -x)))


def silu(x):
    return x * np.exp(log_sigmoid(x))


def softplus(x, beta, threshold):
    return np.where(x.real * beta > threshold, x, -log_sigmoid(-x * beta) / beta)


entries(
    tanh_backward=lambda g, y: g * np.conj(1 - y * y),
    sigmoid_backward=lambda g, y: g * np.conj((1 - y) * y),
    silu_backward=smooth(silu),
    mish_backward=smooth(lambda x: x * np.tanh(-log_sigmoid(-x))),
    _log_sigmoid_backward=smooth(log_sigmoid),
    _gelu_backward=smooth(lambda x: x * (1 + sp.erf(x / np.sqrt(2))) / 2),
    _gelu_tanh_backward=smooth(gelu_tanh),
    softplus_backward=smooth(softplus),
    _elu_backward=smooth(elu),
    leaky_relu_backward=lambda g, x, slope, is_result: np.where(x > 0, g, g * slope),
    threshold_backward=lambda g, x, limit: np.where(x <= limit, np.zeros_like(g), g),
    hardtanh_backward=lambda g, x, low, high: np.where((x <= low) | (x >= high), 0, g),
    hardsigmoid_backward=lambda g, x: np.where(np.abs(x) < 3, g / 6, 0),
    hardswish_backward=lambda g, x: g * np.where(np.abs(x) < 3, x / 3 + 0.5, x >= 3),
    hardshrink_backward=lambda g, x, width: np.where(np.abs(x) <= width, 0, g),
    softshrink_backward=lambda g, x, width: np.where(np.abs(x) <= width, 0, g),
    native_dropout_backward=lambda g, mask, scale: g * mask * scale,
)


# ---- softmax and norms -----------------------------------------------------------------------------------------------


def asked(gradients, mask, present=(True, True, True)):
    """Returns the gradients that the mask requests, without those of absent arguments."""
    return [g for g, *wanted in zip(gradients, mask, present, strict=False) if all(wanted)]


def through_statistics(g, normalized, scale, axes, centered=True):
    if not g.size:
        return g
    x = g - normalized * (g * normalized).mean(axes, keepdims=True)
    return (x - g.mean(axes, keepdims=True) * centered) * scale


def times(g, weight):
    return g if weight is None else g * weight


def layer_norm(g, x, shape, mean, rstd, weight, bias, mask):
    last, first = tuple(range(-len(shape), 0)), tuple(range(x.ndim - len(shape)))
    normalized = (x - mean) * rstd
    dx = through_statistics(times(g, weight), normalized, rstd, last)
    return asked((dx, (g * normalized).sum(first), g.sum(first)), mask, (True, weight is not None, bias is not None))


def rms_norm(g, x, shape, rstd, weight, mask):
    last, first = tuple(range(-len(shape), 0)), tuple(range(x.ndim - len(shape)))
    dx = through_statistics(times(g, weight), x * rstd, rstd, last, centered=False)
    return asked((dx, (g * x * rstd).sum(first)), mask, (True, weight is not None))


def group_norm(g, x, mean, rstd, weight, n, channels, area, groups, mask):
    by_group, by_place = (n, groups, channels // groups * area), (n, channels, area)
    normalized = (x.reshape(by_group) - mean[..., None]) * rstd[..., None]
    weighted = times(g.reshape(by_place), None if weight is None else weight[:, None]).reshape(by_group)
    dx = through_statistics(weighted, normalized, rstd[..., None], -1).reshape(x.shape)
    g = g.reshape(by_place)
    dw = (g * normalized.reshape(by_place)).sum((0, 2))
    return asked((dx, dw, g.sum((0, 2))), mask, (True, weight is not None, True))


def batch_norm(g, x, weight, running_mean, running_var, mean, rstd, train, eps, mask):
    axes = (0, *range(2, x.ndim))

    def beside(v):
        return v.reshape([1, -1] + [1] * (x.ndim - 2))

    if not train:
        mean, rstd = running_mean, 1 / np.sqrt(running_var + eps)
    normalized = (x - beside(mean)) * beside(rstd)
    dx = through_statistics(g, normalized, beside(rstd), axes) if train else g * beside(rstd)
    dx = times(dx, None if weight is None else beside(weight))
    return asked((dx, (g * normalized).sum(axes), g.sum(axes)), mask, (True, weight is not None, True))


entries(
    _softmax_backward_data=lambda g, y, dim, dtype: y * (g - (g * y).sum(dim if y.ndim else None, keepdims=True)),
    _log_softmax_backward_data=lambda g, y, dim, dtype: g - np.exp(y) * g.sum(dim if y.ndim else None, keepdims=True),
    native_layer_norm_backward=layer_norm,
    _fused_rms_norm_backward=rms_norm,
    native_group_norm_backward=group_norm,
    native_batch_norm_backward=batch_norm,
)


# ---- losses ----------------------------------------------------------------------------------------------------------


def pair_loss(g, x, y, kind, width, reduction):
    d = x - y
    slopes = (2 * d, np.sign(d), np.clip(d, -width, width), np.clip(d, -width, width) / (width or 1))
    return slopes[kind] * g / (d.size if reduction == 1 else 1)


def class_loss(g, x, y, weight, ignored, reduction, logits):
    classes = 0 if x.ndim == 1 else 1

    def f(x):
        logs = x - np.log(np.exp(x).sum(classes, keepdims=True)) if logits else x
        return nll(logs, y, weight, ignored, ("none", "mean", "sum")[reduction])

    made = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        moved = x.astype(np.complex128)
        moved[at] += 1j * STEP
        made[at] = np.sum(np.imag(f(moved)) * g) / STEP
    return made


def embedding(g, index, rows, padding, by_frequency):
    made = np.zeros((rows, g.shape[-1]))
    np.add.at(made, index.ravel(), g.reshape(index.size, g.shape[-1]))
    if by_frequency:
        made /= np.maximum(np.bincount(index.ravel(), minlength=rows), 1)[:, None]
    if 0 <= padding < rows:
        made[padding] = 0
    return made


entries(_pair_loss_backward=pair_loss, _class_loss_backward=class_loss, embedding_dense_backward=embedding)
