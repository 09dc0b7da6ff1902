"""Draws of gamma, Dirichlet, Poisson and binomial distributions, and the gradients of gamma and beta draws."""

import lamella
import numpy as np
import pytest
from arrays import bits, to_numpy
from scipy import special, stats

GRADIENT, SLOPE = lamella._standard_gamma_grad, lamella._dirichlet_grad
SHAPES = [1e-3, 1e-2, 0.1, 0.5, 0.99, 1.0, 1.5, 2.0, 5.0, 30.0, 1e3, 1e4, 1e6]


def seeded(seed):
    return lamella.Generator().manual_seed(seed)


def t(x):
    return lamella.tensor(np.asarray(x, dtype=np.float64))


def difference(f, at):
    """Returns a derivative by central differences of the fourth order."""
    h = 2e-3 * at
    return (8 * (f(at + h) - f(at - h)) - (f(at + 2 * h) - f(at - 2 * h))) / (12 * h)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradient_of_gamma_draws_is_that_of_the_inverse_distribution_function(shape):
    """The derivative of the u-quantile is compared. scipy's quantiles have about 10 digits, so differences have 6."""
    shares = np.array([0.01, 0.2, 0.5, 0.8, 0.99])
    x = special.gammaincinv(shape, shares)
    shares, x = shares[x > 1e-280], x[x > 1e-280]
    want = np.exp(np.log(x)) * difference(lambda a: np.log(special.gammaincinv(a, shares)), shape)
    np.testing.assert_allclose(to_numpy(GRADIENT(t(shape), t(x))), want, rtol=2e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradient_of_gamma_draws_satisfies_its_differential_equation(shape):
    """The equation is dg/dx = digamma(a) - log x - g ((a - 1) / x - 1); it also holds at the ends of the range."""
    x = stats.gamma(shape).ppf([1e-9, 1e-3, 0.5, 0.999, 1 - 1e-9])
    x = x[x > 1e-250]
    g = to_numpy(GRADIENT(t(shape), t(x)))
    want = special.digamma(shape) - np.log(x) - g * ((shape - 1) / x - 1)
    scale = np.maximum(np.abs(special.digamma(shape) - np.log(x)), np.abs(g * ((shape - 1) / x - 1)))
    step = 1e-4 * np.minimum(x, np.sqrt(x))
    slope = (to_numpy(GRADIENT(t(shape), t(x + step))) - to_numpy(GRADIENT(t(shape), t(x - step)))) / (2 * step)
    assert (np.abs(slope - want) / scale).max() < 2e-5


def test_gradients_of_gamma_draws_at_the_seams():
    """The series up to x = 2 and the two integrals, which change at log x = digamma(a), are equal at these points."""
    for shape in (0.3, 2.4, 7.0, 300.0):
        for seam in (2.0, np.exp(special.digamma(shape))):
            below, above = (to_numpy(GRADIENT(t(shape), t(seam * (1 + s)))) for s in (-1e-12, 1e-12))
            np.testing.assert_allclose(below, above, rtol=1e-9)


def test_gradients_outside_of_the_domain():
    assert GRADIENT(t(1.0), t(0.0)).item() == 0
    for shape, x in ((-1, 1), (0, 1), (1, -1), (np.nan, 1), (1, np.nan)):
        assert np.isnan(GRADIENT(t(shape), t(x)).item())
    assert np.isfinite(to_numpy(SLOPE(t([0.0, 1.0, 1e-305]), t([0.5] * 3), t([1.0] * 3)))).all()
    assert np.isnan(to_numpy(SLOPE(t([-0.1, 1.1, 0.5, 0.5]), t([1, 1, -1, 3]), t([2, 2, 2, 2])))).all()
    assert GRADIENT(lamella.ones(2), lamella.ones(2)).dtype == lamella.float32


@pytest.mark.parametrize("alpha", [1e-2, 0.3, 1.0, 4.0, 200.0])
@pytest.mark.parametrize("beta", [1e-2, 0.5, 1.0, 7.0, 1000.0])
def test_the_gradient_of_beta_draws_is_that_of_the_inverse_distribution_function(alpha, beta):
    shares = np.array([0.05, 0.3, 0.6, 0.9])
    x = special.betaincinv(alpha, beta, shares)
    kept = (x > 1e-200) & (x < 1 - 1e-9)
    shares, x = shares[kept], x[kept]

    def log_odds(a):
        quantile = special.betaincinv(a, beta, shares)
        return np.log(quantile) - np.log1p(-quantile)

    want = x * difference(log_odds, alpha)  # dx / (1 - x) = x d(log odds)
    np.testing.assert_allclose(to_numpy(SLOPE(t(x), t(alpha), t(alpha + beta))), want, rtol=2e-4)


@pytest.mark.needs("autograd")
def test_expectations_are_differentiable():
    """The mean of gamma draws is the shape, the mean of their logarithms digamma(shape), that of shares alpha / sum."""
    lamella.manual_seed(0)
    shape = t([0.3, 1.0, 4.0, 50.0]).requires_grad_()
    drawn = lamella._standard_gamma(shape.expand(40000, 4))
    (slope,) = lamella.autograd.grad(drawn.mean(0).sum(), shape, retain_graph=True)
    np.testing.assert_allclose(to_numpy(slope), 1, rtol=0.1)
    (slope,) = lamella.autograd.grad(drawn.log().mean(0).sum(), shape)
    np.testing.assert_allclose(to_numpy(slope), special.polygamma(1, shape.detach().numpy()), rtol=0.05)
    alpha = t([0.5, 2.0, 3.0]).requires_grad_()
    shares = lamella._sample_dirichlet(alpha.expand(40000, 3))
    (slope,) = lamella.autograd.grad(shares[:, 0].mean(), alpha)
    total = 5.5
    np.testing.assert_allclose(to_numpy(slope), [1 / total - 0.5 / total**2, *[-0.5 / total**2] * 2], atol=0.004)


@pytest.mark.needs("autograd")
def test_second_derivatives():
    """The gradient has a derivative by the draw; by the shape it raises NotImplementedError, as in torch."""
    shape, x = t([0.7, 3.0]).requires_grad_(), t([0.5, 4.0]).requires_grad_()
    assert lamella.autograd.gradcheck(lambda v: GRADIENT(shape.detach(), v), (x,))
    with pytest.raises(NotImplementedError, match="argument 'self' is not implemented"):
        GRADIENT(shape, x).sum().backward()


@pytest.mark.parametrize("dtype", [lamella.float32, lamella.float64])
@pytest.mark.parametrize("shape", [1e-3, 0.05, 0.5, 1.0, 1.5, 7.0, 300.0])
def test_gamma_draws(shape, dtype):
    many = lamella.full((50000,), shape, dtype=dtype)
    logs = to_numpy(lamella.ops.aten._standard_gamma_log(many, generator=seeded(1))).astype(np.float64)
    assert stats.kstest(logs, stats.loggamma(shape).cdf).pvalue > 1e-3
    plain = to_numpy(lamella._standard_gamma(many, generator=seeded(1))).astype(np.float64)
    kept = logs > -80
    np.testing.assert_allclose(plain[kept], np.exp(logs[kept]), rtol=3e-5)
    assert (plain > 0).all()


@pytest.mark.parametrize("alpha", [(0.01, 0.02), (0.5, 3.0, 1.0), (20.0, 5.0)])
def test_shares(alpha):
    rows = to_numpy(lamella._sample_dirichlet(t(alpha).expand(20000, len(alpha)), generator=seeded(2)))
    np.testing.assert_allclose(rows.sum(-1), 1)
    assert (rows > 0).all() and (rows < 1).all()
    inner = (rows[:, 0] > 1e-12) & (rows[:, 0] < 1 - 1e-12)
    for i, a in enumerate(alpha):
        other = stats.beta(a, sum(alpha) - a)
        edges = np.unique(other.ppf([0, 0.2, 0.4, 0.6, 0.8, 1]))
        if a >= 0.5:
            assert stats.kstest(rows[:, i], other.cdf).pvalue > 1e-3
        else:  # most shares are near 0 or 1
            low, high = other.cdf(1e-6), other.sf(1 - 1e-6)
            for seen, share in (((rows[:, i] < 1e-6).mean(), low), ((rows[:, i] > 1 - 1e-6).mean(), high)):
                assert abs(seen - share) < 5 * np.sqrt(share * (1 - share) / len(rows))
        assert len(edges) and inner.any()


def goodness(drawn, other):
    """Returns the p-value of a chi-square test of whole numbers."""
    k, seen = np.unique(drawn, return_counts=True)
    want = other.pmf(k) * len(drawn)
    often = want > 5
    return stats.chi2(max(often.sum() - 1, 1)).sf(((seen - want) ** 2 / want)[often].sum())


@pytest.mark.parametrize("rate", [0.3, 3.0, 9.99, 10.0, 50.0, 1000.0])
def test_poisson_draws(rate):
    drawn = to_numpy(lamella.poisson(lamella.full((50000,), rate), generator=seeded(3)))
    assert goodness(drawn, stats.poisson(float(np.float32(rate)))) > 1e-3
    assert drawn.min() >= 0 and (drawn == np.floor(drawn)).all()


@pytest.mark.parametrize("count, p", [(5, 0.3), (20, 0.5), (30, 0.6), (100, 0.02), (1000, 0.3), (40, 0.97), (7, 0.999)])
def test_binomial_draws(count, p):
    many = lamella.full((50000,), float(count), dtype=lamella.float64)
    drawn = to_numpy(lamella.binomial(many, lamella.full_like(many, p), generator=seeded(4)))
    assert goodness(drawn, stats.binom(count, p)) > 1e-3
    assert drawn.min() >= 0 and drawn.max() <= count


def test_ends_of_the_ranges():
    assert lamella.poisson(t([0.0, 0.0])).tolist() == [0, 0]
    assert lamella.poisson(t([1e12])).item() == pytest.approx(1e12, rel=1e-4)
    counts, shares = t([0, 5, 5, 1e9]), t([0.5, 0, 1, 0.25])
    drawn = lamella.binomial(counts, shares).tolist()
    assert drawn[:3] == [0, 0, 5] and drawn[3] == pytest.approx(2.5e8, rel=1e-3)
    shapes = lamella.tensor([0.0, -1.0, float("nan"), float("inf")])
    found = to_numpy(lamella._standard_gamma(shapes))
    assert 0 < found[0] < 1e-30 and np.isnan(found[1:3]).all() and np.isinf(found[3])


DRAWS = {
    "_standard_gamma": lambda n, g: lamella._standard_gamma(lamella.full((n,), 0.7), generator=g),
    "_sample_dirichlet": lambda n, g: lamella._sample_dirichlet(lamella.full((n, 2), 0.7), generator=g),
    "poisson": lambda n, g: lamella.poisson(lamella.full((n,), 30.0), generator=g),
    "binomial": lambda n, g: lamella.binomial(lamella.full((n,), 50.0), lamella.full((n,), 0.4), generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_an_element_depends_on_its_place_and_the_seed_alone(name):
    draw, found = DRAWS[name], set()
    for threads in (1, 2, 3, 8):
        lamella.set_num_threads(threads)
        found.add(bits(draw(30011, seeded(1))))
    assert len(found) == 1
    whole = to_numpy(draw(5000, seeded(1)))
    np.testing.assert_array_equal(to_numpy(draw(100, seeded(1))), whole[:100])
    assert bits(draw(50, seeded(2))) != bits(draw(50, seeded(1)))
    g = seeded(1)
    first, second = (to_numpy(draw(64, g)) for _ in range(2))
    assert (first != second).any()
