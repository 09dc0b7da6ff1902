"""Schedulers that compute rates by functions of the user."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from lamella.optim.lr_scheduler.scheduler import LRScheduler


class _ByFunctions(LRScheduler):
    def __init__(
        self, optimizer: Any, lr_lambda: Callable[[int], float] | list[Callable[[int], float]], last_epoch: int = -1
    ) -> None:
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * groups
        if len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        for function in lr_lambda:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Returns all attributes but the optimizer; for ``lr_lambda`` the attributes of callable objects, or None."""
        state = super().state_dict()
        state["lr_lambdas"] = [
            None if isinstance(f, types.FunctionType) else getattr(f, "__dict__", {}).copy() for f in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a state that ``state_dict()`` returned; functions are kept."""
        own = self.lr_lambdas
        super().load_state_dict(state_dict)
        self.lr_lambdas = own
        for function, attributes in zip(own, state_dict["lr_lambdas"], strict=True):
            if attributes:
                function.__dict__.update(attributes)


class LambdaLR(_ByFunctions):
    """Sets the rate to the initial rate times ``lr_lambda(step)``; one function, or a list of one for each group.

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = lamella.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5**step)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step."""
        self._warn_outside_step()
        return [lr * f(self.last_epoch) for f, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_ByFunctions):
    """Multiplies the rate by ``lr_lambda(step)`` at every step; one function, or a list of one for each group.

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = lamella.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda step: 0.5)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step."""
        self._warn_outside_step()
        if self._is_initial:
            return self._now()
        groups = self.optimizer.param_groups
        return [group["lr"] * f(self.last_epoch) for f, group in zip(self.lr_lambdas, groups, strict=True)]
