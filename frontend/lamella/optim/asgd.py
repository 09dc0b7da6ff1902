"""ASGD: the average of the steps of gradient descent."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["ASGD", "asgd"]


class ASGD(_lists.ListOptimizer):
    """Polyak and Juditsky, Acceleration of Stochastic Approximation by Averaging (1992).

    ``state[p]["ax"]`` is the average.

    ``p = (1 - lambd eta) p - eta g``; ``ax += mu (p - ax)``; ``eta = lr / (1 + lambd lr t)^alpha``;
    ``mu = 1 / max(1, t - t0)``.

    Args:
        params: tensors, named tensors or groups
        lr: the learning rate, a number or a tensor of one element
        lambd: how fast the rate and the parameter fall
        alpha: the power of the rate's fall
        t0: the step from which on it averages
        weight_decay: times the parameter is added to the gradient
        maximize, foreach, capturable, differentiable: see Adam

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.ASGD([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  1.0000])
    """

    _state = ("ax", "mu", "eta", "step")

    _since = _lists.SINCE
    _numbers = ("step", "eta", "mu")

    _checks = {
        "lr": _options.learning_rate,
        "weight_decay": _options.bounded("weight_decay value"),
        "lambd": _options.bounded("lambd value"),
        "alpha": _options.bounded("alpha value"),
        "t0": _options.bounded("t0 value"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["ax"] = _lists.zeros_like(p)
        state["mu"] = _lists.new_step(p, group, 1.0)
        state["eta"] = _lists.new_step(p, group, _lists.plain(group["lr"]))
        state["step"] = _lists.new_step(p, group)

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Six = [], [], [], [], [], []
        self._init_group(group, *lists)
        asgd(
            *lists,
            lambd=group["lambd"],
            lr=group["lr"],
            t0=group["t0"],
            alpha=group["alpha"],
            weight_decay=group["weight_decay"],
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
        )


def asgd(
    params: list[Any],
    grads: list[Any],
    axs: list[Any],
    mus: list[Any],
    etas: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float | Tensor,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """One step of ASGD over lists of parameters, gradients and state; see the class."""

    def fused_step(params: Any, grads: Any, axs: Any, mus: Any, etas: Any, state_steps: Any) -> None:
        options: Any = {"lambd": lambd, "t0": t0, "alpha": alpha, "weight_decay": weight_decay, "maximize": maximize}
        lamella._fused_asgd_(params, grads, axs, mus, etas, state_steps, lr=_lists.plain(lr), **options)

    def formula(do: Any, params: Any, grads: Any, axs: Any, mus: Any, etas: Any, state_steps: Any) -> None:
        if maximize:
            grads = do.neg(grads)
        if weight_decay != 0:
            grads = do.add(grads, params, alpha=weight_decay)
        rates = [eta.item() for eta in etas]
        do.mul_(params, [1 - lambd * rate for rate in rates])
        do.sub_(params, do.mul(grads, rates))
        do.add_(axs, do.mul(do.sub(params, axs), [mu.item() for mu in mus]))
        for mu, eta, step in zip(mus, etas, state_steps, strict=True):
            t, rate = step.item(), _lists.plain(lr)
            eta.fill_(rate / (1 + lambd * rate * t) ** alpha)
            mu.fill_(1 / max(1, t - t0))

    lists = params, grads, axs, mus, etas, state_steps
    ways: Any = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
    _lists.update(fused_step, formula, lists, **ways)
