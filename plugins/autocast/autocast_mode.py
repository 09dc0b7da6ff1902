"""autocast, the block in which operators choose their dtype, and two decorators for custom Functions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor, ops

from . import _python
from ._python import autocast
from .devices import check, reason_of_absence
from .functions import get_autocast_dtype, is_low

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def _resolve(device_type, dtype=None, enabled=True, cache_enabled=None):
    """Checks the arguments of an autocast. Returns the device's number and name, the dtype, whether it is on, and
    the cache's setting as a number."""
    absent = check("autocast", device_type)
    if dtype is not None and not isinstance(dtype, lamella.dtype):
        raise TypeError(f"autocast: argument 'dtype' must be a dtype, got {type(dtype).__name__}")
    enabled = bool(enabled)
    if enabled and absent:
        warnings.warn(f"autocast: there is no device '{device_type}' here; the block changes nothing", stacklevel=2)
        enabled = False
    if dtype is not None and not is_low(dtype):
        if enabled:
            warnings.warn(f"autocast: {dtype} is no dtype of floats below float32; autocast is off", stacklevel=2)
        enabled, dtype = False, None
    dtype = dtype or get_autocast_dtype(device_type)
    number = -1 if absent else ops.autocast.number(device_type)
    return number, device_type, dtype, enabled, -1 if cache_enabled is None else int(bool(cache_enabled))


def _decorate(block, function):
    """Wraps a function so that it runs within a block."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with block:
            return function(*args, **kwargs)

    return wrapper


_python._set_functions(_resolve, _decorate)


def is_autocast_available(device_type: str) -> bool:
    """Returns whether this machine has a device of a type, so that autocast has an effect on it.

    >>> lamella.amp.is_autocast_available("cpu")
    True
    """
    if not isinstance(device_type, str):
        raise ValueError(f"is_autocast_available: argument 'device_type' must be str, got {type(device_type).__name__}")
    return not reason_of_absence(device_type)


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """Returns a value whose tensors of floats of a device are cast, in lists, tuples and dictionaries too."""
    if isinstance(value, Tensor):
        fits = value.device.type == device_type and value.dtype.is_floating_point and value.dtype != lamella.float64
        return value.to(dtype) if fits else value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """Decorates ``forward`` of an ``autograd.Function``, so that ``custom_bwd`` finds the settings of autocast.

    Args:
        device_type: the type of device whose settings are kept
        cast_inputs: a dtype: within autocast the tensors of floats among the arguments are cast to it, and ``forward``
            runs with autocast off. None: ``forward`` runs with the settings around it

    >>> class Product(lamella.autograd.Function):
    ...     @staticmethod
    ...     @lamella.amp.custom_fwd(device_type="cpu", cast_inputs=lamella.float32)
    ...     def forward(ctx, a, b):
    ...         ctx.save_for_backward(a, b)
    ...         return a @ b
    ...     @staticmethod
    ...     @lamella.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         a, b = ctx.saved_tensors
    ...         return grad @ b.t(), a.t() @ grad
    >>> with lamella.autocast("cpu"):
    ...     Product.apply(lamella.ones(2, 2), lamella.ones(2, 2)).dtype
    lamella.float32
    """
    check("custom_fwd", device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx, *args, **kwargs):
        on = lamella.is_autocast_enabled(device_type)
        ctx._dtype = lamella.get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if not on or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorates ``backward`` of an ``autograd.Function``: it runs with the settings of autocast that its forward had.

    The forward must be decorated by ``custom_fwd``, whose example shows both.

    >>> lamella.amp.custom_bwd(device_type="cpu")(lambda ctx, grad: grad).__name__
    '<lambda>'
    """
    check("custom_bwd", device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx, *args, **kwargs):
        if not hasattr(ctx, "_fwd_used_autocast"):
            raise RuntimeError("custom_bwd: the forward of this function is not decorated; decorate it by custom_fwd")
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return backward
