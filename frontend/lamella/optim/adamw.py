"""AdamW: Adam with a weight decay that is not part of the gradient."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim._updates import OWN, UpdateOptimizer
from lamella.optim.adam import Adam, adam
from lamella.optim.optimizer import ParamsT

__all__ = ["AdamW", "adamw"]


class AdamW(Adam, update="_fused_adamw_"):
    """Implements Loshchilov and Hutter, Decoupled Weight Decay Regularization (2019), algorithm 2.

    It computes ``p *= 1 - lr weight_decay`` before a step of Adam. Arguments and errors are those of Adam.

    >>> w = lamella.ones(1)
    >>> w.grad = lamella.zeros(1)
    >>> lamella.optim.AdamW([w], lr=0.5, weight_decay=0.5).step()
    >>> w
    tensor([0.7500])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = OWN,
        betas: tuple[float | Tensor, float | Tensor] = OWN,
        eps: float = OWN,
        weight_decay: float = OWN,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        UpdateOptimizer.__init__(self, params, locals() | {"decoupled_weight_decay": True})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def adamw(*lists: Any, **options: Any) -> None:
    """Makes one step of AdamW over lists; the arguments are those of ``lamella.optim.adam.adam``."""
    adam(*lists, **(options | {"decoupled_weight_decay": True}))
