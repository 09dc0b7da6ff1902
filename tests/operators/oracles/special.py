"""Oracles of special functions by scipy. tests/operators/test_special.py compares with mpmath's more exact values."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from oracles.base import ORACLES, entries, floating, wide
from oracles.pointwise import double


def limits(function, at_infinity, at_minus_infinity):
    """Adds the limits at the infinities, where scipy has NaN."""

    def go(x):
        with np.errstate(all="ignore"):
            y = np.asarray(function(x))
        return np.where(np.isposinf(x), at_infinity, np.where(np.isneginf(x), at_minus_infinity, y)).astype(y.dtype)

    return go


FUNCTIONS = {
    "bessel_j0": limits(sp.j0, 0, 0),
    "bessel_j1": limits(sp.j1, 0, 0),
    "bessel_y0": limits(sp.y0, 0, np.nan),
    "bessel_y1": limits(sp.y1, 0, np.nan),
    "modified_bessel_i0": limits(sp.i0, np.inf, np.inf),
    "modified_bessel_i1": limits(sp.i1, np.inf, -np.inf),
    "i1": limits(sp.i1, np.inf, -np.inf),
    "i0e": sp.i0e,
    "i1e": sp.i1e,
    "modified_bessel_k0": sp.k0,
    "modified_bessel_k1": sp.k1,
    "scaled_modified_bessel_k0": sp.k0e,
    "scaled_modified_bessel_k1": sp.k1e,
    "airy_ai": limits(lambda x: sp.airy(x)[0], 0, 0),
    "spherical_bessel_j0": limits(lambda x: np.sinc(x / np.pi), 0, 0),
    "erfcx": sp.erfcx,
    "ndtr": sp.ndtr,
    "log_ndtr": sp.log_ndtr,
    "ndtri": sp.ndtri,
    "entr": sp.entr,
}
for name, function in FUNCTIONS.items():
    ORACLES[f"special_{name}"] = floating(double(function))
ORACLES["i0"] = ORACLES["special_modified_bessel_i0"]


def polynomial(function):
    """Makes an oracle of a function of degrees and numbers; a polynomial of a negative degree is 0."""

    def go(x, n):
        x, n = wide(np.asarray(x)), np.trunc(wide(np.asarray(n))).astype(np.int64)
        return np.where(n < 0, 0, function(np.maximum(n, 0), x.astype(np.float64)))

    return go


def shifted(function):
    return lambda n, x: function(n, 2 * x - 1)


def third(n, x):
    return sp.eval_chebyu(n, x) - np.where(n > 0, sp.eval_chebyu(np.maximum(n - 1, 0), x), 0)


def fourth(n, x):
    return sp.eval_chebyu(n, x) + np.where(n > 0, sp.eval_chebyu(np.maximum(n - 1, 0), x), 0)


CHEBYSHEV = {"t": sp.eval_chebyt, "u": sp.eval_chebyu, "v": third, "w": fourth}
POLYNOMIALS = {
    **{f"chebyshev_polynomial_{kind}": f for kind, f in CHEBYSHEV.items()},
    **{f"shifted_chebyshev_polynomial_{kind}": shifted(f) for kind, f in CHEBYSHEV.items()},
    "hermite_polynomial_h": sp.eval_hermite,
    "hermite_polynomial_he": sp.eval_hermitenorm,
    "laguerre_polynomial_l": sp.eval_laguerre,
    "legendre_polynomial_p": sp.eval_legendre,
}
for name, function in POLYNOMIALS.items():
    ORACLES[f"special_{name}"] = polynomial(function)


def ldexp(x, y):
    return np.asarray(wide(x), np.longdouble) * np.exp2(np.asarray(wide(y), np.longdouble))


entries(
    special_xlog1py=floating(sp.xlog1py),
    special_zeta=floating(sp.zeta),
    igamma=floating(sp.gammainc),
    igammac=floating(sp.gammaincc),
    mvlgamma=floating(sp.multigammaln),
    ldexp=ldexp,
    frexp=lambda x: np.frexp(x),
    _mantissa=lambda x: np.frexp(x)[0],
    _exponent=lambda x: np.frexp(x)[1].astype(x.dtype),
)
