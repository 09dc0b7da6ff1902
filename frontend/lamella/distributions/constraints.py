"""Constraints: regions that parameters and values of distributions lie in, each with a test.

>>> lamella.distributions.constraints.positive.check(lamella.tensor([-1.0, 2.0]))
tensor([False,  True])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """The base class of constraints.

    ``is_discrete`` says whether the region consists of separate points. ``event_dim`` is the number of last dimensions
    that :meth:`check` tests together, and removes.

    >>> lamella.distributions.constraints.simplex.event_dim
    1
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Any:
        """Returns for each event of a tensor whether it is in the region."""
        raise NotImplementedError(f"{type(self).__name__} has no check")

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v}" for k, v in vars(self).items() if k.endswith("_bound"))
        return f"{type(self).__name__.lstrip('_')}({shown})"


def all_last(truths: Any, dims: int) -> Any:
    """Returns whether all bools of the last ``dims`` dimensions are True."""
    return truths.flatten(-dims).all(-1) if dims > 1 else truths.all(-1) if dims else truths


def require(right: bool, text: str) -> None:
    """Raises AssertionError unless an argument is right."""
    if not right:
        raise AssertionError(text)


class _Dependent(Constraint):
    """The region depends on other parameters, and cannot be tested alone."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def _static(self, name: str) -> Any:
        value = self.__dict__["_" + name]
        if value is NotImplemented:
            raise NotImplementedError(f"{name} of this constraint depends on the parameters; read it from an instance")
        return value

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        return self._static("is_discrete")

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        return self._static("event_dim")

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        given = {"is_discrete": is_discrete, "event_dim": event_dim}
        return _Dependent(**{k: self.__dict__["_" + k] if v is NotImplemented else v for k, v in given.items()})

    def check(self, value: Any) -> Any:
        raise ValueError("a dependent constraint cannot be tested without the parameters that it depends on")


def is_dependent(constraint: Any) -> bool:
    """Returns whether a constraint depends on other parameters.

    >>> c = lamella.distributions.constraints
    >>> c.is_dependent(c.dependent), c.is_dependent(c.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that returns a constraint; in the class it is a dependent constraint itself.

    >>> c = lamella.distributions.constraints
    >>> class Below:
    ...     high = 3.0
    ...     @c.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return c.less_than(self.high)
    >>> Below().support, c.is_dependent(Below.support)
    (LessThan(upper_bound=3.0), True)
    """

    def __init__(self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A constraint whose last dimensions are tested together."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        require(isinstance(base_constraint, Constraint), f"expected a constraint, got {base_constraint!r}")
        n = reinterpreted_batch_ndims
        require(isinstance(n, int) and n >= 0, f"reinterpreted_batch_ndims: expected an int of 0 or more, got {n!r}")
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, n

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        right = self.base_constraint.check(value)
        if right.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"expected a value of at least {self.event_dim} dimensions, got {value.dim()}")
        return all_last(right, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__.lstrip('_')}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: a value is in the support of each component.

    >>> c = lamella.distributions.constraints
    >>> c.MixtureSameFamilyConstraint(c.positive).check(lamella.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Any) -> None:
        require(isinstance(base_constraint, Constraint), f"expected a constraint, got {base_constraint!r}")
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        """True if the components' region is discrete."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        """The dimensions of one event of the components."""
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        """Returns for each event of a tensor whether it is in the support of all components."""
        events = self.event_dim
        if value.dim() < events:
            raise ValueError(f"expected a value of at least {events} dimensions, got {value.dim()}")
        right = self.base_constraint.check(value.unsqueeze(-1 - events))
        return all_last(right, right.dim() - (value.dim() - events))

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Bounded(Constraint):
    """A region with bounds, numbers or tensors; each subclass takes those that its ``_bounds`` names."""

    _bounds: tuple[str, ...] = ("lower_bound", "upper_bound")
    lower_bound: Any
    upper_bound: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(self._bounds, args, strict=False)) | kwargs
        if len(args) > len(self._bounds) or set(given) != set(self._bounds):
            raise TypeError(f"{type(self).__name__.lstrip('_')}: expected the arguments {', '.join(self._bounds)}")
        self.__dict__.update((name, given[name]) for name in self._bounds)


def _whole(value: Any, right: Any) -> Any:
    """Returns for each value that is in the region whether it is a whole number, too."""
    return right & (value == value.floor()) if value.is_floating_point() else right


class _IntegerInterval(_Bounded):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return _whole(value, (value >= self.lower_bound) & (value <= self.upper_bound))


class _IntegerLessThan(_Bounded):
    is_discrete = True
    _bounds = ("upper_bound",)

    def check(self, value: Any) -> Any:
        return _whole(value, value <= self.upper_bound)


class _IntegerGreaterThan(_Bounded):
    is_discrete = True
    _bounds = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return _whole(value, value >= self.lower_bound)


class _Real(Constraint):
    def check(self, value: Any) -> Any:
        return value == value  # False for NaN


class _GreaterThan(_Bounded):
    _bounds = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return value > self.lower_bound


class _GreaterThanEq(_Bounded):
    _bounds = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return value >= self.lower_bound


class _LessThan(_Bounded):
    _bounds = ("upper_bound",)

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Bounded):
    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(_Bounded):
    is_discrete = True
    event_dim = 1
    _bounds = ("upper_bound",)

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return all_last(value.tril() == value, 2)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Any) -> Any:
        eps = lamella.finfo(value.dtype).eps * value.shape[-1] * 10
        lengths = value.detach().square().sum(-1).sqrt()
        return super().check(value) & ((lengths - 1).abs() <= eps).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        right = value.shape[-2] == value.shape[-1]
        return lamella.full(value.shape[:-2], right, dtype=lamella.bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return all_last(lamella.isclose(value, value.mT, atol=1e-6), 2)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if not bool(symmetric.all()):
            return symmetric
        return (lamella.linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if not bool(symmetric.all()):
            return symmetric
        return lamella.linalg.cholesky_ex(value).info == 0


class _Joined(Constraint):
    """Several constraints, each for a part of the value along ``dim``."""

    cseq: list[Any]
    dim: int

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        return any(c.is_discrete for c in self.cseq)

    def _check_dim(self, value: Any) -> None:
        within = -value.dim() <= self.dim < value.dim()
        require(within, f"{self!r}: dim {self.dim} is not one of the {value.dim()} dimensions of the value")


class _Cat(_Joined):
    def __init__(self, cseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        require(all(isinstance(c, Constraint) for c in cseq), f"cat: expected constraints, got {cseq!r}")
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        require(len(self.lengths) == len(self.cseq), f"cat: {len(self.cseq)} constraints and {self.lengths} lengths")

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Any) -> Any:
        self._check_dim(value)
        parts = value.split(self.lengths, self.dim)
        return lamella.cat([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(_Joined):
    def __init__(self, cseq: Sequence[Any], dim: int = 0) -> None:
        require(all(isinstance(c, Constraint) for c in cseq), f"stack: expected constraints, got {cseq!r}")
        self.cseq, self.dim = list(cseq), dim

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        most = max(c.event_dim for c in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value: Any) -> Any:
        self._check_dim(value)
        parts = value.unbind(self.dim)
        return lamella.stack([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
