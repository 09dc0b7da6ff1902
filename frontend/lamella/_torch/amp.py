"""torch.amp's names: scaling of losses as torch does it, and blocks of lower precision, which are not here yet.

>>> import lamella
>>> with lamella.amp.autocast("cpu", enabled=False):
...     y = lamella.ones(2) * 2
>>> y.dtype
lamella.float32
"""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from lamella import _C

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def is_autocast_available(device_type: str) -> bool:
    """False: blocks of lower precision are not here yet.

    >>> lamella.amp.is_autocast_available("cpu")
    False
    """
    return False


def _missing(device_type: str) -> bool:
    """Whether a device is one that this machine has not."""
    from lamella._devices import can_load, counted, host

    return device_type != host().type and not (can_load(device_type) and counted(device_type))


class autocast:
    """A block, or a function, whose operators would compute in lower precision: nothing with ``enabled=False``.

    For a device that is not on this machine it warns and does nothing, as torch does.

    Raises:
        NotImplementedError: it is enabled for a device that is here
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None):
        if not isinstance(device_type, str):
            raise ValueError(f"autocast: argument 'device_type' must be str, got {type(device_type).__name__}")
        if enabled and _missing(device_type):
            warnings.warn(f"autocast: there is no device '{device_type}' here; it does nothing", stacklevel=2)
            enabled = False
        if enabled:
            raise NotImplementedError(
                "autocast: blocks of lower precision are planned with a plugin of their own; pass enabled=False, or "
                "convert the model and its input by .to(lamella.bfloat16)"
            )
        self.device, self.fast_dtype = device_type, dtype

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *exception: Any) -> None:
        return None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """Decorates ``forward`` of a Function: it stays as it is, since nothing computes in lower precision.

    >>> lamella.amp.custom_fwd(abs, device_type="cpu") is abs
    True
    """
    return fwd if fwd is not None else functools.partial(custom_fwd, device_type=device_type)


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Decorates ``backward`` of a Function: it stays as it is.

    >>> lamella.amp.custom_bwd(abs, device_type="cpu") is abs
    True
    """
    return bwd if bwd is not None else functools.partial(custom_bwd, device_type=device_type)


class GradScaler:
    """Scales a loss, so that small gradients are no zeros in float16, and the gradients back before a step.

    A step whose gradients have infinities or NaN is left out, and the scale gets smaller; after ``growth_interval``
    steps without, it gets larger. For a device that is not on this machine it warns and does nothing, as torch does.

    >>> scaler = lamella.amp.GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale(lamella.tensor(2.0))
    tensor(8.)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        if enabled and _missing(device):
            warnings.warn(f"GradScaler: there is no device '{device}' here; it does nothing", stacklevel=2)
            enabled = False
        if enabled and growth_factor <= 1:
            raise ValueError(f"GradScaler: argument 'growth_factor' must be above 1, got {growth_factor}")
        if enabled and backoff_factor >= 1:
            raise ValueError(f"GradScaler: argument 'backoff_factor' must be below 1, got {backoff_factor}")
        self._enabled, self._scale, self._good_steps = bool(enabled), float(init_scale), 0
        self._growth, self._backoff, self._interval = growth_factor, backoff_factor, growth_interval
        self._found: dict[int, bool] = {}  # whether an optimizer's gradients were not finite, once they are scaled back
        self._stepped: defaultdict[int, bool] = defaultdict(bool)

    def scale(self, outputs: Any) -> Any:
        """A loss, or several in a list, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, _C.Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(x) for x in outputs])
        raise ValueError(f"GradScaler.scale: expected tensors, got {type(outputs).__name__}")

    def unscale_(self, optimizer: Any) -> None:
        """Divides the gradients of an optimizer's parameters by the scale; ``step`` then does it no more."""
        if not self._enabled:
            return
        if id(optimizer) in self._found:
            raise RuntimeError("GradScaler.unscale_: it has been called for this optimizer since the last update()")
        if self._stepped[id(optimizer)]:
            raise RuntimeError("GradScaler.unscale_: it is called after step()")
        found = False
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    grad = parameter.grad.detach()
                    grad.mul_(1 / self._scale)
                    found = found or not bool(grad.isfinite().all())
        self._found[id(optimizer)] = found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step()``, unless a gradient is infinite or NaN."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("GradScaler.step: closures are not supported")
        if self._stepped[id(optimizer)]:
            raise RuntimeError("GradScaler.step: it has been called for this optimizer since the last update()")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        self._stepped[id(optimizer)] = True
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Sets the next scale: smaller if gradients were not finite, larger after enough good steps."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._found:
            raise RuntimeError("GradScaler.update: there was no step() or unscale_() since the last one")
        elif any(self._found.values()):
            self._scale, self._good_steps = self._scale * self._backoff, 0
        else:
            self._good_steps += 1
            if self._good_steps == self._interval:
                self._scale, self._good_steps = self._scale * self._growth, 0
        self._found.clear()
        self._stepped.clear()

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The scale; 1 where it does nothing."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """By what the scale grows."""
        return self._growth

    def get_backoff_factor(self) -> float:
        """By what the scale shrinks."""
        return self._backoff

    def get_growth_interval(self) -> int:
        """After how many good steps the scale grows."""
        return self._interval

    def state_dict(self) -> dict[str, Any]:
        """Its state for a checkpoint; empty where it does nothing."""
        if not self._enabled:
            return {}
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker")
        return dict(
            zip(names, (self._scale, self._growth, self._backoff, self._interval, self._good_steps), strict=True)
        )

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what ``state_dict`` gave.

        Raises:
            RuntimeError: it is empty, of a scaler that did nothing
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("GradScaler.load_state_dict: the state is empty; its scaler did nothing")
        self._scale, self._good_steps = float(state_dict["scale"]), int(state_dict["_growth_tracker"])
        self._growth, self._backoff = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._interval = state_dict["growth_interval"]
