"""Removes the hooks by which weight norm, spectral norm and pruning compute a parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def remove_pre_hook(module: Any, is_meant: Callable[[Any], bool]) -> bool:
    """Undoes and removes the first hook for which ``is_meant`` returns true; returns whether there was one."""
    for key, hook in module._forward_pre_hooks.items():
        if is_meant(hook):
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return True
    return False
