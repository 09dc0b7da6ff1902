"""Oracles of the gradients of gamma and beta draws by their shapes: integrals by scipy.integrate.quad.

They follow from -dF/da = integral from x of (log t - m) p(t) dt = integral up to x of (m - log t) p(t) dt, with m the
mean of log t, of which the one with a positive integrand is taken.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate, special

from oracles.base import entries


def integral(f):
    return integrate.quad(f, 0, math.inf, epsabs=0, epsrel=1e-12, limit=500)[0]


def by_elements(function):
    return lambda *arrays: np.vectorize(function, otypes=[np.float64])(*np.broadcast_arrays(*arrays))


def gamma_gradient(a, x):
    m = special.digamma(a)
    if math.log(x) < m:  # t = x exp(-s)
        return x * integral(lambda s: (m - math.log(x) + s) * math.exp(-a * s - x * math.expm1(-s)))
    return integral(lambda u: (math.log(x + u) - m) * math.exp((a - 1) * math.log1p(u / x) - u))  # t = x + u


def beta_gradient(x, alpha, total):
    beta, m = total - alpha, special.digamma(alpha) - special.digamma(total)
    if math.log(x) < m:  # t = x exp(-s)

        def lower(s):
            rest = (1 - x * math.exp(-s)) / (1 - x)
            return (m - math.log(x) + s) * math.exp(-alpha * s) * rest ** (beta - 1)

        return x / (1 - x) * integral(lower)

    def upper(s):  # t = 1 - (1 - x) exp(-s)
        t = 1 - (1 - x) * math.exp(-s)
        return (math.log(t) - m) * (t / x) ** (alpha - 1) * math.exp(-beta * s)

    return integral(upper)


entries(_standard_gamma_grad=by_elements(gamma_gradient), _dirichlet_grad=by_elements(beta_gradient))
