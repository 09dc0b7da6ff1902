"""Distributions of vectors and matrices: densities, moments and entropies equal scipy.stats'; samples; divergences."""

import lamella
import numpy as np
import pytest
from families import close, t
from lamella import distributions as d
from lamella.distributions import constraints as c
from scipy import stats

pytestmark = pytest.mark.needs("autograd")
COVARIANCE = np.array([[2.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 0.7]])
LOC = np.array([0.3, -1.0, 2.0])
FACTOR, DIAGONAL = np.array([[1.0], [0.5], [-0.2]]), np.array([0.5, 1.0, 0.7])
MATRICES = {
    "covariance_matrix": COVARIANCE,
    "precision_matrix": np.linalg.inv(COVARIANCE),
    "scale_tril": np.linalg.cholesky(COVARIANCE),
}


def vectors(name):
    return d.MultivariateNormal(t(*LOC), **{name: lamella.tensor(MATRICES[name])})


def low_rank():
    return d.LowRankMultivariateNormal(t(*LOC), lamella.tensor(FACTOR), t(*DIAGONAL))


NORMALS = {name: (lambda name=name: vectors(name), COVARIANCE) for name in MATRICES}
NORMALS["low rank"] = (low_rank, FACTOR @ FACTOR.T + np.diag(DIAGONAL))


@pytest.mark.parametrize("name", NORMALS)
def test_normal_vectors(name):
    make, covariance = NORMALS[name]
    one, other = make(), stats.multivariate_normal(LOC, covariance)
    x = np.random.default_rng(0).normal(size=(4, 2, 3))
    close(one.log_prob(lamella.tensor(x)), other.logpdf(x))
    close(one.log_prob(lamella.tensor(x[0, 0])), other.logpdf(x[0, 0]))
    close(one.entropy(), other.entropy())
    close(one.mean, LOC)
    close(one.mode, LOC)
    close(one.variance, np.diag(covariance))
    close(one.covariance_matrix, covariance)
    close(one.precision_matrix, np.linalg.inv(covariance), atol=1e-12)
    close(one.scale_tril, np.linalg.cholesky(covariance), atol=1e-12)
    assert one.batch_shape == () and one.event_shape == (3,) and one.has_rsample
    lamella.manual_seed(0)
    drawn = one.sample((20000,)).numpy()
    white = np.linalg.solve(np.linalg.cholesky(covariance), (drawn - LOC).T)
    assert all(stats.kstest(row, "norm").pvalue > 1e-3 for row in white)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.06)
    wide = one.expand((2, 4))
    assert wide.batch_shape == (2, 4) and wide.sample((5,)).shape == (5, 2, 4, 3)
    close(wide.log_prob(lamella.tensor(x[0, 0])), np.full((2, 4), other.logpdf(x[0, 0])))
    assert wide.covariance_matrix.shape == (2, 4, 3, 3) and wide.entropy().shape == (2, 4)


def test_batches_of_vectors():
    rng = np.random.default_rng(1)
    tril = np.tril(rng.normal(size=(4, 3, 3)), -1) + np.eye(3) * rng.uniform(0.5, 2, (4, 1, 1))
    loc = rng.normal(size=(2, 1, 3))
    one = d.MultivariateNormal(lamella.tensor(loc), scale_tril=lamella.tensor(tril))
    assert one.batch_shape == (2, 4) and one.sample((5, 6)).shape == (5, 6, 2, 4, 3)
    x = rng.normal(size=(5, 2, 4, 3))
    want = [
        [
            [stats.multivariate_normal(loc[i, 0], tril[j] @ tril[j].T).logpdf(x[k, i, j]) for j in range(4)]
            for i in (0, 1)
        ]
        for k in range(5)
    ]
    close(one.log_prob(lamella.tensor(x)), want)
    lamella.manual_seed(0)
    drawn = one.sample((8000,)).numpy()
    np.testing.assert_allclose(drawn.mean(0), np.broadcast_to(loc, (2, 4, 3)), atol=0.15)
    np.testing.assert_allclose(np.cov(drawn[:, 1, 2].T), tril[2] @ tril[2].T, atol=0.3)


@pytest.mark.parametrize("name", MATRICES)
def test_gradients_of_vectors(name):
    """The derivative by the location is 1 for a draw, and the precision times the distance for the log density."""
    loc, matrix = t(*LOC).requires_grad_(), lamella.tensor(MATRICES[name]).requires_grad_()
    one = d.MultivariateNormal(loc, **{name: matrix})
    x = t(0.1, 0.2, 0.3)
    one.log_prob(x).backward(retain_graph=True)  # the factor's history is shared with that of draws
    close(loc.grad, np.linalg.inv(COVARIANCE) @ (np.array([0.1, 0.2, 0.3]) - LOC))
    assert bool(matrix.grad.isfinite().all()) and bool((matrix.grad != 0).any())
    loc.grad = None
    one.rsample((5,)).sum().backward()
    close(loc.grad, [5, 5, 5])


def test_divergences_of_vectors():
    made = [vectors("scale_tril"), low_rank()]
    for p in made:
        for q in made:
            a, b = p.covariance_matrix.numpy(), q.covariance_matrix.numpy()
            want = 0.5 * (np.trace(np.linalg.solve(b, a)) - 3 + np.log(np.linalg.det(b) / np.linalg.det(a)))
            close(d.kl_divergence(p, q), want, atol=1e-10)
    shifted = d.MultivariateNormal(t(*LOC) + 1, lamella.tensor(COVARIANCE))
    ones = np.ones(3)
    close(d.kl_divergence(made[0], shifted), 0.5 * ones @ np.linalg.inv(COVARIANCE) @ ones)
    wide = d.kl_divergence(made[0].expand((4,)), low_rank())
    close(wide, np.full(4, d.kl_divergence(made[0], made[1]).item()))
    with pytest.raises(ValueError, match="equal event shapes"):
        d.kl_divergence(made[0], d.MultivariateNormal(t(0.0, 0.0), lamella.eye(2, dtype=lamella.float64)))


@pytest.mark.parametrize("name", MATRICES)
def test_wishart(name):
    df = 5.5
    one = d.Wishart(t(df).squeeze(), **{name: lamella.tensor(MATRICES[name])})
    other = stats.wishart(df, COVARIANCE)
    x = other.rvs(4, random_state=0)
    close(one.log_prob(lamella.tensor(x)), other.logpdf(np.moveaxis(x, 0, -1)))
    close(one.mean, other.mean())
    close(one.variance, other.var())
    close(one.entropy(), other.entropy())
    close(one.mode, other.mode())
    lamella.manual_seed(0)
    drawn = one.rsample((8000,))
    assert drawn.shape == (8000, 3, 3) and bool(c.positive_definite.check(drawn[:50]).all())
    np.testing.assert_allclose(drawn.numpy().mean(0), other.mean(), atol=0.25)
    np.testing.assert_allclose(drawn.numpy().var(0), other.var(), rtol=0.15, atol=0.3)
    assert one.expand((2,)).sample((3,)).shape == (3, 2, 3, 3)
    assert bool(d.Wishart(t(3.0).squeeze(), lamella.tensor(COVARIANCE)).mode.isnan().all())
    q = d.Wishart(t(6.0).squeeze(), lamella.tensor(COVARIANCE + np.eye(3)))
    apart = (one.log_prob(drawn) - q.log_prob(drawn)).mean().item()
    close(d.kl_divergence(one, q), apart, rtol=0.05, atol=0.02)


@pytest.mark.parametrize("n, concentration", [(2, 0.5), (3, 1.0), (5, 2.5)])
def test_correlations(n, concentration):
    one = d.LKJCholesky(n, t(concentration).squeeze())
    lamella.manual_seed(0)
    drawn = one.sample((4000,))
    assert drawn.shape == (4000, n, n) and bool(c.corr_cholesky.check(drawn).all())
    matrices = (drawn @ drawn.mT).numpy()
    half = concentration - 1 + n / 2  # both parameters of each correlation's beta distribution over [-1, 1]
    for i in range(n):
        for j in range(i):
            assert stats.kstest((matrices[:, i, j] + 1) / 2, stats.beta(half, half).cdf).pvalue > 1e-3
    assert one.expand((3,)).sample((5,)).shape == (5, 3, n, n) and one.log_prob(drawn).shape == (4000,)
    # The ratio of two densities is that of the determinants' powers times a constant, and densities add up to 1.
    other = d.LKJCholesky(n, t(concentration + 0.5).squeeze())
    ratio = (other.log_prob(drawn) - one.log_prob(drawn)).exp()
    assert abs(ratio.mean().item() - 1) < 5 * ratio.std().item() / 4000**0.5
    dets = (0.5 * drawn.diagonal(dim1=-2, dim2=-1).log().sum(-1) * 2).exp()
    close((ratio / dets)[:10], np.full(10, (ratio / dets)[0].item()))


def test_a_correlation_of_two_integrates_to_one():
    """The Cholesky factor of a 2 by 2 matrix has one free number, r in (-1, 1)."""
    one = d.LKJCholesky(2, t(1.7).squeeze())
    r = (lamella.arange(20000, dtype=lamella.float64) + 0.5) / 10000 - 1
    zero = lamella.zeros_like(r)
    factors = lamella.stack([zero + 1, zero, r, (1 - r * r).sqrt()], -1).view(-1, 2, 2)
    assert abs(one.log_prob(factors).exp().mean().item() * 2 - 1) < 1e-3


EYE = lamella.eye(2)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: d.MultivariateNormal(lamella.zeros(2)), "exactly one of"),
        (lambda: d.MultivariateNormal(lamella.zeros(2), EYE, EYE), "exactly one of .* got 2"),
        (lambda: d.MultivariateNormal(lamella.tensor(0.0), EYE), "'loc' must be at least one-dimensional"),
        (lambda: d.MultivariateNormal(lamella.zeros(2), lamella.ones(2)), "at least two-dimensional"),
        (lambda: d.MultivariateNormal(lamella.zeros(2), -EYE), "covariance_matrix .* PositiveDefinite"),
        (lambda: d.MultivariateNormal(lamella.zeros(2), scale_tril=lamella.ones(2, 2)), "scale_tril .* LowerCholesky"),
        (lambda: d.LowRankMultivariateNormal(lamella.zeros(2), lamella.ones(3, 1), lamella.ones(2)), "shape 2 x m"),
        (lambda: d.LowRankMultivariateNormal(lamella.zeros(2), lamella.ones(2, 1), lamella.ones(3)), "cov_diag"),
        (lambda: d.LowRankMultivariateNormal(lamella.tensor(0.0), EYE, EYE), "at least one-dimensional"),
        (lambda: d.Wishart(lamella.tensor(0.5), EYE), "parameter df .* GreaterThan"),
        (lambda: d.Wishart(lamella.tensor(3.0)), "Wishart: exactly one of"),
        (lambda: d.LKJCholesky(1), "expected at least 2, got 1"),
        (lambda: d.LKJCholesky(2).log_prob(EYE + 0.1), "CorrCholesky"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()
