"""VonMises: angles."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella._history import no_history
from lamella.distributions import constraints
from lamella.distributions.distribution import Distribution
from lamella.distributions.utils import broadcast_all

__all__ = ["VonMises"]


_LOG_TWO_PI = math.log(2 * math.pi)


def _log_bessel(x: Any, order: int) -> Any:
    """Returns the logarithm of the modified Bessel function of order 0 or 1 for x > 0."""
    scaled = lamella.special.i1e(x) if order else lamella.special.i0e(x)
    return scaled.log() + x


class VonMises(Distribution):
    """The distribution of von Mises over angles in radians, proportional to ``exp(concentration cos(x - loc))``.

    Draws are by Best and Fisher, "Efficient simulation of the von Mises distribution" (1979).

    >>> lamella.distributions.VonMises(lamella.tensor(0.5), lamella.tensor(4.0)).mean
    tensor(0.5000)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        """The mean direction."""
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The circular variance, 1 minus the length of the mean direction."""
        k = self.concentration
        return 1 - lamella.special.i1e(k) / lamella.special.i0e(k)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        return k * lamella.cos(value - self.loc) - _LOG_TWO_PI - _log_bessel(k, 0)

    def _proposal(self) -> Any:
        """Returns the parameter of the wrapped Cauchy distribution that is drawn from, in float64.

        For a small concentration it is computed by its series, in which nothing cancels.
        """
        k = self.concentration.detach().to(lamella.float64)
        tau = 1 + (1 + 4 * k.square()).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return lamella.where(k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho))

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_history():
            loc, k, r = (p.to(lamella.float64).expand(shape) for p in (self.loc, self.concentration, self._proposal()))
            drawn = lamella.zeros(shape, dtype=lamella.float64, device=loc.device)
            waiting = lamella.ones(shape, dtype=lamella.bool, device=loc.device)
            while bool(waiting.any()):
                u = lamella.rand((3, *shape), dtype=lamella.float64, device=loc.device)
                z = lamella.cos(math.pi * u[0])
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                taken = waiting & ((c * (2 - c) > u[1]) | ((c / u[1]).log() + 1 >= c))
                drawn = lamella.where(taken, (u[2] - 0.5).sign() * f.clamp(-1, 1).acos(), drawn)
                waiting = waiting & ~taken
            turned = (drawn + math.pi + loc) % (2 * math.pi) - math.pi
            return turned.to(self.loc.dtype)
