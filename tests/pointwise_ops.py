"""Pointwise operators for the tests of every dtype: the dtypes that each takes, computes in and returns.

``operators/oracles`` has their oracles, with those of all operators.
"""

from collections import namedtuple

import numpy as np
from arrays import BOOL, COMPUTED, FLOATS, INTEGERS, REAL, class_of, np_dtype

# name: the operator's; takes: dtypes; result: same, bool or float.
Op = namedtuple("Op", "name inputs takes result", defaults=("same",))

WHOLE = BOOL + INTEGERS


def table(inputs, takes, result, names):
    return [Op(name, inputs, takes, result) for name in names.split()]


UNARY = [
    *table(1, REAL, "same", "neg relu square ceil floor round trunc"),
    *table(1, COMPUTED, "same", "abs sign sgn conj_physical"),
    *table(1, FLOATS, "same", "frac hardshrink"),
    *table(1, WHOLE, "same", "bitwise_not"),
    *table(1, COMPUTED, "float", "sqrt reciprocal rsqrt deg2rad rad2deg angle"),
    *table(1, COMPUTED, "bool", "logical_not isnan isinf isfinite isposinf isneginf signbit"),
]
BINARY = [
    *table(2, REAL, "same", "sub rsub"),
    *table(2, COMPUTED, "same", "add mul maximum minimum fmax fmin heaviside"),
    *table(2, FLOATS, "same", "fmod remainder"),
    *table(2, WHOLE, "same", "bitwise_and bitwise_or bitwise_xor"),
    *table(2, INTEGERS, "same", "bitwise_left_shift bitwise_right_shift"),
    *table(2, COMPUTED, "float", "div copysign"),
    *table(2, COMPUTED, "bool", "eq ne lt le gt ge logical_and logical_or logical_xor"),
]
EXACT = UNARY + BINARY
DIVISIONS = {"floor": Op("floor_divide", 2, REAL), "trunc": Op("_trunc_divide", 2, REAL)}  # by rounding_mode
REMAINDERS = [Op("fmod", 2, REAL), Op("remainder", 2, REAL)]
# Functions that are compared with an oracle in a wider dtype.
MATHS = """exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh
    erf erfc erfinv lgamma sigmoid sinc logit""".split()
COMPLEX_UNARY = """exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh
    sqrt square neg abs angle reciprocal rsqrt sigmoid sgn conj_physical""".split()
COMPLEX_BINARY = "add sub mul div pow".split()
COMPLEX_BOOL = "eq ne logical_and".split()
COMPLEX_QUESTION = "isnan isinf isfinite logical_not".split()


def compute_dtype(op, dtype):
    """Returns the dtype of the computation: float32 for half types, the default float if integers give floats."""
    if dtype in ("float16", "bfloat16"):
        return np.float32
    return np.float32 if op.result == "float" and class_of(dtype) < 2 else np_dtype(dtype)


def result_dtype(op, dtype):
    if op.result == "bool":
        return np.dtype(bool)
    return np.dtype(np.float32) if op.result == "float" and class_of(dtype) < 2 else np_dtype(dtype)
