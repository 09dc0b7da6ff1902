"""Independent: treats dimensions of a batch as dimensions of one event."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions.distribution import Distribution


class Independent(Distribution):
    """Makes the last ``reinterpreted_batch_ndims`` dimensions of the batch one draw, whose densities are multiplied.

    Raises ValueError if the batch has fewer dimensions.

    >>> normal = lamella.distributions.Normal(lamella.zeros(2, 3), 1.0)
    >>> lamella.distributions.Independent(normal, 1).log_prob(lamella.zeros(2, 3))
    tensor([-2.7568, -2.7568])
    """

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
        super().__init__(shape[:at], (*shape[at:], *base_distribution.event_shape), validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether draws of the base distribution can be differentiated with respect to its parameters."""
        return self.base_dist.has_rsample

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """The variance of each number."""
        return self.base_dist.variance

    def _sum(self, x: Any) -> Any:
        n = self.reinterpreted_batch_ndims
        return x.sum(tuple(range(-n, 0))) if n else x

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Returns the same distribution over a larger batch."""
        n = self.reinterpreted_batch_ndims
        own = tuple(self._event_shape)[:n]
        return type(self)(self.base_dist.expand(lamella.Size((*batch_shape, *own))), n, self._checked)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws a tensor of ``sample_shape``, followed by the batch and the event."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Returns draws that are differentiable in the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """Returns the logarithm of the density."""
        return self._sum(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        """Returns the entropy, in nats."""
        return self._sum(self.base_dist.entropy())

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
