"""GradScaler, which scales a loss so that gradients in float16 do not underflow."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

import lamella
from lamella import Tensor

from .devices import reason_of_absence

__all__ = ["GradScaler"]


class GradScaler:
    """Multiplies a loss by a scale, so that small gradients do not underflow in float16.

    Before a step the gradients are divided by the scale. A step whose gradients have infinities or NaN is skipped, and
    the scale decreases; after ``growth_interval`` good steps it increases. For a device that this machine does not have
    the scaler warns and does nothing, as in torch. Without a device it is for the accelerator.

    >>> scaler = lamella.amp.GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale(lamella.tensor(2.0))
    tensor(8.)
    """

    def __init__(
        self,
        device: str | None = None,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        if device is None and (accelerator := lamella.accelerator.current_accelerator()) is not None:
            device = accelerator.type
        if enabled and (device is None or reason_of_absence(device)):
            lacking = "accelerator" if device is None else f"device '{device}'"
            warnings.warn(f"GradScaler: there is no {lacking} here; it does nothing", stacklevel=2)
            enabled = False
        if enabled and growth_factor <= 1:
            raise AssertionError(f"GradScaler: argument 'growth_factor' must be above 1, got {growth_factor}")
        if enabled and backoff_factor >= 1:
            raise AssertionError(f"GradScaler: argument 'backoff_factor' must be below 1, got {backoff_factor}")
        self._enabled, self._scale, self._good_steps = bool(enabled), float(init_scale), 0
        self._growth, self._backoff, self._interval = growth_factor, backoff_factor, growth_interval
        # Maps the id of an optimizer to whether unscale_ found infinities or NaN; to None if there were no gradients.
        self._found: dict[int, bool | None] = {}
        self._stepped: set[int] = set()  # ids of the optimizers that step() was called for since the last update()

    def scale(self, outputs: Any) -> Any:
        """Returns a loss, or a list or tuple of losses, multiplied by the scale.

        The scale is a tensor of no dimensions in float32. So a loss of no dimensions in float16 becomes float32, which
        holds numbers that float16 does not.

        Raises:
            ValueError: ``outputs`` are no tensors

        >>> scaler = lamella.amp.GradScaler("cpu")
        >>> scaler.scale(lamella.tensor(1.0, dtype=lamella.float16))
        tensor(65536.)
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * lamella.full((), self._scale, dtype=lamella.float32, device=outputs.device)
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(x) for x in outputs])
        raise ValueError(f"GradScaler.scale: expected tensors, got {type(outputs).__name__}")

    def unscale_(self, optimizer: Any) -> None:
        """Divides the gradients of an optimizer's parameters by the scale, which ``step`` then does not repeat.

        Raises:
            ValueError: a gradient is in float16; no gradient is changed then
            RuntimeError: ``unscale_`` or ``step`` has been called for this optimizer since the last ``update``
        """
        if not self._enabled:
            return
        if id(optimizer) in self._stepped:
            raise RuntimeError("GradScaler.unscale_: it is called after step(); call it before")
        if id(optimizer) in self._found:
            raise RuntimeError("GradScaler.unscale_: it has been called for this optimizer since the last update()")
        parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any(p.grad.dtype == lamella.float16 for p in parameters):
            raise ValueError(
                "GradScaler.unscale_: a gradient is in float16, which is too small for unscaled gradients; keep the "
                "parameters in float32, and let autocast compute in float16"
            )
        finite = defaultdict(list)  # flags by device, which stay there, since the program waits for each that it reads
        for parameter in parameters:
            grad = parameter.grad.detach()
            grad.mul_(1 / self._scale)
            # A sparse gradient may have an index several times; an optimizer adds these values up, as coalesce does.
            values = grad.coalesce().values() if grad.is_sparse else grad
            finite[grad.device].append(values.isfinite().all())
        found = [not bool(lamella.stack(flags).all()) for flags in finite.values()]
        self._found[id(optimizer)] = any(found) if found else None

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls ``optimizer.step()`` and returns its result, unless a gradient is infinite or NaN.

        Raises:
            AssertionError: the optimizer's parameters have no gradients
            RuntimeError: ``step`` has been called for this optimizer since the last ``update``; or there is a closure
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("GradScaler.step: closures are not supported")
        if id(optimizer) in self._stepped:
            raise RuntimeError("GradScaler.step: it has been called for this optimizer since the last update()")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        found, result = self._found[id(optimizer)], None
        if found is None:
            raise AssertionError(
                "GradScaler.step: no parameter of this optimizer has a gradient; call scale(loss).backward() before, "
                "with a loss that depends on the parameters"
            )
        if found:
            optimizer._opt_called = True  # a scheduler's step may follow, as it does a step that was not left out
        else:
            result = optimizer.step(*args, **kwargs)
        self._stepped.add(id(optimizer))
        return result

    def update(self, new_scale: Any = None) -> None:
        """Sets the next scale: ``new_scale`` if it is given; else a smaller one if gradients had infinities or NaN, and
        a larger one after ``growth_interval`` good steps, if float32 can hold it.

        Raises:
            AssertionError: since the last ``update`` no gradients were unscaled, and ``new_scale`` is not given
        """
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif all(found is None for found in self._found.values()):
            raise AssertionError(
                "GradScaler.update: no step() or unscale_() since the last update() had gradients; call step() before"
            )
        elif any(self._found.values()):
            self._scale, self._good_steps = self._scale * self._backoff, 0
        else:
            self._good_steps += 1
            if self._good_steps == self._interval:
                larger, self._good_steps = self._scale * self._growth, 0
                if larger <= lamella.finfo(lamella.float32).max:
                    self._scale = larger
        self._found.clear()
        self._stepped.clear()

    def is_enabled(self) -> bool:
        """Returns whether this scaler has an effect."""
        return self._enabled

    def get_scale(self) -> float:
        """Returns the scale; 1 if this scaler is disabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Returns the factor by which the scale increases."""
        return self._growth

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets the factor by which the scale increases."""
        self._growth = new_factor

    def get_backoff_factor(self) -> float:
        """Returns the factor by which the scale decreases."""
        return self._backoff

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets the factor by which the scale decreases."""
        self._backoff = new_factor

    def get_growth_interval(self) -> int:
        """Returns the number of good steps after which the scale increases."""
        return self._interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets the number of good steps after which the scale increases."""
        self._interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """Returns the scaler's state for a checkpoint; {} if this scaler is disabled."""
        if not self._enabled:
            return {}
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker")
        return dict(
            zip(names, (self._scale, self._growth, self._backoff, self._interval, self._good_steps), strict=True)
        )

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a state that ``state_dict`` returned.

        Raises:
            RuntimeError: the state is empty, since its scaler was disabled
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("GradScaler.load_state_dict: the state is empty, since its scaler was disabled")
        self._scale, self._good_steps = float(state_dict["scale"]), int(state_dict["_growth_tracker"])
        self._growth, self._backoff = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._interval = state_dict["growth_interval"]
