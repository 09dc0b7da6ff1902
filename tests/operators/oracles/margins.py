"""Oracles of gated activations, distances and margin losses, by their formulas."""

from __future__ import annotations

import numpy as np
import scipy.special as sp
from scipy.spatial import distance

from oracles.base import entries, wide
from oracles.reductions import batch_norm


def glu(x, dim=-1):
    value, gate = np.split(x, 2, dim)
    return value * sp.expit(gate)


def prelu(x, weight):
    w = weight.reshape(()) if weight.size == 1 else weight.reshape([-1] + [1] * (x.ndim - 2))
    return np.where(x > 0, x, w * x)


# ---- distances -------------------------------------------------------------------------------------------------------


def norm(x, p, axis=-1, keepdims=False):
    """Returns numpy's norm of any order; of one number its absolute value."""
    x = np.asarray(x)
    if x.ndim == 0:
        return np.abs(x)
    if x.shape[axis] == 0:
        return np.zeros(np.delete(np.array(x.shape), axis))
    return np.linalg.norm(x, p, axis, keepdims)


def cosine_similarity(a, b, dim=1, eps=1e-8):
    a, b = np.broadcast_arrays(a, b)
    if a.ndim == 0:
        return np.sign(a) * np.sign(b)
    sizes = np.maximum(norm(a, 2, dim), eps) * np.maximum(norm(b, 2, dim), eps)
    return (a * b).sum(dim) / sizes


def pairwise_distance(a, b, p=2, eps=1e-6, keepdim=False):
    return norm(wide(a) - wide(b) + eps, p, -1, keepdim)


NAMED = {1: "cityblock", 2: "euclidean", np.inf: "chebyshev"}


def cdist(a, b, p=2, compute_mode=None):
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    made = np.zeros((*batch, a.shape[-2], b.shape[-2]))
    a, b = np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(b, (*batch, *b.shape[-2:]))
    for at in np.ndindex(batch):
        if a.shape[-1] == 0 or made.size == 0:
            continue
        if p == 0:
            made[at] = distance.cdist(a[at], b[at], "hamming") * a.shape[-1]
        else:
            made[at] = distance.cdist(
                a[at], b[at], *((NAMED[p],) if p in NAMED else ("minkowski",)), **({} if p in NAMED else {"p": p})
            )
    return made


def pdist(x, p=2):
    return cdist(x, x, p)[np.triu_indices(len(x), 1)]


def bilinear(a, b, weight, bias=None):
    return np.einsum("...i,kij,...j->...k", a, weight, b) + (0 if bias is None else bias)


# ---- losses ----------------------------------------------------------------------------------------------------------


def reduced(x, reduction):
    return (x, np.mean(x) if np.size(x) else np.nan, np.sum(x))[reduction]


def margin_ranking_loss(a, b, y, margin=0, reduction=1):
    return reduced(np.maximum(0, margin - y * (a - b)), reduction)


def hinge_embedding_loss(x, y, margin=1, reduction=1):
    x, y = np.broadcast_arrays(x, y)
    far = np.maximum(0, margin - x)
    return reduced(np.where(y == 1, x, np.where(y == -1, far, x + far)), reduction)


def cosine_embedding_loss(a, b, y, margin=0, reduction=1):
    cosine = (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    return reduced(np.where(y == 1, 1 - cosine, np.where(y == -1, np.maximum(0, cosine - margin), 0)), reduction)


def multi_margin_loss(x, y, p=1, margin=1, weight=None, reduction=1):
    made = []
    for row, t in zip(np.atleast_2d(x), np.atleast_1d(y), strict=True):
        each = [max(0.0, margin - row[t] + row[i]) ** p for i in range(len(row)) if i != t]
        made.append(sum(each) / len(row) * (1 if weight is None else weight[t]))
    return reduced(np.array(made).reshape(np.shape(y)), reduction)


def multilabel_margin_loss(x, y, reduction=1):
    made = []
    for row, given in zip(np.atleast_2d(x), np.atleast_2d(y), strict=True):
        classes = given[: list(given).index(-1)] if -1 in given else given
        others = [i for i in range(len(row)) if i not in classes]
        made.append(sum(max(0.0, 1 - row[t] + row[i]) for t in classes for i in others) / len(row))
    return reduced(np.array(made).reshape(np.shape(x)[:-1]), reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, reduction=1):
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = np.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(np.maximum(0, near - far + margin), reduction)


def poisson_nll_loss(x, y, log_input, full, eps, reduction):
    x = wide(x)
    made = np.exp(x) - y * x if log_input else x - y * np.log(x + eps)
    stirling = sp.xlogy(y, y) - y + np.log(2 * np.pi * np.maximum(y, 1)) / 2
    return reduced(made + np.where(y > 1, stirling, 0) if full else made, reduction)


# ---- instance norm ---------------------------------------------------------------------------------------------------


def instance_norm(x, weight, bias, mean, var, by_input, momentum, eps, enabled=False):
    rows = [batch_norm(row[None], weight, bias, mean, var, by_input, momentum, eps) for row in x]
    return np.concatenate(rows) if rows else np.zeros(x.shape)


entries(
    glu=glu,
    prelu=prelu,
    cosine_similarity=cosine_similarity,
    pairwise_distance=pairwise_distance,
    cdist=cdist,
    pdist=pdist,
    bilinear=bilinear,
    margin_ranking_loss=margin_ranking_loss,
    hinge_embedding_loss=hinge_embedding_loss,
    cosine_embedding_loss=cosine_embedding_loss,
    multi_margin_loss=multi_margin_loss,
    multilabel_margin_loss=multilabel_margin_loss,
    triplet_margin_loss=triplet_margin_loss,
    soft_margin_loss=lambda x, y, reduction=1: reduced(np.logaddexp(0, -y * x), reduction),
    poisson_nll_loss=poisson_nll_loss,
    instance_norm=instance_norm,
)
