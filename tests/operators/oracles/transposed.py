"""Oracles of transposed convolutions: each element of an image adds its multiple of the kernel to the result."""

from __future__ import annotations

import itertools

import numpy as np

from oracles.base import entries
from oracles.products import conv, pairs


def conv_transpose(dims):
    def go(x, w, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        batched = x if x.ndim == dims + 2 else x[None]
        stride, padding, more, dilation = (pairs(v, dims) for v in (stride, padding, output_padding, dilation))
        spatial = batched.shape[2:]
        steps = zip(spatial, stride, more, dilation, w.shape[2:], strict=True)
        whole = [(n - 1) * s + d * (k - 1) + 1 + m for n, s, m, d, k in steps]
        made = np.zeros((len(batched), groups, w.shape[1], *whole), np.result_type(x, w))
        image = batched.reshape(len(batched), groups, len(w) // groups, *spatial)
        weight = w.reshape(groups, len(w) // groups, *w.shape[1:])
        for tap in itertools.product(*map(range, w.shape[2:])):
            at = [
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, dilation, spatial, stride, strict=True)
            ]
            made[(..., *at)] += np.einsum("ngc...,gco->ngo...", image, weight[(..., *tap)])
        inside = [slice(p, n - p) for n, p in zip(whole, padding, strict=True)]
        made = made[(..., *inside)]
        made = made.reshape(len(batched), groups * w.shape[1], *made.shape[3:])
        made = made if bias is None else made + bias.reshape(-1, *[1] * dims)
        return made if x.ndim == dims + 2 else made[0]

    return go


def conv_tbc(x, w, bias, pad=0):
    return conv(1)(x.transpose(1, 2, 0), w.transpose(2, 1, 0), bias, 1, pad).transpose(2, 0, 1)


entries(
    conv_transpose1d=conv_transpose(1),
    conv_transpose2d=conv_transpose(2),
    conv_transpose3d=conv_transpose(3),
    conv_tbc=conv_tbc,
)
