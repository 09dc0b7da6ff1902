"""ExponentialFamily: the base class of distributions with natural parameters."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """The base class of distributions whose density is exp(<t(x), theta> - F(theta) + k(x)).

    Here theta are the natural parameters, t the sufficient statistics, F the log normalizer and k the carrier measure.
    A subclass may define ``_natural_params``, ``_log_normalizer(*params)`` and ``_mean_carrier_measure``, the mean of
    k; then the entropy follows: F(theta) - <theta, gradient of F> - E[k(x)], by autograd (Nielsen and Nock, "Entropies
    and cross-entropies of exponential families", 2010).

    >>> isinstance(lamella.distributions.Normal(0.0, 1.0), lamella.distributions.ExponentialFamily)
    True
    """

    @property
    def _natural_params(self) -> Any:
        raise self._lacks("natural parameters")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise self._lacks("log normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise self._lacks("mean carrier measure")

    def entropy(self) -> Any:
        """Returns the entropy, in nats, from the log normalizer and its gradient."""
        with lamella.enable_grad():  # type: ignore[attr-defined]
            params = [p if p.requires_grad else p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*params)
            slopes = lamella.autograd.grad(normalizer.sum(), params, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        events = len(self._event_shape)
        for p, slope in zip(params, slopes, strict=True):
            terms = p * slope
            result = result - (terms.reshape((*self._batch_shape, -1)).sum(-1) if events else terms)
        return result
