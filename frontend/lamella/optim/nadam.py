"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["NAdam", "nadam"]


class NAdam(_lists.ListOptimizer):
    """Dozat, Incorporating Nesterov Momentum into Adam (2016).

    ``mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2)``, and the product of all ``mu`` takes the place of ``beta1^t``.

    Args:
        params: tensors, named tensors or groups
        lr: the learning rate, a number or a tensor of one element
        betas, eps, weight_decay, decoupled_weight_decay: see Adam
        momentum_decay: how fast ``mu`` approaches ``beta1``
        maximize, foreach, capturable, differentiable: see Adam

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.NAdam([w], lr=0.5, momentum_decay=0.0).step()
    >>> w
    tensor([-0.5282,  0.5282])
    """

    _state = ("exp_avg", "exp_avg_sq", "mu_product", "step")

    _since = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
        "decoupled_weight_decay": False,
    }
    _numbers = ("step", "mu_product")

    _checks = {
        "lr": _options.learning_rate,
        "eps": _options.bounded("epsilon value"),
        "betas": _options.betas,
        "weight_decay": _options.bounded("weight_decay value"),
        "momentum_decay": _options.bounded("momentum_decay value"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["exp_avg"] = _lists.zeros_like(p)
        state["exp_avg_sq"] = _lists.zeros_like(p)
        state["mu_product"] = _lists.new_step(p, group, 1.0)
        state["step"] = _lists.new_step(p, group)

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Six = [], [], [], [], [], []
        self._init_group(group, *lists)
        beta1, beta2 = group["betas"]
        nadam(
            *lists,
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            momentum_decay=group["momentum_decay"],
            eps=group["eps"],
            decoupled_weight_decay=group["decoupled_weight_decay"],
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
        )


def nadam(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_avg_sqs: list[Any],
    mu_products: list[Any],
    state_steps: list[Any],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """One step of NAdam over lists of parameters, gradients and state; see the class."""

    def fused_step(
        params: Any, grads: Any, exp_avgs: Any, exp_avg_sqs: Any, mu_products: Any, state_steps: Any
    ) -> None:
        options: Any = {
            "beta1": beta1,
            "beta2": beta2,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "eps": eps,
        }
        options |= {"decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize}
        lists = params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps
        lamella._fused_nadam_(*lists, lr=_lists.plain(lr), **options)

    def formula(
        do: Any, params: Any, grads: Any, exp_avgs: Any, exp_avg_sqs: Any, mu_products: Any, state_steps: Any
    ) -> None:
        rate = _lists.number(lr)
        if maximize:
            grads = do.neg(grads)
        if weight_decay != 0:
            if decoupled_weight_decay:
                do.mul_(params, 1 - rate * weight_decay)
            else:
                grads = do.add(grads, params, alpha=weight_decay)
        counts = [step.item() for step in state_steps]
        mus = [beta1 * (1.0 - 0.5 * 0.96 ** (t * momentum_decay)) for t in counts]
        nexts = [beta1 * (1.0 - 0.5 * 0.96 ** ((t + 1) * momentum_decay)) for t in counts]
        do.mul_(mu_products, mus)
        products = [product.item() for product in mu_products]
        _lists.average_(do, exp_avgs, grads, beta1)
        _lists.average_(do, exp_avg_sqs, do.mul(grads, grads), beta2)
        roots = do.sqrt(do.div(exp_avg_sqs, [1 - beta2**t for t in counts]))
        roots = do.add(roots, eps)
        now = [rate * (1.0 - mu) / (1.0 - product) for mu, product in zip(mus, products, strict=True)]
        then = [rate * mu / (1.0 - product * mu) for mu, product in zip(nexts, products, strict=True)]
        do.sub_(params, do.mul(do.div(grads, roots), now))
        do.sub_(params, do.mul(do.div(_lists.kept(do, exp_avgs, differentiable), roots), then))

    lists = params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps
    ways: Any = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
    _lists.update(fused_step, formula, lists, **ways)
