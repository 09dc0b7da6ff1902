"""LowRankMultivariateNormal: normal vectors whose covariance is diagonal but for few directions."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions._matrices import half_log_det, solve, squared_distance
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import lazy_property, standard_normal

__all__ = ["LowRankMultivariateNormal"]


def _capacitance_tril(factor: Any, diagonal: Any) -> Any:
    """Returns the Cholesky factor of I + W^T D^-1 W."""
    scaled = factor.mT / diagonal.unsqueeze(-2)
    inner = scaled @ factor + lamella.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return lamella.linalg.cholesky(inner)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with covariance ``cov_factor @ cov_factor.T + diag(cov_diag)``.

    It never makes an n by n matrix unless asked for one: solutions and determinants follow from a matrix of the rank's
    size (Woodbury's formula and the lemma of the determinant).

    Args:
        loc: (..., n)
        cov_factor: (..., n, rank)
        cov_diag: (..., n), above 0

    Raises:
        ValueError: the shapes do not fit, or ``cov_diag`` is not above 0

    >>> d = lamella.distributions.LowRankMultivariateNormal(lamella.zeros(2), lamella.ones(2, 1), lamella.ones(2))
    >>> d.covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _kept = {"_factor": 2, "_diag": 1, "_capacitance": 2}

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("LowRankMultivariateNormal: argument 'loc' must be at least one-dimensional, got a number")
        events = loc.shape[-1:]
        if cov_factor.dim() < 2 or cov_factor.shape[-2:-1] != events:
            raise ValueError(
                f"LowRankMultivariateNormal: cov_factor must be a batch of matrices with shape {events[0]} x m, got "
                f"{tuple(cov_factor.shape)}"
            )
        if cov_diag.shape[-1:] != events:
            raise ValueError(
                f"LowRankMultivariateNormal: cov_diag must be a batch of vectors with shape {tuple(events)}, got "
                f"{tuple(cov_diag.shape)}"
            )
        batch = lamella.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand(batch + events), cov_diag.expand(batch + events)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        super().__init__(batch, events, validate_args)
        self._factor, self._diag = cov_factor, cov_diag
        self._capacitance = _capacitance_tril(cov_factor, cov_diag)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:  # type: ignore[override]
        """The variance of each element of the vectors."""
        return (self._factor.square().sum(-1) + self._diag).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance matrix."""
        whole = self._factor @ self._factor.mT + self._diag.diag_embed()
        return whole.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular Cholesky factor of the covariance."""
        return lamella.linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        part = solve(self._capacitance, self._factor.mT / self._diag.unsqueeze(-2))
        whole = self._diag.reciprocal().diag_embed() - part.mT @ part
        return whole.expand(self._batch_shape + self._event_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        few = standard_normal(shape[:-1] + self._factor.shape[-1:], self.loc)
        rest = standard_normal(shape, self.loc)
        return self.loc + (self._factor @ few.unsqueeze(-1)).squeeze(-1) + self._diag.sqrt() * rest

    def _distance(self, x: Any) -> Any:
        """Returns x^T C^-1 x: x^T D^-1 x less the part that the factor explains."""
        scaled = x / self._diag
        part = (self._factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
        explained = squared_distance(self._capacitance, part, len(self._batch_shape))
        return (x * scaled).sum(-1) - explained

    def _log_det(self) -> Any:
        return 2 * half_log_det(self._capacitance) + self._diag.log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        whole = self._event_shape[0] * math.log(2 * math.pi) + self._log_det()
        return -0.5 * (self._distance(value - self.loc) + whole)

    def entropy(self) -> Any:
        found = 0.5 * (self._event_shape[0] * (1 + math.log(2 * math.pi)) + self._log_det())
        return found.expand(self._batch_shape)
