"""Programs that call functions and constants of the module math."""

import math
from typing import List, Tuple


@cases((0.5,), (-0.25,))
def trigonometry(x: float) -> List[float]:
    return [math.sin(x), math.cos(x), math.tan(x), math.asin(x), math.acos(x), math.atan(x)]


@cases((1.5,), (-0.5,))
def hyperbolic(x: float) -> List[float]:
    return [math.sinh(x), math.cosh(x), math.tanh(x), math.asinh(x)]


@cases((1.5,), (1.0,))
def inverse_hyperbolic(x: float) -> Tuple[float, float]:
    return math.acosh(x), math.atanh(x / 4)


@cases((2.0,), (0.5,))
def logarithms(x: float) -> List[float]:
    return [math.log(x), math.log10(x), math.log1p(x)]


@cases((8,), (1,))
def logarithm_of_int(n: int) -> float:
    return math.log(n)


@cases((1.0,), (-2.5,))
def exponentials(x: float) -> Tuple[float, float]:
    return math.exp(x), math.expm1(x)


@cases((2.0,), (0.0,), (-1.0,))
def square_root(x: float) -> float:
    return math.sqrt(x)


@cases((2,), (9,))
def square_root_of_int(n: int) -> float:
    return math.sqrt(n)


@cases((2.5,), (-2.5,), (3.0,))
def rounding(x: float) -> Tuple[int, int]:
    return math.floor(x), math.ceil(x)


@cases((2.0, 10.0), (2.0, -1.5), (0.0, 0.0))
def power(x: float, y: float) -> float:
    return math.pow(x, y)


@cases((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0))
def fmod_keeps_the_sign(x: float, y: float) -> float:
    return math.fmod(x, y)


@cases((7.5, 2.0), (5.0, 2.0))
def remainder_rounds(x: float, y: float) -> float:
    return math.remainder(x, y)


@cases((1.0, -1.0), (0.0, -0.0), (0.0, -1.0))
def angle(y: float, x: float) -> float:
    return math.atan2(y, x)


@cases((1.5, -0.0), (-2.0, 3.0))
def sign_of_another(x: float, y: float) -> float:
    return math.copysign(x, y)


@cases((-1.5,), (0.0,))
def magnitude(x: float) -> float:
    return math.fabs(x)


@cases((48, 36), (0, 5), (-4, 6))
def divisor(a: int, b: int) -> int:
    return math.gcd(a, b)


@cases((0,), (5,), (20,))
def factorial(n: int) -> int:
    return math.factorial(n)


@cases((-1,))
def factorial_of_negative(n: int) -> int:
    return math.factorial(n)


@cases((8.0,), (0.3,), (-5.0,))
def mantissa(x: float) -> Tuple[float, int]:
    return math.frexp(x)


@cases((0.75, 4))
def scaled_by_power_of_two(x: float, n: int) -> float:
    return math.ldexp(x, n)


@cases((2.75,), (-2.75,))
def fraction_and_whole(x: float) -> Tuple[float, float]:
    return math.modf(x)


@cases((180.0,), (-90.0,))
def angles(x: float) -> Tuple[float, float]:
    return math.radians(x), math.degrees(math.radians(x))


@cases((float("inf"),), (float("nan"),), (1.0,))
def kinds_of_float(x: float) -> Tuple[bool, bool, bool]:
    return math.isinf(x), math.isnan(x), math.isfinite(x)


@cases()
def constants() -> List[float]:
    return [math.pi, math.e, math.tau, math.inf, -math.inf]


@cases((0.5,), (3.0,))
def special_functions(x: float) -> List[float]:
    return [math.erf(x), math.erfc(x), math.gamma(x), math.lgamma(x)]


@cases((0.0,), (-1.0,))
def logarithm_outside_its_domain(x: float) -> float:
    return math.log(x)


@cases((1000.0,))
def exponential_overflow(x: float) -> float:
    return math.exp(x)


@cases((3.0, 4.0))
def distance(x: float, y: float) -> float:
    return math.sqrt(x * x + y * y)


@cases((6,))
def sum_of_roots(n: int) -> float:
    total = 0.0
    for i in range(n):
        total += math.sqrt(float(i)) if i % 2 == 0 else -math.pow(i, 0.5)
    return total
