"""LKJCholesky: Cholesky factors of correlation matrices."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella._history import no_history
from lamella.distributions import constraints
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import broadcast_all, standard_normal

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower triangular factors of n by n correlation matrices with a density in the matrices' determinant.

    The density of the matrices is proportional to their determinant's power ``concentration - 1``.

    Draws are by the onion method (Lewandowski, Kurowicka and Joe, 2009): the squared length of row k, left of the
    diagonal, is a beta number of k / 2 and concentration + (n - 1 - k) / 2, its direction uniform.

    Args:
        dim: n, at least 2
        concentration: 1 makes all correlation matrices equally probable; more favours the identity

    Raises:
        ValueError: ``dim`` is below 2

    >>> lamella.distributions.LKJCholesky(3, 0.5).sample().shape
    lamella.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"LKJCholesky: argument 'dim': expected at least 2, got {dim}")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def _rest(self) -> tuple[Any, Any]:
        """Returns k = 1, ..., n - 1 and the second parameter of each row's beta distribution."""
        k = lamella.arange(1, self.dim, dtype=self.concentration.dtype, device=self.concentration.device)
        return k, self.concentration.unsqueeze(-1) + (self.dim - 1 - k) / 2

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_history():
            shape = self._extended_shape(sample_shape)
            k, rest = self._rest()
            both = lamella.stack(lamella.broadcast_tensors([k / 2, rest]), -1)
            squares = lamella._sample_dirichlet(both.expand((*shape[:-1][:-1], self.dim - 1, 2)))[..., :1]
            rows = standard_normal((*shape[:-2], self.dim - 1, self.dim), self.concentration).tril(0)
            rows = rows * (squares / rows.square().sum(-1, True)).sqrt()
            rows = lamella.nn.functional.pad(rows, [0, 0, 1, 0])
            least = lamella.finfo(rows.dtype).tiny
            return rows + (1 - rows.square().sum(-1)).clamp(min=least).sqrt().diag_embed()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        k, rest = self._rest()
        whole = (0.5 * k + rest).lgamma() - rest.lgamma() - 0.5 * k * math.log(math.pi)
        diagonal = value.diagonal(dim1=-2, dim2=-1)[..., 1:]
        return ((2 * rest - 2) * diagonal.log()).sum(-1) + whole.sum(-1)
