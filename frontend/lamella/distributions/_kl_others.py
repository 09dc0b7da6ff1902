"""Divergences of distributions of different classes: minus the entropy of p, and the mean of -log q under p.

The mean of -log q follows from few moments of p. It is infinite if p has values that q does not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import lamella
from lamella.distributions.bernoulli import Bernoulli
from lamella.distributions.beta import Beta
from lamella.distributions.binomial import Binomial
from lamella.distributions.continuous_bernoulli import ContinuousBernoulli
from lamella.distributions.exponential import Exponential
from lamella.distributions.gamma import Gamma
from lamella.distributions.gumbel import Gumbel
from lamella.distributions.kl import ours
from lamella.distributions.laplace import Laplace
from lamella.distributions.normal import Normal
from lamella.distributions.pareto import Pareto
from lamella.distributions.poisson import Poisson
from lamella.distributions.uniform import Uniform
from lamella.distributions.utils import euler_constant


def _infinite(p: Any, q: Any) -> Any:
    param = getattr(p, next(iter(p.arg_constraints)))
    shape = lamella.broadcast_shapes(p.batch_shape, q.batch_shape)
    return lamella.full(shape, math.inf, dtype=param.dtype, device=param.device)


_INSIDE = (Beta, ContinuousBernoulli, Pareto, Uniform)
for _kind, _missing in {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: _INSIDE,
    Gamma: _INSIDE,
    Gumbel: (*_INSIDE, Exponential, Gamma),
    Laplace: (*_INSIDE, Exponential, Gamma),
    Normal: (*_INSIDE, Exponential, Gamma),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}.items():
    ours(_kind, *_missing)(_infinite)


# ---- the mean of log x ----------------------------------------------------------------------------------------------


def _log_of_beta(p: Any) -> Any:
    return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()


def _log_of_exponential(p: Any) -> Any:
    return -p.rate.log() - euler_constant


def _log_of_pareto(p: Any) -> Any:
    return p.scale.log() + p.alpha.reciprocal()


def _log_between(low: Any, high: Any) -> Any:
    return (lamella.xlogy(high, high) - lamella.xlogy(low, low)) / (high - low) - 1


def _log_of_uniform(p: Any) -> Any:
    return _log_between(p.low, p.high)


# ---- the mean of exp(-x / s) ----------------------------------------------------------------------------------------


def _decay_of_exponential(p: Any, s: Any) -> Any:
    return p.rate / (p.rate + 1 / s)


def _decay_of_gamma(p: Any, s: Any) -> Any:
    return (1 + 1 / (s * p.rate)).pow(-p.concentration)


def _decay_of_normal(p: Any, s: Any) -> Any:
    return (0.5 * (p.scale / s).square() - p.loc / s).exp()


def _decay_of_uniform(p: Any, s: Any) -> Any:
    return s * ((-p.low / s).exp() - (-p.high / s).exp()) / (p.high - p.low)


# ---- formulas by the class of q -------------------------------------------------------------------------------------


def _to_normal(p: Any, q: Any) -> Any:
    variance = q.scale.square()
    apart = p.variance + (p.mean - q.loc).square()
    found = 0.5 * (2 * math.pi * variance).log() + 0.5 * apart / variance - p.entropy()
    return lamella.where(p.alpha <= 2, math.inf, found) if isinstance(p, Pareto) else found


for _kind in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform):
    ours(_kind, Normal)(_to_normal)


def _below_zero(p: Any, found: Any) -> Any:
    """Returns infinity where a uniform distribution reaches below 0."""
    return lamella.where(p.low < 0, math.inf, found) if isinstance(p, Uniform) else found


def _to_exponential(p: Any, q: Any) -> Any:
    return _below_zero(p, q.rate * p.mean - q.rate.log() - p.entropy())


for _kind in (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform):
    ours(_kind, Exponential)(_to_exponential)


def _to_gamma(log_mean: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def formula(p: Any, q: Any) -> Any:
        a = q.concentration
        found = a.lgamma() - a * q.rate.log() - (a - 1) * log_mean(p) + q.rate * p.mean - p.entropy()
        return _below_zero(p, found)

    return formula


ours(Beta, Gamma)(_to_gamma(_log_of_beta))
ours(Exponential, Gamma)(_to_gamma(_log_of_exponential))
ours(Pareto, Gamma)(_to_gamma(_log_of_pareto))
ours(Uniform, Gamma)(_to_gamma(_log_of_uniform))


def _to_gumbel(decay: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def formula(p: Any, q: Any) -> Any:
        apart = (p.mean - q.loc) / q.scale
        return q.scale.log() + apart + (q.loc / q.scale).exp() * decay(p, q.scale) - p.entropy()

    return formula


ours(Exponential, Gumbel)(_to_gumbel(_decay_of_exponential))
ours(Gamma, Gumbel)(_to_gumbel(_decay_of_gamma))
ours(Normal, Gumbel)(_to_gumbel(_decay_of_normal))
ours(Uniform, Gumbel)(_to_gumbel(_decay_of_uniform))


@ours(Beta, ContinuousBernoulli)
@ours(Uniform, ContinuousBernoulli)
def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    found = -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_norm()
    return lamella.where((p.low < 0) | (p.high > 1), math.inf, found) if isinstance(p, Uniform) else found


@ours(Beta, Uniform)
@ours(ContinuousBernoulli, Uniform)
def _to_uniform(p: Any, q: Any) -> Any:
    return lamella.where((q.low > 0) | (q.high < 1), math.inf, (q.high - q.low).log() - p.entropy())


@ours(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    apart = p.loc - q.loc
    ratio = apart / p.scale
    size = p.scale * math.sqrt(2 / math.pi) * (-0.5 * ratio.square()).exp()
    size = size + apart * lamella.erf(ratio * math.sqrt(0.5))  # the mean of |x - q.loc|
    return (2 * q.scale).log() + size / q.scale - p.entropy()


@ours(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    norm = a.lgamma() + b.lgamma() - (a + b).lgamma()
    logs = (a - 1) * _log_between(p.low, p.high) + (b - 1) * _log_between(1 - p.high, 1 - p.low)
    return lamella.where((p.low < 0) | (p.high > 1), math.inf, norm - logs - p.entropy())


@ours(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    found = (q.alpha + 1) * _log_of_uniform(p) - q.alpha.log() - lamella.xlogy(q.alpha, q.scale) - p.entropy()
    return lamella.where(p.low < q.scale, math.inf, found)


@ours(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return q.rate - lamella.xlogy(p.probs, q.rate) - p.entropy()
