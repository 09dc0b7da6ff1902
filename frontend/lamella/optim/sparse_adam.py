"""SparseAdam, which is refused: there are no sparse tensors here."""

from __future__ import annotations

from typing import Any

from lamella.optim.optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Raises NotImplementedError, since its steps need sparse gradients, which Lamella does not have.

    >>> lamella.optim.SparseAdam([lamella.zeros(1)])
    Traceback (most recent call last):
    NotImplementedError: SparseAdam steps by sparse gradients, and there are no sparse tensors here; use Adam
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        raise NotImplementedError(
            "SparseAdam steps by sparse gradients, and there are no sparse tensors here; use Adam"
        )
