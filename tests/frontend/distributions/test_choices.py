"""Distributions of categories, rows with a single 1, and counts among categories; their relaxations."""

import lamella
import numpy as np
import pytest
from families import close, t
from lamella import distributions as d
from scipy import integrate, stats

pytestmark = pytest.mark.needs("autograd")
P = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])


@pytest.mark.parametrize("given", ["probs", "logits"])
def test_categories(given):
    one = d.Categorical(**{given: lamella.tensor(P) * 3 if given == "probs" else lamella.tensor(np.log(P)) + 5})
    close(one.probs, P)
    close(one.logits, np.log(P))
    close(one.log_prob(lamella.tensor([2, 0])), np.log([0.7, 0.5]))
    close(one.log_prob(lamella.tensor([[2], [1]])), np.log(P.T[[2, 1]]))
    close(one.log_prob(lamella.tensor(2)), np.log(P.T[2]))
    close(one.log_prob(lamella.tensor([[[2, 0]], [[1, 1]]])), np.log([[[0.7, 0.5]], [[0.2, 0.25]]]))
    close(one.entropy(), [stats.entropy(row) for row in P])
    assert one.mode.tolist() == [2, 0] and bool(one.mean.isnan().all()) and bool(one.variance.isnan().all())
    assert one.enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert one.enumerate_support(False).shape == (3, 1) and one.param_shape == (2, 3)
    lamella.manual_seed(0)
    drawn = one.sample((4000,))
    assert drawn.shape == (4000, 2) and one.sample().shape == (2,) and one.sample((2, 3)).shape == (2, 3, 2)
    for row, column in zip(P, drawn.numpy().T, strict=True):
        assert stats.chisquare(np.bincount(column, minlength=3), row * 4000).pvalue > 1e-3
    wide = one.expand((4, 2))
    assert wide.sample().shape == (4, 2) and wide.log_prob(drawn[:4]).shape == (4, 2)


def test_a_single_row():
    one = d.Categorical(lamella.tensor(P[0]))
    assert one.sample().shape == () and one.sample((5,)).shape == (5,)
    close(one.log_prob(lamella.tensor([0, 2, 1])), np.log(P[0][[0, 2, 1]]))
    close(one.log_prob(lamella.tensor(1)), np.log(0.2))


@pytest.mark.parametrize("n", [2, 16, 48, 49, 200])
def test_samples_of_many_categories(n):
    """Few categories are searched by another loop than many."""
    weights = np.random.default_rng(n).uniform(0.1, 1, n)
    lamella.manual_seed(1)
    drawn = lamella.multinomial(lamella.tensor(weights).expand(2, n), 20011, True).numpy()
    for row in drawn:
        assert stats.chisquare(np.bincount(row, minlength=n), weights / weights.sum() * 20011).pvalue > 1e-3


def test_a_policy_gradient():
    """The derivative of log p(a) by the logits is one at a, minus the probabilities."""
    logits = t(0.1, -0.4, 0.9).requires_grad_()
    d.Categorical(logits=logits).log_prob(lamella.tensor(1)).backward()
    p = np.exp([0.1, -0.4, 0.9])
    close(logits.grad, np.eye(3)[1] - p / p.sum())


def test_rows_with_a_single_one():
    hot = d.OneHotCategorical(lamella.tensor(P))
    drawn = hot.sample((5,))
    assert drawn.shape == (5, 2, 3) and (drawn.sum(-1) == 1).all() and hot.event_shape == (3,)
    close(hot.log_prob(t(0.0, 1.0, 0.0)), np.log(P[:, 1]))
    assert hot.enumerate_support().shape == (3, 2, 3) and hot.expand((4, 2)).mode.shape == (4, 2, 3)
    close(hot.variance, P * (1 - P))
    close(hot.entropy(), [stats.entropy(row) for row in P])
    assert "OneHotCategorical(probs: lamella.Size([2, 3])" in repr(hot)


def test_gradients_pass_straight_through_rows():
    probs = lamella.tensor(P).requires_grad_()
    lamella.manual_seed(0)
    drawn = d.OneHotCategoricalStraightThrough(probs).rsample((3,))
    assert ((drawn == 0) | (drawn == 1)).all()
    (drawn * t(1.0, 2.0, 3.0)).sum().backward()
    mean = (P * [1, 2, 3]).sum(-1, keepdims=True)  # the probabilities are divided by their sum
    close(probs.grad, 3 * (np.array([1, 2, 3]) - mean))


def test_counts_among_categories():
    one, other = d.Multinomial(5, lamella.tensor(P)), [stats.multinomial(5, row) for row in P]
    value = np.array([[1.0, 1, 3], [5, 0, 0]])
    close(one.log_prob(lamella.tensor(value)), [o.logpmf(v) for o, v in zip(other, value, strict=True)])
    close(one.entropy(), [o.entropy() for o in other])
    close(one.mean, P * 5)
    close(one.variance, 5 * P * (1 - P))
    lamella.manual_seed(0)
    drawn = one.sample((3000,))
    assert drawn.shape == (3000, 2, 3) and bool((drawn.sum(-1) == 5).all())
    np.testing.assert_allclose(drawn.numpy().mean(0), P * 5, atol=0.1)
    np.testing.assert_allclose(drawn.numpy().var(0), 5 * P * (1 - P), atol=0.1)
    assert one.expand((4, 2)).sample().shape == (4, 2, 3)
    with pytest.raises(NotImplementedError, match="total_count"):
        d.Multinomial(lamella.tensor(3), lamella.tensor(P))


def test_binomials_of_different_counts():
    one = d.Binomial(lamella.tensor([3, 5]), lamella.tensor([0.5, 0.5]))
    assert one.sample().shape == (2,)
    for call in (one.enumerate_support, one.entropy):
        with pytest.raises(NotImplementedError, match="different numbers of trials"):
            call()


def test_relaxed_successes():
    probs = t(0.3, 0.6).requires_grad_()
    one = d.RelaxedBernoulli(t(0.7).squeeze(), probs)
    for i in (0, 1):
        total, _ = integrate.quad(lambda x, i=i: one.log_prob(t(x, x))[i].exp().item(), 1e-9, 1 - 1e-9, limit=200)
        assert abs(total - 1) < 1e-4
    lamella.manual_seed(0)
    drawn = one.rsample((4000,))
    close((drawn > 0.5).to(lamella.float64).mean(0), [0.3, 0.6], atol=0.03)  # the odds are those of the probabilities
    drawn.sum().backward()
    assert (probs.grad > 0).all() and one.expand((4, 2)).sample().shape == (4, 2)
    close(one.temperature, 0.7)
    close(one.logits, np.log([0.3 / 0.7, 0.6 / 0.4]))


def test_relaxed_rows():
    one = d.RelaxedOneHotCategorical(t(0.7).squeeze(), lamella.tensor(P))
    lamella.manual_seed(0)
    drawn = one.rsample((4000,))
    close(drawn.sum(-1), np.ones((4000, 2)))
    shares = np.stack([np.bincount(a, minlength=3) / 4000 for a in drawn.argmax(-1).numpy().T])
    np.testing.assert_allclose(shares, P, atol=0.03)
    assert one.event_shape == (3,) and one.log_prob(drawn).shape == (4000, 2)
    # A row of two is a RelaxedBernoulli number and its complement.
    both = d.RelaxedOneHotCategorical(t(0.7).squeeze(), t(0.3, 0.7))
    single = d.RelaxedBernoulli(t(0.7).squeeze(), t(0.3).squeeze())
    x = t(0.2).squeeze()
    close(both.log_prob(lamella.stack([x, 1 - x])), single.log_prob(x).item())


@pytest.mark.parametrize("p", [0.1, 0.4999, 0.5, 0.5004, 0.502, 0.9])
def test_continuous_bernoulli(p):
    one = d.ContinuousBernoulli(t(p).squeeze())

    def integral(f):
        return integrate.quad(lambda x: f(x) * one.log_prob(t(x).squeeze()).exp().item(), 0, 1)[0]

    assert abs(integral(lambda x: 1) - 1) < 1e-9
    mean = integral(lambda x: x)
    close(one.mean, mean)
    close(one.variance, integral(lambda x: (x - mean) ** 2), rtol=1e-5)
    close(one.stddev, np.sqrt(integral(lambda x: (x - mean) ** 2)), rtol=1e-5)
    close(one.entropy(), -integral(lambda x: one.log_prob(t(x).squeeze()).item()), atol=1e-9)
    close(one.cdf(t(0.3)), integrate.quad(lambda x: one.log_prob(t(x).squeeze()).exp().item(), 0, 0.3)[0])
    close(one.icdf(one.cdf(t(0.3, 0.8))), [0.3, 0.8])
    assert one.cdf(t(0.0, 1.0)).tolist() == [0, 1]
    assert one.rsample((3,)).shape == (3,) and one.has_rsample
