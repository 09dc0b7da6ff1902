"""Pointwise operators. Their operands have the dtype ``g.dtype``, to which the operator promotes them."""

from __future__ import annotations

import math
from typing import Any

import lamella

from ..graph import onnx_type
from ..table import apart, row, rows

# Operators that one node of ONNX is, with the same operands in the same order.
SAME = """
abs Abs, neg Neg, exp Exp, log Log, sqrt Sqrt, reciprocal Reciprocal, sign Sign,
sgn Sign, sin Sin, cos Cos, tan Tan, asin Asin, acos Acos, atan Atan, sinh Sinh, cosh Cosh, asinh Asinh, acosh Acosh,
atanh Atanh, erf Erf, relu Relu, sigmoid Sigmoid, tanh Tanh, selu Selu, mish Mish, hardswish HardSwish, isnan IsNaN,
mul Mul, div.Tensor Div, div.Scalar Div, div.Scalar_Tensor Div, pow Pow, maximum Max, minimum Min, eq Equal, lt Less,
le LessOrEqual, gt Greater, ge GreaterOrEqual, clamp_min Max, clamp_max Min, max.other Max, min.other Min
"""


def same(node: str) -> Any:
    return lambda g, *operands: getattr(g, node)(*operands)


rows({name: same(node) for name, node in (pair.split() for pair in SAME.replace("\n", " ").strip().split(", "))})


def floating(g: Any) -> bool:
    return bool(g.dtype.is_floating_point)


def scaled(g: Any, x: Any, alpha: Any) -> Any:
    return x if alpha == 1 else g.Mul(x, alpha)


def softplus(g: Any, x: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    by = scaled(g, x, beta)
    soft = g.Softplus(by) if beta == 1 else g.Div(g.Softplus(by), beta)
    return g.Where(g.Greater(by, threshold), x, soft)


def gelu(g: Any, x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = g.Mul(g.Add(x, g.Mul(g.Mul(g.Mul(x, x), x), 0.044715)), math.sqrt(2 / math.pi))
        return g.Mul(g.Mul(x, 0.5), g.Add(g.Tanh(inner), 1.0))
    return g.Mul(g.Mul(x, 0.5), g.Add(g.Erf(g.Div(x, math.sqrt(2))), 1.0))


def elu(g: Any, x: Any, alpha: float = 1.0, scale: float = 1, input_scale: float = 1) -> Any:
    below = g.Mul(g.Sub(g.Exp(scaled(g, g.Min(x, 0.0), input_scale)), 1.0), alpha * scale)
    return g.Where(g.Greater(x, 0.0), scaled(g, x, scale), below)


def clamp(g: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    above = x if low is None else g.Max(x, low)
    return above if high is None else g.Min(above, high)


def floor_divide(g: Any, a: Any, b: Any) -> Any:
    if floating(g):
        return g.Floor(g.Div(a, b))
    quotient = g.Div(a, b)  # rounded towards zero
    rest = g.Sub(a, g.Mul(quotient, b))
    below = g.And(g.Not(g.Equal(rest, 0)), g.Xor(g.Less(rest, 0), g.Less(b, 0)))
    return g.Sub(quotient, g.Cast(below, to=onnx_type(g.dtype)))


def divide_rounded(g: Any, a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "floor":
        return floor_divide(g, a, b)
    quotient = g.Div(a, b)
    return truncated(g, quotient) if rounding_mode == "trunc" and floating(g) else quotient


def truncated(g: Any, x: Any) -> Any:
    return g.Mul(g.Sign(x), g.Floor(g.Abs(x))) if floating(g) else x


def remainder(g: Any, a: Any, b: Any) -> Any:
    return g.Sub(a, g.Mul(g.Floor(g.Div(a, b)), b)) if floating(g) else g.Mod(a, b)


def whole(node: str) -> Any:
    """Returns a translation of a rounding, which leaves integers as they are."""
    return lambda g, x: getattr(g, node)(x) if floating(g) else x


def atan2(g: Any, y: Any, x: Any) -> Any:
    flat = g.Atan(g.Div(y, x))
    turned = g.Where(g.Less(y, 0.0), g.Sub(flat, math.pi), g.Add(flat, math.pi))
    made = g.Where(g.Less(x, 0.0), turned, flat)
    return g.Where(g.And(g.Equal(x, 0.0), g.Equal(y, 0.0)), 0.0, made)


def logaddexp(g: Any, x: Any, y: Any) -> Any:
    beside = g.Add(g.Max(x, y), g.Log(g.Add(g.Exp(g.Neg(g.Abs(g.Sub(x, y)))), 1.0)))
    return g.Where(g.Equal(x, y), g.Add(x, math.log(2)), beside)  # two infinities have no difference


def but_nan(node: str) -> Any:
    """Returns a translation of a choice that takes the other operand in the place of a NaN."""

    def translate(g: Any, x: Any, y: Any) -> Any:
        made = getattr(g, node)(x, y)
        return g.Where(g.Equal(y, y), g.Where(g.Equal(x, x), made, y), x) if floating(g) else made

    return translate


def nan_to_num(g: Any, x: Any, nan: Any = 0.0, above: Any = None, below: Any = None) -> Any:
    limits = lamella.finfo(g.dtype)
    made = g.Where(g.IsNaN(x), nan, x)
    for sign, value, limit in (("negative", above, limits.max), ("positive", below, limits.min)):
        there = g.IsInf(x, **{f"detect_{sign}": 0})
        made = g.Where(there, limit if value is None else value, made)
    return made


def logical(node: str) -> Any:
    return lambda g, *operands: getattr(g, node)(*(flag(g, x) for x in operands))


def flag(g: Any, x: Any) -> Any:
    return g.flags(x) if isinstance(x, str) else g.number(bool(x), lamella.bool)


def bitwise(node: str, of_bools: str) -> Any:
    return lambda g, *operands: getattr(g, of_bools if g.dtype is lamella.bool else node)(*operands)


def sigmoid_log(g: Any, x: Any) -> Any:
    return g.Neg(softplus_exact(g, g.Neg(x)))


def softplus_exact(g: Any, x: Any) -> Any:
    return g.Add(g.Max(x, 0.0), g.Log(g.Add(g.Exp(g.Neg(g.Abs(x))), 1.0)))


rows(
    {
        "add": lambda g, x, y, alpha=1: g.Add(x, scaled(g, y, alpha)),
        "sub": lambda g, x, y, alpha=1: g.Sub(x, scaled(g, y, alpha)),
        "rsub": lambda g, x, y, alpha=1: g.Sub(y, scaled(g, x, alpha)),
        "square": lambda g, x: g.Mul(x, x),
        "rsqrt": lambda g, x: g.Reciprocal(g.Sqrt(x)),
        "exp2": lambda g, x: g.Exp(g.Mul(x, math.log(2))),
        "expm1": lambda g, x: g.Sub(g.Exp(x), 1.0),
        "log1p": lambda g, x: g.Log(g.Add(x, 1.0)),
        "log2": lambda g, x: g.Div(g.Log(x), math.log(2)),
        "log10": lambda g, x: g.Div(g.Log(x), math.log(10)),
        "erfc": lambda g, x: g.Sub(1.0, g.Erf(x)),
        "floor": whole("Floor"),
        "ceil": whole("Ceil"),
        "round": whole("Round"),
        "trunc": truncated,
        "frac": lambda g, x: g.Sub(x, truncated(g, x)),
        "deg2rad": lambda g, x: g.Mul(x, math.pi / 180),
        "rad2deg": lambda g, x: g.Mul(x, 180 / math.pi),
        "ne": lambda g, x, y: g.Not(g.Equal(x, y)),
        "clamp": clamp,
        "addcmul": lambda g, x, a, b, value=1: g.Add(x, scaled(g, g.Mul(a, b), value)),
        "addcdiv": lambda g, x, a, b, value=1: g.Add(x, scaled(g, g.Div(a, b), value)),
        "lerp": lambda g, x, y, w: g.Add(x, g.Mul(w, g.Sub(y, x))),
        "floor_divide": floor_divide,
        "div.Tensor_mode": divide_rounded,
        "div.Scalar_mode": divide_rounded,
        "remainder": remainder,
        "fmod": lambda g, a, b: g.Mod(a, b, fmod=1),
        "logical_and": logical("And"),
        "logical_or": logical("Or"),
        "logical_xor": logical("Xor"),
        "logical_not": logical("Not"),
        "bitwise_and": bitwise("BitwiseAnd", "And"),
        "bitwise_or": bitwise("BitwiseOr", "Or"),
        "bitwise_xor": bitwise("BitwiseXor", "Xor"),
        "bitwise_not": bitwise("BitwiseNot", "Not"),
        "isinf": lambda g, x: g.IsInf(x),
        "isfinite": lambda g, x: g.Not(g.Or(g.IsInf(x), g.IsNaN(x))),
        "isposinf": lambda g, x: g.IsInf(x, detect_negative=0),
        "isneginf": lambda g, x: g.IsInf(x, detect_positive=0),
        "leaky_relu": lambda g, x, slope=0.01: g.LeakyRelu(x, alpha=float(slope)),
        "elu": elu,
        "celu": lambda g, x, alpha=1.0: elu(g, x, alpha, 1, 1 / alpha),
        "gelu": gelu,
        "silu": lambda g, x: g.Mul(x, g.Sigmoid(x)),
        "softplus": softplus,
        "hardtanh": lambda g, x, low=-1, high=1: clamp(g, x, low, high),
        "relu6": lambda g, x: clamp(g, x, 0, 6),
        "hardsigmoid": lambda g, x: g.HardSigmoid(x, alpha=1 / 6),
        "log_sigmoid": sigmoid_log,
        "tanhshrink": lambda g, x: g.Sub(x, g.Tanh(x)),
        "threshold": lambda g, x, threshold, value: g.Where(g.LessOrEqual(x, threshold), value, x),
        "hardshrink": lambda g, x, lambd=0.5: g.Where(g.LessOrEqual(g.Abs(x), lambd), 0.0, x),
        "softshrink": lambda g, x, lambd=0.5: g.Sub(x, clamp(g, x, -lambd, lambd)),
        "atan2": atan2,
        "hypot": lambda g, x, y: g.Sqrt(g.Add(g.Mul(x, x), g.Mul(y, y))),
        "logaddexp": logaddexp,
        "logaddexp2": lambda g, x, y: g.Div(logaddexp(g, *(g.Mul(v, math.log(2)) for v in (x, y))), math.log(2)),
        "fmax": but_nan("Max"),
        "fmin": but_nan("Min"),
        "sinc": lambda g, x: g.Where(g.Equal(x, 0.0), 1.0, g.Div(g.Sin(g.Mul(x, math.pi)), g.Mul(x, math.pi))),
        "xlogy": lambda g, x, y: g.Where(g.And(g.Equal(x, 0.0), g.Equal(y, y)), 0.0, g.Mul(x, g.Log(y))),
        "_nan_to_num": nan_to_num,
        "heaviside": lambda g, x, at_zero: g.Where(g.Equal(x, 0), at_zero, g.Where(g.Greater(x, 0), 1, 0)),
        "logit": lambda g, x, eps=None: odds(g, x if eps is None else clamp(g, x, eps, 1 - eps)),
    }
)


chosen = lambda g, condition, x, y: g.Where(g.flags(condition), x, y)  # noqa: E731
rows({f"where.{overload}": chosen for overload in ("self", "ScalarSelf", "ScalarOther", "Scalar")})
apart("round.decimals")


def odds(g: Any, x: Any) -> Any:
    return g.Log(g.Div(x, g.Sub(1.0, x)))


@row("prelu")
def prelu(g: Any, x: Any, weight: Any) -> Any:
    shape = [-1] + [1] * (x.ndim - 2) if x.ndim > 1 else [1] * x.ndim
    return g.PRelu(x, g.Reshape(weight, shape))
