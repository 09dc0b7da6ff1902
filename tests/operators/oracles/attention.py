"""Oracles of attention: the matrix of all scores in float64, and the gradient of its softmax row by row."""

from __future__ import annotations

import numpy as np

from oracles.base import entries


def heads(x, n):
    """Repeats the heads of keys or values for n heads of queries."""
    return x if x.shape[-3] == n else np.repeat(x, n // x.shape[-3], -3)


def scores(q, k, mask, causal, scale):
    s = q @ np.swapaxes(k, -1, -2) * scale
    if mask is not None:
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    return np.where(np.tri(*s.shape[-2:], dtype=bool), s, -np.inf) if causal else s


def attention(q, k, v, mask, causal, scale):
    """Returns the result, and the logarithm of the sum of the exponentials."""
    s = scores(q, heads(k, q.shape[-3]), mask, causal, scale)
    top = s.max(-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(top > -np.inf, top, 0))
    total = e.sum(-1, keepdims=True)
    there = total > 0
    lse = np.where(there, np.where(there, top, 0) + np.log(np.where(there, total, 1)), 0)
    return e / np.where(there, total, 1) @ heads(v, q.shape[-3]), lse[..., 0]


def function(q, k, v, mask=None, dropout_p=0.0, causal=False, scale=None, enable_gqa=False):
    """torch's function: any leading dimensions; a dropout of 0 or 1."""
    n = q.shape[-3] if enable_gqa else 0
    k, v = (heads(x, n) if enable_gqa else x for x in (k, v))
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in (q, k, v)))
    q, k, v = (np.broadcast_to(x, (1, *batch)[-max(1, len(batch)) :] + x.shape[-2:]) for x in (q, k, v))
    made = attention(q, k, v, mask, causal, q.shape[-1] ** -0.5 if scale is None else scale)[0] * (1 - dropout_p)
    return made.reshape(*batch, *made.shape[-2:])


def gradient_of_scores(g, g_lse, q, k, v, mask, out, lse, causal, scale):
    n = q.shape[1]
    weights = np.exp(scores(q, heads(k, n), mask, causal, scale) - lse[..., None])
    shift = (g * out).sum(-1) - (0 if g_lse is None else g_lse)
    return weights, weights * (g @ np.swapaxes(heads(v, n), -1, -2) - shift[..., None])


def gradients(g, g_lse, q, k, v, mask, out, lse, causal, scale, wanted):
    weights, d = gradient_of_scores(g, g_lse, q, k, v, mask, out, lse, causal, scale)

    def shared(x):
        return x.reshape(x.shape[0], k.shape[1], -1, *x.shape[2:]).sum(2) if k.shape[1] else x

    made = (
        d @ heads(k, q.shape[1]) * scale,
        shared(np.swapaxes(d, -1, -2) @ q * scale),
        shared(np.swapaxes(weights, -1, -2) @ g),
    )
    return [x for x, asked in zip(made, wanted, strict=True) if asked]


def gradient_of_mask(g, g_lse, q, k, v, mask, *rest):
    d = gradient_of_scores(g, g_lse, q, k, v, mask, *rest)[1]
    d = d.sum(tuple(range(d.ndim - mask.ndim)))
    return d.sum(tuple(i for i, n in enumerate(mask.shape) if n == 1), keepdims=True)


entries(
    scaled_dot_product_attention=function,
    _attention=attention,
    _attention_backward=gradients,
    _attention_mask_backward=gradient_of_mask,
)
