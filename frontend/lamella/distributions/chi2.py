"""Chi2: sums of squares of normal numbers."""

from __future__ import annotations

from typing import Any

from lamella.distributions import constraints
from lamella.distributions.gamma import Gamma
from lamella.distributions.utils import broadcast_all

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The chi-square distribution with ``df`` degrees of freedom, Gamma(df / 2, 1 / 2).

    >>> lamella.distributions.Chi2(2.0).mean
    tensor(2.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (df,) = broadcast_all(df)
        super().__init__(0.5 * df, 0.5, validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.concentration, made.rate = self.concentration.expand(shape), self.rate.expand(shape)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return 2 * self.concentration
