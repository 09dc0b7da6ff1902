"""Rprop: steps by the sign of the gradient alone, each with a size of its own."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["Rprop", "rprop"]


class Rprop(_lists.ListOptimizer):
    """Riedmiller and Braun, A Direct Adaptive Method for Faster Backpropagation Learning: The RPROP Algorithm (1993).

    A step's size grows by ``etas[1]`` while the gradient keeps its sign; where the sign changes, it shrinks by
    ``etas[0]`` and the step is left out.

    Args:
        params: tensors, named tensors or groups
        lr: the first size, a number or a tensor of one element
        etas: the factors of the size
        step_sizes: its bounds
        maximize, foreach, capturable, differentiable: see Adam

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.Rprop([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  0.5000])
    """

    _state = ("prev", "step_size", "step")

    _since = _lists.SINCE

    _checks = {
        "lr": _options.learning_rate,
        "etas": _options.etas,
        "step_sizes": _options.step_sizes,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["prev"] = _lists.zeros_like(p)
        state["step_size"] = _filled(p, group["lr"])
        state["step"] = _lists.new_step(p, group)

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Five = [], [], [], [], []
        self._init_group(group, *lists)
        etaminus, etaplus = group["etas"]
        smallest, greatest = group["step_sizes"]
        rprop(
            *lists,
            step_size_min=smallest,
            step_size_max=greatest,
            etaminus=etaminus,
            etaplus=etaplus,
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
        )


def _filled(p: Any, value: Any) -> Any:
    """The first size of a step; a complex parameter has it in both parts."""
    value = _lists.plain(value)
    return lamella.full_like(p.detach(), complex(value, value) if p.is_complex() else value)


def rprop(
    params: list[Any],
    grads: list[Any],
    prevs: list[Any],
    step_sizes: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """One step of Rprop over lists of parameters, gradients and state; see the class."""

    def fused_step(params: Any, grads: Any, prevs: Any, step_sizes: Any, state_steps: Any) -> None:
        options: Any = {"etaminus": etaminus, "etaplus": etaplus, "maximize": maximize}
        options |= {"step_size_min": step_size_min, "step_size_max": step_size_max}
        lamella._fused_rprop_(params, grads, prevs, step_sizes, **options)

    def formula(do: Any, params: Any, grads: Any, prevs: Any, step_sizes: Any, state_steps: Any) -> None:
        if maximize:
            grads = do.neg(grads)
        signs = do.mul(grads, _lists.kept(do, prevs, differentiable))
        factors = []
        for sign in signs:
            shrinking = lamella.where(sign < 0, lamella.full_like(sign, etaminus), lamella.ones_like(sign))
            factors.append(lamella.where(sign > 0, lamella.full_like(sign, etaplus), shrinking))
        grads = [lamella.where(s < 0, lamella.zeros_like(g), g) for s, g in zip(signs, grads, strict=True)]
        sizes = [
            (size * factor).clamp(step_size_min, step_size_max)
            for size, factor in zip(step_sizes, factors, strict=True)
        ]
        do.copy_(step_sizes, sizes)
        do.sub_(params, do.mul([g.sign() for g in grads], sizes))
        do.copy_(prevs, grads)

    lists = params, grads, prevs, step_sizes, state_steps
    ways: Any = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
    _lists.update(fused_step, formula, lists, **ways)
