"""Oracles of operators that compute element by element, and of complex parts."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from oracles.base import ORACLES, entries, floating, narrow_entries, wide

# ---- pointwise -------------------------------------------------------------------------------------------------------


def double(function):
    """Extends a function of scipy, which takes up to float64, to longdouble."""
    return lambda x: function(x.astype(np.float64)).astype(x.dtype) if x.dtype == np.longdouble else function(x)


FLOAT_UNARY = {
    **{n: getattr(np, n) for n in "sin cos tanh sinh cosh tan exp exp2 expm1 log log2 log10 log1p sqrt".split()},
    **{n: getattr(np, "arc" + n[1:]) for n in "asin acos atan asinh acosh atanh".split()},
    **{n: double(getattr(sp, n)) for n in "erf erfc erfinv digamma".split()},
    "lgamma": double(lambda x: np.where(np.isneginf(x), np.inf, sp.gammaln(x))),  # the value of C and torch at -inf
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "deg2rad": lambda x: x * x.dtype.type(np.pi / 180),
    "rad2deg": lambda x: x * x.dtype.type(180 / np.pi),
    "sinc": np.sinc,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)) if np.iscomplexobj(x) else sp.expit(x),
}
for name, function in FLOAT_UNARY.items():
    ORACLES[name] = floating(function)


def real_only(f):
    """floor and similar functions return integers unchanged, since not every version of numpy takes them."""
    return lambda x: x if x.dtype.kind in "iu" else f(x)


def sgn(x):
    if np.iscomplexobj(x):
        return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x)))
    return x.copy() if x.dtype == bool else np.where(np.isnan(x), 0, np.sign(x))  # torch's value for NaN


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


SELU = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
entries(
    neg=np.negative,
    positive=lambda x: x,
    sign=sgn,
    sgn=sgn,
    square=np.square,
    abs=np.abs,
    floor=real_only(np.floor),
    ceil=real_only(np.ceil),
    trunc=real_only(np.trunc),
    round=lambda x, decimals=0: x if x.dtype.kind in "iu" else np.round(x * 10.0**decimals) / 10.0**decimals,
    isnan=np.isnan,
    isinf=np.isinf,
    isfinite=np.isfinite,
    isposinf=lambda x: np.isposinf(wide(x)),
    isneginf=lambda x: np.isneginf(wide(x)),
    signbit=lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0,
    logical_not=np.logical_not,
    bitwise_not=np.invert,
    relu=lambda x: np.where(x < 0, 0, x),
    relu6=lambda x: np.clip(x, 0, 6),
    hardtanh=lambda x, min_val=-1, max_val=1: np.clip(x, min_val, max_val),
    gelu=gelu,
    silu=lambda x: x * sp.expit(x),
    softplus=softplus,
    elu=elu,
    selu=lambda x: elu(x, SELU[1], SELU[0]),
    celu=lambda x, alpha=1: elu(x, alpha, 1, 1 / alpha),
    leaky_relu=lambda x, negative_slope=0.01: np.where(x > 0, x, x * negative_slope),
    mish=lambda x: x * np.tanh(np.logaddexp(0, x)),
    hardswish=lambda x: x * np.clip(x + 3, 0, 6) / 6,
    hardsigmoid=lambda x: np.clip(x + 3, 0, 6) / 6,
    hardshrink=hardshrink,
    softshrink=softshrink,
    tanhshrink=lambda x: x - np.tanh(x),
    frac=lambda x: x - np.trunc(x),
    log_sigmoid=sp.log_expit,
    threshold=lambda x, threshold, value: np.where(x <= threshold, value, x),
    logit=floating(lambda x, eps=None: sp.logit(x if eps is None else np.clip(x, eps, 1 - eps))),
)
narrow_entries(nan_to_num=nan_to_num, nextafter=np.nextafter)


def clamp(x, min=None, max=None):
    x = x if min is None else np.maximum(x, min)
    return x if max is None else np.minimum(x, max)


def either(f, g):
    """Returns an oracle: f for numbers, g for bools."""
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
    """Calls f with both operands in the array's dtype; shifts outside of the width get torch's results."""

    def go(x, y):
        kind = x.dtype if isinstance(x, np.ndarray) else y.dtype
        x, y = np.asarray(x).astype(kind), np.asarray(y).astype(kind)
        inside = (y >= 0) & (y < kind.itemsize * 8)
        beyond = np.zeros_like(x) if f is np.left_shift else np.where(x < 0, -1, 0).astype(kind)
        return np.where(inside, f(x, np.where(inside, y, 0)), beyond)

    return go


def logical(f):
    return lambda x, y: f(x != 0, y != 0)


def power(x, y):
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind in "iu" and y.dtype.kind in "iu":
        return np.power(x, y)
    return np.power(x if x.dtype.kind == "c" else wide(x), y)


entries(
    clamp=clamp,
    clamp_min=lambda x, m: np.maximum(x, m),
    clamp_max=lambda x, m: np.minimum(x, m),
    add=lambda x, y, alpha=1: either(lambda a, b: a + alpha * b, np.logical_or)(x, y),
    sub=lambda x, y, alpha=1: x - alpha * y,
    rsub=lambda x, y, alpha=1: y - alpha * x,
    mul=either(lambda a, b: a * b, np.logical_and),
    div=div,
    floor_divide=floor_divide,
    _trunc_divide=trunc_divide,
    remainder=np.remainder,
    fmod=np.fmod,
    maximum=np.maximum,
    minimum=np.minimum,
    fmax=np.fmax,
    fmin=np.fmin,
    atan2=floating(np.arctan2),
    hypot=np.hypot,
    copysign=floating(np.copysign),
    logaddexp=np.logaddexp,
    logaddexp2=np.logaddexp2,
    heaviside=lambda x, y: np.where(x == 0, y, x > 0).astype(np.result_type(x, y)),  # torch gives 0 for NaN
    xlogy=floating(sp.xlogy),
    gcd=np.gcd,
    lcm=np.lcm,
    eq=np.equal,
    ne=np.not_equal,
    lt=np.less,
    le=np.less_equal,
    gt=np.greater,
    ge=np.greater_equal,
    logical_and=logical(np.logical_and),
    logical_or=logical(np.logical_or),
    logical_xor=logical(np.logical_xor),
    bitwise_and=np.bitwise_and,
    bitwise_or=np.bitwise_or,
    bitwise_xor=np.bitwise_xor,
    bitwise_left_shift=shifted(np.left_shift),
    bitwise_right_shift=shifted(np.right_shift),
    pow=power,
    float_power=np.float_power,
    polygamma=floating(sp.polygamma),
    where=lambda c, *xy: np.where(c, *xy) if xy else list(np.nonzero(c)),
    lerp=lambda x, y, w: x + w * (y - x),
    addcmul=lambda x, a, b, value=1: x + value * a * b,
    addcdiv=lambda x, a, b, value=1: x + value * a / b,
    isclose=np.isclose,
    allclose=np.allclose,
)


# ---- complex ---------------------------------------------------------------------------------------------------------

entries(
    real=np.real,
    imag=np.imag,
    conj=np.conj,
    _conj=np.conj,
    conj_physical=np.conj,
    resolve_conj=lambda x: x,
    resolve_neg=lambda x: x,
    angle=np.angle,
    view_as_real=lambda x: np.stack([x.real, x.imag], -1),
    view_as_complex=lambda x: x[..., 0] + 1j * x[..., 1],
    complex=lambda x, y: x + 1j * y,
    polar=lambda r, a: r * np.exp(1j * a),
)
ORACLES["angle"] = lambda x: np.angle(x) if x.dtype.kind == "c" else np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0))
