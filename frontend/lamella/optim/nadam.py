"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim._updates import OWN, UpdateOptimizer, function
from lamella.optim.optimizer import ParamsT

__all__ = ["NAdam", "nadam"]


class NAdam(UpdateOptimizer, update="_fused_nadam_"):
    """Implements Dozat, Incorporating Nesterov Momentum into Adam (2016).

    ``mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2)``, and the product of all ``mu`` replaces Adam's ``beta1^t``.

    Args:
        betas, eps, decoupled_weight_decay: see Adam
        momentum_decay: how fast ``mu`` approaches ``beta1``

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.NAdam([w], lr=0.5, momentum_decay=0.0).step()
    >>> w
    tensor([-0.5282,  0.5282])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = OWN,
        betas: tuple[float, float] = OWN,
        eps: float = OWN,
        weight_decay: float = OWN,
        momentum_decay: float = OWN,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())


nadam: Any = function(NAdam, "decoupled_weight_decay foreach capturable differentiable has_complex maximize")
