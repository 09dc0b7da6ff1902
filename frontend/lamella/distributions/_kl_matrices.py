"""Divergences of normal distributions of vectors.

With the covariance of p as a sum of products R R^T, the trace of C_q^-1 C_p is the sum of |S R|^2, where S^T S is
C_q^-1.
"""

from __future__ import annotations

from typing import Any

import lamella
from lamella.distributions._matrices import half_log_det, solve, squared_distance
from lamella.distributions.kl import ours
from lamella.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from lamella.distributions.multivariate_normal import MultivariateNormal


def _half_log_det(d: Any) -> Any:
    return half_log_det(d._tril) if isinstance(d, MultivariateNormal) else 0.5 * d._log_det()


def _distance(q: Any, x: Any) -> Any:
    dims = x.dim() - 1
    if isinstance(q, MultivariateNormal):
        return squared_distance(q._tril, x, dims)
    scaled = x / q._diag
    part = (q._factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
    return (x * scaled).sum(-1) - squared_distance(q._capacitance, part, dims)


def _wide_solve(tril: Any, matrix: Any) -> Any:
    """Solves triangular systems of two batches that broadcast."""
    batch = lamella.broadcast_shapes(tril.shape[:-2], matrix.shape[:-2])
    return solve(tril.expand((*batch, *tril.shape[-2:])), matrix.expand((*batch, *matrix.shape[-2:])))


def _trace(q: Any, root: Any) -> Any:
    """Returns the trace of C_q^-1 R R^T."""
    if isinstance(q, MultivariateNormal):
        return _wide_solve(q._tril, root).square().sum((-2, -1))
    scaled = root / q._diag.unsqueeze(-1)
    explained = _wide_solve(q._capacitance, q._factor.mT @ scaled).square().sum((-2, -1))
    return (root * scaled).sum((-2, -1)) - explained


def _diagonal_trace(q: Any, diagonal: Any) -> Any:
    """Returns the trace of C_q^-1 D for a diagonal D."""
    if isinstance(q, MultivariateNormal):
        return _trace(q, diagonal.sqrt().diag_embed())
    rows = q._factor.mT * (diagonal.sqrt() / q._diag).unsqueeze(-2)
    return (diagonal / q._diag).sum(-1) - _wide_solve(q._capacitance, rows).square().sum((-2, -1))


@ours(MultivariateNormal, MultivariateNormal, LowRankMultivariateNormal)
@ours(LowRankMultivariateNormal, MultivariateNormal, LowRankMultivariateNormal)
def _vectors(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL(p || q) of normal vectors needs equal event shapes, got {p.event_shape} and {q.event_shape}"
        )
    if isinstance(p, MultivariateNormal):
        trace = _trace(q, p._tril)
    else:
        trace = _trace(q, p._factor) + _diagonal_trace(q, p._diag)
    dets = _half_log_det(q) - _half_log_det(p)
    return dets + 0.5 * (trace + _distance(q, q.loc - p.loc) - p.event_shape[0])
