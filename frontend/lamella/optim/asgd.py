"""ASGD: gradient descent that also averages the parameters."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim._updates import OWN, UpdateOptimizer, function
from lamella.optim.optimizer import ParamsT

__all__ = ["ASGD", "asgd"]


class ASGD(UpdateOptimizer, update="_fused_asgd_"):
    """Implements Polyak and Juditsky, Acceleration of Stochastic Approximation by Averaging (1992).

    ``state[p]["ax"]`` is the average of parameter p.

    ``p = (1 - lambd eta) p - eta g``; ``ax += mu (p - ax)``; ``eta = lr / (1 + lambd lr t)^alpha``;
    ``mu = 1 / max(1, t - t0)``.

    Args:
        lambd: the decay of the rate and of the parameter, as in the formulas above
        alpha: the power of the rate's decay
        t0: the step after which the averaging begins

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.ASGD([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  1.0000])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = OWN,
        lambd: float = OWN,
        alpha: float = OWN,
        t0: float = OWN,
        weight_decay: float = OWN,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, locals())


asgd: Any = function(ASGD, "foreach maximize differentiable capturable has_complex")
