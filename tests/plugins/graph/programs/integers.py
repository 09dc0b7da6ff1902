"""Programs over int: floor division, bits, powers, the range of 64 bits, literals."""

from typing import List, Tuple


@cases((7, 3), (-7, 3), (7, -3), (-7, -3), (6, 3), (-6, 3), (0, -3))
def floor_division(a: int, b: int) -> Tuple[int, int]:
    return a // b, a % b


@cases((12, 10), (-12, 10), (0, -1))
def bits(a: int, b: int) -> Tuple[int, int, int]:
    return a & b, a | b, a ^ b


@cases((5, 2), (-5, 1), (1, 62))
def shifts(a: int, n: int) -> Tuple[int, int]:
    return a << n, a >> n


@cases((2, 10), (-3, 3), (7, 0), (2, 62))
def powers(a: int, b: int) -> int:
    return int(a**b)


@cases((2, -1), (2, 3))
def power_of_ints(a: int, b: int):
    return a**b


@cases((9223372036854775807,), (-9223372036854775808,))
def wraps_at_64_bits(a: int) -> Tuple[int, int]:
    """Python's ints do not wrap; those of a scripted program have 64 bits."""
    return a + 1, a - 1


@cases((4611686018427387904,), (3037000500,))
def product_wraps(a: int) -> int:
    return a * a


@cases((-9223372036854775808,))
def smallest_negated(a: int) -> int:
    return -a


@cases((-5,), (5,), (0,))
def absolute(a: int) -> int:
    return abs(a)


@cases((48, 36), (17, 5), (0, 9))
def euclid(a: int, b: int) -> int:
    while b != 0:
        a, b = b, a % b
    return a


@cases((27,), (1,))
def collatz_steps(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@cases((10,), (2,), (1,))
def primes_below(n: int) -> List[int]:
    found: List[int] = []
    for i in range(2, n):
        is_prime = True
        for p in found:
            if i % p == 0:
                is_prime = False
                break
        if is_prime:
            found.append(i)
    return found


@cases((255,), (0,), (9,))
def binary_digits(n: int) -> str:
    if n == 0:
        return "0"
    out = ""
    while n > 0:
        out = str(n & 1) + out
        n >>= 1
    return out


@cases((0b1011,), (0,))
def ones_in_binary(n: int) -> int:
    total = 0
    while n:
        total += n & 1
        n = n >> 1
    return total


@cases()
def literals() -> List[int]:
    return [0x1F, 0b101, 0o17, 1_000_000, -7]


@cases((3, 9, 5), (9, 3, 5), (5, 3, 9))
def smallest_and_largest(a: int, b: int, c: int) -> Tuple[int, int, int]:
    return min(a, b), max(b, c), min(min(a, b), c)


@cases((5, 3))
def augmented_bits(a: int, b: int) -> Tuple[int, int, int]:
    x, y, z = a, a, a
    x |= b
    y &= b
    z ^= b
    return x, y, z


@cases((17, 5), (-17, 5))
def augmented_modulo(a: int, b: int) -> int:
    a %= b
    return a


@cases((3, 2))
def augmented_shift(a: int, n: int) -> Tuple[int, int]:
    b = a
    a <<= n
    b >>= 1
    return a, b


@cases((123,), (-45,), (0,))
def digits_sum(n: int) -> int:
    n = abs(n)
    total = 0
    while n > 0:
        total, n = total + n % 10, n // 10
    return total


@cases((65,), (8364,))
def character_of(n: int) -> str:
    return chr(n)


@cases((255,), (-255,), (0,))
def based_texts(n: int) -> Tuple[str, str, str]:
    return hex(n), oct(n), bin(n)


@cases((5,), (-5,), (0,))
def truth_of_int(n: int) -> Tuple[bool, bool]:
    return bool(n), not n


@cases((12, 18), (0, 5), (-4, 6))
def greatest_common_divisor(a: int, b: int) -> int:
    x, y = abs(a), abs(b)
    while y > 0:
        x, y = y, x % y
    return x


@cases((7,), (-7,))
def halves(n: int) -> Tuple[float, int, int]:
    return n / 2, n // 2, int(n / 2)


@cases((3, 4, 5), (2, 10, 7))
def power_modulo(base: int, exponent: int, modulus: int) -> int:
    result = 1
    base = base % modulus
    while exponent > 0:
        if exponent & 1 == 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result
