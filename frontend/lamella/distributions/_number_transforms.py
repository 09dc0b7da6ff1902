"""Transforms of single numbers."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella._C import Tensor
from lamella.distributions import constraints
from lamella.distributions._transform import Transform
from lamella.distributions.utils import broadcast_all, sum_rightmost


def clipped_sigmoid(x: Any) -> Any:
    """Returns the sigmoid within the open interval from 0 to 1."""
    info = lamella.finfo(x.dtype)
    return lamella.sigmoid(x).clamp(min=info.tiny, max=1 - info.eps)


class _Same(Transform):
    """A transform without parameters: two of one class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = object.__hash__


class ExpTransform(_Same):
    """y = exp(x).

    >>> lamella.distributions.ExpTransform()(lamella.tensor(0.0))
    tensor(1.)
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """y = x to the power of ``exponent``, for x > 0.

    >>> lamella.distributions.PowerTransform(2.0)(lamella.tensor(3.0))
    tensor(9.)
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool((self.exponent == other.exponent).all())

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def _wide(self, shape: Any) -> Any:
        """Returns the shape, broadcast with those of the parameters."""
        return lamella.broadcast_shapes(shape, self.exponent.shape)

    forward_shape = inverse_shape = _wide


class SigmoidTransform(_Same):
    """y = 1 / (1 + exp(-x)), clipped so that no result is 0 or 1.

    >>> lamella.distributions.SigmoidTransform()(lamella.tensor(0.0))
    tensor(0.5000)
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def _call(self, x: Any) -> Any:
        return clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        info = lamella.finfo(y.dtype)
        within = y.clamp(min=info.tiny, max=1 - info.eps)
        return within.log() - (-within).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        softplus = lamella.nn.functional.softplus
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Same):
    """y = log(1 + exp(x)).

    >>> lamella.distributions.SoftplusTransform()(lamella.tensor(0.0))
    tensor(0.6931)
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Any) -> Any:
        return lamella.nn.functional.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -lamella.nn.functional.softplus(-x)


class TanhTransform(_Same):
    """y = tanh(x). The logarithm of the Jacobian is 2 (log 2 - x - softplus(-2 x)), which does not overflow.

    >>> lamella.distributions.TanhTransform()(lamella.tensor(0.0))
    tensor(0.)
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - lamella.nn.functional.softplus(-2.0 * x))


class AbsTransform(_Same):
    """y = |x|, whose inverse gives y itself.

    >>> lamella.distributions.AbsTransform()(lamella.tensor(-2.0))
    tensor(2.)
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """y = loc + scale * x; ``event_dim`` is the number of last dimensions that are one event.

    >>> lamella.distributions.AffineTransform(1.0, 2.0)(lamella.tensor(3.0))
    tensor(7.)
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> Any:
        return self._event_dim

    def _region(self) -> Any:
        """All values of the dimensions of an event."""
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    domain = constraints.dependent_property(is_discrete=False)(_region)
    codomain = constraints.dependent_property(is_discrete=False)(_region)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = (self.loc, other.loc), (self.scale, other.scale)
        return all(bool(lamella.as_tensor(a == b).all()) for a, b in pairs)

    __hash__ = object.__hash__

    @property
    def sign(self) -> Any:
        scale = self.scale
        return scale.sign() if isinstance(scale, Tensor) else (scale > 0) - (scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        scale = self.scale
        if isinstance(scale, Tensor):
            return sum_rightmost(
                scale.abs().log().expand(lamella.broadcast_shapes(x.shape, scale.shape)), self._event_dim
            )
        return sum_rightmost(lamella.full_like(x, math.log(abs(scale)) if scale else -math.inf), self._event_dim)

    def _wide(self, shape: Any) -> Any:
        """Returns the shape, broadcast with those of the parameters."""
        return lamella.broadcast_shapes(shape, *(p.shape for p in (self.loc, self.scale) if isinstance(p, Tensor)))

    forward_shape = inverse_shape = _wide


class CumulativeDistributionTransform(Transform):
    """y = the distribution function of a distribution, which turns its draws into uniform numbers.

    >>> d = lamella.distributions
    >>> d.CumulativeDistributionTransform(d.Normal(0.0, 1.0))(lamella.tensor(0.0))
    tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The support of the distribution."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size)
