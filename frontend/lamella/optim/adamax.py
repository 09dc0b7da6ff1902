"""Adamax: Adam with the greatest gradient in the place of the mean square."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["Adamax", "adamax"]


class Adamax(_lists.ListOptimizer):
    """Kingma and Ba, Adam: A Method for Stochastic Optimization (2015), algorithm 2.

    ``m`` is the average of gradients, ``u = max(beta2 u, |g| + eps)``; ``p -= lr / (1 - beta1^t) m / u``.

    Args:
        params: tensors, named tensors or groups
        lr: the learning rate, a number or a tensor of one element
        betas: how much of the average and of the greatest gradient stays in a step
        eps: added to the gradient's size
        weight_decay: times the parameter is added to the gradient
        maximize, foreach, capturable, differentiable: see Adam

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.Adamax([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  0.5000])
    """

    _state = ("exp_avg", "exp_inf", "step")

    _since = _lists.SINCE

    _checks = {
        "lr": _options.learning_rate,
        "eps": _options.bounded("epsilon value"),
        "betas": _options.betas,
        "weight_decay": _options.bounded("weight_decay value"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["exp_avg"] = _lists.zeros_like(p)
        state["exp_inf"] = _lists.zeros_like(p)
        state["step"] = _lists.new_step(p, group)

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Five = [], [], [], [], []
        self._init_group(group, *lists)
        beta1, beta2 = group["betas"]
        adamax(
            *lists,
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
        )


def adamax(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_infs: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
) -> None:
    """One step of Adamax over lists of parameters, gradients and state; see the class."""

    def fused_step(params: Any, grads: Any, exp_avgs: Any, exp_infs: Any, state_steps: Any) -> None:
        options: Any = {"beta1": beta1, "beta2": beta2, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
        lamella._fused_adamax_(params, grads, exp_avgs, exp_infs, state_steps, lr=_lists.plain(lr), **options)

    def formula(do: Any, params: Any, grads: Any, exp_avgs: Any, exp_infs: Any, state_steps: Any) -> None:
        if maximize:
            grads = do.neg(grads)
        if weight_decay != 0:
            grads = do.add(grads, params, alpha=weight_decay)
        _lists.average_(do, exp_avgs, grads, beta1)
        do.copy_(exp_infs, do.maximum(do.mul(exp_infs, beta2), do.add(do.abs(grads), eps)))
        moves = do.div(_lists.kept(do, exp_avgs, differentiable), _lists.kept(do, exp_infs, differentiable))
        rates = [_lists.number(lr) / (1 - beta1 ** step.item()) for step in state_steps]
        do.sub_(params, do.mul(moves, rates))

    lists = params, grads, exp_avgs, exp_infs, state_steps
    ways: Any = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
    _lists.update(fused_step, formula, lists, **ways)
