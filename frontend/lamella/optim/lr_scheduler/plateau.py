"""A scheduler that lowers rates when a metric no longer improves."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal

from lamella.optim.lr_scheduler.scheduler import EPOCH_WARNING, LRScheduler, own, require_optimizer, values_of, write


class ReduceLROnPlateau(LRScheduler):
    """Multiplies rates by ``factor`` if the metric of ``step`` did not improve for more than ``patience`` steps.

    Args:
        optimizer: the optimizer
        mode: "min" if smaller metrics are better, or "max"
        factor: less than 1
        patience: the number of steps without improvement that are allowed
        threshold: the least improvement that counts: a share of the best metric if ``threshold_mode`` is "rel", an
            absolute difference if it is "abs"
        cooldown: the number of steps after a fall in which no step counts as one without improvement
        min_lr: the lower bound of rates, or a list of one for each group
        eps: a change of a rate by this or less is not made

    Raises:
        ValueError: the factor is 1 or more, or a mode is unknown

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0)
    >>> scheduler = lamella.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3.0, 3.0, 3.0):
    ...     scheduler.step(loss)
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Any,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if not factor < 1.0:
            raise ValueError(f"Factor should be < 1.0, got {factor}")
        require_optimizer(optimizer)
        groups = len(optimizer.param_groups)
        self.factor = factor
        self.optimizer = optimizer
        self.default_min_lr: Any = None
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != groups:
                raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * groups
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = values_of(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: Any = None) -> None:  # type: ignore[override]
        """Counts a step with a metric, which is a number or a tensor of one element, and lowers the rates if due."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warnings.warn(EPOCH_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = values_of(self.optimizer, "lr")

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}); give `min_lrs` one value for each"
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                write(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Whether the current step is within ``cooldown`` steps after a fall."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            bound = best * (1.0 + sign * self.threshold)
        else:
            bound = best + sign * self.threshold
        return a > bound if sign > 0 else a < bound

    def _init_is_better(self, mode: Any, threshold: float, threshold_mode: Any) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown! It is min or max")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown! It is rel or abs")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a state that ``state_dict()`` returned."""
        self.__dict__.update({key: own(value) for key, value in state_dict.items()})
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
