"""Independent: treats dimensions of a batch as dimensions of one event."""

from __future__ import annotations

from typing import Any

from lamella.distributions import constraints
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """Makes the last ``reinterpreted_batch_ndims`` dimensions of the batch one draw, whose densities are multiplied.

    Raises:
        ValueError: the batch has fewer dimensions

    >>> normal = lamella.distributions.Normal(lamella.zeros(2, 3), 1.0)
    >>> lamella.distributions.Independent(normal, 1).log_prob(lamella.zeros(2, 3))
    tensor([-2.7568, -2.7568])
    """

    arg_constraints: Any = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        shape, n = base_distribution.batch_shape, reinterpreted_batch_ndims
        if n > len(shape):
            raise ValueError(
                f"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual {n} vs {len(shape)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        at = len(shape) - n
        super().__init__(shape[:at], shape[at:] + base_distribution.event_shape, validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        n = self.reinterpreted_batch_ndims
        made.base_dist = self.base_dist.expand(shape + self._event_shape[:n])
        made.reinterpreted_batch_ndims = n

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether draws of the base distribution can be differentiated with respect to its parameters."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """True if the base distribution has ``enumerate_support``, and no dimension is reinterpreted."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        """The support of the base distribution, with more dimensions in an event."""
        n = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_dist.support, n) if n else self.base_dist.support

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """The variance of each number."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """Returns the base distribution's values; NotImplementedError if dimensions are reinterpreted."""
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Independent: the values of several dimensions together are not enumerated")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
