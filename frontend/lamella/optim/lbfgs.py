"""LBFGS: quasi-Newton steps from a short history of gradients, with an optional line search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim._wolfe import strong_wolfe
from lamella.optim.optimizer import Optimizer, ParamsT, _use_grad_for_differentiable, with_grad

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Implements Nocedal, Updating Quasi-Newton Matrices with Limited Storage (1980); Nocedal and Wright, alg. 7.4.

    ``step`` needs a closure that computes the loss and the gradients anew, and calls it several times. All parameters
    are in one group and on one device.

    Args:
        params: tensors or named tensors
        lr: the length of a step, or the first try of the line search
        max_iter: iterations of one ``step`` at most
        max_eval: evaluations of one ``step`` at most; None is 1.25 ``max_iter``
        tolerance_grad: a step ends if no element of the gradient is greater
        tolerance_change: a step ends if the change of the parameters or of the loss is less
        history_size: the number of changes of gradients and parameters that are kept
        line_search_fn: None, or "strong_wolfe"

    Raises:
        ValueError: there are several groups, or an option is out of its range

    >>> w = lamella.nn.Parameter(lamella.zeros(1))
    >>> optimizer = lamella.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure).item()
    9.0
    >>> round(w.item(), 4)
    3.0
    """

    _checks = {
        "lr": _options.learning_rate,
        "max_iter": _options.bounded("max_iter"),
        "max_eval": _options.bounded("max_eval"),
        "tolerance_grad": _options.any_number("tolerance_grad"),
        "tolerance_change": _options.any_number("tolerance_change"),
        "history_size": _options.bounded("history_size", 1),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups); "
                f"give it one list, not {len(self.param_groups)} groups"
            )

    @property
    def _params(self) -> list[Any]:
        return self.param_groups[0]["params"]

    def _flat_grad(self) -> Any:
        flat = []
        for p in self._params:
            grad = _lists.zeros_like(p) if p.grad is None else p.grad.detach()
            flat.append((lamella.view_as_real(grad) if grad.is_complex() else grad).reshape(-1))
        with _lists.by_values():
            return lamella.cat(flat)

    def _move(self, length: Any, direction: Any) -> None:
        start = 0
        with _lists.by_values():
            for p in self._params:
                own = lamella.view_as_real(p) if p.is_complex() else p
                own.add_(direction[start : start + own.numel()].view(own.shape), alpha=float(length))
                start += own.numel()

    def _shapes(self, p: Any, group: dict[str, Any], own: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        n = sum(q.numel() * (2 if q.is_complex() else 1) for q in group["params"])
        for key in ("old_dirs", "old_stps"):
            if any(tuple(x.shape) != (n,) for x in own.get(key) or []):
                raise ValueError(f"LBFGS.load_state_dict: {key!r} has tensors of another shape than {(n,)}")
        return {key: (n,) for key in ("d", "prev_flat_grad") if own.get(key) is not None}

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Runs up to ``max_iter`` iterations; returns the loss before the first one.

        >>> w = lamella.nn.Parameter(lamella.ones(1))
        >>> lamella.optim.LBFGS([w]).step(lambda: w.sum().item())  # the gradient is None, which is taken for 0
        1.0
        """
        group, state = self.param_groups[0], self.state[self._params[0]]
        lr, change, most = _lists.plain(group["lr"]), group["tolerance_change"], group["max_eval"]
        search = group["line_search_fn"]
        if search not in (None, "strong_wolfe"):
            raise RuntimeError(f"only 'strong_wolfe' is supported, got line_search_fn={search!r}")
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def evaluate() -> tuple[float, Any]:
            value = float(with_grad(closure))
            return value, self._flat_grad()

        first = with_grad(closure)
        loss, grad = float(first), self._flat_grad()
        evaluations = 1
        state["func_evals"] += 1
        if bool(grad.abs().max() <= group["tolerance_grad"]):
            return first
        direction, length = state.get("d"), state.get("t")
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, group["history_size"], grad, direction, length)
            state["prev_flat_grad"] = grad.clone()
            before = loss
            length = min(1.0, 1.0 / float(grad.abs().sum())) * lr if state["n_iter"] == 1 else lr
            slope = float(grad.dot(direction))
            state["d"], state["t"], state["prev_loss"] = direction, length, before
            if slope > -change:
                break
            used = 0
            if search:
                start = [p.detach().clone() for p in self._params]

                def at(t: float, start: Any = start, direction: Any = direction) -> tuple[float, Any]:
                    self._move(t, direction)
                    found = evaluate()
                    with _lists.by_values():
                        for p, value in zip(self._params, start, strict=True):
                            p.copy_(value)
                    return found

                loss, grad, length, used = strong_wolfe(
                    at, length, direction, loss, grad, slope, change, most - evaluations
                )
                state["t"] = length
                self._move(length, direction)
            else:
                self._move(length, direction)
                if n != group["max_iter"]:
                    loss, grad = evaluate()
                    used = 1
            evaluations += used
            state["func_evals"] += used
            if n == group["max_iter"] or evaluations >= most:
                break
            if bool(grad.abs().max() <= group["tolerance_grad"]):
                break
            if float(direction.abs().max()) * abs(length) <= change or abs(loss - before) < change:
                break
        return first

    def _direction(self, state: dict[str, Any], size: int, grad: Any, direction: Any, length: Any) -> Any:
        """Updates the history; returns the negative gradient times the estimate of the inverse Hessian."""
        if state["n_iter"] == 1 or "prev_flat_grad" not in state:
            state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1.0
            return grad.neg()
        ys, steps, rhos = state["old_dirs"], state["old_stps"], state["ro"]
        y, s = grad - state["prev_flat_grad"], direction * length
        curvature = float(y.dot(s))
        if curvature > 1e-10:
            for history, new in ((ys, y), (steps, s), (rhos, 1.0 / curvature)):
                if len(history) == size:
                    history.pop(0)
                history.append(new)
            state["H_diag"] = curvature / float(y.dot(y))
        q = grad.neg()
        shares = []
        for y, s, rho in zip(reversed(ys), reversed(steps), reversed(rhos), strict=True):
            shares.append(float(s.dot(q)) * float(rho))
            q.add_(y, alpha=-shares[-1])
        q.mul_(float(state["H_diag"]))
        for y, s, rho in zip(ys, steps, rhos, strict=True):
            q.add_(s, alpha=shares.pop() - float(y.dot(q)) * float(rho))
        return q
