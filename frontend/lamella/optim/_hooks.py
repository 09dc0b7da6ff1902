"""Hooks of optimizers: functions called before and after a step, ``state_dict`` and ``load_state_dict``."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

_global_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_post_hooks: OrderedDict[int, Any] = OrderedDict()
_NAMES = [
    f"_optimizer_{what}_{when}_hooks" for what in ("step", "state_dict", "load_state_dict") for when in ("pre", "post")
]


def _keep(hooks: OrderedDict[int, Any], hook: Callable[..., Any], prepend: bool = False) -> Any:
    from lamella.utils.hooks import RemovableHandle  # here, since that module loads lamella.nn

    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> Any:
    """Calls ``hook(optimizer, args, kwargs)`` before every step of every optimizer.

    See ``Optimizer.register_step_pre_hook``, which adds a hook to one optimizer.

    >>> from lamella.optim.optimizer import register_optimizer_step_pre_hook
    >>> with register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: print(type(optimizer).__name__)):
    ...     lamella.optim.SGD([lamella.zeros(1)]).step()
    SGD
    """
    return _keep(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> Any:
    """Calls ``hook(optimizer, args, kwargs)`` after every step of every optimizer.

    >>> from lamella.optim.optimizer import register_optimizer_step_post_hook
    >>> register_optimizer_step_post_hook(lambda optimizer, args, kwargs: None).remove()
    """
    return _keep(_global_post_hooks, hook)


def run_hooked(func: Callable[..., Any], optimizer: Any, args: Any, kwargs: Any) -> Any:
    """Runs a step with its hooks. The ``args`` that hooks get begin with the optimizer, as in torch."""
    args = (optimizer, *args)
    for hook in (*_global_pre_hooks.values(), *optimizer._optimizer_step_pre_hooks.values()):
        changed = hook(optimizer, args, kwargs)
        if changed is not None:
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"{type(optimizer).__name__}: a hook before a step must return None or a tuple of "
                    f"(new_args, new_kwargs), but got {changed!r:.200}"
                )
            args, kwargs = changed
    result = func(*args, **kwargs)
    for hook in (*optimizer._optimizer_step_post_hooks.values(), *_global_post_hooks.values()):
        hook(optimizer, args, kwargs)
    return result


class OptimizerHooks:
    """A base class of Optimizer with the methods that register hooks."""

    _optimizer_step_pre_hooks: OrderedDict[int, Any]
    _optimizer_step_post_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Any]

    def _make_hooks(self) -> None:
        for name in _NAMES:
            self.__dict__.setdefault(name, OrderedDict())

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> Any:
        """Calls ``hook(optimizer, args, kwargs)`` before a step. ``args`` begins with the optimizer.

        If the hook returns a pair, it replaces ``args`` and ``kwargs``.

        >>> optimizer = lamella.optim.SGD([lamella.zeros(1)])
        >>> with optimizer.register_step_pre_hook(lambda optimizer, args, kwargs: print("before")):
        ...     optimizer.step()
        before
        """
        return _keep(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> Any:
        """Calls ``hook(optimizer, args, kwargs)`` after a step.

        >>> optimizer = lamella.optim.SGD([lamella.zeros(1)])
        >>> optimizer.register_step_post_hook(lambda optimizer, args, kwargs: None).remove()
        """
        return _keep(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Any:
        """Calls ``hook(optimizer)`` before ``state_dict``; with ``prepend``, before the other hooks.

        >>> lamella.optim.SGD([lamella.zeros(1)]).register_state_dict_pre_hook(print).remove()
        """
        return _keep(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Any:
        """Calls ``hook(optimizer, state_dict)`` after ``state_dict``. A result other than None replaces the dict.

        >>> optimizer = lamella.optim.SGD([lamella.zeros(1)])
        >>> with optimizer.register_state_dict_post_hook(lambda optimizer, state_dict: {}):
        ...     optimizer.state_dict()
        {}
        """
        return _keep(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Any:
        """Calls ``hook(optimizer, state_dict)`` before loading. A result other than None is loaded instead.

        The hook gets a shallow copy of the caller's dict.

        >>> lamella.optim.SGD([lamella.zeros(1)]).register_load_state_dict_pre_hook(print).remove()
        """
        return _keep(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Any:
        """Calls ``hook(optimizer)`` after loading.

        >>> lamella.optim.SGD([lamella.zeros(1)]).register_load_state_dict_post_hook(print).remove()
        """
        return _keep(self._optimizer_load_state_dict_post_hooks, hook, prepend)
