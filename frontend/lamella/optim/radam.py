"""RAdam: Adam that waits until it knows the variance of its squares."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["RAdam", "radam"]


class RAdam(_lists.ListOptimizer):
    """Liu et al., On the Variance of the Adaptive Learning Rate and Beyond (2020), algorithm 2.

    Where ``rho_t = rho - 2 t beta2^t / (1 - beta2^t)`` exceeds 5, the step is that of Adam, rectified;
    before, ``lr m'``.

    Args:
        params: tensors, named tensors or groups
        lr: the learning rate, a number or a tensor of one element
        betas, eps, weight_decay, decoupled_weight_decay: see Adam
        maximize, foreach, capturable, differentiable: see Adam

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.RAdam([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  1.0000])
    """

    _state = ("exp_avg", "exp_avg_sq", "step")

    _since = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
        "decoupled_weight_decay": False,
    }

    _checks = {
        "lr": _options.learning_rate,
        "eps": _options.bounded("epsilon value"),
        "betas": _options.betas,
        "weight_decay": _options.bounded("weight_decay value"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["exp_avg"] = _lists.zeros_like(p)
        state["exp_avg_sq"] = _lists.zeros_like(p)
        state["step"] = _lists.new_step(p, group)

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Five = [], [], [], [], []
        self._init_group(group, *lists)
        beta1, beta2 = group["betas"]
        radam(
            *lists,
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            decoupled_weight_decay=group["decoupled_weight_decay"],
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
        )


def radam(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_avg_sqs: list[Any],
    state_steps: list[Any],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
) -> None:
    """One step of RAdam over lists of parameters, gradients and state; see the class."""

    def fused_step(params: Any, grads: Any, exp_avgs: Any, exp_avg_sqs: Any, state_steps: Any) -> None:
        options: Any = {"beta1": beta1, "beta2": beta2, "weight_decay": weight_decay, "eps": eps}
        options |= {"decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize}
        lamella._fused_radam_(params, grads, exp_avgs, exp_avg_sqs, state_steps, lr=_lists.plain(lr), **options)

    def formula(do: Any, params: Any, grads: Any, exp_avgs: Any, exp_avg_sqs: Any, state_steps: Any) -> None:
        rate = _lists.number(lr)
        if maximize:
            grads = do.neg(grads)
        if weight_decay != 0:
            if decoupled_weight_decay:
                do.mul_(params, 1 - rate * weight_decay)
            else:
                grads = do.add(grads, params, alpha=weight_decay)
        _lists.average_(do, exp_avgs, grads, beta1)
        _lists.average_(do, exp_avg_sqs, do.mul(grads, grads), beta2)
        limit = 2 / (1 - beta2) - 1
        roots: list[Any] = []
        rates: list[Any] = []
        for square, step in zip(exp_avg_sqs, state_steps, strict=True):
            t = step.item()
            rest = 1 - beta2**t
            rho = limit - 2 * t * beta2**t / rest
            factor = 1.0
            if rho > 5.0:
                factor = (rest * (rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho)) ** 0.5
                roots.append((square.clone() if differentiable else square).sqrt() + eps)
            else:
                roots.append(lamella.ones_like(square))
            rates.append(rate * factor / (1 - beta1**t))
        do.sub_(params, do.mul(do.div(_lists.kept(do, exp_avgs, differentiable), roots), rates))

    lists = params, grads, exp_avgs, exp_avg_sqs, state_steps
    ways: Any = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
    _lists.update(fused_step, formula, lists, **ways)
