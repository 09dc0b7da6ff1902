"""Tables that lead from constraints to transforms whose results satisfy them: biject_to and transform_to.

``biject_to(constraint)`` is bijective, with a Jacobian, for methods that sample in an unconstrained space;
``transform_to(constraint)`` need not be, and suits optimizers.

>>> positive = lamella.distributions.constraints.positive
>>> lamella.distributions.transform_to(positive)(lamella.tensor(0.0))
tensor(1.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamella.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

_NUMBERS = (int, float, bool)


class ConstraintRegistry:
    """A table from classes of constraints to functions that make a transform for a constraint.

    >>> d = lamella.distributions
    >>> table = d.constraint_registry.ConstraintRegistry()
    >>> _ = table.register(d.constraints.real, lambda constraint: d.identity_transform)
    >>> table(d.constraints.real) is d.identity_transform
    True
    """

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Enters a factory for a class of constraints, or for the class of one; without a factory, returns a decorator.

        Raises TypeError if the argument is not a constraint or a class of constraints.
        """
        if factory is None:
            return lambda f: self.register(constraint, f)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise TypeError(f"register: argument 'constraint': expected a constraint or a class of them, got {kind!r}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """Returns a transform into the region of a constraint; NotImplementedError if none is registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(
                f"no transform is registered for {constraint!r}; the method register of this table adds one"
            )
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()
_c, _t = constraints, transforms


def _in_both(*kinds: Any) -> Callable[[Any], Any]:
    def enter(factory: Any) -> Any:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return enter


@_in_both(_c.real)
def _to_real(constraint: Any) -> Any:
    return _t.identity_transform


@_in_both(_c.positive, _c.greater_than, _c.greater_than_eq)
def _to_greater(constraint: Any) -> Any:
    low = constraint.lower_bound
    if isinstance(low, _NUMBERS) and low == 0:
        return _t.ExpTransform()
    return _t.ComposeTransform([_t.ExpTransform(), _t.AffineTransform(low, 1)])


@_in_both(_c.less_than)
def _to_less(constraint: Any) -> Any:
    return _t.ComposeTransform([_t.ExpTransform(), _t.AffineTransform(constraint.upper_bound, -1)])


@_in_both(_c.interval, _c.half_open_interval)
def _to_interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, _NUMBERS) and isinstance(high, _NUMBERS) and (low, high) == (0, 1):
        return _t.SigmoidTransform()
    return _t.ComposeTransform([_t.SigmoidTransform(), _t.AffineTransform(low, high - low)])


@_in_both(_c.corr_cholesky)
def _to_corr_cholesky(constraint: Any) -> Any:
    return _t.CorrCholeskyTransform()


biject_to.register(_c.simplex, lambda constraint: _t.StickBreakingTransform())
transform_to.register(_c.simplex, lambda constraint: _t.SoftmaxTransform())
transform_to.register(_c.lower_cholesky, lambda constraint: _t.LowerCholeskyTransform())
for _kind in (_c.positive_definite, _c.positive_semidefinite):
    transform_to.register(_kind, lambda constraint: _t.PositiveDefiniteTransform())


def _of_parts(table: ConstraintRegistry) -> None:
    """Enters constraints that are made of others into a table, which it then calls for the parts."""
    table.register(
        _c.independent, lambda c: _t.IndependentTransform(table(c.base_constraint), c.reinterpreted_batch_ndims)
    )
    table.register(_c.cat, lambda c: _t.CatTransform([table(part) for part in c.cseq], c.dim, c.lengths))
    table.register(_c.stack, lambda c: _t.StackTransform([table(part) for part in c.cseq], c.dim))


_of_parts(biject_to)
_of_parts(transform_to)
