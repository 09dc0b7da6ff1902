"""LRScheduler, the base class of schedulers: counts steps, and writes the rates of a subclass to the groups."""

from __future__ import annotations

import functools
import warnings
from typing import Any
from weakref import ref

from lamella._C import Tensor
from lamella.optim.optimizer import Optimizer

EPOCH_WARNING = (
    "the epoch of scheduler.step() is deprecated; call scheduler.step(). With an epoch the closed form of the schedule "
    "is used where there is one"
)


def per_group(name: str, optimizer: Any, value: Any) -> list[Any]:
    """Returns a list with a value for every group. ``value`` is one value for all, or such a list."""
    groups = optimizer.param_groups
    if isinstance(value, (list, tuple)):
        if len(value) != len(groups):
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups; it has {len(value)} values, "
                f"param_groups {len(groups)}"
            )
    else:
        value = [value] * len(groups)
    return [v.clone() if isinstance(v, Tensor) else v for v in value]


def check_length(name: str, value: Any) -> None:
    """Raises ValueError unless a number of steps is above 0."""
    if not value > 0:
        raise ValueError(f"Expected a positive number of steps as {name}, but got {value}")


def values_of(optimizer: Any, key: str) -> list[Any]:
    """Returns the current option of each group. Tensors are copied, since schedulers write them in place."""
    values = [group[key] for group in optimizer.param_groups]
    return [v.clone() if isinstance(v, Tensor) else v for v in values]


def write(group: dict[str, Any], key: str, value: Any) -> None:
    """Sets an option of a group; a tensor is written in place."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def own(value: Any) -> Any:
    """Returns a value of a state, with lists, dicts and tensors of its own, so that a saved state never changes."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, list):
        return [own(v) for v in value]
    return value.copy() if isinstance(value, dict) else value


def require_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _watch_steps(optimizer: Any) -> None:
    """Wraps the optimizer's step so that it sets ``_opt_called``, for the warning about the order of calls."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    weak, func = ref(optimizer), optimizer.step.__func__

    @functools.wraps(func)
    def step(*args: Any, **kwargs: Any) -> Any:
        own: Any = weak()
        own._opt_called = True
        return func(own, *args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = step


class LRScheduler:
    """The base class of schedulers, which set an optimizer's rates at every ``step()``. A subclass defines ``get_lr``.

    ``get_lr`` computes a rate for each group from ``self.last_epoch`` and ``self.base_lrs``, or from the current rates.

    Args:
        optimizer: the optimizer; its groups get an option ``initial_lr``
        last_epoch: the number of the last step, to resume a schedule; -1 begins a new one

    Raises:
        TypeError: ``optimizer`` is not an Optimizer
        KeyError: a schedule is resumed, and a group has no ``initial_lr``

    >>> class Halved(lamella.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = Halved(optimizer)
    >>> optimizer.step(); scheduler.step()
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False
    optimizer: Any
    base_lrs: list[Any]
    last_epoch: Any
    _last_lr: list[Any]

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        require_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                lr = group["lr"]
                group.setdefault("initial_lr", lr.clone() if isinstance(lr, Tensor) else lr)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    f"= {last_epoch}; load the optimizer's state first, or begin with last_epoch=-1"
                )
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Returns copies of all attributes except the optimizer.

        >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
        >>> lamella.optim.lr_scheduler.ExponentialLR(optimizer, 0.5).state_dict()["gamma"]
        0.5
        """
        return {key: own(value) for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a state that ``state_dict()`` returned, and the rates of its last step, which the constructor of a
        scheduler may have written over after the optimizer was loaded."""
        self.__dict__.update({key: own(value) for key, value in state_dict.items()})
        self._restore_rates()

    def _restore_rates(self) -> None:
        for group, lr in zip(self.optimizer.param_groups, getattr(self, "_last_lr", ()), strict=False):
            write(group, "lr", own(lr))

    def get_last_lr(self) -> list[Any]:
        """Returns the rates that the last step set, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step. Called by ``step()``."""
        raise NotImplementedError(f"{type(self).__name__} has no get_lr of its own; write get_lr(self)")

    def step(self, epoch: Any = None) -> None:
        """Counts a step and sets the rates; call it after ``optimizer.step()``."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(
                    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization; "
                    "call `optimizer.step()` before `lr_scheduler.step()`",
                    UserWarning,
                    stacklevel=2,
                )
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(
                    "Detected call of `lr_scheduler.step()` before `optimizer.step()`; call them in the opposite "
                    "order, or the first learning rate is skipped",
                    UserWarning,
                    stacklevel=2,
                )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: Any = None) -> None:
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = getattr(self, "_get_closed_form_lr", None)
            rates = self.get_lr() if epoch is None or closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: list[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            write(group, "lr", lr)
        self._last_lr = values_of(self.optimizer, "lr")

    # ---- helpers for get_lr of subclasses ----

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _now(self) -> list[Any]:
        return values_of(self.optimizer, "lr")

    def _times(self, factor: Any) -> list[Any]:
        return [group["lr"] * factor for group in self.optimizer.param_groups]


_LRScheduler = LRScheduler
