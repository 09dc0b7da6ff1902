"""Programs over float, bool and mixed numbers: operators, their order, comparisons, short circuit."""

from typing import List, Tuple


@cases((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.5, -2.0), (0.0, 3.0), (-0.0, 3.0))
def float_operators(a: float, b: float) -> Tuple[float, float, float, float, float, float]:
    return a + b, a - b, a * b, a / b, a // b, a % b


@cases((7, 2), (-7, 2), (7, -2), (-7, -2), (0, 5))
def int_operators(a: int, b: int) -> Tuple[int, int, int, float, int, int]:
    return a + b, a - b, a * b, a / b, a // b, a % b


@cases((3, 0.5), (-3, 0.5), (3, -2.25))
def int_with_float(a: int, b: float) -> Tuple[float, float, float, float, float, float]:
    return a + b, a - b, a * b, a / b, a // b, a % b


@cases((0.5, 3), (-7.25, 3), (2.5, -3))
def float_with_int(a: float, b: int) -> Tuple[float, float, float, float, float, float]:
    return a + b, a - b, a * b, a / b, a // b, a % b


@cases((2.0, 3.0), (2.0, -1.0), (0.25, 0.5), (0.0, 0.0))
def float_power(a: float, b: float) -> float:
    return a**b


@cases((2, 0.5), (9, -0.5))
def int_power_of_float(a: int, b: float) -> float:
    return a**b


@cases((1.5, 3), (-2.0, 3), (-2.0, 0))
def float_power_of_int(a: float, b: int) -> float:
    return a**b


@cases((2.5,), (-2.5,), (0.0,))
def signs(a: float) -> Tuple[float, float]:
    return -a, -(-a)


@cases((2, 3, 4))
def precedence(a: int, b: int, c: int) -> Tuple[int, int, int, int]:
    return a + b * c, (a + b) * c, a - b - c, -a * b % c


@cases((2.0,))
def power_is_right_associative(a: float) -> Tuple[float, float]:
    return a**3.0**2.0, -(a**2.0)


@cases((10, 4), (-10, 4))
def division_and_modulo_agree(a: int, b: int) -> bool:
    return (a // b) * b + a % b == a


@cases((1.0, 2.0), (2.0, 1.0), (2.0, 2.0))
def comparisons(a: float, b: float) -> List[bool]:
    return [a < b, a <= b, a > b, a >= b, a == b, a != b]


@cases((1, 1.0), (2, 1.5), (0, -0.5))
def mixed_comparisons(a: int, b: float) -> List[bool]:
    return [a < b, a <= b, a > b, a >= b, a == b, a != b]


@cases((0.5,), (0.0,), (1.0,), (1.5,))
def chained_comparison(x: float) -> bool:
    return 0.0 < x <= 1.0


@cases((1, 2, 3), (3, 2, 1), (1, 1, 2), (1, 3, 2))
def three_comparisons(a: int, b: int, c: int) -> bool:
    return a < b < c != 4


def _seen(log: List[int], value: int) -> int:
    log.append(value)
    return value


@cases((1, 2, 3), (3, 2, 1))
def chained_comparison_runs_each_once(a: int, b: int, c: int) -> Tuple[bool, List[int]]:
    """The middle runs once, and the last does not run after a false comparison."""
    log: List[int] = []
    answer = _seen(log, a) < _seen(log, b) < _seen(log, c)
    return answer, log


def _says(text: str, answer: bool) -> bool:
    print(text)
    return answer


@cases((True, True), (True, False), (False, True), (False, False))
def and_skips(a: bool, b: bool) -> bool:
    return _says("a", a) and _says("b", b)


@cases((True, False), (False, True), (False, False))
def or_skips(a: bool, b: bool) -> bool:
    return _says("a", a) or _says("b", b)


@cases((True, False, True), (False, False, True), (False, True, False))
def mixed_logic(a: bool, b: bool, c: bool) -> bool:
    return _says("a", a) and _says("b", b) or not _says("c", c)


@cases((True,), (False,))
def negation(a: bool) -> Tuple[bool, bool]:
    return not a, not not a


@cases((True, True), (True, False), (False, False))
def bool_operators(a: bool, b: bool) -> Tuple[bool, bool, bool, bool, bool]:
    return a & b, a | b, a ^ b, a == b, a != b


@cases((1.0, 2.0), (2.0, 1.0))
def conditional_expression(a: float, b: float) -> float:
    return a if a > b else b * 10.0


@cases((5,), (-5,), (0,))
def nested_conditional_expression(x: int) -> str:
    return "positive" if x > 0 else "zero" if x == 0 else "negative"


@cases((1.0,), (0.1,))
def accumulated_rounding(x: float) -> float:
    return x + x + x - 3 * x


@cases((1e308,), (-1e308,))
def float_overflow(x: float) -> Tuple[float, float]:
    return x * 10.0, x * 10.0 - x * 10.0


@cases((3,))
def augmented(x: int) -> Tuple[int, float]:
    y = float(x)
    x += 4
    x -= 1
    x *= 3
    y /= 2
    y += x
    return x, y


@cases((2.0, 3))
def augmented_changes_type(x: float, n: int) -> float:
    y = x * n
    y -= n
    y *= 0.5
    return y


@cases((1 + 2j, 3 - 1j))
def complex_operators(a: complex, b: complex) -> Tuple[complex, complex, complex, complex]:
    return a + b, a - b, a * b, a / b


@cases((1 + 2j,), (-3j,))
def complex_magnitude(a: complex) -> float:
    return abs(a)


@cases((2.0, -3.0))
def complex_of_parts(a: float, b: float) -> complex:
    return complex(a, b) * 2j


@cases((1 + 2j, 1 + 2j), (1 + 2j, 1 - 2j))
def complex_equality(a: complex, b: complex) -> Tuple[bool, bool]:
    return a == b, a != b


@cases((7, 2), (-7, 2))
def divmod_of_ints(a: int, b: int) -> Tuple[int, int]:
    return divmod(a, b)


@cases((7.5, 2.0), (-7.5, 2.0))
def divmod_of_floats(a: float, b: float) -> Tuple[float, float]:
    return divmod(a, b)
