"""TransformedDistribution: draws of a distribution, transformed."""

from __future__ import annotations

from typing import Any

from lamella._C import Size
from lamella._history import no_history
from lamella.distributions import constraints
from lamella.distributions.distribution import Distribution
from lamella.distributions.independent import Independent
from lamella.distributions.transforms import ComposeTransform, ExpTransform, SigmoidTransform, Transform
from lamella.distributions.utils import sum_rightmost

_OF_NUMBERS = (ExpTransform, SigmoidTransform)

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """Draws of a base distribution, to which transforms are applied one after another.

    The density is that of the base at the inverse, divided by the Jacobian's determinant.

    Args:
        base_distribution: the distribution of the draws that are transformed
        transforms: a transform or a list of them

    Raises:
        ValueError: ``transforms`` holds something else, or draws of the base have too few dimensions

    >>> d = lamella.distributions
    >>> log_normal = d.TransformedDistribution(d.Normal(0.0, 1.0), [d.ExpTransform()])
    >>> log_normal.log_prob(lamella.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints: Any = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not (isinstance(self.transforms, list) and all(isinstance(t, Transform) for t in self.transforms)):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms!r}")
        batch, base_shape = base_distribution._batch_shape, base_distribution._extended_shape()
        events = len(base_distribution._event_shape)
        if self.transforms == [] or (len(self.transforms) == 1 and type(self.transforms[0]) in _OF_NUMBERS):
            self.base_dist = base_distribution  # the shapes are those of the base
            super().__init__(batch, base_distribution._event_shape, validate_args)
            return
        whole = ComposeTransform(self.transforms)
        needed, given = whole.domain.event_dim, whole.codomain.event_dim
        if len(base_shape) < needed:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {needed}, but got {tuple(base_shape)}"
            )
        shape = Size(whole.forward_shape(base_shape))
        expanded = Size(whole.inverse_shape(shape))
        if base_shape != expanded:
            base_distribution = base_distribution.expand(expanded[: len(expanded) - events])
        if needed > events:
            base_distribution = Independent(base_distribution, needed - events)
        self.base_dist = base_distribution
        cut = len(shape) - max(given, given + len(base_distribution.event_shape) - needed)
        super().__init__(shape[:cut], shape[cut:], validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        whole = ComposeTransform(self.transforms)
        base = Size(whole.inverse_shape(shape + self._event_shape))
        made.base_dist = self.base_dist.expand(base[: len(base) - len(self.base_dist.event_shape)])
        made.transforms = self.transforms

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """True if draws of the base distribution can be differentiated with respect to its parameters."""
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:  # type: ignore[override]
        """The codomain of the last transform."""
        if not self.transforms:
            return self.base_dist.support
        region = self.transforms[-1].codomain
        more = len(self._event_shape) - region.event_dim
        return constraints.independent(region, more) if more else region

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_history():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t(x)
        return x

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        events, found, y = len(self._event_shape), None, value
        for t in reversed(self.transforms):
            x = t.inv(y)
            events += t.domain.event_dim - t.codomain.event_dim
            term = sum_rightmost(t.log_abs_det_jacobian(x, y), events - t.domain.event_dim)
            found = term if found is None else found + term
            y = x
        base = sum_rightmost(self.base_dist.log_prob(y), events - len(self.base_dist.event_shape))
        return base if found is None else base - found

    def _sign(self) -> Any:
        sign: Any = 1
        for t in self.transforms:
            sign = sign * t.sign
        return sign

    def _turned(self, share: Any) -> Any:
        """Returns ``share``, or 1 - ``share`` for the elements of the batch whose transforms decrease."""
        sign = self._sign()
        return share if isinstance(sign, int) and sign == 1 else sign * (share - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        for t in reversed(self.transforms):
            value = t.inv(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._forward(self.base_dist.icdf(self._turned(value)))
