"""SparseAdam: Adam whose steps change only the rows that have a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamella._C import Tensor
from lamella.optim import _options, _sparse
from lamella.optim._lists import plain, zeros_like
from lamella.optim.optimizer import Optimizer, ParamsT, _use_grad_for_differentiable, with_grad

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam (Kingma and Ba, 2015) for sparse gradients. The averages, and the parameter, change at the places of the
    gradient's entries alone; elsewhere a step does not let the averages decay.

    Args:
        lr: the learning rate
        betas: the factors of the averages of the gradient and of its square in a step
        eps: added to the root
        maximize: steps along the gradient

    Raises:
        ValueError: an option is out of range, or a parameter is sparse itself
        RuntimeError: by a step: a gradient is dense

    >>> table = lamella.nn.Embedding(3, 2, sparse=True)
    >>> optimizer = lamella.optim.SparseAdam(table.parameters(), lr=0.5)
    >>> before = table.weight.detach().clone()
    >>> table(lamella.tensor([1])).sum().backward()
    >>> optimizer.step()
    >>> (table.weight.detach() - before).round(decimals=2)
    tensor([[ 0.0000,  0.0000],
            [-0.5000, -0.5000],
            [ 0.0000,  0.0000]])
    """

    _checks = {
        "lr": _options.learning_rate,
        "betas": _options.betas(
            _options.bounded("beta parameter at index 0", 0.0, 1.0),
            _options.bounded("beta parameter at index 1", 0.0, 1.0),
        ),
        "eps": _options.bounded("epsilon value"),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        for group in self.param_groups:
            for i, p in enumerate(group["params"]):
                if _sparse.is_sparse(p):
                    raise ValueError(f"SparseAdam: parameter {i} is sparse; parameters must be dense, gradients sparse")

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Calls ``closure``, if given, then updates every parameter with a gradient; returns the closure's result."""
        loss = None if closure is None else with_grad(closure)
        found = [(p, group) for group in self.param_groups for p in group["params"] if p.grad is not None]
        for p, _ in found:
            if not _sparse.is_sparse(p.grad):
                raise RuntimeError("SparseAdam does not support dense gradients; use Adam")
        for p, group in found:
            self._update(p, group)
        return loss

    def _update(self, p: Any, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state.update(step=0, exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
        state["step"] += 1
        grad = _sparse.coalesced("SparseAdam", p.grad.neg() if group["maximize"] else p.grad)
        if not grad._nnz():
            return
        beta1, beta2 = map(plain, group["betas"])
        g = grad.values()
        mean, square = (_sparse.values_at(state[key], grad) for key in ("exp_avg", "exp_avg_sq"))
        to_mean, to_square = (g - mean) * (1 - beta1), (g * g - square) * (1 - beta2)
        state["exp_avg"].add_(_sparse.with_values(grad, to_mean))
        state["exp_avg_sq"].add_(_sparse.with_values(grad, to_square))
        rate = plain(group["lr"]) * (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
        change = (mean + to_mean) / ((square + to_square).sqrt() + group["eps"])
        p.add_(_sparse.with_values(grad, change), alpha=-rate)
