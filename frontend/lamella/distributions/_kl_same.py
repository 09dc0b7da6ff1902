"""Divergences of two distributions of one class."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions.bernoulli import Bernoulli
from lamella.distributions.beta import Beta
from lamella.distributions.binomial import Binomial
from lamella.distributions.categorical import Categorical
from lamella.distributions.cauchy import Cauchy
from lamella.distributions.continuous_bernoulli import ContinuousBernoulli
from lamella.distributions.dirichlet import Dirichlet
from lamella.distributions.exp_family import ExponentialFamily
from lamella.distributions.exponential import Exponential
from lamella.distributions.gamma import Gamma
from lamella.distributions.geometric import Geometric
from lamella.distributions.gumbel import Gumbel
from lamella.distributions.half_normal import HalfNormal
from lamella.distributions.independent import Independent
from lamella.distributions.kl import kl_divergence, ours
from lamella.distributions.laplace import Laplace
from lamella.distributions.normal import Normal
from lamella.distributions.one_hot_categorical import OneHotCategorical
from lamella.distributions.pareto import Pareto
from lamella.distributions.poisson import Poisson
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.uniform import Uniform
from lamella.distributions.utils import euler_constant, sum_rightmost


def _share(a: Any, b: Any) -> Any:
    """Returns a log(a / b), 0 for a = 0."""
    return lamella.xlogy(a, a) - lamella.xlogy(a, b)


@ours(Bernoulli, Bernoulli)
def _bernoullis(p: Any, q: Any) -> Any:
    return _share(p.probs, q.probs) + _share(1 - p.probs, 1 - q.probs)


@ours(Beta, Beta)
def _betas(p: Any, q: Any) -> Any:
    return _dirichlets(p._dirichlet, q._dirichlet)


@ours(Binomial, Binomial)
def _binomials(p: Any, q: Any) -> Any:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    found = p.total_count * _bernoullis(p, q)
    return lamella.where(p.total_count > q.total_count, math.inf, found)


@ours(Categorical, Categorical)
def _categoricals(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = lamella.where(q.probs == 0, math.inf, terms)
    return lamella.where(p.probs == 0, 0.0, terms).sum(-1)


@ours(OneHotCategorical, OneHotCategorical)
def _one_hots(p: Any, q: Any) -> Any:
    return _categoricals(p._categorical, q._categorical)


@ours(Cauchy, Cauchy)
def _cauchys(p: Any, q: Any) -> Any:
    """See Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions"
    (2019)."""
    return (((p.scale + q.scale).square() + (p.loc - q.loc).square()) / (4 * p.scale * q.scale)).log()


@ours(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoullis(p: Any, q: Any) -> Any:
    rests = (-p.probs).log1p() - (-q.probs).log1p()
    return p.mean * (p.logits - q.logits) + p._log_norm() - q._log_norm() + rests


@ours(Dirichlet, Dirichlet)
def _dirichlets(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    wholes = total.lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return wholes + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@ours(Exponential, Exponential)
def _exponentials(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@ours(ExponentialFamily, ExponentialFamily)
def _families(p: Any, q: Any) -> Any:
    """Computes the Bregman divergence of the log normalizer F: F(q) - F(p) - <q - p, gradient of F at p>."""
    if type(p) is not type(q):
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}; register_kl "
            "adds one"
        )
    with lamella.enable_grad():  # type: ignore[attr-defined]
        of_p = [x if x.requires_grad else x.detach().requires_grad_() for x in p._natural_params]
        normalizer = p._log_normalizer(*of_p)
        slopes = lamella.autograd.grad(normalizer.sum(), of_p, create_graph=True)
    found = q._log_normalizer(*q._natural_params) - normalizer
    for a, b, slope in zip(of_p, q._natural_params, slopes, strict=True):
        term = (b - a) * slope
        found = found - sum_rightmost(term, term.dim() - len(q.batch_shape) if q.event_shape else 0)
    return found


@ours(Gamma, Gamma)
def _gammas(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    wholes = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return wholes + (a - b) * a.digamma() + a * (q.rate / p.rate - 1)


@ours(Geometric, Geometric)
def _geometrics(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@ours(Gumbel, Gumbel)
def _gumbels(p: Any, q: Any) -> Any:
    ratio, apart = p.scale / q.scale, (q.loc - p.loc) / q.scale
    moment = (apart + (1 + ratio).lgamma()).exp()
    return moment - ratio.log() - apart + (ratio - 1) * euler_constant - 1


@ours(HalfNormal, HalfNormal)
def _half_normals(p: Any, q: Any) -> Any:
    return _normals(p.base_dist, q.base_dist)


@ours(Laplace, Laplace)
def _laplaces(p: Any, q: Any) -> Any:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@ours(Normal, Normal)
def _normals(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).square()
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - ratio.log())


@ours(Pareto, Pareto)
def _paretos(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return lamella.where(p.scale < q.scale, math.inf, found)


@ours(Poisson, Poisson)
def _poissons(p: Any, q: Any) -> Any:
    return lamella.xlogy(p.rate, p.rate) - lamella.xlogy(p.rate, q.rate) - (p.rate - q.rate)


@ours(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL(p || q) of transformed distributions needs equal transforms and event shapes")
    return (
        sum_rightmost(kl_divergence(p.base_dist, q.base_dist), len(p.event_shape) - len(p.base_dist.event_shape))
        if len(p.base_dist.batch_shape) > len(p.batch_shape)
        else kl_divergence(p.base_dist, q.base_dist)
    )


@ours(Uniform, Uniform)
def _uniforms(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return lamella.where((q.low > p.low) | (q.high < p.high), math.inf, found)


@ours(Independent, Independent)
def _independents(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "KL(p || q) of Independent needs as many reinterpreted dimensions in both, got "
            f"{p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}"
        )
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
