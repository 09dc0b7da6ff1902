"""Modules that take the shapes of their parameters from their first input."""

from __future__ import annotations

from typing import Any

from lamella.nn.modules.module import Module
from lamella.nn.parameter import is_lazy


class LazyModuleMixin(Module):
    """A base of modules that call ``initialize_parameters(*args)`` at their first call, to give their parameters
    shapes.

    After that the module's class is ``cls_to_become``, if that is not None. Before, its state dict can already be saved
    and loaded.

    >>> m = lamella.nn.LazyLinear(2)
    >>> m.has_uninitialized_params()
    True
    """

    cls_to_become: Any = None
    _parameters: Any
    _buffers: Any

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)  # type: ignore[attr-defined]

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters the shapes that fit an input. Each subclass implements it.

        >>> m = lamella.nn.LazyLinear(2)
        >>> m.initialize_parameters(lamella.ones(4, 3))
        >>> m.weight.shape
        lamella.Size([2, 3])
        """
        raise NotImplementedError(f"{type(self).__name__}: initialize_parameters is missing")

    def has_uninitialized_params(self) -> bool:
        """Returns whether a parameter or buffer has no shape yet.

        >>> lamella.nn.LazyLinear(2).has_uninitialized_params()
        True
        """
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(
                f"{type(self).__name__}: initialize_parameters has left a parameter without a shape; it must "
                "materialize each"
            )
        module._initialize_hook.remove()
        del module._initialize_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
