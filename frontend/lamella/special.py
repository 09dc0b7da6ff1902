"""Special functions: of Bessel and Airy, the error function, the gamma function, orthogonal polynomials.

Every function works element by element on floating tensors; integers are computed in the default dtype. Functions of
several tensors broadcast them, and one of their arguments may be a number. ``out=`` is the tensor for the result.
``docs/special_functions.md`` has the largest errors. Sources of formulas are sections of the NIST Digital Library of
Mathematical Functions (DLMF, https://dlmf.nist.gov).

>>> lamella.special.bessel_j0(lamella.tensor([0.0, 1.0]))
tensor([1.0000, 0.7652])
"""

from __future__ import annotations

from lamella import (
    digamma,
    erf,
    erfc,
    erfinv,
    exp2,
    expm1,
    i0,
    log1p,
    log_softmax,
    logit,
    logsumexp,
    polygamma,
    round,
    sinc,
    softmax,
    xlogy,
)
from lamella import digamma as psi
from lamella import igamma as gammainc
from lamella import igammac as gammaincc
from lamella import lgamma as gammaln
from lamella import mvlgamma as multigammaln
from lamella import sigmoid as expit

__all__ = [
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlogy",
]
