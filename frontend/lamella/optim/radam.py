"""RAdam: Adam with steps that are rectified, since the variance of the first averages of squares is large."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim._updates import OWN, UpdateOptimizer, function
from lamella.optim.optimizer import ParamsT

__all__ = ["RAdam", "radam"]


class RAdam(UpdateOptimizer, update="_fused_radam_"):
    """Implements Liu et al., On the Variance of the Adaptive Learning Rate and Beyond (2020), algorithm 2.

    If ``rho_t = rho - 2 t beta2^t / (1 - beta2^t)``, with ``rho = 2 / (1 - beta2) - 1``, exceeds 5, the step is Adam's
    times a factor of rectification; in earlier steps it is ``lr m'``, with Adam's ``m'``.

    Args:
        betas, eps, decoupled_weight_decay: see Adam

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.RAdam([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  1.0000])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = OWN,
        betas: tuple[float, float] = OWN,
        eps: float = OWN,
        weight_decay: float = OWN,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())


radam: Any = function(RAdam, "decoupled_weight_decay foreach differentiable capturable has_complex maximize")
