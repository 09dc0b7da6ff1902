"""What numpy and scipy make of the samples: one entry for each operator, over arrays instead of tensors.

Floating arrays arrive in float64, complex ones in complex128, integers and bools in their own dtype; numbers, lists and
strings as they stand in the sample; dtypes as numpy's. An entry returns what the operator does, in any dtype that holds it.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.signal
import scipy.spatial.distance
import scipy.special as sp
import scipy.stats

ORACLES: dict = {}


def wide(x):
    """Integers and bools as torch computes functions that give floats: numpy would take float16 for int8."""
    x = np.asarray(x)
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def floating(function):
    return lambda *a, **k: function(*(wide(x) if isinstance(x, np.ndarray) else x for x in a), **k)


def entries(**functions):
    ORACLES.update(functions)


# ---- pointwise -------------------------------------------------------------------------------------------------------

FLOAT_UNARY = {
    **{n: getattr(np, n) for n in "sin cos tanh sinh cosh tan exp exp2 expm1 log log2 log10 log1p sqrt".split()},
    **{n: getattr(np, "arc" + n[1:]) for n in "asin acos atan asinh acosh atanh".split()},
    **{n: getattr(sp, n) for n in "erf erfc erfinv logit digamma".split()},
    "lgamma": sp.gammaln, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x, "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg, "sinc": np.sinc, "sigmoid": lambda x: 1 / (1 + np.exp(-x)) if np.iscomplexobj(x) else sp.expit(x),
}  # fmt: skip
for name, function in FLOAT_UNARY.items():
    ORACLES[name] = floating(function)


def real_only(f):
    """numpy has no floor and the like of integers in every version; they are themselves."""
    return lambda x: x if x.dtype.kind in "iu" else f(x)


def sgn(x):
    if np.iscomplexobj(x):
        return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x)))
    return x.copy() if x.dtype == bool else np.sign(x)


def elu(x, alpha=1, scale=1, input_scale=1):
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) * input_scale) + np.where(np.isnan(x), x, 0))


def gelu(x, approximate="none"):
    if approximate == "none":
        return x * sp.ndtr(x)
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softplus(x, beta=1, threshold=20):
    return np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta)


def hardshrink(x, lambd=0.5):
    return np.where((x >= -lambd) & (x <= lambd), 0, x)


def softshrink(x, lambd=0.5):
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, np.where(np.isnan(x), x, 0)))


def nan_to_num(x, nan=None, posinf=None, neginf=None):
    return np.nan_to_num(x, nan=nan or 0.0, posinf=posinf, neginf=neginf)


def view(x, size):
    return x.reshape(size) if isinstance(size, tuple) else x.view(size)


def same_memory(sample):
    """as_strided sees the storage, not the tensor."""
    spec, size, strides, *offset = sample.args
    flat = spec.flat()
    at = np.lib.stride_tricks.as_strided
    return at(flat[offset[0] if offset else spec.offset :], size, [s * flat.itemsize for s in strides])


# What needs the arrays in their own dtype, and what needs the whole sample.
NARROW = {"view", "nextafter", "nan_to_num", "rms_norm"}
OF_SAMPLE = {"as_strided": same_memory}

SELU = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
entries(
    neg=np.negative, positive=lambda x: x, sign=sgn, sgn=sgn, square=np.square, abs=np.abs,
    floor=real_only(np.floor), ceil=real_only(np.ceil), trunc=real_only(np.trunc),
    round=lambda x, decimals=0: x if x.dtype.kind in "iu" else np.round(x * 10.0**decimals) / 10.0**decimals,
    isnan=np.isnan, isinf=np.isinf, isfinite=np.isfinite, isposinf=lambda x: np.isposinf(wide(x)),
    isneginf=lambda x: np.isneginf(wide(x)), signbit=lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0,
    logical_not=np.logical_not, bitwise_not=np.invert,
    relu=lambda x: np.where(x < 0, 0, x), relu6=lambda x: np.clip(x, 0, 6),
    hardtanh=lambda x, min_val=-1, max_val=1: np.clip(x, min_val, max_val),
    gelu=gelu, silu=lambda x: x * sp.expit(x), softplus=softplus, elu=elu,
    selu=lambda x: elu(x, SELU[1], SELU[0]), celu=lambda x, alpha=1: elu(x, alpha, 1, 1 / alpha),
    leaky_relu=lambda x, negative_slope=0.01: np.where(x > 0, x, x * negative_slope),
    mish=lambda x: x * np.tanh(np.logaddexp(0, x)), hardswish=lambda x: x * np.clip(x + 3, 0, 6) / 6,
    hardsigmoid=lambda x: np.clip(x + 3, 0, 6) / 6, hardshrink=hardshrink, softshrink=softshrink,
    tanhshrink=lambda x: x - np.tanh(x), frac=lambda x: x - np.trunc(x), log_sigmoid=sp.log_expit, threshold=lambda x, t, v: np.where(x <= t, v, x),
    nan_to_num=nan_to_num,
)  # fmt: skip
ORACLES["logit"] = floating(lambda x, eps=None: sp.logit(x if eps is None else np.clip(x, eps, 1 - eps)))


def clamp(x, min=None, max=None):
    x = x if min is None else np.maximum(x, min)
    return x if max is None else np.minimum(x, max)


def either(f, g):
    """f for numbers, g for bools."""
    return lambda x, y: g(x, y) if np.asarray(x).dtype == bool and np.asarray(y).dtype == bool else f(x, y)


def floor_divide(x, y):
    x, y = np.asarray(x), np.asarray(y)
    return np.floor_divide(x, y)


def trunc_divide(x, y):
    if np.result_type(x, y).kind == "f":
        return np.trunc(np.asarray(x) / y)
    q, r = np.divmod(x, y)
    return q + ((r != 0) & (q < 0))


def div(x, y, rounding_mode=None):
    return {None: floating(np.true_divide), "floor": floor_divide, "trunc": trunc_divide}[rounding_mode](x, y)


def shifted(f):
    """Numbers take the array's dtype."""

    def go(x, y):
        kind = x.dtype if isinstance(x, np.ndarray) else y.dtype
        return f(np.asarray(x).astype(kind), np.asarray(y).astype(kind))

    return go


def logical(f):
    return lambda x, y: f(x != 0, y != 0)


def power(x, y):
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind in "iu" and y.dtype.kind in "iu":
        return np.power(x, y)
    return np.power(x if x.dtype.kind == "c" else wide(x), y)


entries(
    clamp=clamp, clamp_min=lambda x, m: np.maximum(x, m), clamp_max=lambda x, m: np.minimum(x, m),
    add=lambda x, y, alpha=1: either(lambda a, b: a + alpha * b, np.logical_or)(x, y),
    sub=lambda x, y, alpha=1: x - alpha * y, rsub=lambda x, y, alpha=1: y - alpha * x,
    mul=either(lambda a, b: a * b, np.logical_and), div=div, floor_divide=floor_divide, _trunc_divide=trunc_divide,
    remainder=np.remainder, fmod=np.fmod, maximum=np.maximum, minimum=np.minimum, fmax=np.fmax, fmin=np.fmin,
    atan2=floating(np.arctan2), hypot=np.hypot, nextafter=np.nextafter, copysign=floating(np.copysign), logaddexp=np.logaddexp,
    logaddexp2=np.logaddexp2, heaviside=lambda x, y: np.heaviside(x, y).astype(np.result_type(x, y)),
    xlogy=floating(sp.xlogy), gcd=np.gcd, lcm=np.lcm,
    eq=np.equal, ne=np.not_equal, lt=np.less, le=np.less_equal, gt=np.greater, ge=np.greater_equal,
    logical_and=logical(np.logical_and), logical_or=logical(np.logical_or), logical_xor=logical(np.logical_xor),
    bitwise_and=np.bitwise_and, bitwise_or=np.bitwise_or, bitwise_xor=np.bitwise_xor,
    bitwise_left_shift=shifted(np.left_shift), bitwise_right_shift=shifted(np.right_shift), pow=power, float_power=np.float_power,
    where=lambda c, *xy: np.where(c, *xy) if xy else list(np.nonzero(c)), lerp=lambda x, y, w: x + w * (y - x),
    addcmul=lambda x, a, b, value=1: x + value * a * b, addcdiv=lambda x, a, b, value=1: x + value * a / b,
    prelu=lambda x, w: np.where(x > 0, x, x * w.reshape([1, -1] + [1] * (x.ndim - 2) if x.ndim > 1 else [-1])),
    isclose=np.isclose, allclose=np.allclose,
)  # fmt: skip

# ---- complex -----------------------------------------------------------------------------------------------------------

entries(
    real=np.real, imag=np.imag, conj=np.conj, _conj=np.conj, conj_physical=np.conj, resolve_conj=lambda x: x,
    resolve_neg=lambda x: x, angle=np.angle, view_as_real=lambda x: np.stack([x.real, x.imag], -1),
    view_as_complex=lambda x: x[..., 0] + 1j * x[..., 1], complex=lambda x, y: x + 1j * y,
    polar=lambda r, a: r * np.exp(1j * a),
)  # fmt: skip
ORACLES["angle"] = lambda x: np.angle(x) if x.dtype.kind == "c" else np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0))

# ---- reductions ----------------------------------------------------------------------------------------------------------


def axes(dim):
    """numpy's axis for torch's dim: nothing and () mean all."""
    return None if dim is None or dim == () else dim


def zero_dim(x, dim):
    """A zero-dim tensor takes dimensions 0 and -1, which numpy refuses."""
    return None if np.ndim(x) == 0 else axes(dim)


def over(f):
    """f(x, axis=, keepdims=) as an operator: (x, dim, keepdim, dtype=)."""

    def reduce(x, dim=None, keepdim=False, dtype=None):
        x = x if dtype is None else x.astype(dtype)
        return f(x, axis=zero_dim(x, dim), keepdims=keepdim)

    return reduce


def sized(f):
    """Sums of narrow integers in int64."""
    return lambda x, axis, keepdims: f(x, axis=axis, keepdims=keepdims, dtype=np.int64 if x.dtype.kind in "biu" else None)


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
    """The lower of two middle elements, and where it stands."""
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
    return sp.logsumexp(wide(x), axis=zero_dim(x, dim), keepdims=keepdim) if x.size else over(
        lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)))(x, dim, keepdim)


var, std = moment(lambda x: x), moment(np.sqrt)
entries(
    sum=over(sized(np.sum)), prod=over(sized(np.prod)), mean=over(np.mean), nansum=over(np.nansum),
    nanmean=over(np.nanmean), amax=over(np.max), amin=over(np.min),
    any=over(np.any), all=over(np.all), var=var, std=std, var_mean=with_mean(var), std_mean=with_mean(std),
    max=extreme(np.max, np.argmax, np.maximum), min=extreme(np.min, np.argmin, np.minimum),
    argmax=argument(np.argmax), argmin=argument(np.argmin), median=median, aminmax=aminmax,
    count_nonzero=lambda x, dim=None: np.count_nonzero(x, axis=axes(dim)),
    norm=norm, linalg_vector_norm=norm, dist=lambda x, y, p=2: norm(x - y, p), logsumexp=logsumexp,
)  # fmt: skip

# ---- scans ---------------------------------------------------------------------------------------------------------------


def scan(f):
    """A scan along dim; a zero-dim tensor is its own scan."""
    return lambda x, dim, dtype=None: (f(np.atleast_1d(x if dtype is None else x.astype(dtype)), dim)).reshape(x.shape)


def long(f):
    return lambda x, dim: f(x, axis=dim, dtype=np.int64 if x.dtype.kind in "biu" else None)


def running(better):
    """cummax and cummin: the last of equals wins, NaN stays."""

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


entries(
    cumsum=scan(long(np.cumsum)), cumprod=scan(long(np.cumprod)),
    logcumsumexp=scan(lambda x, dim: np.logaddexp.accumulate(x, axis=dim)),
    cummax=running(np.greater_equal), cummin=running(np.less_equal), diff=diff,
)  # fmt: skip

# ---- normalization ---------------------------------------------------------------------------------------------------------


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
    native_layer_norm=native_layer_norm, native_group_norm=native_group_norm,
    softmax=soft(sp.softmax), log_softmax=soft(sp.log_softmax), layer_norm=layer_norm, rms_norm=rms_norm,
    group_norm=group_norm, batch_norm=batch_norm,
    instance_norm=lambda x, w, b, mean, var, stats, momentum, eps, cudnn: scaled(
        normalized(x, tuple(range(2, x.ndim)), eps), per_channel(w, x), per_channel(b, x)),
)  # fmt: skip

# ---- losses ----------------------------------------------------------------------------------------------------------------


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


def bce(x, y, weight=None, reduction="mean"):
    low = np.maximum(np.log(x), -100) * y + np.maximum(np.log1p(-x), -100) * (1 - y)
    return reduced(-low * (1 if weight is None else weight), reduction)


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
    mse_loss=loss(lambda x, y: (x - y) ** 2), l1_loss=loss(lambda x, y: np.abs(x - y)), smooth_l1_loss=loss(smooth_l1),
    huber_loss=loss(huber), binary_cross_entropy=bce, binary_cross_entropy_with_logits=bce_logits, kl_div=kl_div,
    nll_loss=nll, cross_entropy=cross_entropy,
)  # fmt: skip

# ---- products ------------------------------------------------------------------------------------------------------------------


def added(product):
    def go(x, a, b, beta=1, alpha=1):
        return (0 if beta == 0 else beta * x) + alpha * product(a, b)

    return go


entries(
    mm=np.matmul, bmm=np.matmul, matmul=np.matmul, mv=np.matmul, dot=np.dot, vdot=np.vdot, outer=np.outer, ger=np.outer,
    inner=np.inner, addmm=added(np.matmul), baddbmm=added(np.matmul), addmv=added(np.matmul), addr=added(np.outer),
    addbmm=added(lambda a, b: np.matmul(a, b).sum(0)),
    linear=lambda x, w, b=None: x @ w.T + (0 if b is None else b), einsum=lambda e, ts: np.einsum(e, *ts),
    tensordot=lambda x, y, a=2, b=None: np.tensordot(x, y, a if b is None else (a, b)), kron=np.kron,
    cross=lambda x, y, dim=-1: np.cross(np.broadcast_to(x, np.broadcast_shapes(x.shape, y.shape)), y, axis=dim),
    linalg_cross=lambda x, y, dim=-1: np.cross(x, y, axis=dim), trace=np.trace,
    cdist=lambda x, y, p=2.0: norm(x[..., :, None, :] - y[..., None, :, :], p, -1),
)  # fmt: skip

# ---- convolutions and pooling ----------------------------------------------------------------------------------------------------


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
    """Every window of a padded array, flattened; with ceil_mode the last one may hang over the end."""
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
    kernel = pairs(kernel, dims)
    return kernel, kernel if stride in (None, ()) else pairs(stride, dims), pairs(padding, dims)


def max_pool(dims):
    def go(x, kernel, stride=None, padding=0, dilation=1, ceil_mode=False):
        kernel, stride, padding = pool_arguments(dims, kernel, stride, padding)
        return flat_windows(windows(x, kernel, stride, padding, pairs(dilation, dims), ceil_mode, -np.inf), dims).max(-1)

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


entries(
    conv1d=conv(1), conv2d=conv(2), conv3d=conv(3), convolution=lambda x, w, *a: conv(w.ndim - 2)(x, w, *a), max_pool1d=max_pool(1), max_pool2d=max_pool(2), avg_pool1d=avg_pool(1),
    avg_pool2d=avg_pool(2), max_pool2d_with_indices=max_pool_indices, adaptive_avg_pool1d=adaptive(1),
    adaptive_avg_pool2d=adaptive(2),
)  # fmt: skip

# ---- views -------------------------------------------------------------------------------------------------------------------------


def itself(x, *a, **k):
    return x


def flatten(x, start=0, end=-1):
    shape = np.atleast_1d(x).shape
    start, end = start % len(shape), end % len(shape)
    return x.reshape(shape[:start] + (-1,) + shape[end + 1 :] if x.size else
                     shape[:start] + (math.prod(shape[start : end + 1]),) + shape[end + 1 :])


def squeeze(x, dim=None):
    if x.ndim == 0:
        return x
    chosen = range(x.ndim) if dim is None else [d % x.ndim for d in np.atleast_1d(dim)]
    return np.squeeze(x, tuple(d for d in chosen if x.shape[d] == 1))


def split(x, size, dim=0):
    if isinstance(size, int):
        n = x.shape[dim]
        return np.split(x, range(size, n, size), dim)
    return np.split(x, np.cumsum(size)[:-1], dim)


def chunk(x, chunks, dim=0):
    return split(x, -(-x.shape[dim] // chunks), dim) if x.shape[dim] else [x] * chunks


def slice_(x, dim=0, start=None, end=None, step=1):
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def unfold(x, dim, size, step):
    if x.ndim == 0:
        return x.reshape(1)
    return slice_(np.lib.stride_tricks.sliding_window_view(x, size, dim), dim % x.ndim, step=step)


def expand(x, size):
    lead = len(size) - x.ndim
    return np.broadcast_to(x, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(size)])


def parted(f):
    return lambda x, where: f(x, where if isinstance(where, int) else list(where))


def transpose(x, a, b):
    return np.swapaxes(x, a, b)


def unflatten(x, dim, sizes):
    dim %= x.ndim
    return x.reshape(x.shape[:dim] + tuple(sizes) + x.shape[dim + 1 :])


entries(
    alias=itself, detach=itself, squeeze=squeeze, ravel=np.ravel, t=np.transpose, transpose=transpose,
    swapaxes=transpose, swapdims=transpose, movedim=np.moveaxis, moveaxis=np.moveaxis, permute=np.transpose,
    adjoint=lambda x: np.conj(np.swapaxes(x, -1, -2)),
    view=view,
    reshape=lambda x, shape: x.reshape(shape), view_as=lambda x, y: x.reshape(y.shape), flatten=flatten,
    unflatten=unflatten, expand=expand, broadcast_to=expand, expand_as=lambda x, y: np.broadcast_to(x, y.shape),
    atleast_1d=np.atleast_1d, atleast_2d=np.atleast_2d, atleast_3d=np.atleast_3d, hsplit=parted(np.hsplit),
    vsplit=parted(np.vsplit), dsplit=parted(np.dsplit),
    broadcast_tensors=lambda ts: np.broadcast_arrays(*ts), unsqueeze=lambda x, d: np.expand_dims(x, d),
    meshgrid=lambda ts, indexing="ij": np.meshgrid(*ts, indexing=indexing),
    select=lambda x, d, i: np.take(x, i, axis=d), slice=slice_,
    narrow=lambda x, d, start, n: np.take(x, range(start % max(x.shape[d], 1), start % max(x.shape[d], 1) + n), axis=d),
    diagonal=np.diagonal, unfold=unfold, unbind=lambda x, d=0: list(np.moveaxis(x, d, 0)), chunk=chunk, split=split,
    split_with_sizes=split, tensor_split=lambda x, s, d=0: np.array_split(x, s if isinstance(s, int) else list(s), d),
)  # fmt: skip

# ---- joining -----------------------------------------------------------------------------------------------------------------------


def cat(ts, dim=0):
    return np.concatenate([t for t in ts if t.shape != (0,)] or ts, dim)


def rot90(x, k=1, dims=(0, 1)):
    return np.rot90(x, k, dims)


def padded(x, pad, mode="constant", value=None):
    if not isinstance(mode, str):
        mode, value = "constant", mode
    for i in range(0, len(pad), 2):
        d = x.ndim - 1 - i // 2
        low, high = pad[i], pad[i + 1]
        x = slice_(x, d, max(-low, 0), x.shape[d] + min(high, 0))
        x = np.pad(x, [(max(low, 0), max(high, 0)) if j == d else (0, 0) for j in range(x.ndim)],
                   constant_values=value or 0)
    return x


def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    n = x.shape[-1] + abs(offset)
    made = np.zeros((*x.shape[:-1], n, n), x.dtype)
    i = np.arange(x.shape[-1])
    made[..., i + max(-offset, 0), i + max(offset, 0)] = x
    return np.moveaxis(made, (-2, -1), (dim1, dim2))


def roll(x, shifts, dims=()):
    dims = dims if isinstance(dims, int) else tuple(dims)
    return np.roll(x, shifts, None if dims == () else dims)


def repeat_interleave(x, n=None, dim=None, output_size=None):
    return np.repeat(np.arange(len(x)), x) if n is None else np.repeat(x, n, dim)


entries(
    cat=cat, concat=cat, concatenate=cat, column_stack=np.column_stack, diagflat=np.diagflat, stack=lambda ts, dim=0: np.stack(ts, dim), hstack=np.hstack, vstack=np.vstack,
    dstack=np.dstack, repeat=lambda x, n: np.tile(x, n), tile=np.tile, roll=roll,
    repeat_interleave=repeat_interleave, flip=np.flip, fliplr=np.fliplr, flipud=np.flipud,
    rot90=rot90, tril=np.tril, triu=np.triu, diag=np.diag, diag_embed=diag_embed, constant_pad_nd=padded, pad=padded,
)  # fmt: skip

# ---- indexing ------------------------------------------------------------------------------------------------------------------------


def at(x, dim, index):
    """numpy's index of the places that gather and scatter mean."""
    grid = list(np.indices(index.shape))
    if x.ndim:
        grid[dim] = index
    return tuple(grid)


def scatter(x, dim, index, src, reduce=None, include_self=True):
    made = x.copy()
    values = src[tuple(slice(n) for n in index.shape)] if isinstance(src, np.ndarray) else np.full(index.shape, src, x.dtype)
    places = at(x, dim, index)
    ufunc = {"add": np.add, "sum": np.add, "multiply": np.multiply, "prod": np.multiply, "mean": np.add,
             "amax": np.maximum, "amin": np.minimum}.get(reduce)  # fmt: skip
    if ufunc is None:
        made[places] = values
        return made
    if not include_self:
        made[places] = {"prod": 1, "amax": values.min(), "amin": values.max()}.get(reduce, 0)
    ufunc.at(made, places, values)
    if reduce == "mean":
        count = np.full(x.shape, int(include_self))
        np.add.at(count, places, 1)
        made = made / np.maximum(count, 1) if made.dtype.kind == "f" else made // np.maximum(count, 1)
    return made


def along(x, dim, index):
    return (slice(None),) * (dim % x.ndim) + (index,)


def index_add(x, dim, index, source, alpha=1):
    made = x.copy()
    np.add.at(made, along(x, dim, index), alpha * source)
    return made


def index_set(x, dim, index, source):
    made = x.copy()
    made[along(x, dim, index)] = source
    return made


def numpy_index(indices):
    return tuple(slice(None) if i is None else i for i in indices)


def index_put(x, indices, values, accumulate=False):
    made = x.copy()
    if accumulate:
        np.add.at(made, numpy_index(indices), values)
    else:
        made[numpy_index(indices)] = values
    return made


def masked_scatter(x, mask, source):
    made = x.copy()
    mask = np.broadcast_to(mask, x.shape)
    made[mask] = source.ravel()[: mask.sum()]
    return made


def one_hot(x, classes=-1):
    return np.eye(classes if classes >= 0 else x.max() + 1, dtype=np.int64)[x]


def put(x, index, source, accumulate=False):
    made = x.copy()
    (np.add.at if accumulate else np.put)(made.reshape(-1), index, source)
    return made


def nonzero(x, as_tuple=False):
    return list(np.nonzero(np.atleast_1d(x))) if as_tuple else np.argwhere(x)


def select_broadcast(x, mask):
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


entries(
    gather=lambda x, dim, index: x[at(x, dim, index)], scatter=scatter, scatter_reduce=scatter,
    scatter_add=lambda x, dim, index, src: scatter(x, dim, index, src, "add"),
    index_select=lambda x, dim, index: np.take(x, index, axis=dim), index_add=index_add, index_copy=index_set,
    index_fill=index_set, index=lambda x, indices: x[numpy_index(indices)], index_put=index_put, put=put,
    take=lambda x, index: np.take(x, index), nonzero=nonzero, argwhere=np.argwhere,
    take_along_dim=lambda x, index, dim=None: np.take(x, index) if dim is None else np.take_along_axis(
        *broadcast_but(x, index, dim), dim),
    masked_fill=lambda x, mask, value: np.where(mask, np.asarray(value).astype(x.dtype), x),
    masked_select=select_broadcast, masked_scatter=masked_scatter,
    embedding=lambda w, i, *a: w[i], one_hot=one_hot,
    isin=lambda x, y, invert=False: np.isin(x, y, invert=invert),
    bincount=lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength),
    bucketize=lambda x, b, right=False, out_int32=False: np.searchsorted(b, x, "right" if right else "left"),
    searchsorted=lambda b, x, right=False, side="left": np.searchsorted(b, x, "right" if right else side)
    if b.ndim == 1 else np.stack([np.searchsorted(r, y, "right" if right else side) for r, y in zip(b, x, strict=True)]),
)  # fmt: skip


def broadcast_but(x, index, dim):
    """Both, equal in every dimension but one."""
    shape = list(np.broadcast_shapes(*(s[:dim] + (1,) + s[dim % len(s) + 1 :] for s in (x.shape, index.shape))))
    sizes = [shape[:dim] + [a.shape[dim]] + shape[dim % len(shape) + 1 :] for a in (x, index)]
    return np.broadcast_to(x, sizes[0]), np.broadcast_to(index, sizes[1])


# ---- sorting ---------------------------------------------------------------------------------------------------------------------------


def order_of(x, dim, descending):
    """Stable, NaN last (first when descending)."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    return np.flip(x.shape[dim] - 1 - np.argsort(np.flip(x, dim), axis=dim, kind="stable"), dim)


def sort(x, dim=-1, descending=False, stable=None):
    x1 = np.atleast_1d(x)
    order = order_of(x1, dim, descending)
    return np.take_along_axis(x1, order, dim).reshape(x.shape), order.reshape(x.shape)


def topk(x, k, dim=-1, largest=True, sorted=True):
    values, order = sort(np.atleast_1d(x), dim, largest)
    taken = np.take(values, range(k), axis=dim), np.take(order, range(k), axis=dim)
    return taken if x.ndim else tuple(t.reshape(()) for t in taken)


def kthvalue(x, k, dim=-1, keepdim=False):
    values, order = sort(x, dim)
    picked = np.take(values, [k - 1], axis=dim), np.take(order, [k - 1], axis=dim)
    return picked if keepdim else tuple(p.squeeze(dim) for p in picked)


def unique(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=dim)
    shape = x.shape if dim is None else (x.shape[dim],)
    return values, inverse.reshape(shape) if return_inverse else None, counts if return_counts else None


def unique_consecutive(x, return_inverse=False, return_counts=False, dim=None):
    flat = x.ravel()
    start = np.concatenate([[True], flat[1:] != flat[:-1]]) if flat.size else np.zeros(0, bool)
    at = np.flatnonzero(start)
    inverse, counts = (np.cumsum(start) - 1).reshape(x.shape), np.diff([*at, flat.size])
    return flat[at], inverse if return_inverse else None, counts if return_counts else None


entries(
    sort=sort, msort=lambda x: np.sort(x, 0), topk=topk, kthvalue=kthvalue, _unique2=unique,
    argsort=lambda x, dim=-1, descending=False, stable=None: sort(x, dim, descending)[1],
    unique_dim=lambda x, dim, *a: unique(x, *a, dim=dim), unique_consecutive=unique_consecutive,
    mode=lambda x, dim=-1, keepdim=False: (scipy.stats.mode(x, axis=dim, keepdims=keepdim).mode, None),
)  # fmt: skip
ORACLES["_unique_consecutive"] = unique_consecutive

# ---- creation and copies -----------------------------------------------------------------------------------------------------------------


def arange(*a, dtype=None):
    """By the number of steps, then start + i * step, as the catalogue's page says it."""
    start, end, step = (0, a[0], 1) if len(a) == 1 else (*a, 1)[:3]
    count = math.ceil((end - start) / step)
    return start + np.arange(count) * step


def copied(x, y, *a):
    return np.broadcast_to(y, x.shape)


def filled(x, value, *a, **k):
    return np.full(x.shape, value)


entries(
    zeros=lambda size, dtype=None: np.zeros(size), ones=lambda size, dtype=None: np.ones(size),
    full=lambda size, value, dtype=None: np.full(size, value), zeros_like=lambda x, **k: np.zeros(x.shape),
    ones_like=lambda x, **k: np.ones(x.shape), full_like=filled,
    new_zeros=lambda x, size, dtype=None: np.zeros(size), new_ones=lambda x, size, dtype=None: np.ones(size),
    new_full=lambda x, size, value, dtype=None: np.full(size, value), arange=arange,
    eye=lambda n, m=None, dtype=None: np.eye(n, m), linspace=lambda a, b, n, dtype=None: np.linspace(a, b, n),
    logspace=lambda a, b, n, base=10.0, dtype=None: np.logspace(a, b, n, base=base),
    tril_indices=lambda r, c, o=0, dtype=None: np.stack(np.tril_indices(r, o, c)),
    triu_indices=lambda r, c, o=0, dtype=None: np.stack(np.triu_indices(r, o, c)),
    scalar_tensor=lambda s, dtype=None: np.asarray(s), clone=itself, contiguous=itself, copy_=copied, to=itself,
    type_as=itself, item=lambda x: x.item(), equal=np.array_equal, fill_=filled, fill=filled,
    zero_=lambda x: np.zeros(x.shape),
)  # fmt: skip
