"""Adadelta: steps whose size is the root mean square of former steps."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim._updates import OWN, UpdateOptimizer, function
from lamella.optim.optimizer import ParamsT

__all__ = ["Adadelta", "adadelta"]


class Adadelta(UpdateOptimizer, update="_fused_adadelta_"):
    """Implements Zeiler, ADADELTA: An Adaptive Learning Rate Method (2012), algorithm 1.

    With the averages ``v`` of squared gradients and ``u`` of squared steps, the step is
    ``sqrt(u + eps) / sqrt(v + eps) g``.

    Args:
        lr: a factor of the step, a number or a tensor of one element
        rho: the factor of the averages in a step
        eps: added under the roots

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.Adadelta([w], rho=0.0, eps=1.0).step()
    >>> w
    tensor([-0.7071,  0.8944])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = OWN,
        rho: float = OWN,
        eps: float = OWN,
        weight_decay: float = OWN,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())


adadelta: Any = function(Adadelta, "capturable foreach differentiable has_complex")
