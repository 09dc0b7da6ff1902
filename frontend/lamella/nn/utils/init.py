"""Creates modules without initializing their parameters."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from lamella._devices import host
from lamella.nn.modules.module import Module

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """Returns a module with uninitialized parameters and buffers, for callers that set them afterwards.

    The module is made on the device "meta" and then gets its memory.

    Raises:
        RuntimeError: ``module_cls`` is not a class of modules, or its constructor has no ``device``

    >>> lamella.nn.utils.skip_init(lamella.nn.Linear, 2, 3).weight.device
    device(type='cpu')
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"skip_init: argument 'module_cls' must be a class of modules, got {module_cls!r}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError(
            f"skip_init: {module_cls.__name__} takes no argument 'device', so that it cannot be made on meta"
        )
    device = kwargs.pop("device", host())
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
