"""Smith's cycles: rates that rise and fall, while the momentum falls and rises."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any, Literal

from lamella.optim.lr_scheduler.scheduler import LRScheduler, check_length, per_group, require_optimizer, write


class _WithMomentum(LRScheduler):
    """A base class that sets the momentum of groups, or the first of their betas."""

    use_beta1: bool

    def _begin_momentum(self, base: Any, greatest: Any, last_epoch: int) -> tuple[list[Any], list[Any]]:
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled; "
                f"{type(optimizer).__name__} has neither, so give cycle_momentum=False"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        bases = per_group("base_momentum", optimizer, base)
        tops = per_group("max_momentum", optimizer, greatest)
        if last_epoch == -1:
            for top, low, group in zip(tops, bases, optimizer.param_groups, strict=True):
                self._write_momentum(group, top)
                group["max_momentum"], group["base_momentum"] = top, low
        return bases, tops

    def _write_momentum(self, group: dict[str, Any], momentum: Any) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

    def _restore_rates(self) -> None:
        self._get_lr_called_within_step = True
        try:
            self.get_lr()  # writes the momenta of the last step
        finally:
            self._get_lr_called_within_step = False
        super()._restore_rates()


class CyclicLR(_WithMomentum):
    """Changes rates in cycles from ``base_lr`` to ``max_lr`` and back: Smith, Cyclical Learning Rates (2017).

    Args:
        optimizer: the optimizer
        base_lr, max_lr: the bounds, each a number or a list of one for each group
        step_size_up, step_size_down: the number of steps of the rise and of the fall; None means as many as the rise
        mode: "triangular"; "triangular2" halves the height with each cycle; "exp_range" multiplies it by ``gamma^step``
        scale_fn: a function that replaces the mode: returns the height for the number of the cycle (``scale_mode``
            "cycle") or of the step ("iterations")
        cycle_momentum: changes the momentum from ``max_momentum`` to ``base_momentum`` and back meanwhile

    Raises:
        ValueError: the mode is unknown, or the optimizer has no momentum that could be cycled

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0, momentum=0.9)
    >>> scheduler = lamella.optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, step_size_up=2)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Any,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        check_length("step_size_up", step_size_up)
        if step_size_down is not None and not step_size_down >= 0:
            raise ValueError(f"Expected step_size_down of 0 or more, but got {step_size_down}")
        self.optimizer = optimizer
        base_lrs = per_group("base_lr", optimizer, base_lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: {mode!r}")
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                write(group, "lr", lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """Returns the height of a cycle as a share of the first cycle's."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return 1 / 2.0 ** (x - 1)
        return self.gamma**x if self.mode == "exp_range" else 1.0

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step; sets the momentum, too."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        share = share * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for low, top, group in bounds:
                self._write_momentum(group, top - (top - low) * share)
        return [low + (top - low) * share for low, top in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Returns all attributes but the optimizer; for ``scale_fn`` the attributes of a callable object, or None."""
        state = super().state_dict()
        f = self._scale_fn_custom
        plain = f is None or isinstance(f, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else getattr(f, "__dict__", {}).copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a state that ``state_dict()`` returned; a function is kept."""
        function, attributes = self._scale_fn_custom, state_dict["_scale_fn_custom"]
        if attributes:
            function.__dict__.update(attributes)
        super().load_state_dict(state_dict | {"_scale_fn_custom": function})


class OneCycleLR(_WithMomentum):
    """One rise to ``max_lr``, then a fall far below the first rates: Smith and Topin, Super-Convergence (2018).

    Args:
        optimizer: the optimizer
        max_lr: the greatest rate, or a list of one for each group
        total_steps: the number of steps; if absent, ``epochs * steps_per_epoch``
        pct_start: the share of the rise in the steps
        anneal_strategy: "cos" or "linear"
        cycle_momentum: changes the momentum from ``max_momentum`` to ``base_momentum`` and back meanwhile
        div_factor: the initial rate is ``max_lr / div_factor``
        final_div_factor: the last rate is the initial rate divided by this
        three_phase: rates fall to the initial rate in as many steps as they rose, and then to the last rate

    Raises:
        ValueError: an argument is out of its range; or there are more steps than ``total_steps``

    >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=1.0, momentum=0.9)
    >>> scheduler = lamella.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> round(scheduler.get_last_lr()[0], 6)
    0.04
    """

    def __init__(
        self,
        optimizer: Any,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        self.optimizer = optimizer
        if total_steps is not None:
            needed: dict[str, Any] = {"total_steps": total_steps}
        elif epochs is not None and steps_per_epoch is not None:
            needed = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        for name, value in needed.items():
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.total_steps = math.prod(needed.values())
        self._schedule_phases = _phases(pct_start * self.total_steps, self.total_steps, three_phase)
        self._anneal_func_type = anneal_strategy
        tops = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for top, group in zip(tops, optimizer.param_groups, strict=True):
                group["initial_lr"], group["max_lr"] = top / div_factor, top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, share: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start

    def get_lr(self) -> list[Any]:
        """Returns the rates of this step; sets the momentum, too."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        begin = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            begin = end
        share = (step - begin) / (end - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                bounds = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._write_momentum(group, self._between(*bounds, share))
        return rates


def _phases(rise: float, total: int, three: bool) -> list[dict[str, Any]]:
    """Returns for each phase its last step, and the options of a group with the rates and momenta at its ends."""
    rows = [(float(rise) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    if three:
        rows.append((2 * float(rise) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        rows.append((total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        rows.append((total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(names, row, strict=True)) for row in rows]
