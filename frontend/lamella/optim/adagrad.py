"""Adagrad: steps divided by the root of the sum of squared gradients."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim import _options
from lamella.optim._updates import OWN, UpdateOptimizer, function
from lamella.optim.optimizer import ParamsT

__all__ = ["Adagrad", "adagrad"]


class Adagrad(UpdateOptimizer, update="_fused_adagrad_"):
    """Implements Duchi et al., Adaptive Subgradient Methods for Online Learning and Stochastic Optimization (2011).

    ``sum += g g``; ``p -= lr / (1 + (step - 1) lr_decay) g / (sqrt(sum) + eps)``.

    Args:
        lr_decay: the rate is divided by 1 plus this times the number of former steps
        initial_accumulator_value: the sum before the first step
        eps: added to the root

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.Adagrad([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  0.5000])
    """

    _checks = {"initial_accumulator_value": _options.bounded("initial_accumulator_value value")}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = OWN,
        lr_decay: float = OWN,
        weight_decay: float = OWN,
        initial_accumulator_value: float = 0,
        eps: float = OWN,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, locals())
        for group in self.param_groups:
            for p in group["params"]:
                self._init_state(p, self.state[p], group)

    def share_memory(self) -> None:
        """Moves the sums to shared memory, so that other processes can update them."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()


adagrad: Any = function(Adagrad, "fused grad_scale found_inf has_sparse_grad foreach differentiable has_complex")
