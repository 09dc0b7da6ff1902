"""Transform, the base class of invertible functions with a known Jacobian, and transforms that are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella
from lamella._C import Size
from lamella.distributions import constraints
from lamella.distributions.utils import lazy_property, sum_rightmost


class Transform:
    """The base class of functions from ``domain`` to ``codomain``, two constraints.

    A subclass defines ``_call``, ``_inverse``, or both; a bijective one also ``log_abs_det_jacobian``. ``sign`` of a
    bijective transform of numbers is 1 if it increases, -1 if it decreases.

    Args:
        cache_size: 1 keeps the last pair (x, y), so that the inverse of a result costs nothing and is exact; 0 does not

    Raises:
        ValueError: ``cache_size`` is neither 0 nor 1

    >>> t = lamella.distributions.ExpTransform()
    >>> t.inv(t(lamella.tensor(2.0)))
    tensor(2.)
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"{type(self).__name__}: argument 'cache_size': expected 0 or 1, got {cache_size}")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached_x_y: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> Any:
        """The dimensions of one event, if the domain and the codomain have the same."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError(
                f"{type(self).__name__}: events of the domain and of the codomain differ; read domain.event_dim or "
                "codomain.event_dim"
            )
        return self.domain.event_dim

    @property
    def inv(self) -> Any:
        """The inverse transform, whose own inverse is this transform."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 for a transform that increases, -1 for one that decreases."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Any:
        """Returns the transform with another size of the cache."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self).__name__} has an __init__ of its own, so it must define with_cache")

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        if not self._cache_size:
            return self._call(x)
        if x is not self._cached_x_y[0]:
            self._cached_x_y = x, self._call(x)
        return self._cached_x_y[1]

    def _inv_call(self, y: Any) -> Any:
        if not self._cache_size:
            return self._inverse(y)
        if y is not self._cached_x_y[1]:
            self._cached_x_y = self._inverse(y), y
        return self._cached_x_y[0]

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _call")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Returns log |det dy/dx|, of an argument and its result, without the dimensions of the event."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Any) -> Any:
        """Returns the shape of the result for the shape of an argument."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Returns the shape of the argument for the shape of a result."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """The inverse of a transform; made by ``Transform.inv``."""

    def __init__(self, transform: Any) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:  # type: ignore[override]
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:  # type: ignore[override]
        return self._inv.domain

    @property
    def bijective(self) -> Any:  # type: ignore[override]
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"


def _grown(constraint: Any, event_dim: int) -> Any:
    """Returns a constraint with more dimensions in an event."""
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more else constraint


class ComposeTransform(Transform):
    """Applies several transforms one after another; without any, the identity.

    >>> d = lamella.distributions
    >>> d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)])(lamella.tensor(0.0))
    tensor(3.)
    """

    def __init__(self, parts: Sequence[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:  # type: ignore[override]
        """The domain of the first part, with as many dimensions in an event as a later part needs."""
        if not self.parts:
            return constraints.real
        dims = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims = max(dims + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _grown(self.parts[0].domain, dims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:  # type: ignore[override]
        """The codomain of the last part, with as many dimensions in an event as an earlier part makes."""
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims = max(dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _grown(self.parts[-1].codomain, dims)

    @lazy_property
    def bijective(self) -> Any:  # type: ignore[override]
        """True if all parts are bijective."""
        return all(p.bijective for p in self.parts)

    @lazy_property
    def sign(self) -> Any:  # type: ignore[override]
        """The product of the parts' signs."""
        sign = 1
        for p in self.parts:
            sign = sign * p.sign
        return sign

    @property
    def inv(self) -> Any:
        """The inverses of the parts, in the reverse order."""
        if self._inv is None:
            self._inv = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return lamella.zeros_like(x)
        dims, total = self.domain.event_dim, None
        for k, part in enumerate(self.parts):
            after = y if k == len(self.parts) - 1 else part(x)
            term = sum_rightmost(part.log_abs_det_jacobian(x, after), dims - part.domain.event_dim)
            total = term if total is None else total + term
            dims += part.codomain.event_dim - part.domain.event_dim
            x = after
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inner = ",\n    ".join(repr(p) for p in self.parts)
        return f"{type(self).__name__}(\n    {inner}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """Makes the last ``reinterpreted_batch_ndims`` dimensions one event: the logarithms of the Jacobians are added.

    >>> d = lamella.distributions
    >>> x = lamella.zeros(2, 3)
    >>> d.IndependentTransform(d.ExpTransform(), 1).log_abs_det_jacobian(x, x.exp())
    tensor([0., 0.])
    """

    def __init__(self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:  # type: ignore[override]
        """The domain of the base, with more dimensions in an event."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:  # type: ignore[override]
        """The codomain of the base, with more dimensions in an event."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> Any:  # type: ignore[override]
        """True if the base is bijective."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _check(self, value: Any, region: Any) -> Any:
        if value.dim() < region.event_dim:
            raise ValueError(
                f"{self!r}: expected at least {region.event_dim} dimensions, got shape {tuple(value.shape)}"
            )
        return value

    def _call(self, x: Any) -> Any:
        return self.base_transform(self._check(x, self.domain))

    def _inverse(self, y: Any) -> Any:
        return self.base_transform.inv(self._check(y, self.codomain))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Gives the last dimensions, of shape ``in_shape``, the shape ``out_shape``.

    Raises ValueError if the shapes have different numbers of elements, or a value has another shape.

    >>> lamella.distributions.ReshapeTransform((2, 3), (6,))(lamella.zeros(4, 2, 3)).shape
    lamella.Size([4, 6])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(f"ReshapeTransform: {in_shape} and {out_shape} have different numbers of elements")
        super().__init__(cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:  # type: ignore[override]
        """All values of the dimensions of ``in_shape``."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:  # type: ignore[override]
        """All values of the dimensions of ``out_shape``."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size)

    def _call(self, x: Any) -> Any:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def _turned(self, shape: Any, one: Any, other: Any) -> Any:
        cut = len(shape) - len(one)
        if cut < 0:
            raise ValueError(f"ReshapeTransform: expected at least {len(one)} dimensions, got shape {tuple(shape)}")
        if Size(shape[cut:]) != one:
            raise ValueError(f"ReshapeTransform: expected last dimensions {tuple(one)}, got shape {tuple(shape)}")
        return Size(shape[:cut]) + other

    def forward_shape(self, shape: Any) -> Any:
        return self._turned(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._turned(shape, self.out_shape, self.in_shape)
