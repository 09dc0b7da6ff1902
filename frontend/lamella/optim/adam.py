"""Adam: steps by the averages of gradients and of their squares."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["Adam", "adam"]


class Adam(_lists.ListOptimizer):
    """Kingma and Ba, Adam: A Method for Stochastic Optimization (2015), algorithm 1.

    With averages ``m`` of the gradients and ``v`` of their squares, ``p -= lr m' / (sqrt(v') + eps)``, where ``m'`` and
    ``v'`` are divided by one less ``beta`` to the power of the step.

    Args:
        params: tensors, named tensors or groups
        lr: the learning rate, a number or a tensor of one element
        betas: how much of the two averages stays in a step; both numbers or both tensors
        eps: added to the root
        weight_decay: times the parameter is added to the gradient
        amsgrad: the greatest average of squares so far is used (Reddi et al., On the Convergence of Adam and Beyond)
        foreach: True computes by operators over lists, False by single operators; None by one fused operator
        maximize: steps upwards
        capturable: the count of steps is on the parameter's device
        differentiable: autograd records the step
        fused: True wants the fused operator, which is used by default
        decoupled_weight_decay: the decay is that of AdamW

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -8.0])
    >>> lamella.optim.Adam([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  0.5000])
    """

    _since = {
        "amsgrad": False,
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
        "fused": None,
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
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": tuple(map(_lists.number, betas)),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        if fused:
            self._step_supports_amp_scaling = True

    def _check_options(self, options: dict[str, Any]) -> None:
        super()._check_options(options)
        betas = options.get("betas", (0.0, 0.0))
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError(f"betas must be either both floats or both Tensors, got {betas}")
        tensors = {"lr": options.get("lr"), "betas[0]": betas[0], "betas[1]": betas[1]}
        for name, value in tensors.items():
            if options.get("foreach") and not options.get("capturable") and isinstance(value, Tensor):
                raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
        _options.ways(options)

    def _init_group(self, group: Any, params: list[Any], grads: list[Any], *lists: list[Any]) -> bool:
        exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps = lists
        states, amsgrad = self.state, group["amsgrad"]
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            state = states[p]
            if not state:
                self._init_state(p, state, group)
            params.append(p)
            grads.append(grad)
            exp_avgs.append(state["exp_avg"])
            exp_avg_sqs.append(state["exp_avg_sq"])
            state_steps.append(state["step"])
            if amsgrad:
                max_exp_avg_sqs.append(state["max_exp_avg_sq"])
        return False

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _lists.new_step(p, group)
        for name in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if group["amsgrad"] else 2]:
            state[name] = _lists.zeros_like(p)

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Six = [], [], [], [], [], []
        self._init_group(group, *lists)
        beta1, beta2 = group["betas"]
        adam(
            *lists,
            foreach=group["foreach"],
            capturable=group["capturable"],
            differentiable=group["differentiable"],
            fused=group["fused"],
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
            decoupled_weight_decay=group["decoupled_weight_decay"],
            amsgrad=group["amsgrad"],
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
        )


def adam(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_avg_sqs: list[Any],
    max_exp_avg_sqs: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step of Adam over lists of parameters, gradients and state; see the class."""

    def fused_step(params: Any, grads: Any, means: Any, squares: Any, greatest: Any, steps: Any) -> None:
        operator = lamella._fused_adamw_ if decoupled_weight_decay else lamella._fused_adam_
        operator(
            params,
            grads,
            means,
            squares,
            greatest,
            steps,
            lr=_lists.plain(lr),
            beta1=_lists.plain(beta1),
            beta2=_lists.plain(beta2),
            weight_decay=_lists.plain(weight_decay),
            eps=eps,
            amsgrad=amsgrad,
            maximize=maximize,
            grad_scale=grad_scale,
            found_inf=found_inf,
        )
        if found_inf is not None:
            lamella._foreach_sub_(steps, [found_inf] * len(steps))

    def formula(do: Any, params: Any, grads: Any, means: Any, squares: Any, greatest: Any, steps: Any) -> None:
        rate, b1, b2, decay = (_lists.number(x) for x in (lr, beta1, beta2, weight_decay))
        if maximize:
            grads = do.neg(grads)
        if isinstance(decay, Tensor) or decay != 0:
            if decoupled_weight_decay:
                do.mul_(params, 1 - rate * decay)
            else:
                grads = _lists.add_scaled(do, grads, _lists.kept(do, params, differentiable), decay)
        _lists.average_(do, means, grads, b1)
        _lists.average_(do, squares, do.mul(grads, grads), b2)
        counts = [step.item() for step in steps]
        roots = squares
        if amsgrad:
            do.copy_(greatest, do.maximum(*[_lists.kept(do, xs, differentiable) for xs in (greatest, squares)]))
            roots = greatest
        roots = do.sqrt(_lists.kept(do, roots, differentiable))
        roots = do.add(do.div(roots, [(1 - b2**t) ** 0.5 for t in counts]), eps)
        moves = do.div(_lists.kept(do, means, differentiable), roots)
        do.sub_(params, do.mul(moves, [rate / (1 - b1**t) for t in counts]))

    lists = params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps
    ways: Any = {"foreach": foreach, "fused": fused, "differentiable": differentiable, "capturable": capturable}
    _lists.update(fused_step, formula, lists, **ways)
