"""Adadelta: steps whose size is the root mean square of former steps."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["Adadelta", "adadelta"]


class Adadelta(_lists.ListOptimizer):
    """Zeiler, ADADELTA: An Adaptive Learning Rate Method (2012), algorithm 1.

    With the averages ``v`` of squared gradients and ``u`` of squared steps, the step is
    ``sqrt(u + eps) / sqrt(v + eps) g``.

    Args:
        params: tensors, named tensors or groups
        lr: a factor of the step, a number or a tensor of one element
        rho: how much of the averages stays in a step
        eps: added below the roots
        weight_decay: times the parameter is added to the gradient
        maximize, foreach, capturable, differentiable: see Adam

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.Adadelta([w], rho=0.0, eps=1.0).step()
    >>> w
    tensor([-0.7071,  0.8944])
    """

    _state = ("square_avg", "acc_delta", "step")

    _since = _lists.SINCE

    _checks = {
        "lr": _options.learning_rate,
        "rho": _options.within("rho value", 0.0, 1.0),
        "eps": _options.bounded("epsilon value"),
        "weight_decay": _options.bounded("weight_decay value"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["square_avg"] = _lists.zeros_like(p)
        state["acc_delta"] = _lists.zeros_like(p)
        state["step"] = _lists.new_step(p, group)

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Five = [], [], [], [], []
        self._init_group(group, *lists)
        adadelta(
            *lists,
            lr=group["lr"],
            rho=group["rho"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
        )


def adadelta(
    params: list[Any],
    grads: list[Any],
    square_avgs: list[Any],
    acc_deltas: list[Any],
    state_steps: list[Any],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One step of Adadelta over lists of parameters, gradients and state; see the class."""

    def fused_step(params: Any, grads: Any, square_avgs: Any, acc_deltas: Any, state_steps: Any) -> None:
        options: Any = {"rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        lamella._fused_adadelta_(params, grads, square_avgs, acc_deltas, lr=_lists.plain(lr), **options)

    def formula(do: Any, params: Any, grads: Any, square_avgs: Any, acc_deltas: Any, state_steps: Any) -> None:
        if maximize:
            grads = do.neg(grads)
        if weight_decay != 0:
            grads = do.add(grads, params, alpha=weight_decay)
        _lists.average_(do, square_avgs, do.mul(grads, grads), rho)
        moves = do.div(do.sqrt(do.add(acc_deltas, eps)), do.sqrt(do.add(square_avgs, eps)))
        moves = do.mul(moves, grads)
        _lists.average_(do, acc_deltas, do.mul(moves, moves), rho)
        do.sub_(params, do.mul(moves, _lists.number(lr)))

    lists = params, grads, square_avgs, acc_deltas, state_steps
    ways: Any = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
    _lists.update(fused_step, formula, lists, **ways)
