"""ModuleTracker: the modules whose forward, or whose part of backward, runs now.

>>> from lamella.utils.module_tracker import ModuleTracker
>>> model = lamella.nn.Sequential(lamella.nn.Linear(2, 2))
>>> with ModuleTracker() as tracker:
...     handle = model[0].register_forward_pre_hook(lambda *_: print(sorted(tracker.parents)))
...     _ = model(lamella.ones(2))
['Global', 'Sequential', 'Sequential.0']
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor
from lamella.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from lamella.utils._pytree import tree_leaves

__all__ = ["ModuleTracker"]

GLOBAL = "Global"


class ModuleTracker:
    """Within the block, ``parents`` holds the names of the modules that run, and "Global".

    The outermost module has its class's name, and a part of it that name with its own path. In backward a module is one
    that runs from the gradients of its results to those of its arguments; ``is_bw`` is True then.
    """

    def __init__(self) -> None:
        self.parents: set[str] = {GLOBAL}
        self.names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self.seen: weakref.WeakSet[Any] = weakref.WeakSet()
        self.handles: list[Any] = []
        self.inside = 0  # the number of forwards that run

    @property
    def is_bw(self) -> bool:
        """True while a backward runs on this thread, also while a checkpoint in it runs a forward again."""
        if not hasattr(lamella, "autograd"):
            return False
        from lamella.plugins.autograd import multi_grad

        return multi_grad.is_running()

    def __enter__(self) -> ModuleTracker:
        self.handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after, always_call=True),
        ]
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles = []
        self.parents.intersection_update({GLOBAL})

    def name_of(self, module: Any) -> str:
        """Returns a module's name, and gives names to its parts if it has no name yet."""
        name = self.names.setdefault(module, type(module).__name__)
        if module not in self.seen:
            self.seen.add(module)
            for own, part in module.named_children():
                self.names.setdefault(part, f"{name}.{own}")
                self.name_of(part)
        return name

    def _on_gradients(self, values: Any, change: Callable[[str], None], name: str, mode: str) -> None:
        if not hasattr(lamella, "autograd") or not lamella.is_grad_enabled():
            return
        tensors = [x for x in tree_leaves(values) if isinstance(x, Tensor) and x.requires_grad]
        if tensors:
            register = lamella.autograd.graph.register_multi_grad_hook
            self.handles.append(register(tensors, lambda _: change(name), mode=mode))

    def _before(self, module: Any, args: Any) -> None:
        again = self.is_bw
        if not self.inside and not again:
            self.parents.intersection_update({GLOBAL})  # an earlier backward may not have reached all arguments
        self.inside += 1
        name = self.name_of(module)
        self.parents.add(name)
        if not again:
            self._on_gradients(args, self.parents.discard, name, "all")

    def _after(self, module: Any, args: Any, result: Any) -> None:
        self.inside -= 1
        name = self.name_of(module)
        self.parents.discard(name)
        if not self.is_bw:
            self._on_gradients(result, self.parents.add, name, "any")
