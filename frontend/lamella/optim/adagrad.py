"""Adagrad: steps divided by the root of the sum of squared gradients."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim import _options, _sparse
from lamella.optim._lists import plain
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

    def _sparse_step(self, p: Any, grad: Any, group: dict[str, Any]) -> None:
        if group["weight_decay"] != 0:
            raise RuntimeError(
                "Adagrad: argument 'weight_decay' changes every element, and the gradient is sparse; set it to 0"
            )
        state = self.state[p]
        state["step"] += 1
        grad = _sparse.coalesced("Adagrad", grad.neg() if group["maximize"] else grad)
        g = grad.values()
        state["sum"].add_(_sparse.with_values(grad, g * g))
        root = _sparse.values_at(state["sum"], grad).sqrt() + group["eps"]
        rate = plain(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        p.add_(_sparse.with_values(grad, g / root), alpha=-rate)

    def share_memory(self) -> None:
        """Moves the sums to shared memory, so that other processes can update them."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()


adagrad: Any = function(Adagrad, "fused grad_scale found_inf has_sparse_grad foreach differentiable has_complex")
