"""RMSprop: steps divided by the root of the average of squared gradients."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(_lists.ListOptimizer):
    """Hinton, Neural Networks for Machine Learning, lecture 6e; centred as in Graves, Generating Sequences With
    Recurrent Neural Networks (2013).

    With the average ``v`` of squared gradients, less the square of their average if centred,
    ``p -= lr g / (sqrt(v) + eps)``.

    Args:
        params: tensors, named tensors or groups
        lr: the learning rate, a number or a tensor of one element
        alpha: how much of the averages stays in a step
        eps: added to the root
        weight_decay: times the parameter is added to the gradient
        momentum: how much of a buffer of steps stays
        centered: the average of squares is made a variance
        maximize, foreach, capturable, differentiable: see Adam

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.RMSprop([w], lr=0.5, alpha=0.75).step()
    >>> w
    tensor([-1.,  1.])
    """

    _since = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
        "momentum": 0,
        "centered": False,
    }

    _checks = {
        "lr": _options.learning_rate,
        "eps": _options.bounded("epsilon value"),
        "momentum": _options.bounded("momentum value"),
        "weight_decay": _options.bounded("weight_decay value"),
        "alpha": _options.bounded("alpha value"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_group(self, group: Any, params: list[Any], grads: list[Any], *lists: list[Any]) -> bool:
        square_avgs, grad_avgs, momentum_buffer_list, state_steps = lists
        states = self.state
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            state = states[p]
            if not state:
                self._init_state(p, state, group)
            params.append(p)
            grads.append(grad)
            square_avgs.append(state["square_avg"])
            if group["centered"]:
                grad_avgs.append(state["grad_avg"])
            if group["momentum"] > 0:
                momentum_buffer_list.append(state["momentum_buffer"])
            state_steps.append(state["step"])
        return False

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["square_avg"] = _lists.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = _lists.zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = _lists.zeros_like(p)
        state["step"] = _lists.new_step(p, group)

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Six = [], [], [], [], [], []
        self._init_group(group, *lists)
        rmsprop(
            *lists,
            lr=group["lr"],
            alpha=group["alpha"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            centered=group["centered"],
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
        )


def rmsprop(
    params: list[Any],
    grads: list[Any],
    square_avgs: list[Any],
    grad_avgs: list[Any],
    momentum_buffer_list: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """One step of RMSprop over lists of parameters, gradients and state; see the class."""

    def fused_step(
        params: Any, grads: Any, square_avgs: Any, grad_avgs: Any, momentum_buffer_list: Any, state_steps: Any
    ) -> None:
        options: Any = {"alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum}
        options |= {"centered": centered, "maximize": maximize}
        lamella._fused_rmsprop_(
            params, grads, square_avgs, grad_avgs, momentum_buffer_list, lr=_lists.plain(lr), **options
        )

    def formula(
        do: Any, params: Any, grads: Any, square_avgs: Any, grad_avgs: Any, buffers: Any, state_steps: Any
    ) -> None:
        if maximize:
            grads = do.neg(grads)
        if weight_decay != 0:
            grads = do.add(grads, params, alpha=weight_decay)
        _lists.average_(do, square_avgs, do.mul(grads, grads), alpha)
        squares = _lists.kept(do, square_avgs, differentiable)
        if centered:
            _lists.average_(do, grad_avgs, grads, alpha)
            means = _lists.kept(do, grad_avgs, differentiable)
            squares = do.sub(squares, do.mul(means, means))
        moves = do.div(grads, do.add(do.sqrt(squares), eps))
        if momentum > 0:
            do.mul_(buffers, momentum)
            do.add_(buffers, moves)
            moves = _lists.kept(do, buffers, differentiable)
        do.sub_(params, do.mul(moves, _lists.number(lr)))

    lists = params, grads, square_avgs, grad_avgs, momentum_buffer_list, state_steps
    ways: Any = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
    _lists.update(fused_step, formula, lists, **ways)
