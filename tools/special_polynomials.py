"""Writes the polynomials of the special functions, <lamella/pointwise/special/*_polynomials.h>, computed with mpmath.

Each polynomial interpolates its function at Chebyshev nodes to 3e-17 of its value, in a variable that lies in [-1, 1]
(``CENTRED``) or in [0, 1] where all coefficients have one sign. Run it with mpmath installed:
``python tools/special_polynomials.py extensions/include/lamella/pointwise/special``, then clang-format on the files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from mpmath import (
    airyai,
    airybi,
    besseli,
    besselj,
    besseljzero,
    besselk,
    bessely,
    chop,
    cos,
    digamma,
    erfc,
    erfinv,
    exp,
    findroot,
    log,
    log1p,
    loggamma,
    lu_solve,
    matrix,
    mp,
    mpf,
    pi,
    psi,
    rgamma,
    sin,
    sqrt,
)

mp.dps = 60
AWAY = mpf(10) ** -20  # moves nodes off points at which a function is a limit
FILES = {"bessel": "of Bessel functions and Airy's function", "gamma": "of the error function and the gamma function"}


def value(c: list[mpf], t: mpf) -> mpf:
    """Horner's rule."""
    r = mpf(0)
    for a in reversed(c):
        r = r * t + a
    return r


def interpolated(f: Callable, low: mpf, high: mpf, degree: int, centred: bool) -> tuple[list[mpf], mpf]:
    """Returns the coefficients, lowest first, and the largest relative error at points between the nodes."""
    low, high = mpf(low), mpf(high)

    def nodes(n: int) -> list[mpf]:
        return [(low + high) / 2 + AWAY + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]

    def place(u: mpf) -> mpf:
        return (2 * u - low - high) / (high - low) if centred else u

    n = degree + 1
    rows, right = matrix(n, n), matrix(n, 1)
    for i, u in enumerate(nodes(n)):
        right[i] = f(u)
        for j in range(n):
            rows[i, j] = place(u) ** j
    c = list(lu_solve(rows, right))
    return c, max(abs(value(c, place(u)) / f(u) - 1) for u in nodes(2 * n + 5))


def polynomial(f: Callable, low, high, centred: bool = True, error: float = 3e-17) -> list[mpf]:
    """Returns the coefficients of the lowest degree that reaches the relative error."""
    for degree in range(3, 36):
        c, found = interpolated(f, low, high, degree, centred)
        if found < error:
            return c
    raise ValueError(f"no polynomial of degree 35 reaches the accuracy: {float(found)}")


def bessel_phase(order: int, w: mpf) -> tuple[mpf, mpf]:
    """P and Q of the asymptotic form, in w = (5 / x)^2, Q times x / 5 (DLMF 10.17)."""
    x = 5 / sqrt(w)
    chi, a = x - (2 * order + 1) * pi / 4, sqrt(pi * x / 2)
    j, y = besselj(order, x) * a, bessely(order, x) * a
    return j * cos(chi) + y * sin(chi), (y * cos(chi) - j * sin(chi)) * x / 5


def airy_phase(v: mpf) -> tuple[mpf, mpf]:
    """P and Q of Ai(x) = (sin(z) P - cos(z) Q) / (sqrt(pi) |x|^(1/4)) with z = 1 / v + pi / 4 (DLMF 9.7), Q over v."""
    x, z = (3 / (2 * v)) ** (mpf(2) / 3), 1 / v + pi / 4
    a = sqrt(pi) * x ** mpf("0.25")
    ai, bi = airyai(-x) * a, airybi(-x) * a
    return ai * sin(z) + bi * cos(z), (bi * sin(z) - ai * cos(z)) / v


def of_square(f: Callable) -> Callable:
    return lambda z: f(sqrt(z))


def inverse_erfc(r: mpf) -> mpf:
    """x with erfc(x) = exp(-r^2)."""
    q = exp(-r * r)
    if q > 0.3:
        return findroot(lambda x: erfc(x) - q, (1 - q))
    return findroot(lambda x: log(erfc(x)) + r * r, r - log(r * sqrt(pi)) / (2 * r))


def erfcx_far(x: mpf) -> mpf:
    return (1 - 1 / (2 * x * x) + 3 / (4 * x**4)) / (x * sqrt(pi))  # DLMF 7.12.1


def moebius(f: Callable, k: int, low, high) -> list[mpf]:
    """f as a polynomial in v = (r - k) / (r + k), itself centred."""

    def v(r):
        return (r - k) / (r + k)

    return polynomial(lambda t: f(k * (1 + t) / (1 - t)), v(mpf(low)), v(mpf(high)))


def stirling(x: mpf) -> mpf:
    """The rest of Stirling's formula, times x (DLMF 5.11.1)."""
    return (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2) * x


def temme(orders: int, powers: int) -> list[list[Fraction]]:
    """The coefficients of c_k(eta) in powers of eta (DLMF 8.12.9 to 8.12.11), exactly."""
    n = powers + 2 * orders + 4
    # mu(eta) with mu - log(1 + mu) = eta^2 / 2: mu' mu = eta (1 + mu)
    a = [Fraction(0), Fraction(1)]
    for m in range(2, n):
        known = sum(a[i] * (m - i + 1) * a[m - i + 1] for i in range(2, m))
        a.append((a[m - 1] - known) / (m + 1))
    # 1 / mu = (1 / eta) sum b_i eta^i
    b = [Fraction(1)]
    for m in range(1, n - 1):
        b.append(-sum(a[i + 1] * b[m - i] for i in range(1, m + 1)))
    # the coefficients of Gamma(z) sqrt(z / 2 pi) (e / z)^z in 1 / z, (2k + 1)!! a_(2k + 1) (DLMF 5.11.3 to 5.11.6)
    g, odd = [Fraction(1)], Fraction(1)
    for k in range(1, orders + 1):
        odd *= 2 * k + 1
        g.append(odd * a[2 * k + 1])
    c = [b[i + 1] for i in range(n - 2)]  # c_0 = 1 / mu - 1 / eta
    found = [c]
    for k in range(1, orders):
        derived = [Fraction(0), *(i * c[i] for i in range(1, len(c)))]  # derived[i] is the coefficient of eta^(i-1)
        sign = -1 if k % 2 else 1
        # (1 / eta) c' + (-1)^k g_k / mu: the terms with 1 / eta cancel
        c = [(derived[i + 2] if i + 2 < len(derived) else 0) + sign * g[k] * b[i + 1] for i in range(len(c) - 2)]
        found.append(c)
    return [row[:powers] for row in found]


def shifts(power: int, steps: int) -> tuple[list[mpf], list[mpf]]:
    """The sum of (x + k)^-power over k below `steps` as a numerator, and the product of x + k."""

    def product(a, b):
        c = [mpf(0)] * (len(a) + len(b) - 1)
        for i, p in enumerate(a):
            for j, q in enumerate(b):
                c[i + j] += p * q
        return c

    numerator = [mpf(0)] * (power * (steps - 1) + 1)
    whole = [mpf(1)]
    for k in range(steps):
        whole = product(whole, [mpf(k), mpf(1)])
        term = [mpf(1)]
        for j in range(steps):
            for _ in range(power if j != k else 0):
                term = product(term, [mpf(j), mpf(1)])
        numerator = [a + b for a, b in zip(numerator, term, strict=True)]
    return numerator, whole


def tables() -> dict[str, tuple[str, list[mpf]]]:
    """Returns each polynomial's meaning and coefficients by name."""
    r0, s0, r1 = besseljzero(0, 1), besseljzero(0, 2), besseljzero(1, 1)
    ra, rd = findroot(airyai, -2.338), findroot(digamma, 1.4616)
    found: dict[str, tuple[str, list[mpf]]] = {
        "j0_small": (
            "J0(x) / ((z - r^2)(z - s^2)), z = x^2 in [0, 25], r and s its first two zeros",
            polynomial(of_square(lambda x: besselj(0, x) / ((x * x - r0**2) * (x * x - s0**2))), 0, 25),
        ),
        "j1_small": (
            "J1(x) / (x (z - r^2)), z = x^2 in [0, 25], r its first positive zero",
            polynomial(of_square(lambda x: besselj(1, x) / (x * (x * x - r1**2))), 0, 25),
        ),
        "y0_small": (
            "Y0(x) - (2 / pi) log(x) J0(x), z = x^2 in [0, 25]",
            polynomial(of_square(lambda x: bessely(0, x) - 2 / pi * log(x) * besselj(0, x)), 0, 25),
        ),
        "y1_small": (
            "(Y1(x) - (2 / pi) (log(x) J1(x) - 1 / x)) / x, z = x^2 in [0, 25]",
            polynomial(of_square(lambda x: (bessely(1, x) - 2 / pi * (log(x) * besselj(1, x) - 1 / x)) / x), 0, 25),
        ),
    }
    for order in (0, 1):
        for i, part in enumerate("pq"):
            found[f"{part}{order}"] = (
                f"{part.upper()} of order {order} at x > 5, w = 25 / x^2 in [0, 1]",
                polynomial(lambda w, order=order, i=i: bessel_phase(order, w)[i], AWAY, 1),
            )
        found[f"i{order}_small"] = (
            f"I{order}(x) / (x / 2)^{order}, z = x^2 / 4 in [0, 16], not centred",
            polynomial(lambda z, n=order: besseli(n, 2 * sqrt(z)) / sqrt(z) ** n, 0, 16, False),
        )
        found[f"i{order}_large"] = (
            f"I{order}(x) e^-x sqrt(x) at x > 8, v = 8 / x in [0, 1]",
            polynomial(lambda v, n=order: besseli(n, 8 / v) * exp(-8 / v) * sqrt(8 / v), 0, 1),
        )
        found[f"i{order}_tiny"] = (
            f"I{order}(x) / (x / 2)^{order}, z = x^2 / 4 in [0, 1], not centred",
            polynomial(lambda z, n=order: besseli(n, 2 * sqrt(z)) / sqrt(z) ** n, 0, 1, False),
        )
        found[f"k{order}_large"] = (
            f"K{order}(x) e^x sqrt(x) at x > 2, v = 2 / x in [0, 1]",
            polynomial(lambda v, n=order: besselk(n, 2 / v) * exp(2 / v) * sqrt(2 / v), 0, 1),
        )
    found["k0_small"] = (
        "K0(x) + log(x / 2) I0(x), z = x^2 / 4 in [0, 1], not centred",
        polynomial(lambda z: besselk(0, 2 * sqrt(z)) + log(sqrt(z)) * besseli(0, 2 * sqrt(z)), 0, 1, False),
    )
    found["k1_small"] = (
        "((K1(x) - log(x / 2) I1(x)) x - 1) / z, z = x^2 / 4 in [0, 1], not centred",
        polynomial(
            lambda z: ((besselk(1, 2 * sqrt(z)) - log(sqrt(z)) * besseli(1, 2 * sqrt(z))) * 2 * sqrt(z) - 1) / z,
            0,
            1,
            False,
        ),
    )
    found["ai_right"] = (
        "Ai(x) e^x, x in [0, 2]",
        polynomial(lambda x: airyai(x) * exp(x), 0, 2),
    )
    found["ai_far"] = (
        "Ai(x) e^(1 / v) x^(1/4), v = 3 / (2 x^(3/2)), x > 2",
        polynomial(
            lambda v: (lambda x: airyai(x) * exp(1 / v) * x ** mpf("0.25"))((3 / (2 * v)) ** (mpf(2) / 3)),
            0,
            3 / (2 * mpf(2) ** 1.5),
        ),
    )
    found["ai_left"] = (
        "Ai(x) / (x - r), x in [-4, 0], r its first zero",
        polynomial(lambda x: airyai(x) / (x - ra), -4, 0),
    )
    for i, part in enumerate("pq"):
        found[f"ai_{part}"] = (
            f"{part.upper()} of Ai at x < -4, v = 3 / (2 |x|^(3/2))",
            polynomial(lambda v, i=i: airy_phase(v)[i], 0, mpf(3) / 16),
        )
    found["erfcx"] = (
        "(1 + 2x) e^(x^2) erfc(x), v = (x - 4) / (x + 4) in [-1, 1], not centred",
        polynomial(
            lambda v: (lambda x: (1 + 2 * x) * (exp(x * x) * erfc(x) if x < 1000 else erfcx_far(x)))(
                4 * (1 + v) / (1 - v)
            ),
            -1,
            1,
            False,
        ),
    )
    found["erfinv_middle"] = (
        "erfinv(y) / y, z = y^2 in [0, 0.5625]",
        polynomial(of_square(lambda y: erfinv(y) / y), 0, mpf("0.5625")),
    )
    low = sqrt(-log(mpf("0.25")))
    found["erfinv_tail"] = (
        "x with erfc(x) = e^(-r^2), r in [sqrt(log(4)), 6.1], v = (r - 4) / (r + 4)",
        moebius(inverse_erfc, 4, low, mpf("6.1")),
    )
    found["erfinv_far"] = (
        "x / r with erfc(x) = e^(-r^2), r in [6, 27.4], v = (r - 8) / (r + 8)",
        moebius(lambda r: inverse_erfc(r) / r, 8, 6, mpf("27.4")),
    )
    found["erfinv_middle_float"] = (
        "erfinv(y) / y for float, z = y^2 in [0, 0.5625]",
        polynomial(of_square(lambda y: erfinv(y) / y), 0, mpf("0.5625"), error=6e-9),
    )
    found["erfinv_tail_float"] = (
        "x with erfc(x) = e^(-r^2) for float, r in [sqrt(log(4)), 4.1]",
        polynomial(inverse_erfc, low, mpf("4.1"), error=6e-9),
    )
    found["lgamma_middle_float"] = (
        "log(gamma(x)) / ((x - 1)(x - 2)) for float, x in [1, 3]",
        polynomial(lambda x: loggamma(x) / ((x - 1) * (x - 2)), 1, 3, error=6e-9),
    )
    found["stirling_float"] = (
        "the rest of Stirling's formula times x for float, w = 1 / x^2 in [0, 1/9]",
        polynomial(lambda w: stirling(1 / sqrt(w)), 0, mpf(1) / 9, error=6e-9),
    )
    found["digamma_root"] = (
        "digamma(x) / (x - r), x in [1, 3], r its positive zero",
        polynomial(lambda x: digamma(x) / (x - rd), 1, 3),
    )
    found["digamma_far"] = (
        "(digamma(x) - log(x) + 1 / (2x)) x^2, w = 1 / x^2 in [0, 1/64]",
        polynomial(lambda w: (digamma(1 / sqrt(w)) - log(1 / sqrt(w)) + sqrt(w) / 2) / w, 0, mpf(1) / 64),
    )
    found["trigamma_far"] = (
        "(trigamma(x) - 1 / x - 1 / (2 x^2)) x^3, w = 1 / x^2 in [0, 1/64]",
        polynomial(lambda w: (psi(1, 1 / sqrt(w)) - sqrt(w) - w / 2) / (w * sqrt(w)), 0, mpf(1) / 64),
    )
    found["digamma_sum"], found["shift_product"] = (
        ("the numerator of the sum of 1 / (x + k), k < 8, not centred", shifts(1, 8)[0]),
        ("x (x + 1) ... (x + 7) / x, not centred", shifts(1, 8)[1][1:]),
    )
    found["trigamma_sum"] = ("the numerator of the sum of 1 / (x + k)^2, k < 8, not centred", shifts(2, 8)[0])
    found["lgamma_middle"] = (
        "log(gamma(x)) / ((x - 1)(x - 2)), x in [1, 3]",
        polynomial(lambda x: loggamma(x) / ((x - 1) * (x - 2)), 1, 3),
    )
    found["stirling"] = (
        "the rest of Stirling's formula times x, w = 1 / x^2 in [0, 1/9]",
        polynomial(lambda w: stirling(1 / sqrt(w)), 0, mpf(1) / 9),
    )
    found["log1p_rest"] = (
        "(log(1 + u) - u) / u^2, u in [-0.4, 0.5]",
        polynomial(lambda u: (log1p(u) - u) / u**2, mpf("-0.4"), mpf("0.5")),
    )
    found["reciprocal_gamma"] = ("1 / gamma(1 + a), a in [0, 1]", polynomial(lambda a: rgamma(1 + a), 0, 1))
    for k, row in enumerate(temme(8, 18 + 1)):
        c = [mpf(a.numerator) / a.denominator for a in row[: max(4, 19 - 2 * k)]]
        found[f"temme_{k}"] = (f"c_{k}(eta) of Temme's expansion, not centred", c)
    return {name: (meaning, chop(c)) for name, (meaning, c) in found.items()}


def text(name: str, meaning: str, c: list[mpf]) -> str:
    if name.endswith("_float"):
        first, *rest = [f"{float(a):.9g}f" for a in reversed(c)]
        lines = [f"/* p is {meaning}. */", f"LAMELLA_SPECIAL float lamella_{name}(float t) {{", f"  float p = {first};"]
        return "\n".join([*lines, *(f"  p = LAMELLA_FUSED_FLOAT(p, t, {a});" for a in rest), "  return p;", "}"])
    words = [repr(float(a)) for a in reversed(c)]
    lines = [f"/* p is {meaning}. */", f"LAMELLA_SPECIAL double lamella_{name}(double t) {{"]
    extra = (len(words) - 1) % 4
    first = f"  double p = {words[0]};"
    if extra:
        first = f"  double p = LAMELLA_HORNER{extra}({words[0]}, t, {', '.join(words[1 : 1 + extra])});"
    lines.append(first)
    lines += [f"  p = LAMELLA_HORNER4(p, t, {', '.join(words[k : k + 4])});" for k in range(1 + extra, len(words), 4)]
    return "\n".join([*lines, "  return p;", "}"])


def main() -> None:
    folder, entries = Path(sys.argv[1]), tables()
    names = list(entries)
    first = names.index("erfcx")
    for (file, what), own in zip(FILES.items(), (names[:first], names[first:]), strict=True):
        guard = f"LAMELLA_POINTWISE_SPECIAL_{file.upper()}_POLYNOMIALS_H"
        parts = [
            f"/* Polynomials {what}, written by tools/special_polynomials.py. */",
            f"#ifndef {guard}\n#define {guard}\n\n#include <lamella/pointwise/special/base.h>\n",
            *(text(name, *entries[name]) for name in own),
            "\n#endif\n",
        ]
        (folder / f"{file}_polynomials.h").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
