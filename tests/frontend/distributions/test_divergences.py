"""Divergences: equal the sums or integrals of p (log p - log q), for every pair that has a formula."""

import warnings

import lamella
import numpy as np
import pytest
from families import close, t
from lamella import distributions as d
from lamella.distributions import kl

pytestmark = pytest.mark.needs("autograd")


def family():
    """Returns two distributions of each class, whose values are not wider than those of most others."""
    one = lambda x: t(x).squeeze()  # noqa: E731
    return {
        d.Bernoulli: (d.Bernoulli(one(0.3)), d.Bernoulli(one(0.6))),
        d.Beta: (d.Beta(one(1.5), one(2.5)), d.Beta(one(2.0), one(1.2))),
        d.Binomial: (d.Binomial(5, one(0.3)), d.Binomial(5, one(0.6))),
        d.Cauchy: (d.Cauchy(one(0.3), one(0.5)), d.Cauchy(one(-0.2), one(1.5))),
        d.ContinuousBernoulli: (d.ContinuousBernoulli(one(0.3)), d.ContinuousBernoulli(one(0.6))),
        d.Exponential: (d.Exponential(one(2.0)), d.Exponential(one(0.7))),
        d.Gamma: (d.Gamma(one(2.5), one(2.0)), d.Gamma(one(1.5), one(0.7))),
        d.Geometric: (d.Geometric(one(0.3)), d.Geometric(one(0.6))),
        d.Gumbel: (d.Gumbel(one(0.3), one(0.5)), d.Gumbel(one(-0.2), one(0.9))),
        d.HalfNormal: (d.HalfNormal(one(0.5)), d.HalfNormal(one(1.5))),
        d.Laplace: (d.Laplace(one(0.3), one(0.5)), d.Laplace(one(-0.2), one(1.5))),
        d.Normal: (d.Normal(one(0.3), one(0.5)), d.Normal(one(-0.2), one(1.5))),
        d.Pareto: (d.Pareto(one(0.5), one(9.0)), d.Pareto(one(0.2), one(4.0))),
        d.Poisson: (d.Poisson(one(2.0)), d.Poisson(one(0.7))),
        d.Uniform: (d.Uniform(one(0.25), one(0.75)), d.Uniform(one(0.0), one(1.0))),
    }


FAMILY = family()
COUNTS = (d.Bernoulli, d.Binomial, d.Geometric, d.Poisson)
kl._choose(d.Normal, d.Normal)  # reads the formulas
PAIRS = [pair for pair in kl._formulas if set(pair) <= set(FAMILY)]
RANGES = {d.Beta: (0, 1), d.ContinuousBernoulli: (0, 1), d.Uniform: (0.25, 0.75), d.Exponential: (0, 40)}
RANGES |= {d.Gamma: (0, 60), d.HalfNormal: (0, 20), d.Pareto: (0.5, 500), d.Cauchy: (-1e6, 1e6)}


def numeric(p, q):
    """Returns the divergence by a sum, or by an integral over the values between quantiles or bounds."""
    if isinstance(p, COUNTS):
        x = p.enumerate_support() if p.has_enumerate_support else lamella.arange(200, dtype=lamella.float64)
        weights = 1.0
    elif isinstance(p, d.Cauchy):  # by its quantiles
        n = 400000
        x = p.icdf((lamella.arange(n, dtype=lamella.float64) + 0.5) / n)
        return (p.log_prob(x) - q.log_prob(x)).mean()
    else:
        low, high = RANGES.get(type(p), (-30, 30))
        n = 400000
        x = lamella.arange(n, dtype=lamella.float64).add(0.5).mul((high - low) / n).add(low)
        weights = (high - low) / n
    terms = p.log_prob(x).exp() * (p.log_prob(x) - q.log_prob(x))
    return (terms * weights).sum()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0].__name__}-{pair[1].__name__}")
def test_pairs(pair):
    p, q = FAMILY[pair[0]][0], FAMILY[pair[1]][1]
    found = d.kl_divergence(p, q)
    assert found.shape == ()
    if found.isinf():
        q = type(q).expand(q, ())
        q._validate_args = False
        drawn = p.sample((2000,))
        assert not bool(q.support.check(drawn).all())  # p has values that q has not
        return
    close(found, numeric(p, q).item(), rtol=2e-3)


def test_every_pair_that_torch_has():
    same = (
        "Bernoulli Beta Binomial Categorical Cauchy ContinuousBernoulli Dirichlet Exponential ExponentialFamily Gamma"
    )
    same += " Geometric Gumbel HalfNormal Independent Laplace LowRankMultivariateNormal MultivariateNormal Normal"
    same += " OneHotCategorical Pareto Poisson TransformedDistribution Uniform"
    assert {(n, n) for n in same.split()} <= {(p.__name__, q.__name__) for p, q in kl._formulas}
    assert len([p for p in kl._formulas if all(k.__module__.startswith("lamella.") for k in p)]) == 87


def test_binomials_of_different_counts():
    few, many = d.Binomial(3, lamella.tensor(0.5)), d.Binomial(4, lamella.tensor(0.5))
    assert d.kl_divergence(many, few).isinf()
    with pytest.raises(NotImplementedError, match="total_count"):
        d.kl_divergence(few, many)


def test_choices():
    p, q = t(0.1, 0.2, 0.7), t(0.5, 0.25, 0.25)
    want = (p * (p / q).log()).sum().item()
    close(d.kl_divergence(d.Categorical(p), d.Categorical(q)), want)
    close(d.kl_divergence(d.OneHotCategorical(p), d.OneHotCategorical(q)), want)
    close(d.kl_divergence(d.Bernoulli(t(0.1, 0.0)), d.Bernoulli(t(0.4, 0.5)))[1], np.log(2))
    assert d.kl_divergence(d.Categorical(q), d.Categorical(t(0.0, 0.5, 0.5))).isinf()
    assert not d.kl_divergence(d.Categorical(t(0.0, 0.5, 0.5)), d.Categorical(q)).isinf()


def test_dirichlet():
    p, q = d.Dirichlet(t(1.5, 2.0)), d.Dirichlet(t(0.7, 3.0))
    ours = d.kl_divergence(p, q)
    close(ours, d.kl_divergence(d.Beta(t(1.5), t(2.0)), d.Beta(t(0.7), t(3.0))).item())
    lamella.manual_seed(0)
    x = d.Dirichlet(t(1.5, 2.0, 0.8)).sample((100000,))
    p, q = d.Dirichlet(t(1.5, 2.0, 0.8)), d.Dirichlet(t(0.7, 3.0, 1.0))
    close(d.kl_divergence(p, q), (p.log_prob(x) - q.log_prob(x)).mean().item(), rtol=0.03)


def test_independent_and_transformed():
    both = [d.Independent(d.Normal(lamella.full((3,), x), 1.0), 1) for x in (0.0, 1.0)]
    assert d.kl_divergence(*both).item() == 1.5
    with pytest.raises(NotImplementedError, match="as many"):
        d.kl_divergence(both[0], d.Independent(both[1], 0))
    logs = [d.LogNormal(t(x), t(1.0)) for x in (0.0, 1.0)]
    close(d.kl_divergence(*logs), [0.5])
    with pytest.raises(NotImplementedError, match="equal transforms"):
        d.kl_divergence(logs[0], d.TransformedDistribution(d.Normal(t(0.0), t(1.0)), d.TanhTransform()))


def test_an_exponential_family_without_a_formula():
    class Own(d.Exponential):
        pass

    formula = kl._formulas[d.ExponentialFamily, d.ExponentialFamily]
    p, q = Own(t(2.0, 0.5)), Own(t(0.7, 3.0))
    close(formula(p, q), d.kl_divergence(p, q).numpy())


def test_gradients():
    loc = t(0.3).requires_grad_()
    d.kl_divergence(d.Normal(loc, t(0.5)), d.Normal(t(-0.2), t(1.5))).sum().backward()
    close(loc.grad, [0.5 / 1.5**2])


def test_the_nearest_formula_is_chosen():
    class Base(d.Distribution):
        arg_constraints = {}

    class Left(Base):
        pass

    class Leaf(Left):
        pass

    d.register_kl(Base, Leaf)(lambda p, q: "base, leaf")
    d.register_kl(Left, Base)(lambda p, q: "left, base")
    try:
        assert d.kl_divergence(Base(), Leaf()) == "base, leaf" and d.kl_divergence(Leaf(), Left()) == "left, base"
        with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Leaf, Leaf\)"):
            assert d.kl_divergence(Leaf(), Leaf()) == "left, base"
        d.register_kl(Left, Leaf)(lambda p, q: "settled")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert d.kl_divergence(Leaf(), Leaf()) == "settled"
    finally:
        for pair in [p for p in kl._formulas if p[0].__module__ == __name__]:
            del kl._formulas[pair]
        kl._chosen.clear()
    with pytest.raises(NotImplementedError, match="p type Normal and q type Bernoulli"):
        d.kl_divergence(d.Normal(0.0, 1.0), d.Bernoulli(0.5))
    with pytest.raises(TypeError, match="type_q"):
        d.register_kl(d.Normal, int)
