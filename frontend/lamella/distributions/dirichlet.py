"""Dirichlet: shares that add up to 1."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.exp_family import ExponentialFamily
from lamella.distributions.utils import broadcast_all

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """The distribution of Dirichlet over shares that add up to 1, for ``concentration`` in the last dimension.

    Raises:
        ValueError: ``concentration`` has no dimension, or is not above 0

    >>> lamella.distributions.Dirichlet(lamella.ones(3)).mean
    tensor([0.3333, 0.3333, 0.3333])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("Dirichlet: argument 'concentration' must have at least one dimension, got a number")
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape[:-1], self.concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        """The most probable shares; where all concentrations are below 1, the corner of the largest one."""
        less = (self.concentration - 1).clamp(min=0)
        mode = less / less.sum(-1, True)
        corner = lamella.nn.functional.one_hot(self.concentration.argmax(-1), less.shape[-1]).to(mode.dtype)
        return lamella.where((self.concentration < 1).all(-1, True), corner, mode)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return lamella._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return lamella.xlogy(a - 1, value).sum(-1) + (a.sum(-1).lgamma() - a.lgamma().sum(-1))

    def entropy(self) -> Any:
        a, total = self.concentration, self.concentration.sum(-1)
        rest = (total - a.shape[-1]) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() + rest

    @property
    def _natural_params(self) -> Any:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()
