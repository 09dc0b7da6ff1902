"""Schedulers that combine others: one after the other, or all in every step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from lamella.optim.lr_scheduler.plateau import ReduceLROnPlateau
from lamella.optim.lr_scheduler.scheduler import LRScheduler, own, values_of, write


class _Of(LRScheduler):
    """A base class of schedulers that hold other schedulers. Its state contains their states."""

    _schedulers: Any

    def _check(self, optimizer: Any, schedulers: Sequence[Any]) -> None:
        who = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{who} at index {i} should have `optimizer` as its attribute. It got a {type(scheduler).__name__}"
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{who} does not support `ReduceLROnPlateau`, whose step needs a metric, but got one at index {i}"
                )
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{who} expects all schedulers to belong to the same optimizer, but "
                    f"{type(scheduler).__name__} at index {i} has another one"
                )

    def state_dict(self) -> dict[str, Any]:
        """Returns all attributes except the optimizer, with the schedulers replaced by their states."""
        state = {key: own(value) for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        return state | {"_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a state that ``state_dict()`` returned, and the rates of its last step."""
        self.__dict__.update({key: own(value) for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)
        self._restore_rates()


class SequentialLR(_Of):
    """Runs one scheduler after the other. Each except the first begins its schedule at its milestone.

    Raises:
        ValueError: there is no scheduler, they have several optimizers, one is a ReduceLROnPlateau, the number of
            milestones is not one less, or the milestones do not ascend

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> warm = lamella.optim.lr_scheduler.ConstantLR(optimizer, 0.5, total_iters=9)
    >>> fall = lamella.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    >>> scheduler = lamella.optim.lr_scheduler.SequentialLR(optimizer, [warm, fall], milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.5, 0.5, 1.0, 0.5]
    """

    def __init__(
        self, optimizer: Any, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got {len(schedulers)} schedulers and {len(milestones)} milestones"
            )
        if list(milestones) != sorted(milestones):
            raise ValueError(f"{type(self).__name__} expects milestones in ascending order, but got {milestones}")
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each scheduler made its first step in its constructor. That is undone here, and only the first one repeats it.
        for group in optimizer.param_groups:
            write(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = self._schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Subtracts the first step from the count of every scheduler, also of schedulers within others."""
        sched = self if sched is None else sched
        if hasattr(sched, "_schedulers"):
            for inner in sched._schedulers:
                self.recursive_undo(inner)
        elif hasattr(sched, "last_epoch"):
            sched.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Counts a step of the current scheduler."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Of):
    """Runs all schedulers in every step; each changes the rates that the one before has set.

    Raises:
        ValueError: there is no scheduler, they have several optimizers, or one is a ReduceLROnPlateau

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> both = [lamella.optim.lr_scheduler.ExponentialLR(optimizer, gamma) for gamma in (0.5, 0.25)]
    >>> scheduler = lamella.optim.lr_scheduler.ChainedScheduler(both)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Any = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler to be chained, got none")
        optimizer = optimizer or getattr(schedulers[0], "optimizer", None)
        self._check(optimizer, schedulers)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = values_of(optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Counts a step of every scheduler."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, "lr")
