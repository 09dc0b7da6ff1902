"""Distributions of numbers: densities, moments, entropies and distribution functions equal scipy.stats'; samples."""

import lamella
import numpy as np
import pytest
from families import close, counts, numbers
from lamella import distributions as d
from scipy import stats

pytestmark = pytest.mark.needs("autograd")
NUMBERS, COUNTS = numbers(), counts()
WITH_CDF = sorted(set(NUMBERS) - {"Beta", "StudentT", "FisherSnedecor", "VonMises"})
WITH_ICDF = sorted(set(WITH_CDF) - {"Gamma", "Chi2", "InverseGamma"})
WITH_ENTROPY = sorted(set(NUMBERS) - {"FisherSnedecor", "VonMises"})
# Means of these do not exist, or converge slowly: the logarithm of 1 + x * x is taken instead.
LONG_TAILED = ("Cauchy", "StudentT", "Pareto", "FisherSnedecor", "InverseGamma", "HalfCauchy", "LogNormal")
EVERY = {**{k: v.ours for k, v in NUMBERS.items()}, **{k: v[0] for k, v in COUNTS.items()}}


@pytest.mark.parametrize("name", NUMBERS)
def test_densities(name):
    one, other, _ = NUMBERS[name]
    values = other.ppf(np.array([[0.01], [0.3], [0.6], [0.99]]))
    close(one.log_prob(lamella.tensor(values)), other.logpdf(values), atol=1e-12)
    assert one.batch_shape == (2,) and one.event_shape == ()


@pytest.mark.parametrize("name", WITH_CDF)
def test_distribution_functions(name):
    one, other, _ = NUMBERS[name]
    values = other.ppf(np.array([[0.01], [0.3], [0.6], [0.99]]))
    close(one.cdf(lamella.tensor(values)), other.cdf(values))


@pytest.mark.parametrize("name", WITH_ICDF)
def test_inverse_distribution_functions(name):
    one, other, _ = NUMBERS[name]
    shares = np.array([[0.01], [0.3], [0.6], [0.99]])
    close(one.icdf(lamella.tensor(shares)), other.ppf(shares), atol=1e-12)


@pytest.mark.parametrize("name", [n for n, f in NUMBERS.items() if f.moments])
def test_moments(name):
    one, other, _ = NUMBERS[name]
    close(one.mean, other.mean())
    close(one.variance, other.var())
    close(one.stddev, other.std())


@pytest.mark.parametrize("name", WITH_ENTROPY)
def test_entropies(name):
    one, other, _ = NUMBERS[name]
    want = [float(x.entropy()) for x in parts(other)]
    close(one.entropy(), want, rtol=1e-5)
    close(one.perplexity(), np.exp(want), rtol=1e-5)


def parts(frozen):
    """Returns scipy's distributions of the two members of a batch: its entropy takes one set of parameters."""
    args = [np.broadcast_to(a, 2) for a in frozen.args]
    kwds = {k: np.broadcast_to(v, 2) for k, v in frozen.kwds.items()}
    return [frozen.dist(*(a[i] for a in args), **{k: v[i] for k, v in kwds.items()}) for i in (0, 1)]


@pytest.mark.parametrize("name", NUMBERS)
def test_modes(name):
    """No value near the mode is more probable."""
    one = NUMBERS[name].ours
    mode = one.mode
    if name == "Uniform":
        assert bool(mode.isnan().all())
        return
    within = one.support.check(mode)  # a mode of 0 may be at the edge, outside of the support
    inner = one.log_prob(lamella.where(within, mode, one.sample()))
    for step in (1e-4, -1e-4):
        beside = mode + step
        right = one.support.check(beside) & ~inner.isinf() & within
        usual = lamella.where(right, beside, one.sample())
        assert bool((one.log_prob(usual) <= inner + 1e-12)[right].all())


@pytest.mark.parametrize("name", NUMBERS)
def test_samples(name):
    one, other, _ = NUMBERS[name]
    lamella.manual_seed(0)
    drawn = one.sample((4000,))
    assert drawn.shape == (4000, 2) and drawn.dtype == lamella.float64 and not drawn.requires_grad
    assert one.sample().shape == (2,) and bool(one.support.check(drawn).all())
    for i, part in enumerate(parts(other)):
        values = drawn[:, i].numpy()
        if name == "VonMises":  # scipy's are within pi of the location
            values = (values - one.loc[i].item() + np.pi) % (2 * np.pi) - np.pi + one.loc[i].item()
        assert stats.kstest(values, part.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    one, other, values = COUNTS[name]
    for value in values:
        close(one.log_prob(lamella.tensor(float(value), dtype=lamella.float64)), other.logpmf(value))
    close(one.mean, other.mean())
    close(one.variance, other.var())
    with pytest.raises(NotImplementedError, match="has no rsample"):
        one.rsample()
    lamella.manual_seed(0)
    drawn = one.sample((4000,))
    assert drawn.shape == (4000, 2) and drawn.dtype == lamella.float64
    for i, part in enumerate(parts(other)):
        k, seen = np.unique(drawn[:, i].numpy(), return_counts=True)
        often = part.pmf(k) * 4000 > 5
        error = (seen - part.pmf(k) * 4000) ** 2 / (part.pmf(k) * 4000)
        assert stats.chi2(max(often.sum() - 1, 1)).sf(error[often].sum()) > 1e-3
    best = one.mode
    if not bool(best.isnan().any()):
        assert bool((one.log_prob(best) >= one.log_prob(best + 1 - 2 * (best >= 1).to(best.dtype))).all())


@pytest.mark.parametrize("name", ["Bernoulli", "Geometric", "Binomial"])
def test_entropies_of_counts(name):
    one, other, _ = COUNTS[name]
    close(one.entropy(), [float(x.entropy()) for x in parts(other)])
    if one.has_enumerate_support:
        values = one.enumerate_support()
        assert values.shape[1:] == (2,) and one.enumerate_support(False).shape[1:] == (1,)
        close(one.log_prob(values).exp().sum(0), [1, 1])


def test_an_entropy_by_the_log_normalizer():
    """Poisson has no entropy, since the mean of its carrier measure, log(x!), has no closed form."""
    with pytest.raises(NotImplementedError, match="has no mean carrier measure"):
        d.Poisson(1.0).entropy()

    class Own(d.Exponential):
        entropy = d.ExponentialFamily.entropy

    rate = lamella.tensor([0.5, 3.0], requires_grad=True)
    close(Own(rate).entropy(), d.Exponential(rate).entropy().detach().numpy())
    Own(rate).entropy().sum().backward()
    close(rate.grad, -1 / rate.detach().numpy())  # the entropy is 1 - log(rate)


@pytest.mark.parametrize("name", EVERY)
def test_expand(name):
    one = EVERY[name]
    wide = one.expand((3, 2))
    assert type(wide) is type(one) and wide.batch_shape == (3, 2) and wide.sample((4,)).shape == (4, 3, 2)
    value = one.sample()
    close(wide.log_prob(value), one.log_prob(value).expand(3, 2).numpy())
    close(wide.mean, one.mean.expand(3, 2).numpy())


def test_expand_of_classes_of_yours():
    class Bare(d.Normal):
        pass

    class Own(d.Normal):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    class Full(Own):
        def expand(self, batch_shape, _instance=None):
            made = self._get_checked_instance(Full, _instance)
            return super().expand(batch_shape, made)

    assert type(Bare(0.0, 1.0).expand((2,))) is Bare
    with pytest.raises(NotImplementedError, match="Own has an __init__ of its own"):
        Own(0.0).expand((2,))
    assert Full(0.0).expand((2,)).loc.shape == (2,)


@pytest.mark.parametrize("name", [n for n, f in NUMBERS.items() if f.ours.has_rsample])
def test_draws_are_differentiable(name):
    """The mean of the draws' derivatives by each parameter is the derivative of their mean."""
    one = NUMBERS[name].ours
    made = {n: getattr(one, n).detach().clone().requires_grad_() for n in one.arg_constraints}
    lamella.manual_seed(3)
    again = type(one)(**made)
    statistic = (lambda x: (1 + x * x).log()) if name in LONG_TAILED else (lambda x: x)
    drawn = again.rsample((40000,))
    assert drawn.requires_grad
    statistic(drawn).mean(0).sum().backward()
    for n, p in made.items():
        step, shifted = 1e-4, []
        for sign in (1, -1):
            moved = {k: v.detach() + (sign * step if k == n else 0) for k, v in made.items()}
            shifted.append(expectation(type(one)(**moved), statistic, NUMBERS[name].other))
        want = (shifted[0] - shifted[1]) / (2 * step)
        np.testing.assert_allclose(p.grad.numpy(), want, rtol=0.1, atol=0.02, err_msg=n)


def expectation(one, statistic, other):
    """Returns the mean of a statistic by numerical quadrature: over probabilities, or over the density."""
    shares = (np.arange(20000)[:, None] + 0.5) / 20000
    try:
        return statistic(one.icdf(lamella.tensor(np.broadcast_to(shares, (20000, 2)).copy()))).mean(0).numpy()
    except NotImplementedError:
        x = lamella.tensor(other.ppf(shares))
    weight = one.log_prob(x).exp() / lamella.tensor(other.pdf(x.numpy()))
    return (statistic(x) * weight).mean(0).numpy()


def test_the_default_dtype_and_the_dtypes_of_parameters():
    assert d.Normal(0, 1).sample().dtype == lamella.float32
    assert d.Normal(lamella.tensor(0), 1).loc.dtype == lamella.float32
    assert d.Gamma(lamella.ones(2, dtype=lamella.float64), 1).rate.dtype == lamella.float64
    assert d.Normal(lamella.zeros(2, 1), lamella.ones(3)).batch_shape == (2, 3)
    with pytest.raises(ValueError, match="expected numbers and tensors"):
        d.Normal("0", 1.0)


@pytest.mark.parametrize("shape", [1e-3, 0.05])
def test_small_shapes_give_finite_densities(shape):
    lamella.manual_seed(0)
    for one in (d.Gamma(shape, 1.0), d.Beta(shape, shape), d.Dirichlet(lamella.full((3,), shape))):
        drawn = one.sample((1000,))
        assert bool(one.support.check(drawn).all()) and bool(one.log_prob(drawn).isfinite().all())
