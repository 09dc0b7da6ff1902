"""The standard's elementwise functions. Each checks and promotes dtypes by the standard, then calls an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor
from lamella.array_api._rules import (
    ANY,
    BITS,
    BOOLEAN,
    COMPLEX,
    FLOATING,
    INTEGER,
    NAMES,
    NUMERIC,
    REAL,
    REAL_FLOATING,
    SCALARS,
    checked,
    number,
    pair,
    promoted_dtype,
    scalar_dtype,
)


def _unary(
    name: str, allowed: frozenset, operator: Callable[[Tensor], Tensor], what: str
) -> Callable[[Tensor], Tensor]:
    def function(x: Tensor, /) -> Tensor:
        return operator(checked(name, allowed, x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}, element by element.\n\n``x`` has a {NAMES[allowed]} dtype."
    return function


def _binary(name: str, allowed: frozenset, operator: Callable[..., Tensor], what: str) -> Callable[[Any, Any], Tensor]:
    def function(x1: Any, x2: Any, /) -> Tensor:
        return operator(*pair(name, allowed, x1, x2))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{what}, element by element.\n\nThe shapes broadcast; the dtypes are {NAMES[allowed]} ones. One may be "
        "a Python scalar."
    )
    return function


def _same(x: Tensor) -> Tensor:
    return x.clone()


def _sign(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        size = lamella.abs(x)
        made = lamella.complex(x.real / size, x.imag / size)
        return lamella.where(x == 0, lamella.zeros_like(x), made)
    made = lamella.sign(x)
    return lamella.where(lamella.isnan(x), x, made) if x.dtype.is_floating_point else made


def _round(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        return lamella.complex(lamella.round(x.real), lamella.round(x.imag))
    return lamella.round(x)


def _by_parts(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Makes an operator add the parts of complex numbers each; torch multiplies by alpha first: inf * 0 is nan."""

    def add(x1: Tensor, x2: Tensor) -> Tensor:
        if not x1.dtype.is_complex:
            return operator(x1, x2)
        first, second = (lamella.view_as_real(x.resolve_conj()) for x in (x1, x2))
        return lamella.view_as_complex(operator(first, second))

    return add


def _expm1(x: Tensor) -> Tensor:
    if not x.dtype.is_complex:
        return lamella.expm1(x)
    made, power = lamella.expm1(x), lamella.exp(x)
    finite = lamella.isfinite(x.real)  # at another real part the special values are those of exp
    real = lamella.where(finite, made.real + 0, power.real - 1)  # the sum turns -0.0 into 0.0
    return lamella.complex(real, lamella.where(finite, made.imag, power.imag))


def _tanh(x: Tensor) -> Tensor:
    made = lamella.tanh(x)
    if x.dtype.is_complex:  # at an infinite real part, a 0 has the sign of the imaginary part
        at_infinity = lamella.complex(lamella.sign(x.real), lamella.copysign(lamella.zeros_like(x.imag), x.imag))
        made = lamella.where(lamella.isinf(x.real) & lamella.isfinite(x.imag), at_infinity, made)
    return made


def _floor_divide(x1: Tensor, x2: Tensor) -> Tensor:
    made = lamella.floor_divide(x1, x2)
    if x1.dtype.is_floating_point:  # a quotient of infinities is whole; torch gives nan for inf // 2
        made = lamella.where(lamella.isinf(x1) | lamella.isinf(x2), x1 / x2, made)
    return made


def _remainder(x1: Tensor, x2: Tensor) -> Tensor:
    made = lamella.remainder(x1, x2)
    if x1.dtype.is_floating_point:  # a remainder of zero has the sign of the divisor; in torch that of the dividend
        made = lamella.where(made == 0, lamella.copysign(made, x2), made)
    return made


abs = _unary("abs", NUMERIC, lamella.abs, "The absolute value, which is real for complex numbers")
acos = _unary("acos", FLOATING, lamella.acos, "The inverse cosine, in radians")
acosh = _unary("acosh", FLOATING, lamella.acosh, "The inverse hyperbolic cosine")
asin = _unary("asin", FLOATING, lamella.asin, "The inverse sine, in radians")
asinh = _unary("asinh", FLOATING, lamella.asinh, "The inverse hyperbolic sine")
atan = _unary("atan", FLOATING, lamella.atan, "The inverse tangent, in radians")
atanh = _unary("atanh", FLOATING, lamella.atanh, "The inverse hyperbolic tangent")
bitwise_invert = _unary("bitwise_invert", BITS, lamella.bitwise_not, "Every bit inverted")
ceil = _unary("ceil", REAL, lamella.ceil, "The smallest integer that is not less")
conj = _unary("conj", NUMERIC, lamella.conj_physical, "The complex conjugate, in memory of its own")
cos = _unary("cos", FLOATING, lamella.cos, "The cosine of an angle in radians")
cosh = _unary("cosh", FLOATING, lamella.cosh, "The hyperbolic cosine")
exp = _unary("exp", FLOATING, lamella.exp, "The exponential function")
expm1 = _unary("expm1", FLOATING, _expm1, "The exponential function minus 1")
floor = _unary("floor", REAL, lamella.floor, "The largest integer that is not greater")
imag = _unary("imag", COMPLEX, lamella.imag, "The imaginary part, which shares the memory")
isfinite = _unary("isfinite", NUMERIC, lamella.isfinite, "True for finite numbers")
isinf = _unary("isinf", NUMERIC, lamella.isinf, "True for infinities")
isnan = _unary("isnan", NUMERIC, lamella.isnan, "True for nan")
log = _unary("log", FLOATING, lamella.log, "The natural logarithm")
log10 = _unary("log10", FLOATING, lamella.log10, "The logarithm to base 10")
log1p = _unary("log1p", FLOATING, lamella.log1p, "The natural logarithm of 1 + x")
log2 = _unary("log2", FLOATING, lamella.log2, "The logarithm to base 2")
logical_not = _unary("logical_not", BOOLEAN, lamella.logical_not, "The negation")
negative = _unary("negative", NUMERIC, lamella.negative, "The number with its sign changed")
positive = _unary("positive", NUMERIC, _same, "A copy of the number")
real = _unary("real", NUMERIC, lamella.real, "The real part, which shares the memory")
reciprocal = _unary("reciprocal", FLOATING, lamella.reciprocal, "1 / x")
round = _unary("round", NUMERIC, _round, "The nearest integer, the even one of two, for each part of a complex number")
sign = _unary("sign", NUMERIC, _sign, "The sign: -1, 0 or 1, nan for nan, x / abs(x) for complex numbers")
signbit = _unary("signbit", REAL_FLOATING, lamella.signbit, "True if the sign bit is set, as in -0.0")
sin = _unary("sin", FLOATING, lamella.sin, "The sine of an angle in radians")
sinh = _unary("sinh", FLOATING, lamella.sinh, "The hyperbolic sine")
sqrt = _unary("sqrt", FLOATING, lamella.sqrt, "The square root")
square = _unary("square", NUMERIC, lamella.square, "x * x")
tan = _unary("tan", FLOATING, lamella.tan, "The tangent of an angle in radians")
tanh = _unary("tanh", FLOATING, _tanh, "The hyperbolic tangent")
trunc = _unary("trunc", REAL, lamella.trunc, "The nearest integer in the direction of 0")

add = _binary("add", NUMERIC, _by_parts(lamella.add), "The sum")
atan2 = _binary("atan2", REAL_FLOATING, lamella.atan2, "The angle of the point (x2, x1), in radians")
bitwise_and = _binary("bitwise_and", BITS, lamella.bitwise_and, "Bits that are set in both")
bitwise_left_shift = _binary(
    "bitwise_left_shift",
    INTEGER,
    lamella.bitwise_left_shift,
    "The bits of x1, shifted to the left by x2 places, which are not negative",
)
bitwise_or = _binary("bitwise_or", BITS, lamella.bitwise_or, "Bits that are set in one of the two or both")
bitwise_right_shift = _binary(
    "bitwise_right_shift",
    INTEGER,
    lamella.bitwise_right_shift,
    "The bits of x1, shifted to the right by x2 places, which are not negative; the sign is kept",
)
bitwise_xor = _binary("bitwise_xor", BITS, lamella.bitwise_xor, "Bits that are set in exactly one of the two")
copysign = _binary("copysign", REAL_FLOATING, lamella.copysign, "The magnitude of x1 with the sign of x2")
divide = _binary("divide", FLOATING, lamella.divide, "The quotient")
equal = _binary("equal", ANY, lamella.eq, "True where both are equal")
floor_divide = _binary("floor_divide", REAL, _floor_divide, "The largest integer that is not above x1 / x2")
greater = _binary("greater", REAL, lamella.gt, "True where x1 > x2")
greater_equal = _binary("greater_equal", REAL, lamella.ge, "True where x1 >= x2")
hypot = _binary("hypot", REAL_FLOATING, lamella.hypot, "The hypotenuse of a right triangle of legs x1 and x2")
less = _binary("less", REAL, lamella.lt, "True where x1 < x2")
less_equal = _binary("less_equal", REAL, lamella.le, "True where x1 <= x2")
logaddexp = _binary("logaddexp", REAL_FLOATING, lamella.logaddexp, "log(exp(x1) + exp(x2))")
logical_and = _binary("logical_and", BOOLEAN, lamella.logical_and, "True where both are true")
logical_or = _binary("logical_or", BOOLEAN, lamella.logical_or, "True where one of the two is true, or both")
logical_xor = _binary("logical_xor", BOOLEAN, lamella.logical_xor, "True where exactly one of the two is true")
maximum = _binary("maximum", REAL, lamella.maximum, "The larger one; nan if one is nan")
minimum = _binary("minimum", REAL, lamella.minimum, "The smaller one; nan if one is nan")
multiply = _binary("multiply", NUMERIC, lamella.multiply, "The product")
nextafter = _binary("nextafter", REAL_FLOATING, lamella.nextafter, "The next number after x1 in the direction of x2")
not_equal = _binary("not_equal", ANY, lamella.ne, "True where the two differ")
pow = _binary("pow", NUMERIC, lamella.pow, "x1 to the power x2")
remainder = _binary("remainder", REAL, _remainder, "The remainder of x1 / x2, with the sign of x2")
subtract = _binary("subtract", NUMERIC, _by_parts(lamella.subtract), "The difference")


def _bound(x: Tensor, name: str, bound: Any) -> Tensor | None:
    """Returns a bound as a tensor, or None if it excludes no number of x's dtype."""
    if bound is None:
        return None
    if isinstance(bound, Tensor):
        promoted_dtype("clip", x.dtype, checked("clip", REAL, bound, name).dtype)
        return bound
    if not isinstance(bound, SCALARS):
        raise TypeError(f"clip: argument '{name}' must be a tensor, a number or None, got {type(bound).__name__}")
    scalar_dtype("clip", bound, x.dtype)
    limit: Any = bound
    if x.dtype in INTEGER:
        least, most = lamella.iinfo(x.dtype).min, lamella.iinfo(x.dtype).max
        if (limit < least and name == "min") or (limit > most and name == "max"):
            return None
        limit = min(max(limit, least), most)
    return number(limit, x.dtype, x.device)


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Limits each element to the range from ``min`` to ``max``. The result has the dtype of ``x``.

    Args:
        min, max: tensors whose shapes broadcast with that of ``x``, Python scalars, or None for no limit

    Raises:
        TypeError: a limit is of another kind than ``x``

    >>> lamella.array_api.clip(lamella.tensor([1, 5, 9]), 2, 6)
    tensor([2, 5, 6])
    """
    checked("clip", REAL, x)
    made = x
    for bound, limited in ((_bound(x, "min", min), lamella.maximum), (_bound(x, "max", max), lamella.minimum)):
        if bound is not None:
            made = limited(*pair("clip", REAL, made, bound))
    return x.clone() if made is x else made.to(x.dtype)
