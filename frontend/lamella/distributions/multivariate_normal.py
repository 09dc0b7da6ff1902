"""MultivariateNormal: normal vectors with a covariance."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions._matrices import (
    factor,
    half_log_det,
    inverse_of_product,
    one_of_three,
    squared_distance,
    times,
)
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import lazy_property, standard_normal

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """The normal distribution of vectors with mean ``loc``, and one of three matrices.

    Args:
        loc: (..., n)
        covariance_matrix: (..., n, n), positive definite
        precision_matrix: its inverse
        scale_tril: its lower triangular Cholesky factor, the quickest

    Raises:
        ValueError: no matrix or several are given, ``loc`` is a number, or a matrix is not of its kind

    >>> vectors = lamella.distributions.MultivariateNormal(lamella.zeros(2), scale_tril=lamella.eye(2))
    >>> vectors.sample((3,)).shape
    lamella.Size([3, 2])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _kept = {"_tril": 2}

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("MultivariateNormal: argument 'loc' must be at least one-dimensional, got a number")
        name, matrix = one_of_three("MultivariateNormal", covariance_matrix, precision_matrix, scale_tril)
        batch = lamella.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand((*batch, *matrix.shape[-2:]))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        super().__init__(batch, loc.shape[-1:], validate_args)
        self._tril = factor(name, matrix)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular Cholesky factor of the covariance."""
        return self._tril.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance matrix."""
        return (self._tril @ self._tril.mT).expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        return inverse_of_product(self._tril).expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The variance of each element of the vectors."""
        return self._tril.square().sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + times(self._tril, drawn, len(self._batch_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        distance = squared_distance(self._tril, value - self.loc, len(self._batch_shape))
        whole = half_log_det(self._tril) + 0.5 * self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * distance - whole

    def entropy(self) -> Any:
        found = half_log_det(self._tril) + 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        return found.expand(self._batch_shape)
