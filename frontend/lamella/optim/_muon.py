"""Muon, which steps by an orthogonal matrix near the momentum."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _lists, _options
from lamella.optim.optimizer import ParamsT

__all__ = ["Muon"]

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def _coefficients(values: Any) -> None:
    if len(values) != 3:
        raise ValueError(f"Coefficients must be a tuple of exactly 3 values, got {len(values)}")
    for value in values:
        _options.any_number("coefficient")(value)


class Muon(_lists.ListOptimizer):
    """Implements Jordan et al., Muon: An optimizer for hidden layers in neural networks (2024), for matrices alone.

    A step iterates ``X = a X + (b A + c A A) X``, ``A = X X^T``, from the average of gradients, in bfloat16.

    Args:
        params: matrices, named matrices or groups
        lr: the learning rate
        weight_decay: ``p *= 1 - lr weight_decay`` before a step
        momentum: the factor of the average in a step
        nesterov: averages the gradient in once more
        ns_coefficients: a, b and c
        eps: the lower bound of the norm by which X is divided first
        ns_steps: the number of iterations, less than 100
        adjust_lr_fn: None or "original" multiply the rate by ``sqrt(max(1, height / width))``; "match_rms_adamw" by
            ``0.2 sqrt(max(height, width))``

    Raises:
        ValueError: a parameter is not a matrix, or an option is out of its range

    >>> w = lamella.zeros(2, 2)
    >>> w.grad = lamella.eye(2)
    >>> lamella.optim.Muon([w], lr=0.5).step()
    >>> bool(w[0, 0] < -0.3), w[0, 1].item()
    (True, 0.0)
    """

    _checks = {
        "lr": _options.learning_rate,
        "momentum": _options.bounded("momentum"),
        "weight_decay": _options.bounded("weight decay"),
        "eps": _options.bounded("epsilon value"),
        "ns_steps": _options.bounded("number of steps", 0, 100),
        "ns_coefficients": _coefficients,
        "adjust_lr_fn": _options.one_of(
            "Adjust learning rate function {} is not supported; use original or match_rms_adamw",
            None,
            "original",
            "match_rms_adamw",
        ),
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)

    def _check_param(self, p: Any) -> None:
        super()._check_param(p)
        if p.ndim != 2:
            raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def _shapes(self, p: Any, group: dict[str, Any], own: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        return {"momentum_buffer": tuple(p.shape)} if own.get("momentum_buffer") is not None else {}

    def _update(self, group: dict[str, Any]) -> None:
        options: Any = {key: value for key, value in group.items() if key in self.defaults and key != "differentiable"}
        params = [p for p in group["params"] if p.grad is not None]
        for p in params:
            if p.is_complex():
                raise RuntimeError(f"Muon does not support complex parameters, got {p.dtype}")
            if "momentum_buffer" not in self.state[p]:
                self.state[p]["momentum_buffer"] = _lists.zeros_like(p.grad)
        buffers = [self.state[p]["momentum_buffer"] for p in params]
        muon(params, [p.grad for p in params], buffers, **options)


def orthogonal(grad: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """Returns approximately the orthogonal matrix nearest to ``grad``, by the iteration of Newton and Schulz."""
    if steps >= 100:
        raise ValueError(f"Number of steps must be less than 100 for computational efficiency, got {steps}")
    if len(coefficients) != 3:
        raise ValueError(f"Coefficients must be a tuple of exactly 3 values, got {len(coefficients)}")
    a, b, c = coefficients
    tall = grad.shape[0] > grad.shape[1]
    x = grad.to(lamella.bfloat16)
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = lamella.addmm(x, lamella.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


def muon(
    params: list[Any],
    grads: list[Any],
    muon_momentum_bufs: list[Any],
    *,
    foreach: bool | None = None,
    lr: float | Tensor,
    weight_decay: float,
    momentum: float,
    nesterov: bool,
    ns_coefficients: tuple[float, float, float],
    ns_steps: int,
    eps: float,
    adjust_lr_fn: str | None,
    has_complex: bool = False,
) -> None:
    """Makes one step of Muon over lists; see the class."""
    if foreach:
        raise RuntimeError("Foreach is not supported for Muon yet")
    rate = _lists.plain(lr)
    with _lists.by_values():
        for p, grad, buffer in zip(params, grads, muon_momentum_bufs, strict=True):
            buffer.lerp_(grad, 1 - momentum)
            step = orthogonal(grad.lerp(buffer, momentum) if nesterov else buffer, ns_coefficients, ns_steps, eps)
            height, width = p.shape[:2]
            factor = math.sqrt(max(1, height / width))
            if adjust_lr_fn == "match_rms_adamw":
                factor = 0.2 * math.sqrt(max(height, width))
            p.mul_(1 - rate * weight_decay)
            p.sub_(step.to(p.dtype), alpha=rate * factor)
