"""Distributions: samples, densities and entropies of random numbers, with torch.distributions' names.

>>> policy = lamella.distributions.Categorical(logits=lamella.zeros(4))
>>> action = policy.sample()
>>> policy.log_prob(action)
tensor(-1.3863)
"""

from __future__ import annotations

from typing import Any

from lamella._absent import explain
from lamella.distributions.continuous import Exponential, Gumbel, Laplace, LogNormal, Normal, Uniform
from lamella.distributions.discrete import Bernoulli, Categorical, Geometric, OneHotCategorical
from lamella.distributions.distribution import Distribution
from lamella.distributions.independent import Independent
from lamella.distributions.kl import kl_divergence, register_kl

__all__ = [
    "Bernoulli",
    "Categorical",
    "Distribution",
    "Exponential",
    "Geometric",
    "Gumbel",
    "Independent",
    "Laplace",
    "LogNormal",
    "Normal",
    "OneHotCategorical",
    "Uniform",
    "kl_divergence",
    "register_kl",
]

# Planned names of torch. Most of their classes need gamma distributions, factorizations of matrices or transforms.
PLANNED = frozenset(
    "Beta Binomial Cauchy Chi2 ContinuousBernoulli Dirichlet ExponentialFamily FisherSnedecor Gamma "
    "GeneralizedPareto HalfCauchy HalfNormal InverseGamma Kumaraswamy LKJCholesky LogisticNormal "
    "LowRankMultivariateNormal MixtureSameFamily Multinomial MultivariateNormal NegativeBinomial "
    "OneHotCategoricalStraightThrough Pareto Poisson RelaxedBernoulli RelaxedOneHotCategorical StudentT "
    "TransformedDistribution VonMises Weibull Wishart biject_to constraints transform_to transforms".split()
)


def __getattr__(name: str) -> Any:
    if name in PLANNED:
        raise AttributeError(f"lamella.distributions.{name} is not here yet")
    raise AttributeError(explain("lamella.distributions", name, __all__))
