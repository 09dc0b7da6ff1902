"""Sizes that follow from dynamic axes: polynomials beside integer arithmetic, and the fit to several runs."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lamella.plugins.onnx.sizes import Fit, Size, Source

small = st.integers(-6, 6)
n, m = Size.symbol("n"), Size.symbol("m")


@given(small, small, small, small, small)
def test_polynomials_beside_integers(a, b, c, x, y):
    at = {"n": x, "m": y}
    assert (a * n + b * m - c).at(at) == a * x + b * y - c
    assert ((n + a) * (m - b) * (c - n)).at(at) == (x + a) * (y - b) * (c - x)
    assert (n * Fraction(1, 2) + a).at(at) == Fraction(x, 2) + a


def test_a_size_has_no_number():
    with pytest.raises(TypeError, match=r"the value of 2\*n"):
        int(2 * n)
    assert (n.name, (n + 0).name, (n + 1).name, (n * n).name, (n - n).name) == ("n", "n", None, None, None)


def runs(first, second):
    """Returns the sizes of the axes in runs as an export makes them."""
    i, j = first, second
    return [{"n": a, "m": b} for a, b in ((i, j), (i + 1, j), (2 * i, j), (i, j + 1), (i, 2 * j), (2 * i, 2 * j))]


@given(st.integers(2, 9), st.integers(2, 9), small, small, small)
def test_sums_and_products_of_two_axes_are_found(i, j, a, b, c):
    of = runs(i, j)
    fit = Fit(of)
    functions = (
        lambda n, m: a * n + b * m + c,
        lambda n, m: (n + 1) * (2 * m + 3),
        lambda n, m: n * m * 4 - 1,
        lambda n, m: n * m + 1,
    )
    for f in functions:
        found = fit.find([f(**run) for run in of])
        for x, y in ((3, 11), (17, 5), (i, j)):
            assert Size.of(found).at({"n": x, "m": y}) == f(x, y)


def test_what_grows_in_steps_is_a_symbol_of_its_own():
    fit = Fit([{"n": 8}, {"n": 9}, {"n": 16}])
    halves = [v // 2 for v in (8, 9, 16)]
    assert fit.find(halves) is None
    own = fit.dimension(halves, Source(5, 2))
    assert own.name and fit.sources[own.name] == Source(5, 2)
    assert fit.find(halves) == own and fit.dimension(halves, Source(6, 0)) == own
    assert fit.find([v * v for v in (8, 9, 16)]) is None
    assert fit.find([7, 7, 7]) == 7
