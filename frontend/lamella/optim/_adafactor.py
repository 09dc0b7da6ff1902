"""Adafactor, which keeps the averages of a matrix's squared gradients as one row and one column."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["Adafactor"]


def _decay(value: Any) -> None:
    if not value <= 0.0:
        raise ValueError(f"beta2_decay should be <= 0 but is: {value}")


def _least(eps: Any) -> None:
    _options.none_or(_options.bounded("epsilon1"))(eps[0])
    _options.bounded("epsilon2")(eps[1])


def _clip(value: Any) -> None:
    if not value >= 1.0:
        raise ValueError(f"Clipping threshold d should be >= 1 but is: {value}")


class Adafactor(_lists.ListOptimizer):
    """Implements Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost (2018), alg. 4, 5.

    As in torch, ``lr`` bounds the relative step and scales the decay, and ``eps[0]`` bounds the estimate from below.

    Args:
        lr: the greatest relative step, a number or a tensor of one element
        beta2_decay: step t multiplies the average of squares by ``1 - t^beta2_decay``; 0 or less
        eps: lower bounds of the estimate's root, where None means the dtype's eps, and of the parameter's root mean
            square
        d: the upper bound of an update's root mean square
        weight_decay: ``p *= 1 - lr weight_decay`` before a step
        foreach: has no effect

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.ones(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.Adafactor([w], lr=0.5).step()
    >>> w
    tensor([0.5000, 1.5000])
    """

    _since = {"foreach": None}

    _checks = {
        "lr": _options.learning_rate,
        "beta2_decay": _decay,
        "eps": _least,
        "d": _clip,
        "weight_decay": _options.bounded("weight_decay"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _lists.new_step(p, {})
        if p.dim() > 1:
            shape = tuple(p.shape)
            state["row_var"] = p.new_zeros((*shape[:-1], 1))
            state["col_var"] = p.new_zeros((*shape[:-2], 1, shape[-1]))
        else:
            state["variance"] = _lists.zeros_like(p)

    def _update(self, group: dict[str, Any]) -> None:
        lists: Any = [[] for _ in range(6)]
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if p.is_complex():
                raise RuntimeError(f"Adafactor does not support complex parameters, got {p.dtype}")
            state = self.state[p]
            if not state:
                self._init_state(grad, state, group)
            values = p, grad, state.get("row_var"), state.get("col_var"), state.get("variance"), state["step"]
            for one, value in zip(lists, values, strict=True):
                one.append(value)
        names = ("d", "lr", "beta2_decay", "weight_decay", "foreach", "maximize")
        adafactor(*lists, eps1=group["eps"][0], eps2=group["eps"][1], **{name: group[name] for name in names})


def adafactor(
    params: list[Any],
    grads: list[Any],
    row_vars: list[Any],
    col_vars: list[Any],
    variances: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    d: float,
    lr: float | Tensor,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    """Makes one step of Adafactor over lists; see the class."""
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Grad scaling should occur outside of optimizer.step()")
    rate = _lists.plain(lr)
    with _lists.by_values():
        for p, grad, row, column, variance, step in zip(
            params, grads, row_vars, col_vars, variances, state_steps, strict=True
        ):
            least = lamella.finfo(p.dtype).eps if eps1 is None else eps1
            grad = -grad if maximize else grad
            t = step.item() + 1
            new = t**beta2_decay
            alpha = max(eps2, p.norm().item() / p.numel() ** 0.5 if p.numel() else 0.0) * min(rate, 1 / t**0.5)
            if weight_decay != 0:
                p.mul_(1 - rate * weight_decay)
            squares = grad * grad
            if grad.dim() > 1:
                row.lerp_(squares.mean(-1, keepdim=True), new)
                column.lerp_(squares.mean(-2, keepdim=True), new)
                estimate = row @ column / row.mean(-2, keepdim=True).clamp(min=least)
            else:
                estimate = variance.lerp_(squares, new)
            move = estimate.clamp(min=least * least).rsqrt() * grad
            size = move.norm().item() / (move.numel() ** 0.5 * d) if move.numel() else 0.0
            p.sub_(move, alpha=alpha / max(1.0, size))
            step.add_(1)
