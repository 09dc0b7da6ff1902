"""The Kullback-Leibler divergence, by a table of formulas for pairs of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella
from lamella.distributions.continuous import Exponential, Laplace, Normal, Uniform
from lamella.distributions.discrete import Bernoulli, Categorical, OneHotCategorical
from lamella.distributions.independent import Independent

Formula = Callable[[Any, Any], Any]
_formulas: dict[tuple[type, type], Formula] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Decorates a function as the formula for two classes and their subclasses.

    >>> class Own(lamella.distributions.Normal):
    ...     pass
    >>> @lamella.distributions.register_kl(Own, Own)
    ... def formula(p, q):
    ...     return 0.0
    >>> lamella.distributions.kl_divergence(Own(0.0, 1.0), Own(1.0, 1.0))
    0.0
    """

    def add(formula: Formula) -> Formula:
        _formulas[type_p, type_q] = formula
        return formula

    return add


def kl_divergence(p: Any, q: Any) -> Any:
    """Returns ``E_p[log p - log q]`` for every element of the batch.

    Raises NotImplementedError for pairs of classes without a formula.

    >>> normal = lamella.distributions.Normal
    >>> lamella.distributions.kl_divergence(normal(1.0, 1.0), normal(0.0, 1.0))
    tensor(0.5000)
    """
    for one in type(p).__mro__:
        for other in type(q).__mro__:
            if (one, other) in _formulas:
                return _formulas[one, other](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}; "
        "register_kl adds one"
    )


@register_kl(Normal, Normal)
def _normals(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Laplace, Laplace)
def _laplaces(p: Any, q: Any) -> Any:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Exponential, Exponential)
def _exponentials(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Uniform, Uniform)
def _uniforms(p: Any, q: Any) -> Any:
    value = ((q.high - q.low) / (p.high - p.low)).log()
    outside = (q.low > p.low) | (q.high < p.high)
    return lamella.where(outside, lamella.full_like(value, float("inf")), value)


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Any:
    squares = p.variance + (p.mean - q.loc).pow(2)
    return -p.entropy() + q.entropy() - 0.5 + 0.5 * squares / q.variance


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Any, q: Any) -> Any:
    def part(a: Any, b: Any) -> Any:
        return lamella.xlogy(a, a) - lamella.xlogy(a, b)

    return part(p.probs, q.probs) + part(1 - p.probs, 1 - q.probs)


@register_kl(Categorical, Categorical)
def _categoricals(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = lamella.where((q.probs == 0).expand_as(terms), lamella.full_like(terms, float("inf")), terms)
    return lamella.where((p.probs == 0).expand_as(terms), lamella.zeros_like(terms), terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hots(p: Any, q: Any) -> Any:
    return _categoricals(p._categorical, q._categorical)


@register_kl(Independent, Independent)
def _independents(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "KL(p || q) of Independent needs as many reinterpreted dimensions in both, got "
            f"{p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}"
        )
    return p._sum(kl_divergence(p.base_dist, q.base_dist))
