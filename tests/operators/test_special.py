"""Special functions: the table of their largest errors, their values at limits, and the names of lamella.special."""

from pathlib import Path

import lamella
import mpmath
import numpy as np
import pytest
import special_accuracy

PAGE = Path(__file__).parents[2] / "docs/special_functions.md"
NAMES = """airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t chebyshev_polynomial_u
chebyshev_polynomial_v chebyshev_polynomial_w digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammainc gammaincc
gammaln hermite_polynomial_h hermite_polynomial_he i0 i0e i1 i1e laguerre_polynomial_l legendre_polynomial_p log1p
log_ndtr log_softmax logit logsumexp modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1
multigammaln ndtr ndtri polygamma psi round scaled_modified_bessel_k0 scaled_modified_bessel_k1
shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w sinc softmax spherical_bessel_j0 xlog1py xlogy zeta""".split()


def test_all_names_are_there():
    assert len(NAMES) == 56
    assert [name for name in NAMES if name not in dir(lamella.special)] == []
    assert all(callable(getattr(lamella.special, name)) for name in NAMES)
    assert lamella.special.__doc__


def test_the_page_states_the_errors():
    stated = special_accuracy.stated(PAGE)
    found = dict(special_accuracy.measured())
    assert list(stated) == list(found)
    larger = {
        name: (e, stated[name]) for name, e in found.items() if any(a > b for a, b in zip(e, stated[name], strict=True))
    }
    assert larger == {}


@pytest.mark.parametrize("order", [0, 1])
def test_bessel_functions_just_above_5(order):
    x = np.linspace(5, 5.2, 50)
    for name, exact in (("j", mpmath.besselj), ("y", mpmath.bessely)):
        y = np.asarray(getattr(lamella.special, f"bessel_{name}{order}")(lamella.from_numpy(x)))
        assert (
            max(
                abs(float(exact(order, mpmath.mpf(float(a))) - mpmath.mpf(float(b)))) for a, b in zip(x, y, strict=True)
            )
            < 3e-16
        )


def values(function, *points):
    return np.asarray(function(lamella.tensor(points, dtype=lamella.float64))).tolist()


def test_limits():
    s, inf, nan = lamella.special, float("inf"), float("nan")
    assert values(s.bessel_j0, 0, inf, -inf) == [1, 0, 0]
    assert values(s.bessel_y0, 0, inf) == [-inf, 0]
    assert values(s.i0, inf, -inf, 0) == [inf, inf, 1]
    assert values(s.i1, inf, -inf) == [inf, -inf]
    assert values(s.i0e, inf) == [0]
    assert values(s.modified_bessel_k1, 0, inf, 800) == [inf, 0, 0]
    assert values(s.airy_ai, inf, -inf, 120) == [0, 0, 0]
    assert values(s.erfcx, inf, -inf, -30) == [0, inf, inf]
    assert values(s.log_ndtr, inf, -inf) == [0, -inf]
    assert values(s.ndtri, 0, 1) == [-inf, inf]
    assert values(s.gammaln, 1, 2, -1, 0, inf) == [0, 0, inf, inf, inf]
    assert values(s.digamma, 0, -0.0) == [-inf, inf]
    assert values(lambda x: s.polygamma(1, x), 0, -1, inf) == [inf, inf, 0]
    functions = [
        getattr(s, n) for n in ("bessel_j1", "bessel_y1", "i1e", "modified_bessel_k0", "airy_ai", "ndtr", "entr")
    ]
    assert all(np.isnan(values(f, nan)).all() for f in functions)
    assert all(np.isnan(values(f, -1.0)).all() for f in (s.bessel_y0, s.bessel_y1, s.modified_bessel_k0, s.ndtri))
    assert np.isnan(values(s.ndtri, 2, -0.5)).all()


@pytest.mark.parametrize("a", [0.01, 1.0, 9.99, 10.0, 199.0, 200.0, 1e5, 1e12])
def test_incomplete_gamma_functions_add_up(a):
    x = lamella.tensor(
        [a * k for k in (1e-3, 0.5, 0.69, 0.71, 0.999, 1, 1.001, 1.29, 1.31, 2, 50)], dtype=lamella.float64
    )
    at = lamella.full_like(x, a)
    assert np.allclose(np.asarray(lamella.igamma(at, x) + lamella.igammac(at, x)), 1, rtol=0, atol=1e-15)
    assert bool((lamella.igamma(at, x).diff() >= 0).all())


def test_polynomials_of_high_degrees():
    x = lamella.tensor([0.3, -0.7, 1.0, -1.0, 1.0001], dtype=lamella.float64)
    for n in (1000, 1025, 100000):
        got = np.asarray(lamella.special.chebyshev_polynomial_t(x, n))
        with mpmath.workdps(60):
            exact = [mpmath.re(mpmath.cos(n * mpmath.acos(mpmath.mpf(float(a))))) for a in np.asarray(x)]
        assert np.allclose(got, np.array([float(e) for e in exact]), rtol=1e-9, atol=1e-10)


def test_an_element_does_not_depend_on_its_place():
    x = lamella.rand(67, dtype=lamella.float64) * 30
    n = lamella.arange(67) % 11
    for f in (lamella.special.airy_ai, lamella.special.i0, lambda t: lamella.igamma(t, t.flip(0).flip(0) * 1.3)):
        assert bool((f(x)[20:31] == f(x[20:31].clone())).all())
    p = lamella.special.laguerre_polynomial_l
    assert bool((p(x, n)[13:30] == p(x[13:30].clone(), n[13:30].clone())).all())
