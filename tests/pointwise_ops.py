"""The pointwise operators with their numpy oracles, and the dtypes that they take, compute in and return."""

from collections import namedtuple

import lamella
import numpy as np
import scipy.special
from arrays import BOOL, COMPUTED, FLOATS, INTEGERS, REAL, class_of, np_dtype

# name: the operator; takes: dtypes; oracle: its numpy function over the compute dtype; result: same, bool or float.
Op = namedtuple("Op", "name inputs takes oracle result", defaults=("same",))


def relu(x):
    return np.where(x < 0, np.zeros_like(x), x)


def trunc_divide(x, y):
    if x.dtype.kind == "f":
        return np.trunc(x / y)
    q = np.floor_divide(x, y)
    exact = q * y == x
    return np.where((q < 0) & ~exact, q + 1, q).astype(x.dtype)


def logical(function):
    return lambda *x: function(*(a != 0 for a in x))


def either(x, y):
    return np.logical_or(x, y) if x.dtype == bool else x + y


def rounding(function):
    return lambda x: function(x) if x.dtype.kind == "f" else x


def sign(x):
    """As torch's: 0 for NaN, and bools unchanged."""
    if x.dtype == bool:
        return x
    return np.where(np.isnan(x), 0, np.sign(x)).astype(x.dtype) if x.dtype.kind == "f" else np.sign(x)


def angle(x):
    return np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(np.pi), 0)).astype(x.dtype)


def heaviside(x, y):
    return np.where(x == 0, y, (x > 0).astype(x.dtype))


def shift(function):
    """numpy's shift, with torch's results for counts outside of the width."""

    def shifted(x, y):
        width = x.dtype.itemsize * 8
        inside = (y >= 0) & (y < width)
        beyond = np.zeros_like(x) if function is np.left_shift else np.where(x < 0, -1, 0).astype(x.dtype)
        return np.where(inside, function(x, np.where(inside, y, 0)), beyond)

    return shifted


def float_only(function):
    return lambda x: function(x) if x.dtype.kind in "fc" else np.full(x.shape, function is np.isfinite)


WHOLE = BOOL + INTEGERS
UNARY = [
    Op("neg", 1, REAL, np.negative),
    Op("abs", 1, COMPUTED, np.abs),
    Op("relu", 1, REAL, relu),
    Op("sqrt", 1, COMPUTED, np.sqrt, "float"),
    Op("logical_not", 1, COMPUTED, logical(np.logical_not), "bool"),
    Op("square", 1, REAL, np.square),
    Op("reciprocal", 1, COMPUTED, lambda x: np.asarray(1, x.dtype) / x, "float"),
    Op("rsqrt", 1, COMPUTED, lambda x: np.asarray(1, x.dtype) / np.sqrt(x), "float"),
    Op("deg2rad", 1, COMPUTED, lambda x: x * x.dtype.type(np.pi / 180), "float"),
    Op("rad2deg", 1, COMPUTED, lambda x: x * x.dtype.type(180 / np.pi), "float"),
    Op("ceil", 1, REAL, rounding(np.ceil)),
    Op("floor", 1, REAL, rounding(np.floor)),
    Op("round", 1, REAL, rounding(np.rint)),
    Op("trunc", 1, REAL, rounding(np.trunc)),
    Op("frac", 1, FLOATS, lambda x: x - np.trunc(x)),
    Op("sign", 1, COMPUTED, sign),
    Op("sgn", 1, COMPUTED, sign),
    Op("bitwise_not", 1, WHOLE, np.invert),
    Op("isnan", 1, COMPUTED, float_only(np.isnan), "bool"),
    Op("isinf", 1, COMPUTED, float_only(np.isinf), "bool"),
    Op("isfinite", 1, COMPUTED, float_only(np.isfinite), "bool"),
    Op("isposinf", 1, COMPUTED, float_only(np.isposinf), "bool"),
    Op("isneginf", 1, COMPUTED, float_only(np.isneginf), "bool"),
    Op("signbit", 1, COMPUTED, lambda x: np.signbit(x) if x.dtype.kind == "f" else np.less(x, 0), "bool"),
    Op("angle", 1, COMPUTED, angle, "float"),
    Op("conj_physical", 1, COMPUTED, lambda x: x),
    Op("hardshrink", 1, FLOATS, lambda x: np.where(np.abs(x) <= 0.5, x.dtype.type(0), x)),
]
BINARY = [
    Op("add", 2, COMPUTED, either),
    Op("sub", 2, REAL, np.subtract),
    Op("rsub", 2, REAL, lambda x, y: y - x),
    Op("mul", 2, COMPUTED, lambda x, y: x & y if x.dtype == bool else x * y),
    Op("div", 2, COMPUTED, np.true_divide, "float"),
    Op("maximum", 2, COMPUTED, np.maximum),
    Op("minimum", 2, COMPUTED, np.minimum),
    *(
        Op(name, 2, COMPUTED, function, "bool")
        for name, function in [
            ("eq", np.equal),
            ("ne", np.not_equal),
            ("lt", np.less),
            ("le", np.less_equal),
            ("gt", np.greater),
            ("ge", np.greater_equal),
            ("logical_and", logical(np.logical_and)),
            ("logical_or", logical(np.logical_or)),
            ("logical_xor", logical(np.logical_xor)),
        ]
    ),
]
BINARY += [
    Op("copysign", 2, COMPUTED, np.copysign, "float"),
    Op("heaviside", 2, COMPUTED, heaviside),
    Op("fmax", 2, COMPUTED, np.fmax),
    Op("fmin", 2, COMPUTED, np.fmin),
    Op("bitwise_and", 2, WHOLE, np.bitwise_and),
    Op("bitwise_or", 2, WHOLE, np.bitwise_or),
    Op("bitwise_xor", 2, WHOLE, np.bitwise_xor),
    Op("bitwise_left_shift", 2, INTEGERS, shift(np.left_shift)),
    Op("bitwise_right_shift", 2, INTEGERS, shift(np.right_shift)),
    Op("fmod", 2, FLOATS, np.fmod),
    Op("remainder", 2, FLOATS, np.remainder),
]
# Complex numbers: numpy's function over the same dtype.
COMPLEX_UNARY = {
    **{n: getattr(np, n) for n in "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt square".split()},
    **{n: getattr(np, n.replace("a", "arc", 1)) for n in "asin acos atan asinh acosh atanh".split()},
    "neg": np.negative,
    "abs": np.abs,
    "angle": np.angle,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sgn": lambda x: np.where(x == 0, 0, x / np.abs(x)),
    "conj_physical": np.conj,
}
COMPLEX_BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power}
COMPLEX_BOOL = {"eq": np.equal, "ne": np.not_equal, "logical_and": np.logical_and}
COMPLEX_QUESTION = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "logical_not": np.logical_not}
DIVISIONS = [Op("floor", 2, REAL, np.floor_divide), Op("trunc", 2, REAL, trunc_divide)]
REMAINDERS = [Op("fmod", 2, REAL, np.fmod), Op("remainder", 2, REAL, np.remainder)]


def double(function):
    """An oracle from a function that scipy has in float64 alone."""
    return lambda *x: function(*(a.astype(np.float64) for a in x)).astype(np.longdouble)


def lgamma(x):
    """scipy's function, with C's and torch's value at minus infinity."""
    return np.where(np.isneginf(x), np.inf, scipy.special.gammaln(x))


def sinc(x):
    """The sine of the rounded product, as in torch: near the sine's zeros, rounding decides the result."""
    p = (x * x.dtype.type(np.pi)).astype(np.longdouble)
    return np.where(x == 0, 1, np.sin(p) / np.where(x == 0, 1, p))


# Functions with oracles in a wider dtype. Those of scipy compute in float64, so float64 needs a larger TOLERANCE.
MATHS = {
    **{n: getattr(np, n) for n in "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh".split()},
    **{n: getattr(np, n.replace("a", "arc", 1)) for n in "asin acos atan asinh acosh atanh".split()},
    "erf": double(scipy.special.erf),
    "erfc": double(scipy.special.erfc),
    "erfinv": double(scipy.special.erfinv),
    "lgamma": double(lgamma),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sinc": sinc,
    "logit": lambda x: np.log(x / (1 - x)),
}
# Functions whose formula, which is torch's too, loses more than four units in the last place.
TOLERANCE = {"sinc": 6, "logit": 2.0**12, "lgamma": 2.0**20, "sigmoid": 6, "erfinv": 64, "erfc": 64}
EXACT = UNARY + BINARY


def compute_dtype(op, dtype):
    """The dtype of the computation: float32 for the half types, the default float for integers where marked."""
    if dtype in ("float16", "bfloat16"):
        return np.float32
    return np.float32 if op.result == "float" and class_of(dtype) < 2 else np_dtype(dtype)


def result_dtype(op, dtype):
    if op.result == "bool":
        return np.dtype(bool)
    return np.dtype(np.float32) if op.result == "float" and class_of(dtype) < 2 else np_dtype(dtype)


def expected(op, dtype, *arrays):
    with np.errstate(all="ignore"):
        computed = op.oracle(*(a.astype(compute_dtype(op, dtype)) for a in arrays))
        return np.asarray(computed).astype(result_dtype(op, dtype))


def call(op, *tensors, **kwargs):
    return getattr(lamella, op.name)(*tensors, **kwargs)
