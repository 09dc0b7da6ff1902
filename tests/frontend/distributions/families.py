"""Distributions of numbers, each beside scipy's distribution of the same parameters."""

from typing import NamedTuple

import lamella
import numpy as np
from lamella import distributions as d
from scipy import stats


def t(*values):
    return lamella.tensor(values, dtype=lamella.float64)


class Family(NamedTuple):
    ours: d.Distribution
    other: object
    moments: bool = True  # scipy has the mean and the variance


LOCS, SCALES, SHAPES = np.array([-1.0, 0.3]), np.array([0.5, 2.0]), np.array([0.7, 3.5])
PROBS = np.array([0.2, 0.75])


def numbers():
    """Returns continuous distributions over batches of two."""
    loc, scale, shape = t(*LOCS), t(*SCALES), t(*SHAPES)
    return {
        "Normal": Family(d.Normal(loc, scale), stats.norm(LOCS, SCALES)),
        "LogNormal": Family(d.LogNormal(loc, scale), stats.lognorm(SCALES, scale=np.exp(LOCS))),
        "Laplace": Family(d.Laplace(loc, scale), stats.laplace(LOCS, SCALES)),
        "Cauchy": Family(d.Cauchy(loc, scale), stats.cauchy(LOCS, SCALES), False),
        "Gumbel": Family(d.Gumbel(loc, scale), stats.gumbel_r(LOCS, SCALES)),
        "Exponential": Family(d.Exponential(scale), stats.expon(scale=1 / SCALES)),
        "Uniform": Family(d.Uniform(loc, loc + scale), stats.uniform(LOCS, SCALES)),
        "Gamma": Family(d.Gamma(shape, scale), stats.gamma(SHAPES, scale=1 / SCALES)),
        "Chi2": Family(d.Chi2(shape), stats.chi2(SHAPES)),
        "InverseGamma": Family(d.InverseGamma(shape + 2, scale), stats.invgamma(SHAPES + 2, scale=SCALES)),
        "Beta": Family(d.Beta(shape, scale), stats.beta(SHAPES, SCALES)),
        "StudentT": Family(d.StudentT(shape + 2, loc, scale), stats.t(SHAPES + 2, LOCS, SCALES)),
        "FisherSnedecor": Family(d.FisherSnedecor(shape + 2, shape + 5), stats.f(SHAPES + 2, SHAPES + 5)),
        "HalfNormal": Family(d.HalfNormal(scale), stats.halfnorm(scale=SCALES)),
        "HalfCauchy": Family(d.HalfCauchy(scale), stats.halfcauchy(scale=SCALES), False),
        "Pareto": Family(d.Pareto(scale, shape + 2), stats.pareto(SHAPES + 2, scale=SCALES)),
        "GeneralizedPareto": Family(
            d.GeneralizedPareto(loc, scale, t(0.2, -0.3)), stats.genpareto([0.2, -0.3], LOCS, SCALES)
        ),
        "Weibull": Family(d.Weibull(scale, shape), stats.weibull_min(SHAPES, scale=SCALES)),
        "VonMises": Family(d.VonMises(loc, scale), stats.vonmises(SCALES, LOCS), False),
    }


def counts():
    """Returns distributions of whole numbers over batches of two, with some values."""
    probs = t(*PROBS)
    return {
        "Bernoulli": (d.Bernoulli(probs), stats.bernoulli(PROBS), [0, 1]),
        "Bernoulli of logits": (d.Bernoulli(logits=(probs / (1 - probs)).log()), stats.bernoulli(PROBS), [0, 1]),
        "Geometric": (d.Geometric(probs), stats.geom(PROBS, loc=-1), [0, 1, 5]),
        "Binomial": (d.Binomial(7, probs), stats.binom(7, PROBS), [0, 3, 7]),
        "Binomial of logits": (d.Binomial(7, logits=t(-1.0, 2.0)), stats.binom(7, 1 / (1 + np.exp([1, -2]))), [0, 3]),
        "NegativeBinomial": (d.NegativeBinomial(t(2.0, 3.5), probs), stats.nbinom([2, 3.5], 1 - PROBS), [0, 3, 9]),
        "Poisson": (d.Poisson(t(0.7, 20.0)), stats.poisson([0.7, 20]), [0, 3, 25]),
    }


def close(x, y, **limits):
    np.testing.assert_allclose(x.detach().numpy(), y, **({"rtol": 1e-6} | limits))
