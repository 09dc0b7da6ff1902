"""The largest errors of the special functions, against mpmath: the table of docs/special_functions.md.

``python tests/operators/special_accuracy.py docs/special_functions.md`` measures, and writes the table anew.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import lamella
import mpmath
import numpy as np
from mpmath import mpf

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
POINTS = 40  # on each part of the line


def even(low: float, high: float) -> np.ndarray:
    """Returns points in (low, high) without a pattern."""
    return low + (high - low) * (np.arange(1, POINTS + 1) * 0.6180339887498949 % 1)


def decades(low: float, high: float) -> np.ndarray:
    return np.exp(even(math.log(low), math.log(high)))


def seam(*points: float) -> np.ndarray:
    """Returns the points, their neighbours, and points at a little more distance."""
    near = [p + side * d for p in points for side in (-1, 1) for d in (np.spacing(p), abs(p) * 1e-4 + 1e-9)]
    return np.array([*points, *near])


@dataclass
class Line:
    """A function with its exact values, points of the line, and the least size in whose units errors are measured."""

    name: str
    function: Callable
    exact: Callable
    parts: list[np.ndarray]
    seams: np.ndarray
    size: Callable[[float], float] = lambda x: 0.0


def amplitude(x: float) -> float:
    """Returns the amplitude of J and Y beyond 5, and 0 below."""
    return math.sqrt(2 / (math.pi * x)) if x > 5 else 0.0


def inverse(x: mpf) -> mpf:
    """Returns ndtri, by Newton's steps from the value in float64."""
    import scipy.special as sp

    y = mpf(float(sp.ndtri(float(x))))
    for _ in range(4):
        y -= (mpmath.erfc(-y / mpmath.sqrt(2)) / 2 - x) * mpmath.sqrt(2 * mpmath.pi) * mpmath.exp(y * y / 2)
    return y


def log_probability(x: mpf) -> mpf:
    """Returns log_ndtr."""
    return mpmath.log1p(-mpmath.erfc(x / mpmath.sqrt(2)) / 2) if x > 0 else mpmath.log(mpmath.ncdf(x))


def lines() -> list[Line]:
    s = lamella.special
    bessel = [even(0.01, 5), even(5, 60), decades(60, 1e6)]
    modified = [even(0.01, 8), decades(8, 700)]
    second = [decades(1e-8, 2), even(0.1, 2), decades(2, 600)]
    return [
        Line(
            "bessel_j0", s.bessel_j0, lambda x: mpmath.besselj(0, x), bessel, seam(5.0, 2.4048255576957729), amplitude
        ),
        Line(
            "bessel_j1", s.bessel_j1, lambda x: mpmath.besselj(1, x), bessel, seam(5.0, 3.8317059702075125), amplitude
        ),
        Line("bessel_y0", s.bessel_y0, lambda x: mpmath.bessely(0, x), bessel, seam(5.0), lambda x: 0.3),
        Line("bessel_y1", s.bessel_y1, lambda x: mpmath.bessely(1, x), bessel, seam(5.0), lambda x: 0.3),
        Line("i0", s.i0, lambda x: mpmath.besseli(0, x), modified, seam(8.0)),
        Line("i1", s.i1, lambda x: mpmath.besseli(1, x), modified, seam(8.0)),
        Line("i0e", s.i0e, lambda x: mpmath.besseli(0, x) * mpmath.exp(-x), modified, seam(8.0)),
        Line("i1e", s.i1e, lambda x: mpmath.besseli(1, x) * mpmath.exp(-x), modified, seam(8.0)),
        Line("modified_bessel_k0", s.modified_bessel_k0, lambda x: mpmath.besselk(0, x), second, seam(2.0)),
        Line("modified_bessel_k1", s.modified_bessel_k1, lambda x: mpmath.besselk(1, x), second, seam(2.0)),
        Line(
            "scaled_modified_bessel_k0",
            s.scaled_modified_bessel_k0,
            lambda x: mpmath.besselk(0, x) * mpmath.exp(x),
            second,
            seam(2.0),
        ),
        Line(
            "scaled_modified_bessel_k1",
            s.scaled_modified_bessel_k1,
            lambda x: mpmath.besselk(1, x) * mpmath.exp(x),
            second,
            seam(2.0),
        ),
        Line(
            "airy_ai",
            s.airy_ai,
            mpmath.airyai,
            [even(-4, 2), decades(2, 90), -decades(4, 1e4)],
            seam(2.0, -4.0, -2.338107410459767),
            lambda x: 0.5 / abs(x) ** 0.25 if x < -3 else 0.0,
        ),
        Line(
            "spherical_bessel_j0",
            s.spherical_bessel_j0,
            mpmath.sinc,
            [even(0.01, 3), even(3, 60)],
            seam(1.0),
            lambda x: 1 / x,
        ),
        Line(
            "erfcx",
            s.erfcx,
            lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
            [even(-26, 0), even(0, 10), decades(10, 1e6)],
            seam(4.0),
        ),
        Line("ndtr", s.ndtr, mpmath.ncdf, [even(-12, 0), even(0, 9)], seam(1.0)),
        Line("log_ndtr", s.log_ndtr, log_probability, [even(-37, 0), even(0, 12)], seam(1.0)),
        Line("ndtri", s.ndtri, inverse, [decades(1e-30, 0.1), even(0.02, 0.49)], seam(0.125)),
        Line("erfinv", s.erfinv, mpmath.erfinv, [even(-0.75, 0.75), 1 - decades(1e-6, 0.25)], seam(0.75)),
        Line("entr", s.entr, lambda x: -x * mpmath.log(x), [even(0, 3), decades(1e-30, 1)], seam(2.0)),
        Line(
            "gammaln",
            s.gammaln,
            lambda x: mpmath.log(abs(mpmath.gamma(x))),
            [even(0, 3), even(3, 90), even(-9, 0)],
            seam(1.0, 2.0, 3.0),
            lambda x: 1.0 if x < 0 else 0.0,
        ),
        Line(
            "digamma",
            s.digamma,
            mpmath.digamma,
            [even(0, 3), even(3, 20), decades(20, 1e10), even(-9, 0)],
            seam(1.0, 3.0, 8.0, 1.4616321449683622),
            lambda x: 3.0 if x < 0 else 0.0,
        ),
        Line(
            "polygamma(1, x)",
            lambda x: s.polygamma(1, x),
            lambda x: mpmath.psi(1, x),
            [even(0, 3), even(3, 20), decades(20, 1e10), even(-9, 0)],
            seam(8.0),
        ),
        Line(
            "polygamma(4, x)",
            lambda x: s.polygamma(4, x),
            lambda x: mpmath.psi(4, x),
            [even(0, 3), even(3, 20)],
            seam(1.0),
        ),
        Line(
            "zeta(3.5, x)",
            lambda x: s.zeta(3.5, x),
            lambda x: mpmath.zeta(3.5, x),
            [even(0, 3), even(3, 40)],
            seam(1.0),
        ),
        Line(
            "gammainc(2.5, x)",
            lambda x: s.gammainc(lamella.full_like(x, 2.5), x),
            lambda x: mpmath.gammainc(2.5, 0, x, regularized=True),
            [even(0, 3), even(3, 30)],
            seam(1.1, 3.5),
        ),
        Line(
            "gammaincc(2.5, x)",
            lambda x: s.gammaincc(lamella.full_like(x, 2.5), x),
            lambda x: mpmath.gammainc(2.5, x, regularized=True),
            [even(0, 3), even(3, 30)],
            seam(1.1, 3.5),
        ),
        Line(
            "gammaincc(500, x)",
            lambda x: s.gammaincc(lamella.full_like(x, 500.0), x),
            lambda x: mpmath.gammainc(500, x, regularized=True),
            [even(400, 600)],
            seam(500.0),
        ),
        Line(
            "chebyshev_polynomial_t(x, 9)",
            lambda x: s.chebyshev_polynomial_t(x, 9),
            lambda x: mpmath.chebyt(9, x),
            [even(-1, 1)],
            seam(1.0),
            lambda x: 1.0,
        ),
        Line(
            "legendre_polynomial_p(x, 9)",
            lambda x: s.legendre_polynomial_p(x, 9),
            lambda x: mpmath.legendre(9, x),
            [even(-1, 1)],
            seam(1.0),
            lambda x: 1.0,
        ),
    ]


def error(line: Line, points: np.ndarray, dtype: str) -> float:
    """Returns the largest error, in units of the last place of the larger one of the value and the line's size."""
    kind = np.dtype(dtype)
    x = points.astype(kind)
    got = np.asarray(line.function(lamella.from_numpy(x)))
    worst = 0.0
    with mpmath.workdps(40):
        for a, y in zip(x, got, strict=True):
            exact = line.exact(mpf(float(a)))
            size = kind.type(max(abs(float(exact)), line.size(float(a)), float(np.finfo(kind).tiny)))
            worst = max(worst, float(abs(mpf(float(y)) - exact) / mpf(float(np.spacing(size)))))
    return worst


def measured() -> Iterator[tuple[str, list[float]]]:
    """Yields each function with its errors: on the line and at the seams in float64, and both in float32."""
    for line in lines():
        whole = np.concatenate(line.parts)
        single = np.concatenate([whole, line.seams])
        with np.errstate(all="ignore"):
            exact = np.array([abs(float(line.exact(mpf(float(np.float32(a)))))) for a in single])
        single = single[(exact > 2e-38) & (exact < 3e38)]
        yield line.name, [error(line, whole, "f8"), error(line, line.seams, "f8"), error(line, single, "f4")]


def stated(page: Path) -> dict[str, list[float]]:
    """Returns the page's numbers."""
    text = page.read_text().partition(BEGIN)[2].partition(END)[0]
    rows = [[c.strip() for c in row.strip("|").split("|")] for row in text.split("\n") if row.startswith("| `")]
    return {row[0].strip("`"): [float(c) for c in row[1:]] for row in rows}


def write(page: Path) -> None:
    head = "| function | float64, the line | float64, the seams | float32 |\n|---|---|---|---|\n"
    rows = [
        f"| `{name}` | " + " | ".join(f"{math.ceil(e * 1.5 + 0.5):d}" for e in errors) + " |"
        for name, errors in measured()
    ]
    text = page.read_text()
    new = f"{BEGIN}\n{head}" + "\n".join(rows) + f"\n{END}"
    page.write_text(re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: new, text, flags=re.DOTALL))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
