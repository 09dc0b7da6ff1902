"""Distributions: densities, moments and entropies equal scipy.stats'; samples by their moments; errors."""

import math

import lamella
import numpy as np
import pytest
from lamella import distributions as d
from scipy import stats

pytestmark = pytest.mark.needs("autograd")


def t(*values):
    return lamella.tensor(values, dtype=lamella.float64)


SCALES, LOCS = np.array([0.5, 2.0]), np.array([-1.0, 0.3])
CONTINUOUS = {
    "Normal": (d.Normal(t(*LOCS), t(*SCALES)), stats.norm(LOCS, SCALES)),
    "LogNormal": (d.LogNormal(t(*LOCS), t(*SCALES)), stats.lognorm(SCALES, scale=np.exp(LOCS))),
    "Laplace": (d.Laplace(t(*LOCS), t(*SCALES)), stats.laplace(LOCS, SCALES)),
    "Gumbel": (d.Gumbel(t(*LOCS), t(*SCALES)), stats.gumbel_r(LOCS, SCALES)),
    "Exponential": (d.Exponential(t(*SCALES)), stats.expon(scale=1 / SCALES)),
    "Uniform": (d.Uniform(t(*LOCS), t(*(LOCS + SCALES))), stats.uniform(LOCS, SCALES)),
}
PROBS = np.array([0.2, 0.75])
DISCRETE = {
    "Bernoulli": (d.Bernoulli(t(*PROBS)), stats.bernoulli(PROBS), [0.0, 1.0]),
    "Bernoulli of logits": (d.Bernoulli(logits=t(*np.log(PROBS / (1 - PROBS)))), stats.bernoulli(PROBS), [0.0, 1.0]),
    "Geometric": (d.Geometric(t(*PROBS)), stats.geom(PROBS, loc=-1), [0.0, 1.0, 5.0]),
}
ALL = {k: v[:2] for k, v in (CONTINUOUS | DISCRETE).items()}


def close(x, y, **limits):
    np.testing.assert_allclose(x.detach().numpy(), y, **({"rtol": 1e-6} | limits))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_densities(name):
    one, other = CONTINUOUS[name]
    values = other.ppf(np.array([[0.1], [0.5], [0.9]]))
    x = lamella.tensor(values)
    close(one.log_prob(x), other.logpdf(values))
    close(one.cdf(x), other.cdf(values))
    close(one.icdf(one.cdf(x)), values)
    assert one.has_rsample and one.batch_shape == (2,) and one.event_shape == ()


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities(name):
    one, other, values = DISCRETE[name]
    for value in values:
        close(one.log_prob(lamella.tensor(value)), other.logpmf(value))
    with pytest.raises(NotImplementedError, match="has no rsample"):
        one.rsample()


@pytest.mark.parametrize("name", ALL)
def test_moments_and_samples(name):
    one, other = ALL[name]
    close(one.mean, other.mean())
    close(one.variance, other.var())
    close(one.stddev, other.std())
    close(one.entropy(), np.vectorize(float)(other.entropy()), rtol=1e-5)
    close(one.perplexity(), np.exp(np.vectorize(float)(other.entropy())), rtol=1e-5)
    lamella.manual_seed(0)
    drawn = one.sample((4000,))
    assert drawn.shape == (4000, 2) and drawn.dtype == lamella.float64 and one.sample().shape == (2,)
    if name != "LogNormal":
        far = 5 * other.std() / np.sqrt(4000)  # five standard errors of the mean
        assert (np.abs(drawn.numpy().mean(0) - other.mean()) < far).all()
    wide = one.expand((3, 2))
    assert wide.batch_shape == (3, 2) and wide.sample((4,)).shape == (4, 3, 2)
    close(wide.log_prob(drawn[0]), one.log_prob(drawn[0]).expand(3, 2).numpy())


@pytest.mark.parametrize("name", CONTINUOUS)
def test_draws_are_differentiable(name):
    """With the same random numbers, a draw's derivative by the location is 1, by the scale the standardized draw."""
    one, _ = CONTINUOUS[name]
    parameters = {k: getattr(one, k).clone().requires_grad_() for k in one._parameters}
    lamella.manual_seed(1)
    drawn = type(one)(**parameters).rsample((5,))
    drawn.sum().backward()
    for key, value in parameters.items():
        shifted = []
        for by in (1e-6, -1e-6):
            lamella.manual_seed(1)
            moved = {k: v.detach() + (by if k == key else 0) for k, v in parameters.items()}
            shifted.append(type(one)(**moved).rsample((5,)).sum(0).numpy())
        close(value.grad, (shifted[0] - shifted[1]) / 2e-6, rtol=1e-4)
    assert not one.sample().requires_grad


def test_categories():
    p = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    for one in (d.Categorical(lamella.tensor(p) * 3), d.Categorical(logits=lamella.tensor(np.log(p)) + 5)):
        close(one.probs, p)
        close(one.logits, np.log(p))
        close(one.log_prob(lamella.tensor([2, 0])), np.log([0.7, 0.5]))
        close(one.log_prob(lamella.tensor([[2], [1]])), np.log(p.T[[2, 1]]))
        close(one.entropy(), [stats.entropy(row) for row in p])
        assert one.mode.tolist() == [2, 0] and bool(one.mean.isnan().all())
        assert one.enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
        assert one.enumerate_support(False).shape == (3, 1) and one.param_shape == (2, 3)
        lamella.manual_seed(0)
        drawn = one.sample((4000,))
        assert drawn.shape == (4000, 2) and one.sample().shape == (2,) and one.sample((2, 3)).shape == (2, 3, 2)
        for row, column in zip(p, drawn.numpy().T, strict=True):
            np.testing.assert_allclose(np.bincount(column, minlength=3) / 4000, row, atol=0.04)
        assert one.expand((4, 2)).sample().shape == (4, 2)
    hot = d.OneHotCategorical(lamella.tensor(p))
    drawn = hot.sample((5,))
    assert drawn.shape == (5, 2, 3) and (drawn.sum(-1) == 1).all() and hot.event_shape == (3,)
    close(hot.log_prob(t(0.0, 1.0, 0.0)), np.log(p[:, 1]))
    assert hot.enumerate_support().shape == (3, 2, 3) and hot.expand((4, 2)).mode.shape == (4, 2, 3)
    close(hot.variance, p * (1 - p))


def test_a_policy_gradient():
    """The derivative of log p(a) by the logits is one at a, minus the probabilities."""
    logits = t(0.1, -0.4, 0.9).requires_grad_()
    d.Categorical(logits=logits).log_prob(lamella.tensor(1)).backward()
    p = np.exp([0.1, -0.4, 0.9])
    close(logits.grad, np.eye(3)[1] - p / p.sum())


def test_independent():
    base = d.Normal(lamella.zeros(2, 3), lamella.ones(2, 3))
    one = d.Independent(base, 1)
    assert one.batch_shape == (2,) and one.event_shape == (3,) and one.has_rsample
    x = lamella.rand(5, 2, 3)
    close(one.log_prob(x), base.log_prob(x).sum(-1).numpy())
    close(one.entropy(), base.entropy().sum(-1).numpy())
    assert one.rsample((4,)).shape == (4, 2, 3) and one.expand((7, 2)).sample().shape == (7, 2, 3)
    assert repr(one) == "Independent(Normal(loc: lamella.Size([2, 3]), scale: lamella.Size([2, 3])), 1)"
    assert d.Independent(base, 0).log_prob(x).shape == (5, 2, 3)
    with pytest.raises(ValueError, match="actual 3 vs 2"):
        d.Independent(base, 3)


def numeric(p, q, values, weights):
    return ((p.log_prob(values) - q.log_prob(values)) * p.log_prob(values).exp() * weights).sum(0)


PAIRS = [
    (d.Normal(t(0.3), t(0.5)), d.Normal(t(-0.2), t(1.5)), (-20, 20)),
    (d.Laplace(t(0.3), t(0.5)), d.Laplace(t(-0.2), t(1.5)), (-40, 40)),
    (d.Exponential(t(2.0)), d.Exponential(t(0.7)), (0, 60)),
    (d.Uniform(t(0.0), t(1.0)), d.Uniform(t(-1.0), t(2.0)), (0, 1)),
    (d.Uniform(t(0.0), t(1.0)), d.Normal(t(-1.0), t(2.0)), (0, 1)),
]


@pytest.mark.parametrize("p, q, ends", PAIRS)
def test_divergences_are_the_integrals(p, q, ends):
    n = 200000
    x = lamella.linspace(*ends, n + 1, dtype=lamella.float64)[:-1] + (ends[1] - ends[0]) / n / 2
    close(d.kl_divergence(p, q), numeric(p, q, x[:, None], (ends[1] - ends[0]) / n).numpy(), rtol=1e-4)


def test_divergences_of_choices():
    p, q = t(0.1, 0.2, 0.7), t(0.5, 0.25, 0.25)
    wanted = stats.entropy(p.numpy(), q.numpy())
    close(d.kl_divergence(d.Categorical(p), d.Categorical(q)), wanted)
    close(d.kl_divergence(d.OneHotCategorical(p), d.OneHotCategorical(q)), wanted)
    close(
        d.kl_divergence(d.Bernoulli(t(0.1, 0.0)), d.Bernoulli(t(0.4, 0.5))),
        [stats.entropy([0.1, 0.9], [0.4, 0.6]), np.log(2)],
    )
    assert d.kl_divergence(d.Categorical(q), d.Categorical(t(0.0, 0.5, 0.5))).item() == float("inf")
    assert d.kl_divergence(d.Uniform(0.0, 2.0), d.Uniform(0.0, 1.0)).item() == float("inf")
    both = [d.Independent(d.Normal(lamella.full((3,), x), 1.0), 1) for x in (0.0, 1.0)]
    assert d.kl_divergence(*both).item() == 1.5
    with pytest.raises(NotImplementedError, match="p type Normal and q type Bernoulli"):
        d.kl_divergence(d.Normal(0.0, 1.0), d.Bernoulli(0.5))
    with pytest.raises(NotImplementedError, match="as many"):
        d.kl_divergence(both[0], d.Independent(both[1], 0))


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: d.Normal(0.0, -1.0), r"Expected parameter scale .* Normal\(loc: 0.0, scale: -1.0\) to be above 0"),
        (lambda: d.Normal(float("nan"), 1.0), "Expected parameter loc .* to be a number"),
        (lambda: d.Uniform(1.0, 0.0), "low >= high"),
        (lambda: d.Exponential(0.0), "rate"),
        (lambda: d.Bernoulli(1.5), r"to be in \[0, 1\]"),
        (lambda: d.Bernoulli(), "Either `probs` or `logits`"),
        (lambda: d.Categorical(lamella.ones(2), lamella.ones(2)), "Either `probs` or `logits`"),
        (lambda: d.Categorical(lamella.ones(())), "at least one-dimensional"),
        (lambda: d.Categorical(t(-1.0, 2.0)), "0 or more"),
        (lambda: d.Categorical(lamella.tensor([[1.0, 1.0], [0.0, 0.0]])), r"sum above 0, but found .*\n.*\n.*0., 0."),
        (lambda: d.Categorical(t(math.inf, 2.0)), "with a finite sum"),
        (lambda: d.Categorical(t(math.nan, 2.0)), "with a finite sum"),
        (lambda: d.OneHotCategorical(t(0.0, 0.0)), "with a finite sum above 0"),
        (lambda: d.Categorical(logits=t(-math.inf, -math.inf)), "not all of them -infinity"),
        (lambda: d.Categorical(logits=t(math.inf, 0.0)), "numbers below infinity"),
        (lambda: d.Categorical(lamella.ones(2)).log_prob(lamella.tensor(2)), "a whole number from 0 to 1"),
        (lambda: d.Bernoulli(0.5).log_prob(lamella.tensor(0.3)), "to be 0 or 1"),
        (lambda: d.Uniform(0.0, 1.0).log_prob(lamella.tensor(2.0)), r"in \[low, high\]"),
        (lambda: d.Normal(lamella.zeros(2), 1.0).log_prob(lamella.ones(3)), "not broadcastable"),
        (lambda: d.Normal(0.0, 1.0).log_prob(1.0), "must be a Tensor"),
        (lambda: d.OneHotCategorical(lamella.ones(3)).log_prob(lamella.ones(2)), "right-most size"),
        (lambda: d.OneHotCategorical(lamella.ones(3)).log_prob(lamella.ones(3)), "one 1 in each row"),
        (lambda: d.Distribution.set_default_validate_args(3), "True or False"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_checks_can_be_left_away():
    assert d.Uniform(0.0, 1.0, validate_args=False).log_prob(lamella.tensor(2.0)).item() == -float("inf")
    d.Distribution.set_default_validate_args(False)
    try:
        assert d.Normal(0.0, -1.0).scale.item() == -1
    finally:
        d.Distribution.set_default_validate_args(True)


def test_names_that_are_not_here():
    with pytest.raises(AttributeError, match="lamella.distributions.Dirichlet is not here yet"):
        d.Dirichlet  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'Normal'"):
        d.Normals  # noqa: B018
    with pytest.raises(NotImplementedError, match="Distribution has no log_prob"):
        d.Distribution().log_prob(lamella.ones(1))
