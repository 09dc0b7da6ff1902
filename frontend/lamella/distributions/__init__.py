"""Distributions: samples, densities and entropies of random numbers, with torch.distributions' names.

Each distribution is loaded when it is first used.

>>> policy = lamella.distributions.Categorical(logits=lamella.zeros(4))
>>> action = policy.sample()
>>> policy.log_prob(action)
tensor(-1.3863)
"""

from __future__ import annotations

from importlib import import_module as _import_module

from lamella._absent import explain as _explain

# Maps each public class or function to the file that defines it; `make stubs` writes __init__.pyi from this table.
_HOMES = {
    "Bernoulli": "bernoulli",
    "Beta": "beta",
    "Binomial": "binomial",
    "Categorical": "categorical",
    "Cauchy": "cauchy",
    "Chi2": "chi2",
    "ContinuousBernoulli": "continuous_bernoulli",
    "Dirichlet": "dirichlet",
    "Distribution": "distribution",
    "Exponential": "exponential",
    "ExponentialFamily": "exp_family",
    "FisherSnedecor": "fishersnedecor",
    "Gamma": "gamma",
    "GeneralizedPareto": "generalized_pareto",
    "Geometric": "geometric",
    "Gumbel": "gumbel",
    "HalfCauchy": "half_cauchy",
    "HalfNormal": "half_normal",
    "Independent": "independent",
    "InverseGamma": "inverse_gamma",
    "Kumaraswamy": "kumaraswamy",
    "LKJCholesky": "lkj_cholesky",
    "Laplace": "laplace",
    "LogNormal": "log_normal",
    "LogisticNormal": "logistic_normal",
    "LowRankMultivariateNormal": "lowrank_multivariate_normal",
    "MixtureSameFamily": "mixture_same_family",
    "Multinomial": "multinomial",
    "MultivariateNormal": "multivariate_normal",
    "NegativeBinomial": "negative_binomial",
    "Normal": "normal",
    "OneHotCategorical": "one_hot_categorical",
    "OneHotCategoricalStraightThrough": "one_hot_categorical",
    "Pareto": "pareto",
    "Poisson": "poisson",
    "RelaxedBernoulli": "relaxed_bernoulli",
    "RelaxedOneHotCategorical": "relaxed_categorical",
    "StudentT": "studentT",
    "TransformedDistribution": "transformed_distribution",
    "Uniform": "uniform",
    "VonMises": "von_mises",
    "Weibull": "weibull",
    "Wishart": "wishart",
    "biject_to": "constraint_registry",
    "kl_divergence": "kl",
    "register_kl": "kl",
    "transform_to": "constraint_registry",
    **dict.fromkeys(
        "AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform "
        "CumulativeDistributionTransform ExpTransform IndependentTransform LowerCholeskyTransform "
        "PositiveDefiniteTransform PowerTransform ReshapeTransform SigmoidTransform SoftmaxTransform SoftplusTransform "
        "StackTransform StickBreakingTransform TanhTransform Transform identity_transform".split(),
        "transforms",
    ),
}
_MODULES = ("constraints", "utils")

__all__ = sorted(_HOMES)


def __getattr__(name):
    if home := _HOMES.get(name):
        found = globals()[name] = getattr(_import_module(f"{__name__}.{home}"), name)
        return found
    if name in _MODULES or name in _HOMES.values():
        return _import_module(f"{__name__}.{name}")
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.distributions' has no attribute '{name}'")
    raise AttributeError(_explain("lamella.distributions", name, __all__))


def __dir__():
    return __all__
