"""RMSprop: steps divided by the root of the average of squared gradients."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.optim._updates import OWN, UpdateOptimizer, function
from lamella.optim.optimizer import ParamsT

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(UpdateOptimizer, update="_fused_rmsprop_"):
    """Implements Hinton, Neural Networks for Machine Learning, lecture 6e; centred as in Graves, Generating Sequences
    With Recurrent Neural Networks (2013).

    ``p -= lr g / (sqrt(v) + eps)``, where ``v`` is the average of squared gradients; if centred, minus the square of
    the average gradient.

    Args:
        alpha: the factor of the averages in a step
        eps: added to the root
        momentum: the factor of the buffer of steps in a step
        centered: divides by the root of the variance of gradients, not of their mean square

    The other options, and errors: see ``lamella.optim``.

    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([1.0, -2.0])
    >>> lamella.optim.RMSprop([w], lr=0.5, alpha=0.75).step()
    >>> w
    tensor([-1.,  1.])
    """

    _since = {"momentum": 0}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = OWN,
        alpha: float = OWN,
        eps: float = OWN,
        weight_decay: float = OWN,
        momentum: float = OWN,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())


rmsprop: Any = function(RMSprop, "foreach maximize differentiable capturable has_complex")
