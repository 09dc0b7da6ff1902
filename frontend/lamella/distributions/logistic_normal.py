"""LogisticNormal: shares from normal numbers."""

from __future__ import annotations

from typing import Any

from lamella.distributions import constraints
from lamella.distributions.normal import Normal
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Shares that add up to 1, one more than the normal numbers from which stick breaking makes them.

    >>> lamella.distributions.LogisticNormal(lamella.zeros(2), lamella.ones(2)).event_shape
    lamella.Size([3])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args)
        super().__init__(base if base.batch_shape else base.expand((1,)), StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the normal numbers."""
        return self.base_dist.base_dist.scale
