"""Adam: steps from the averages of gradients and of their squares."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim._updates import OWN, Update, UpdateOptimizer, function, updates
from lamella.optim.optimizer import ParamsT

__all__ = ["Adam", "adam"]


class Adam(UpdateOptimizer, update="_fused_adam_"):
    """Implements Kingma and Ba, Adam: A Method for Stochastic Optimization (2015), algorithm 1.

    With averages ``m`` of the gradients and ``v`` of their squares, ``p -= lr m' / (sqrt(v') + eps)`` in step t, where
    ``m' = m / (1 - beta1^t)`` and ``v' = v / (1 - beta2^t)``.

    Args:
        betas: the factors of the two averages in a step; both numbers or both tensors
        eps: added to the root
        amsgrad: uses the greatest average of squares so far (Reddi et al., On the Convergence of Adam and Beyond)
        decoupled_weight_decay: decays the parameters as AdamW does

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -8.0])
    >>> lamella.optim.Adam([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  0.5000])
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
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(params, locals())

    def _check_options(self, options: dict[str, Any]) -> None:
        super()._check_options(options)
        betas = options.get("betas", (0.0, 0.0))
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError(f"betas must be either both floats or both Tensors, got {betas}")
        tensors = {"lr": options.get("lr"), "betas[0]": betas[0], "betas[1]": betas[1]}
        for name, value in tensors.items():
            if options.get("foreach") and not options.get("capturable") and isinstance(value, Tensor):
                raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")

    @classmethod
    def _operator(cls, group: dict[str, Any]) -> Update:
        return updates()["_fused_adamw_"] if group["decoupled_weight_decay"] else cls._rule


adam: Any = function(
    Adam, "foreach capturable differentiable fused grad_scale found_inf has_complex decoupled_weight_decay"
)
