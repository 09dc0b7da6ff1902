"""Wishart: scatter matrices of normal vectors."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions._matrices import (
    factor,
    half_log_det,
    inverse_of_product,
    log_multigamma,
    one_of_three,
    solve,
)
from lamella.distributions.exp_family import ExponentialFamily
from lamella.distributions.utils import lazy_property, standard_normal

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    """The distribution of the sum of outer products of ``df`` normal vectors, and one of three scale matrices.

    Draws are by Bartlett's decomposition (1933): L A A^T L^T, where A is lower triangular with normal numbers below
    the diagonal and roots of chi-square numbers on it.

    Args:
        df: the degrees of freedom, above n - 1
        covariance_matrix: (..., n, n), positive definite
        precision_matrix: its inverse
        scale_tril: its lower triangular Cholesky factor

    Raises:
        ValueError: no matrix or several are given, ``df`` is too small, or a matrix is not of its kind

    >>> lamella.distributions.Wishart(lamella.tensor(4.0), scale_tril=lamella.eye(2)).mean
    tensor([[4., 0.],
            [0., 4.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0.0
    _kept = {"_tril": 2}

    @property
    def arg_constraints(self) -> Any:  # type: ignore[override]
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = one_of_three("Wishart", covariance_matrix, precision_matrix, scale_tril)
        df = lamella.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = lamella.broadcast_shapes(matrix.shape[:-2], df.shape)
        self.__dict__[name] = matrix.expand((*batch, *matrix.shape[-2:]))
        self.df = df.expand(batch)
        super().__init__(batch, matrix.shape[-2:], validate_args)
        self._tril = factor(name, matrix)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular Cholesky factor of the scale matrix."""
        return self._tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The scale matrix, the covariance of the normal vectors."""
        return (self._tril @ self._tril.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the scale matrix."""
        return inverse_of_product(self._tril).expand(self._batch_shape + self._event_shape)

    @property
    def _wide_df(self) -> Any:
        return self.df.unsqueeze(-1).unsqueeze(-1)

    @property
    def mean(self) -> Any:
        return self._wide_df * self.covariance_matrix

    @property
    def mode(self) -> Any:
        """The most probable matrix, NaN for ``df`` up to n + 1."""
        factor = self.df - self._event_shape[-1] - 1
        factor = lamella.where(factor > 0, factor, math.nan)
        return factor.unsqueeze(-1).unsqueeze(-1) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        """The variance of each element of the matrices."""
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._wide_df * (v.square() + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Any = ()) -> Any:
        n, shape = self._event_shape[-1], self._extended_shape(sample_shape)
        steps = lamella.arange(n, dtype=self.df.dtype, device=self.df.device)
        halves = (0.5 * (self.df.unsqueeze(-1) - steps)).expand(shape[:-1])
        diagonal = (2 * lamella._standard_gamma(halves)).sqrt()
        root = self._tril @ (standard_normal(shape, self.df).tril(-1) + diagonal.diag_embed())
        return root @ root.mT

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n, df = self._event_shape[-1], self.df
        root = lamella.linalg.cholesky(value)
        tril = self._tril.expand(lamella.broadcast_shapes(root.shape, self._tril.shape))
        trace = solve(tril, root.expand(tril.shape)).square().sum((-2, -1))
        whole = df * (0.5 * n * math.log(2.0) + half_log_det(self._tril)) + log_multigamma(0.5 * df, n)
        return (df - n - 1) * half_log_det(root) - 0.5 * trace - whole

    def entropy(self) -> Any:
        n, df = self._event_shape[-1], self.df
        steps = lamella.arange(n, dtype=df.dtype, device=df.device) / 2
        digammas = (0.5 * df.unsqueeze(-1) - steps).digamma().sum(-1)
        scale = (n + 1) * (half_log_det(self._tril) + 0.5 * n * math.log(2.0))
        found = scale + log_multigamma(0.5 * df, n) - 0.5 * (df - n - 1) * digammas + 0.5 * n * df
        return found.expand(self._batch_shape)

    @property
    def _natural_params(self) -> Any:
        return 0.5 * self.df, -0.5 * self.precision_matrix

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        n = self._event_shape[-1]
        return x * (n * math.log(2.0) - 2 * half_log_det(lamella.linalg.cholesky(-2 * y))) + log_multigamma(x, n)
