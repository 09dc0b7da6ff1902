"""The Kullback-Leibler divergence, by a table of formulas for pairs of classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["kl_divergence", "register_kl"]

Formula = Callable[[Any, Any], Any]
_formulas: dict[tuple[type, type], Formula] = {}
_chosen: dict[tuple[type, type], Formula | None] = {}  # the results of _choose() for the classes of two distributions
_OURS = ("_kl_same", "_kl_matrices", "_kl_others")  # files with formulas, which are read when the first is needed
_loaded: list[str] = []


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Decorates a function as the formula for two classes and their subclasses.

    Raises TypeError if an argument is not a class of distributions.

    >>> class Own(lamella.distributions.Normal):
    ...     pass
    >>> @lamella.distributions.register_kl(Own, Own)
    ... def formula(p, q):
    ...     return 0.0
    >>> lamella.distributions.kl_divergence(Own(0.0, 1.0), Own(1.0, 1.0))
    0.0
    """
    from lamella.distributions.distribution import Distribution

    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"register_kl: argument '{name}': expected a subclass of Distribution, got {kind!r}")

    def add(formula: Formula) -> Formula:
        _formulas[type_p, type_q] = formula
        _chosen.clear()
        return formula

    return add


def ours(type_p: type, *types_q: type) -> Callable[[Formula], Formula]:
    """Decorates a formula of Lamella's own; formulas that a program registered before stay."""

    def add(formula: Formula) -> Formula:
        for type_q in types_q:
            _formulas.setdefault((type_p, type_q), formula)
        return formula

    return add


def _choose(type_p: type, type_q: type) -> Formula | None:
    """Returns the formula of the nearest classes, first by p; warns if those nearest by q have another one."""
    if not _loaded:
        for name in _OURS:
            import_module(f"lamella.distributions.{name}")
        _loaded.extend(_OURS)
    of_p, of_q = type_p.__mro__, type_q.__mro__
    places = [(of_p.index(a), of_q.index(b), (a, b)) for a, b in _formulas if a in of_p and b in of_q]
    if not places:
        return None
    left, right = min(places)[2], min(places, key=lambda x: (x[1], x[0]))[2]
    if _formulas[left] is not _formulas[right]:
        names = [f"{a.__name__}, {b.__name__}" for a, b in (left, right)]
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}): the formula for ({names[0]}) is used, not "
            f"that for ({names[1]}); register_kl({left[0].__name__}, {right[1].__name__}) settles it",
            RuntimeWarning,
            stacklevel=3,
        )
    return _formulas[left]


def kl_divergence(p: Any, q: Any) -> Any:
    """Returns ``E_p[log p - log q]`` for every element of the batch, in nats.

    Raises NotImplementedError for pairs of classes without a formula; ``register_kl`` adds one.

    >>> normal = lamella.distributions.Normal
    >>> lamella.distributions.kl_divergence(normal(1.0, 1.0), normal(0.0, 1.0))
    tensor(0.5000)
    """
    kinds = type(p), type(q)
    if kinds not in _chosen:
        _chosen[kinds] = _choose(*kinds)
    formula = _chosen[kinds]
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}; register_kl "
            "adds one"
        )
    return formula(p, q)
