"""``lamella.cuda.amp``: the names of ``lamella.amp`` for CUDA."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from lamella import amp


class autocast(amp.autocast):
    """``lamella.amp.autocast`` for CUDA."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``lamella.amp.GradScaler`` for CUDA."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("cuda", *args, **kwargs)


def fill(module: ModuleType) -> None:
    """Sets the names of ``lamella.cuda.amp``."""
    vars(module).update(autocast=autocast, GradScaler=GradScaler)
    vars(module)["custom_fwd"] = functools.partial(amp.custom_fwd, device_type="cuda")
    vars(module)["custom_bwd"] = functools.partial(amp.custom_bwd, device_type="cuda")
