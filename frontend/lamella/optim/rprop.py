"""Rprop: steps by the sign of the gradient alone, with a step size for each element."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim import _options
from lamella.optim._updates import OWN, UpdateOptimizer, function
from lamella.optim.optimizer import ParamsT

__all__ = ["Rprop", "rprop"]


class Rprop(UpdateOptimizer, update="_fused_rprop_"):
    """Implements Riedmiller and Braun, A Direct Adaptive Method for Faster Backpropagation Learning (1993).

    A step's size grows by ``etas[1]`` while the gradient keeps its sign; where the sign changes, it shrinks by
    ``etas[0]`` and the element is not changed.

    Args:
        lr: the first size, a number or a tensor of one element
        etas: the factors of the step size: for shrinking and for growing
        step_sizes: the bounds of the step size

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.Rprop([w], lr=0.5).step()
    >>> w
    tensor([-0.5000,  0.5000])
    """

    _checks = {"lr": _options.learning_rate, "etas": _options.etas, "step_sizes": _options.step_sizes}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = OWN,
        step_sizes: tuple[float, float] = OWN,
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())


rprop: Any = function(Rprop, "foreach capturable maximize differentiable has_complex")
