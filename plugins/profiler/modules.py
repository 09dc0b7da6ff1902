"""Shows each call of a module as a named block of a profile."""

from __future__ import annotations

import threading
from typing import Any

from ._python import record_function

__all__ = ["ModuleBlocks"]


class ModuleBlocks:
    """Records each call of a module as a block "nn.Module: name", until ``remove`` is called."""

    def __init__(self):
        from lamella.nn.modules import module

        self._open = threading.local()  # .calls: modules that run on this thread, with their blocks
        self._hooks = [
            module.register_module_forward_pre_hook(self._enter),
            module.register_module_forward_hook(self._leave, always_call=True),
        ]

    def _enter(self, module: Any, args: Any) -> None:
        block = record_function(f"nn.Module: {type(module).__name__}")
        self._open.__dict__.setdefault("calls", []).append((module, block))
        block.__enter__()

    def _leave(self, module: Any, args: Any, output: Any) -> None:
        calls = self._open.__dict__.get("calls")
        if calls and calls[-1][0] is module:  # a module that was running when the profile began has no block
            calls.pop()[1].__exit__(None, None, None)

    def remove(self) -> None:
        """Removes the hooks."""
        for hook in self._hooks:
            hook.remove()
