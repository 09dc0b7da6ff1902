"""Rates by simple formulas. Each class has the factor for one step, and the closed form for any step."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

from lamella.optim.lr_scheduler.scheduler import LRScheduler, check_length


class StepLR(LRScheduler):
    """Multiplies rates by ``gamma`` after every ``step_size`` steps.

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = lamella.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        check_length("step_size", step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step."""
        self._warn_outside_step()
        t = self.last_epoch
        return self._now() if t == 0 or t % self.step_size else self._times(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * self.gamma ** (self.last_epoch // self.step_size) for lr in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiplies rates by ``gamma`` at each of the steps ``milestones``.

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = lamella.optim.lr_scheduler.MultiStepLR(optimizer, [1, 5], gamma=0.5)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Any, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step."""
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._now()
        return self._times(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [lr * self.gamma**passed for lr in self.base_lrs]


class ConstantLR(LRScheduler):
    """Multiplies rates by ``factor`` up to step ``total_iters``, and then divides them by it again.

    Raises ValueError unless ``factor`` is in [0, 1].

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> lamella.optim.lr_scheduler.ConstantLR(optimizer, 0.25).get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"Constant multiplicative factor expected to be between 0 and 1, got {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step."""
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._times(self.factor)
        if self.last_epoch != self.total_iters:
            return self._now()
        return self._times(1.0 / self.factor) if self.factor else self.base_lrs

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * (1 if self.last_epoch >= self.total_iters else self.factor) for lr in self.base_lrs]


class LinearLR(LRScheduler):
    """Multiplies rates by a factor that changes from ``start_factor`` to ``end_factor`` in ``total_iters`` equal steps.

    Raises ValueError unless ``start_factor`` is in (0, 1] and ``end_factor`` in [0, 1].

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = lamella.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                f"Starting multiplicative factor expected to be greater than 0 and at most 1, got {start_factor}"
            )
        if not 0 <= end_factor <= 1:
            raise ValueError(f"Ending multiplicative factor expected to be between 0 and 1, got {end_factor}")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, t: int) -> float:
        share = min(self.total_iters, t) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * share

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step."""
        self._warn_outside_step()
        t = self.last_epoch
        if t == 0:
            return self._times(self.start_factor)
        if self._is_initial or t > self.total_iters:
            return self._now()
        return self._times(self._factor(t) / self._factor(t - 1))

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * self._factor(self.last_epoch) for lr in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiplies rates by ``gamma`` at every step.

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = lamella.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step."""
        self._warn_outside_step()
        return self._now() if self._is_initial else self._times(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * self.gamma**self.last_epoch for lr in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Multiplies rates by ``(1 - step / total_iters)^power``, down to 0.

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = lamella.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step."""
        self._warn_outside_step()
        t, end = self.last_epoch, self.total_iters
        if self._is_initial or t > end:
            return self._now()
        return self._times(((1.0 - t / end) / (1.0 - (t - 1) / end)) ** self.power)

    def _get_closed_form_lr(self) -> list[Any]:
        rest = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [lr * rest**self.power for lr in self.base_lrs]
