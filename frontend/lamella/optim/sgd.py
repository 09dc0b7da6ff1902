"""SGD: steps along the gradient, with momentum where wanted."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["SGD", "sgd"]


class SGD(_lists.ListOptimizer):
    """Stochastic gradient descent; Nesterov's momentum is that of Sutskever et al., On the importance of
    initialization and momentum in deep learning (2013), with the rate outside.

    ``buf = momentum buf + (1 - dampening) g``, the first time ``buf = g``; ``p -= lr buf``, with ``nesterov``
    ``p -= lr (g + momentum buf)``.

    Args:
        params: tensors, named tensors or groups
        lr: the learning rate, a number or a tensor of one element
        momentum: how much of the buffer stays in a step; 0 needs no buffer
        dampening: how much of the gradient does not reach the buffer
        weight_decay: times the parameter is added to the gradient
        nesterov: needs momentum and no dampening
        maximize, foreach, differentiable, fused: see Adam

    Raises:
        ValueError: an option is out of its range

    >>> w = lamella.zeros(1)
    >>> optimizer = lamella.optim.SGD([w], lr=1.0, momentum=0.5)
    >>> for _ in range(2):
    ...     w.grad = lamella.ones(1)
    ...     optimizer.step()
    >>> w
    tensor([-2.5000])
    """

    _since = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": None}

    _checks = {
        "lr": _options.learning_rate,
        "momentum": _options.bounded("momentum value"),
        "dampening": _options.any_number("dampening value"),
        "weight_decay": _options.bounded("weight_decay value"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        if fused:
            self._step_supports_amp_scaling = True

    def _check_options(self, options: dict[str, Any]) -> None:
        super()._check_options(options)
        momentum, dampening = options.get("momentum", 0), options.get("dampening", 0)
        if options.get("nesterov") and (momentum <= 0 or dampening != 0):
            raise ValueError(
                "Nesterov momentum requires a momentum and zero dampening, "
                f"got momentum={momentum} and dampening={dampening}"
            )
        _options.ways(options)

    def _init_group(self, group: Any, params: list[Any], grads: list[Any], *lists: list[Any]) -> bool:
        (momentum_buffer_list,) = lists
        states, buffered = self.state, group["momentum"] != 0
        for p in group["params"]:
            grad = p.grad
            if grad is not None:
                params.append(p)
                grads.append(grad)
                if buffered:
                    momentum_buffer_list.append(states[p].get("momentum_buffer"))
        return False

    def _shapes(self, p: Any, group: dict[str, Any], own: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        return {"momentum_buffer": tuple(p.shape)} if own.get("momentum_buffer") is not None else {}

    def _update(self, group: dict[str, Any]) -> None:
        lists: _lists.Three = [], [], []
        self._init_group(group, *lists)
        params, _, buffers = lists
        new = None in buffers
        sgd(
            *lists,
            foreach=group["foreach"],
            fused=False if group["differentiable"] else group["fused"],
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            lr=group["lr"],
            dampening=group["dampening"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
        )
        if new:
            for p, buffer in zip(params, buffers, strict=True):
                self.state[p]["momentum_buffer"] = buffer


def sgd(
    params: list[Any],
    d_p_list: list[Any],
    momentum_buffer_list: list[Any],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float | Tensor,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """One step of SGD over lists; buffers that are None are made, and stand in the list afterwards."""
    buffers = momentum_buffer_list if momentum != 0 else []
    fresh = [i for i, b in enumerate(buffers) if b is None]
    for i in fresh:
        buffers[i] = _lists.zeros_like(params[i])

    def run(at: list[int] | None, first: bool) -> None:
        def fused_step(params: Any, grads: Any, buffers: Any) -> None:
            lamella._fused_sgd_(
                params,
                grads,
                buffers,
                weight_decay=_lists.plain(weight_decay),
                momentum=momentum,
                lr=_lists.plain(lr),
                dampening=dampening,
                nesterov=nesterov,
                maximize=maximize,
                is_first_step=first,
                grad_scale=grad_scale,
                found_inf=found_inf,
            )

        def formula(do: Any, params: Any, grads: Any, buffers: Any) -> None:
            rate, decay = _lists.number(lr), _lists.number(weight_decay)
            if maximize:
                grads = do.neg(grads)
            if isinstance(decay, Tensor) or decay != 0:
                values = do.clone(params) if do is _lists.EACH and isinstance(decay, Tensor) else params
                grads = _lists.add_scaled(do, grads, values, decay)
            if momentum != 0:
                if first:
                    do.copy_(buffers, grads)
                else:
                    do.mul_(buffers, momentum)
                    do.add_(buffers, grads, alpha=1 - dampening)
                grads = do.add(grads, buffers, alpha=momentum) if nesterov else buffers
            if isinstance(rate, Tensor):
                grads = do.clone(grads) if do is _lists.EACH else grads
                do.sub_(params, do.mul(grads, rate))
            else:
                do.add_(params, grads, alpha=-rate)

        lists = params, d_p_list, buffers
        some = lists if at is None else [[one[i] for i in at] if one else [] for one in lists]
        _lists.update(fused_step, formula, some, foreach=foreach, fused=fused, counts=False)

    if fresh and len(fresh) < len(params):
        run([i for i in range(len(params)) if i not in set(fresh)], False)
        run(fresh, True)
    else:
        run(None, bool(fresh))
