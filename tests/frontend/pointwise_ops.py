"""The pointwise operators with their numpy oracles: what they take, what they compute in, what they return."""

from collections import namedtuple

import lattis
import numpy as np
from arrays import COMPUTED, REAL, class_of, np_dtype

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


UNARY = [
    Op("neg", 1, REAL, np.negative),
    Op("abs", 1, COMPUTED, np.abs),
    Op("relu", 1, REAL, relu),
    Op("sqrt", 1, COMPUTED, np.sqrt, "float"),
    Op("logical_not", 1, COMPUTED, logical(np.logical_not), "bool"),
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
DIVISIONS = [Op("floor", 2, REAL, np.floor_divide), Op("trunc", 2, REAL, trunc_divide)]
MATHS = ["exp", "log", "sin", "cos", "tanh"]
EXACT = UNARY + BINARY


def compute_dtype(op, dtype):
    """What the values are computed in: float32 for the half types, the default float for integers where marked."""
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
    return getattr(lattis, op.name)(*tensors, **kwargs)
