"""Gumbel: largest numbers of many."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella.distributions import constraints
from lamella.distributions.transformed_distribution import TransformedDistribution
from lamella.distributions.transforms import AffineTransform, ExpTransform
from lamella.distributions.uniform import Uniform
from lamella.distributions.utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """The distribution of Gumbel: ``loc - scale * log(-log(u))`` for a uniform number u.

    >>> lamella.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = lamella.finfo(self.loc.dtype)
        shape = self.loc.shape
        one = lamella.ones((), dtype=self.loc.dtype, device=self.loc.device)
        base = Uniform((one * info.tiny).expand(shape), (one * (1 - info.eps)).expand(shape), False)
        parts = [
            ExpTransform().inv,
            AffineTransform(0.0, -one),
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(base, parts, validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.__init__(self.loc.expand(shape), self.scale.expand(shape), False)
        if "_validate_args" in self.__dict__:
            made._validate_args = self._validate_args
        else:
            del made._validate_args

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.square()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value: Any) -> Any:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Any:
        return self.scale.log() + 1 + euler_constant
