"""Independent, MixtureSameFamily and TransformedDistribution."""

import lamella
import numpy as np
import pytest
from families import close, t
from lamella import distributions as d
from scipy import integrate, stats

pytestmark = pytest.mark.needs("autograd")


def test_independent():
    base = d.Normal(lamella.zeros(2, 3), lamella.ones(2, 3))
    one = d.Independent(base, 1)
    assert one.batch_shape == (2,) and one.event_shape == (3,) and one.has_rsample and not one.has_enumerate_support
    x = lamella.rand(5, 2, 3)
    close(one.log_prob(x), base.log_prob(x).sum(-1).numpy())
    close(one.entropy(), base.entropy().sum(-1).numpy())
    assert one.rsample((4,)).shape == (4, 2, 3) and one.expand((7, 2)).sample().shape == (7, 2, 3)
    assert repr(one) == "Independent(Normal(loc: lamella.Size([2, 3]), scale: lamella.Size([2, 3])), 1)"
    assert d.Independent(base, 0).log_prob(x).shape == (5, 2, 3)
    assert one.support.event_dim == 1 and one.mean.shape == (2, 3)
    with pytest.raises(ValueError, match="actual 3 vs 2"):
        d.Independent(base, 3)
    coins = d.Bernoulli(lamella.full((2,), 0.5))
    assert d.Independent(coins, 0).enumerate_support().shape == (2, 2)
    with pytest.raises(NotImplementedError, match="not enumerated"):
        d.Independent(coins, 1).enumerate_support()


def test_mixtures():
    weights, locs, scales = np.array([0.3, 0.7]), np.array([-1.0, 2.0]), np.array([0.5, 1.5])
    one = d.MixtureSameFamily(d.Categorical(t(*weights)), d.Normal(t(*locs), t(*scales)))
    x = np.linspace(-3, 5, 9)
    parts = stats.norm(locs, scales)
    close(one.log_prob(lamella.tensor(x)), np.log((weights * parts.pdf(x[:, None])).sum(-1)))
    close(one.cdf(lamella.tensor(x)), (weights * parts.cdf(x[:, None])).sum(-1))
    close(one.mean, (weights * locs).sum())
    close(one.variance, (weights * (scales**2 + locs**2)).sum() - (weights * locs).sum() ** 2)
    lamella.manual_seed(0)
    drawn = one.sample((4000,)).numpy()
    assert stats.kstest(drawn, lambda v: (weights * parts.cdf(v[:, None])).sum(-1)).pvalue > 1e-3
    assert one.expand((3,)).sample((5,)).shape == (5, 3) and one.support.check(t(1.0)).all()
    vectors = d.MixtureSameFamily(
        d.Categorical(lamella.ones(4, 2)), d.Independent(d.Normal(lamella.zeros(4, 2, 3), 1.0), 1)
    )
    assert vectors.sample((5,)).shape == (5, 4, 3) and vectors.log_prob(lamella.zeros(5, 4, 3)).shape == (5, 4)
    assert vectors.mean.shape == (4, 3) and vectors.event_shape == (3,)
    close(vectors.log_prob(lamella.zeros(4, 3)), np.full(4, 3 * stats.norm.logpdf(0)))


@pytest.mark.parametrize(
    "mixture, components, text",
    [
        (d.Normal(0.0, 1.0), d.Normal(lamella.zeros(2), 1.0), "must be a Categorical"),
        (d.Categorical(lamella.ones(2)), 3, "must be a Distribution"),
        (d.Categorical(lamella.ones(3)), d.Normal(lamella.zeros(2), 1.0), "3 probabilities need 3 components"),
        (d.Categorical(lamella.ones(2)), d.Normal(0.0, 1.0), "2 probabilities need 2 components"),
        (d.Categorical(lamella.ones(5, 2)), d.Normal(lamella.zeros(4, 2), 1.0), "do not fit"),
    ],
)
def test_wrong_mixtures(mixture, components, text):
    with pytest.raises(ValueError, match=text):
        d.MixtureSameFamily(mixture, components)


def test_transformed():
    base = d.Normal(t(0.3, -1.0), t(0.5, 2.0))
    one = d.TransformedDistribution(base, [d.ExpTransform(), d.AffineTransform(1.0, -2.0)])
    lamella.manual_seed(0)
    y = one.sample((6,))
    x = np.log((1 - y.numpy()) / 2)
    want = stats.norm([0.3, -1], [0.5, 2]).logpdf(x) - x - np.log(2)
    close(one.log_prob(y), want)
    close(one.cdf(y), stats.norm([0.3, -1], [0.5, 2]).sf(x))  # the transform decreases
    close(one.icdf(one.cdf(y)), y.numpy())
    assert one.has_rsample and one.expand((3, 2)).sample().shape == (3, 2)
    same = d.TransformedDistribution(base, [])
    close(same.log_prob(y), base.log_prob(y).numpy())
    close(same.cdf(y), base.cdf(y).numpy())
    with pytest.raises(ValueError, match="Transform or a list"):
        d.TransformedDistribution(base, [3])


def test_transforms_of_events_grow_the_event():
    one = d.TransformedDistribution(d.Normal(lamella.zeros(2, 3), 1.0), d.StickBreakingTransform())
    assert one.batch_shape == (2,) and one.event_shape == (4,)
    drawn = one.sample((5,))
    close(drawn.sum(-1), np.ones((5, 2)))
    assert one.log_prob(drawn).shape == (5, 2) and one.expand((7, 2)).sample().shape == (7, 2, 4)
    reshaped = d.TransformedDistribution(d.Normal(lamella.zeros(4, 6), 1.0), d.ReshapeTransform((6,), (2, 3)))
    assert reshaped.batch_shape == (4,) and reshaped.event_shape == (2, 3)
    assert reshaped.log_prob(reshaped.sample()).shape == (4,)
    with pytest.raises(ValueError, match="at least 1"):
        d.TransformedDistribution(d.Normal(0.0, 1.0), d.StickBreakingTransform())


def test_logistic_normal():
    one = d.LogisticNormal(t(0.3), t(0.8))
    total, _ = integrate.quad(lambda x: one.log_prob(t(x, 1 - x)).exp().item(), 0, 1)
    assert abs(total - 1) < 1e-6
    close(one.loc, [0.3])
    close(one.scale, [0.8])
    assert one.sample((5,)).shape == (5, 2) and d.LogisticNormal(0.0, 1.0).sample().shape == (2,)


def test_kumaraswamy():
    a, b = 1.5, 3.0
    one = d.Kumaraswamy(t(a).squeeze(), t(b).squeeze())

    def integral(f):
        return integrate.quad(lambda x: f(x) * one.log_prob(t(x).squeeze()).exp().item(), 0, 1)[0]

    assert abs(integral(lambda x: 1) - 1) < 1e-7
    close(one.mean, integral(lambda x: x))
    close(one.variance, integral(lambda x: (x - one.mean.item()) ** 2), rtol=1e-5)
    close(one.entropy(), -integral(lambda x: one.log_prob(t(x).squeeze()).item()), rtol=1e-5)
    close(one.cdf(t(0.4)), [1 - (1 - 0.4**a) ** b])
    close(one.icdf(one.cdf(t(0.4))), [0.4])
    best = one.mode.item()
    assert all(one.log_prob(t(best + s)) <= one.log_prob(t(best)) for s in (1e-3, -1e-3))
    lamella.manual_seed(0)
    assert stats.kstest(one.sample((4000,)).numpy(), lambda x: 1 - (1 - x**a) ** b).pvalue > 1e-3
    assert bool(d.Kumaraswamy(0.5, 0.5).mode.isnan()) and one.expand((3,)).sample().shape == (3,)
