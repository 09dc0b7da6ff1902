"""SGD: steps against the gradient, with optional momentum."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim._lists import plain, zeros_like
from lamella.optim._sparse import any_sparse
from lamella.optim._updates import OWN, UpdateOptimizer, function, run
from lamella.optim.optimizer import ParamsT

__all__ = ["SGD", "sgd"]


class SGD(UpdateOptimizer, update="_fused_sgd_"):
    """Stochastic gradient descent. Nesterov's momentum follows Sutskever et al., On the importance of initialization
    and momentum in deep learning (2013), except that the rate multiplies the whole step.

    ``buf = momentum buf + (1 - dampening) g``, in the first step ``buf = g``; then ``p -= lr buf``, or with
    ``nesterov`` ``p -= lr (g + momentum buf)``.

    Args:
        momentum: the factor of the buffer in a step; 0 needs no buffer
        dampening: the share of the gradient that is not added to the buffer
        nesterov: uses Nesterov's momentum, which needs a momentum and no dampening

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(1)
    >>> optimizer = lamella.optim.SGD([w], lr=1.0, momentum=0.5)
    >>> for _ in range(2):
    ...     w.grad = lamella.ones(1)
    ...     optimizer.step()
    >>> w
    tensor([-2.5000])
    """

    _steps = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = OWN,
        momentum: float = OWN,
        dampening: float = OWN,
        weight_decay: float | Tensor = OWN,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, locals())

    def _check_options(self, options: dict[str, Any]) -> None:
        super()._check_options(options)
        momentum, dampening = options.get("momentum", 0), options.get("dampening", 0)
        if options.get("nesterov") and (momentum <= 0 or dampening != 0):
            raise ValueError(
                "Nesterov momentum requires a momentum and zero dampening, "
                f"got momentum={momentum} and dampening={dampening}"
            )

    def _gather(self, group: dict[str, Any]) -> list[list[Any]]:
        params, grads = [], []
        for p in group["params"]:
            grad = p.grad
            if grad is not None:
                params.append(p)
                grads.append(grad)
        states = self.state
        return [params, grads, [states[p].get("momentum_buffer") for p in params] if group["momentum"] != 0 else []]

    def _shapes(self, p: Any, group: dict[str, Any], own: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        return {"momentum_buffer": tuple(p.shape)} if own.get("momentum_buffer") is not None else {}

    def _update(self, group: dict[str, Any]) -> None:
        lists = self._gather(group)
        if any_sparse(lists[1]):
            lists = self._apart(lists, group)
        if self._run(lists, group, self.__dict__):
            for p, buffer in zip(lists[0], lists[2], strict=True):
                self.state[p]["momentum_buffer"] = buffer

    def _sparse_step(self, p: Any, grad: Any, group: dict[str, Any]) -> None:
        if group["weight_decay"] != 0:
            raise RuntimeError(
                "SGD: argument 'weight_decay' changes every element, and the gradient is sparse; set it to 0"
            )
        grad = grad.neg() if group["maximize"] else grad
        momentum = group["momentum"]
        if momentum != 0:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            buffer = (
                grad.clone() if buffer is None else (buffer * momentum + grad * (1 - group["dampening"])).coalesce()
            )
            state["momentum_buffer"] = buffer
            grad = grad + buffer * momentum if group["nesterov"] else buffer
        p.add_(grad, alpha=-plain(group["lr"]))

    @classmethod
    def _run(cls, lists: list[Any], group: dict[str, Any], scaling: dict[str, Any]) -> bool:
        """Makes one step, and makes buffers in the place of None in the list. New buffers are updated apart from the
        others, since their first step has another formula. Returns whether there are new ones."""
        params, grads, buffers = lists
        buffers = buffers if group["momentum"] != 0 else []
        fresh = [i for i, buffer in enumerate(buffers) if buffer is None]
        for i in fresh:
            buffers[i] = zeros_like(params[i])
        if fresh and len(fresh) < len(params):
            for first in (False, True):
                at = [i for i in range(len(params)) if (i in set(fresh)) == first]
                some = [[one[i] for i in at] for one in (params, grads, buffers)]
                run(cls._rule, some, group, scaling, False, first)
        else:
            run(cls._rule, [params, grads, buffers], group, scaling, False, bool(fresh))
        return bool(fresh)


sgd: Any = function(SGD, "has_sparse_grad foreach fused grad_scale found_inf", "params d_p_list momentum_buffer_list")
