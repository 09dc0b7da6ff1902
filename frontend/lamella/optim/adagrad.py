"""Adagrad: steps divided by the root of the sum of squared gradients."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["Adagrad", "adagrad"]


class Adagrad(_lists.ListOptimizer):
    """Duchi et al., Adaptive Subgradient Methods for Online Learning and Stochastic Optimization (2011).

    ``sum += g g``; ``p -= lr / (1 + (step - 1) lr_decay) g / (sqrt(sum) + eps)``.

    Args:
        params: tensors, named tensors or groups
        lr: the learning rate, a number or a tensor of one element
        lr_decay: how fast the rate falls with the steps
        weight_decay: times the parameter is added to the gradient
        initial_accumulator_value: the sum before the first step
        eps: added to the root
        maximize, foreach, differentiable, fused: see Adam

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.Adagrad([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  0.5000])
    """

    _state = ("sum", "step")

    _since = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}

    _checks = {
        "lr": _options.learning_rate,
        "lr_decay": _options.bounded("lr_decay value"),
        "weight_decay": _options.bounded("weight_decay value"),
        "initial_accumulator_value": _options.bounded("initial_accumulator_value value"),
        "eps": _options.bounded("epsilon value"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self._init_state(p, self.state[p], group)

    def _check_options(self, options: dict[str, Any]) -> None:
        super()._check_options(options)
        _options.ways(options)

    def share_memory(self) -> None:
        """Puts the sums into memory that other processes see, too."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _lists.new_step(p, group)
        state["sum"] = _filled(p, group["initial_accumulator_value"])

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Four = [], [], [], []
        self._init_group(group, *lists)
        adagrad(
            *lists,
            fused=group["fused"],
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
            foreach=group["foreach"],
            differentiable=group["differentiable"],
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            lr_decay=group["lr_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
        )


def _filled(p: Any, value: float) -> Any:
    """The sum before the first step; a complex parameter has it in both parts."""
    return lamella.full_like(p.detach(), complex(value, value) if p.is_complex() else value)


def adagrad(
    params: list[Any],
    grads: list[Any],
    state_sums: list[Any],
    state_steps: list[Any],
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step of Adagrad over lists of parameters, gradients and state; see the class."""

    def fused_step(params: Any, grads: Any, state_sums: Any, state_steps: Any) -> None:
        options: Any = {"lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
        options |= {"grad_scale": grad_scale, "found_inf": found_inf}
        lamella._fused_adagrad_(params, grads, state_sums, state_steps, lr=_lists.plain(lr), **options)
        if found_inf is not None:
            lamella._foreach_sub_(state_steps, [found_inf] * len(state_steps))

    def formula(do: Any, params: Any, grads: Any, state_sums: Any, state_steps: Any) -> None:
        if maximize:
            grads = do.neg(grads)
        if weight_decay != 0:
            grads = do.add(grads, params, alpha=weight_decay)
        do.add_(state_sums, do.mul(grads, grads))
        rates = [_lists.number(lr) / (1 + (step.item() - 1) * lr_decay) for step in state_steps]
        moves = do.div(grads, do.add(do.sqrt(_lists.kept(do, state_sums, differentiable)), eps))
        do.sub_(params, do.mul(moves, rates))

    lists = params, grads, state_sums, state_steps
    ways: Any = {"foreach": foreach, "differentiable": differentiable, "fused": fused}
    _lists.update(fused_step, formula, lists, **ways)
