"""Adamax: Adam with the decayed maximum of gradients in the place of their mean square."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim._updates import OWN, UpdateOptimizer, function
from lamella.optim.optimizer import ParamsT

__all__ = ["Adamax", "adamax"]


class Adamax(UpdateOptimizer, update="_fused_adamax_"):
    """Implements Kingma and Ba, Adam: A Method for Stochastic Optimization (2015), algorithm 2.

    ``m`` is the average of gradients, ``u = max(beta2 u, |g| + eps)``; ``p -= lr / (1 - beta1^t) m / u``.

    Args:
        betas: the factors of the average and of the greatest gradient in a step
        eps: added to the gradient's absolute value

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.Adamax([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  0.5000])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = OWN,
        betas: tuple[float, float] = OWN,
        eps: float = OWN,
        weight_decay: float = OWN,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, locals())


adamax: Any = function(Adamax, "foreach maximize differentiable capturable has_complex")
