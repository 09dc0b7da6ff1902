"""Oracles of reductions, scans, normalization and losses."""

from __future__ import annotations

import math

import numpy as np
import scipy.integrate
import scipy.special as sp

from oracles.base import entries, narrow_entries, wide

# ---- reductions ------------------------------------------------------------------------------------------------------


def axes(dim):
    """Returns numpy's axis for torch's dim: None and () mean all."""
    return None if dim is None or dim == () else dim


def zero_dim(x, dim):
    """Lets a zero-dim tensor have dimensions 0 and -1, which numpy refuses."""
    return None if np.ndim(x) == 0 else axes(dim)


def over(f):
    """Makes an oracle (x, dim, keepdim, dtype=) from f(x, axis=, keepdims=)."""

    def reduce(x, dim=None, keepdim=False, dtype=None):
        x = x if dtype is None else x.astype(dtype)
        return f(x, axis=zero_dim(x, dim), keepdims=keepdim)

    return reduce


def sized(f):
    """Computes f in int64 for integers and bools."""
    return lambda x, axis, keepdims: f(
        x, axis=axis, keepdims=keepdims, dtype=np.int64 if x.dtype.kind in "biu" else None
    )


def moment(f):
    """var and std in their three forms: (unbiased), (dim, unbiased, keepdim), (dim, correction=, keepdim=)."""

    def reduce(x, dim=None, unbiased=True, keepdim=False, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        ddof = correction if correction is not None else int(unbiased)
        axis = axes(dim)
        count = x.size if axis is None else np.prod([x.shape[d] for d in np.atleast_1d(axis)])
        mean = x.mean(axis=axis, keepdims=True)
        total = (np.abs(x - mean) ** 2).sum(axis=axis, keepdims=keepdim)
        return f(total / np.maximum(count - ddof, 0))

    return reduce


def with_mean(f):
    def both(x, dim=None, unbiased=True, keepdim=False, correction=None):
        mean_dim = None if isinstance(dim, bool) else axes(dim)
        return f(x, dim, unbiased, keepdim, correction), x.mean(axis=mean_dim, keepdims=keepdim)

    return both


def extreme(f, arg, pair):
    def reduce(x, dim=None, keepdim=False):
        if isinstance(dim, np.ndarray):
            return pair(x, dim)
        if dim is None:
            return f(x)
        return f(x, axis=dim, keepdims=keepdim), arg(x, axis=dim, keepdims=keepdim)

    return reduce


def argument(f):
    return lambda x, dim=None, keepdim=False: f(x, axis=None if x.ndim == 0 else dim, keepdims=keepdim)


def median(x, dim=None, keepdim=False):
    """Returns the lower of two middle elements, and its index."""
    flat = x.ravel() if dim is None else x
    if not flat.size:
        return np.nan if dim is None else (np.zeros(np.delete(x.shape, dim)),) * 2
    axis = 0 if dim is None else dim
    order = np.argsort(flat, axis=axis, kind="stable")
    at = np.take(order, [(flat.shape[axis] - 1) // 2], axis=axis)
    value = np.take_along_axis(flat, at, axis)
    if dim is None:
        return np.nan if np.isnan(x).any() else value[0]
    return (value, at) if keepdim else (value.squeeze(axis), at.squeeze(axis))


def norm(x, p=2, dim=None, keepdim=False, dtype=None):
    if p == "nuc":
        return np.linalg.norm(x, "nuc", dim or (0, 1), keepdim)
    p, x, axis = 2 if p in (None, "fro") else p, np.abs(x), zero_dim(x, dim)
    if p in (math.inf, -math.inf):
        f = np.max if p > 0 else np.min
        return f(x, axis=axis, keepdims=keepdim)
    if p == 0:
        return (x != 0).sum(axis=axis, keepdims=keepdim)
    return (x**p).sum(axis=axis, keepdims=keepdim) ** (1 / p)


def aminmax(x, dim=None, keepdim=False):
    return x.min(axis=dim, keepdims=keepdim), x.max(axis=dim, keepdims=keepdim)


def logsumexp(x, dim, keepdim=False):
    return (
        sp.logsumexp(wide(x), axis=zero_dim(x, dim), keepdims=keepdim)
        if x.size
        else over(lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)))(x, dim, keepdim)
    )


var, std = moment(lambda x: x), moment(np.sqrt)
entries(
    sum=over(sized(np.sum)),
    prod=over(sized(np.prod)),
    mean=over(np.mean),
    nansum=over(np.nansum),
    nanmean=over(np.nanmean),
    amax=over(np.max),
    amin=over(np.min),
    any=over(np.any),
    all=over(np.all),
    var=var,
    std=std,
    var_mean=with_mean(var),
    std_mean=with_mean(std),
    max=extreme(np.max, np.argmax, np.maximum),
    min=extreme(np.min, np.argmin, np.minimum),
    argmax=argument(np.argmax),
    argmin=argument(np.argmin),
    median=median,
    aminmax=aminmax,
    count_nonzero=lambda x, dim=None: np.count_nonzero(x, axis=axes(dim)),
    norm=norm,
    linalg_vector_norm=norm,
    dist=lambda x, y, p=2: norm(x - y, p),
    logsumexp=logsumexp,
)


# ---- statistics ------------------------------------------------------------------------------------------------------


def quantile(f):
    def go(x, q, dim=None, keepdim=False, interpolation="linear"):
        axis = None if x.ndim == 0 else dim
        return f(x, q, axis=axis, keepdims=keepdim, method=interpolation)

    return go


def middle(x, dim=None, keepdim=False):
    """Returns the lower median of the elements that are not NaN, and its index."""
    if dim is None:
        row = np.sort(x[x == x].ravel())
        return row[(row.size - 1) // 2] if row.size else np.nan
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    if not x.size:
        return (np.zeros(np.delete(x.shape, dim)),) * 2
    order = np.argsort(x, axis=dim, kind="stable")
    at = np.take_along_axis(order, np.maximum((x == x).sum(dim, keepdims=True) - 1, 0) // 2, dim)
    values = np.take_along_axis(x, at, dim)
    return (values, at) if keepdim else (values.squeeze(dim), at.squeeze(dim))


def mode(x, dim=-1, keepdim=False):
    """Returns the most frequent element, the smallest of several, and its last index."""
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    if not x.size:
        return (np.zeros(np.delete(x.shape, dim)),) * 2

    def of_row(row):
        values, counts = np.unique(row, return_counts=True)
        return np.flatnonzero(row == values[counts.argmax()])[-1]

    at = np.expand_dims(np.apply_along_axis(of_row, dim, x), dim)
    values = np.take_along_axis(x, at, dim)
    return (values, at) if keepdim else (values.squeeze(dim), at.squeeze(dim))


def histc(x, bins=100, min=0, max=0):
    return np.histogram(x[x == x], bins, (min, max) if min != max else None)[0]


entries(
    quantile=quantile(np.quantile),
    nanquantile=quantile(np.nanquantile),
    nanmedian=middle,
    mode=mode,
    histc=histc,
    cov=lambda x, correction=1, fweights=None, aweights=None: np.cov(
        x, ddof=correction, fweights=fweights, aweights=aweights
    ),
    corrcoef=np.corrcoef,
)


# ---- scans -----------------------------------------------------------------------------------------------------------


def scan(f):
    """Makes the oracle of a scan along dim; a zero-dim tensor is its own scan."""
    return lambda x, dim, dtype=None: (f(np.atleast_1d(x if dtype is None else x.astype(dtype)), dim)).reshape(x.shape)


def long(f):
    return lambda x, dim: f(x, axis=dim, dtype=np.int64 if x.dtype.kind in "biu" else None)


def running(better):
    """cummax and cummin: the last of equal elements wins, NaN stays."""

    def go(x, dim):
        x1 = np.moveaxis(np.atleast_1d(x), dim, 0)
        values, at = x1.copy(), np.zeros(x1.shape, np.int64)
        for i in range(1, len(x1)):
            take = ~np.isnan(values[i - 1]) & (better(x1[i], values[i - 1]) | np.isnan(x1[i])) | np.isnan(x1[i])
            values[i], at[i] = np.where(take, x1[i], values[i - 1]), np.where(take, i, at[i - 1])
        return np.moveaxis(values, 0, dim).reshape(x.shape), np.moveaxis(at, 0, dim).reshape(x.shape)

    return go


def diff(x, n=1, dim=-1, prepend=None, append=None):
    parts = [p for p in (prepend, x, append) if p is not None]
    return np.diff(np.concatenate(parts, dim) if len(parts) > 1 else x, n, dim)


def trapezoid(f):
    return lambda y, x=None, dx=1.0, dim=-1: f(y, x=x, dx=dx, axis=dim)


entries(
    cumsum=scan(long(np.cumsum)),
    cumprod=scan(long(np.cumprod)),
    logcumsumexp=scan(lambda x, dim: np.logaddexp.accumulate(x, axis=dim)),
    cummax=running(np.greater_equal),
    cummin=running(np.less_equal),
    diff=diff,
    trapezoid=trapezoid(np.trapezoid if hasattr(np, "trapezoid") else np.trapz),
    cumulative_trapezoid=trapezoid(scipy.integrate.cumulative_trapezoid),
)


# ---- normalization ---------------------------------------------------------------------------------------------------


def soft(f):
    def go(x, dim, dtype=None):
        x = wide(x)
        return f(x, axis=None if x.ndim == 0 else dim) if x.size else x

    return go


def normalized(x, axis, eps):
    mean = x.mean(axis=axis, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axis=axis, keepdims=True) + eps)


def scaled(x, weight, bias):
    return x * (1 if weight is None else weight) + (0 if bias is None else bias)


def per_channel(v, x):
    return None if v is None else v.reshape([1, -1] + [1] * (x.ndim - 2))


def layer_norm(x, shape, weight=None, bias=None, eps=1e-5, enable=True):
    return scaled(normalized(x, tuple(range(-len(shape), 0)), eps), weight, bias)


def rms_norm(x, shape, weight=None, eps=None):
    axis, eps = tuple(range(-len(shape), 0)), np.finfo(x.dtype).eps if eps is None else eps
    x = x.astype(np.float64)
    return scaled(x / np.sqrt((x**2).mean(axis=axis, keepdims=True) + eps), weight, None)


def fused_rms_norm(x, shape, weight, eps):
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt((wide**2).mean(axis=tuple(range(-len(shape), 0)), keepdims=True) + eps)
    return rms_norm(x, shape, weight, eps), scale


def group_norm(x, groups, weight=None, bias=None, eps=1e-5, enable=True):
    parts = x.reshape(len(x), groups, -1) if x.size else x
    made = normalized(parts, 2, eps).reshape(x.shape) if x.size else x
    return scaled(made, per_channel(weight, x), per_channel(bias, x))


def statistics(x, axis, eps):
    return x.mean(axis=axis, keepdims=True), 1 / np.sqrt(x.var(axis=axis, keepdims=True) + eps)


def native_layer_norm(x, shape, weight, bias, eps):
    return layer_norm(x, shape, weight, bias, eps), *statistics(x, tuple(range(-len(shape), 0)), eps)


def native_group_norm(x, weight, bias, n, channels, area, groups, eps):
    mean, spread = statistics(x.reshape(n, groups, channels // groups * area), 2, eps)
    return group_norm(x, groups, weight, bias, eps), mean[..., 0], spread[..., 0]


def batch_norm(x, weight, bias, mean, var, training, momentum, eps, enabled=False):
    if training:
        made = normalized(x, (0, *range(2, x.ndim)), eps)
    else:
        made = (x - per_channel(mean, x)) / np.sqrt(per_channel(var, x) + eps)
    return scaled(made, per_channel(weight, x), per_channel(bias, x))


entries(
    native_layer_norm=native_layer_norm,
    native_group_norm=native_group_norm,
    softmax=soft(sp.softmax),
    log_softmax=soft(sp.log_softmax),
    layer_norm=layer_norm,
    group_norm=group_norm,
    batch_norm=batch_norm,
)
narrow_entries(rms_norm=rms_norm, _fused_rms_norm=fused_rms_norm)


# ---- losses ----------------------------------------------------------------------------------------------------------


def reduced(x, reduction):
    return {"none": x, "mean": np.mean(x) if x.size else np.nan, "sum": np.sum(x)}[reduction]


def loss(f):
    return lambda x, y, reduction="mean", **k: reduced(f(x, y, **k), reduction)


def smooth_l1(x, y, beta=1.0):
    d = np.abs(x - y)
    return np.where(d < beta, d * d / (2 * beta), d - beta / 2)


def huber(x, y, delta=1.0):
    d = np.abs(x - y)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2))


def each_bce(x, y):
    return -(np.maximum(np.log(x), -100) * y + np.maximum(np.log1p(-x), -100) * (1 - y))


def bce(x, y, weight=None, reduction="mean"):
    return reduced(each_bce(x, y) * (1 if weight is None else weight), reduction)


def bce_logits(x, y, weight=None, reduction="mean", pos_weight=None):
    made = -(y * sp.log_expit(x) * (1 if pos_weight is None else pos_weight) + (1 - y) * sp.log_expit(-x))
    return reduced(made * (1 if weight is None else weight), reduction)


def kl_div(x, y, reduction="mean", log_target=False):
    made = np.exp(y) * (y - x) if log_target else sp.xlogy(y, y) - y * x
    return made.sum() / len(made) if reduction == "batchmean" else reduced(made, reduction)


def nll(x, y, weight=None, ignore_index=-100, reduction="mean"):
    classes = 0 if x.ndim == 1 else 1
    weight = np.ones(x.shape[classes]) if weight is None else weight
    kept = y != ignore_index
    safe = np.where(kept, y, 0)
    picked = np.take_along_axis(x, np.expand_dims(safe, classes), classes).squeeze(classes)
    w = np.where(kept, weight[safe], 0.0)
    made = -picked * w
    return {"none": made, "sum": made.sum(), "mean": made.sum() / w.sum() if w.size else np.nan}[reduction]


def cross_entropy(x, y, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    classes = 0 if x.ndim == 1 else 1
    count, logs = x.shape[classes], sp.log_softmax(x, axis=classes) if x.size else x
    w = np.ones(count) if weight is None else weight
    along = w.reshape([-1] + [1] * (x.ndim - 1 - classes))
    if y.shape == x.shape and y.dtype.kind == "f":
        y = y * (1 - label_smoothing) + label_smoothing / count
        made = -(logs * y * along).sum(classes)
        return {"none": made, "sum": made.sum(), "mean": made.sum() / (made.size or 1)}[reduction]
    hard = nll(logs, y, w, ignore_index, reduction)
    if not label_smoothing:
        return hard
    kept = y != ignore_index
    smooth = np.where(kept, -(logs * along).sum(classes), 0)
    total = w[np.where(kept, y, 0)][kept].sum()
    spread = {"none": smooth, "sum": smooth.sum(), "mean": smooth.sum() / total}[reduction]
    return (1 - label_smoothing) * hard + label_smoothing / count * spread


entries(
    mse_loss=loss(lambda x, y: (x - y) ** 2),
    l1_loss=loss(lambda x, y: np.abs(x - y)),
    smooth_l1_loss=loss(smooth_l1),
    huber_loss=loss(huber),
    _binary_cross_entropy=each_bce,
    binary_cross_entropy=bce,
    binary_cross_entropy_with_logits=bce_logits,
    kl_div=kl_div,
    nll_loss=nll,
    cross_entropy=cross_entropy,
)
